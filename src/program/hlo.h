// A module of HLO text as a graph: *before_optimizations.txt, *after_optimizations.txt and
// *oom_intermediate_module.txt of an XLA dump.
//
//   %add.1 = f32[256,4096]{1,0:T(8,128)} add(%x, %y), metadata={op_name="jit(step)/ffn/add" stack_frame_id=5}
//
// Everything refers by number (of a computation, instruction, shape) into the module's own lists. Format: HloModule's
// ToString in XLA's open source. Strings are kept once each. Whatever the text was, the numbers are valid (or -1 where
// that is said), and following them comes to an end: operands stand before their user in the same computation, no
// computation calls itself by any way, and a frame's parent has a smaller number.
//
// "%loop.5#1" as an operand is XLA's short form of a get-tuple-element that it does not print. The reader adds that
// instruction under this name, before the first one that uses it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/array_shape.h"
#include "input/byte_source.h"
#include "program/name_index.h"

namespace whyoom {

using ArrayDims = std::vector<std::int64_t>;

// An array, or a tuple of shapes.
struct HloShape {
  ArrayShape array;           // of an array; its dtype is empty for tuples, tokens and what is not understood
  std::vector<int> elements;  // of a tuple: numbers of shapes
  bool is_tuple = false;
};

struct HloInstruction {
  std::string_view name;        // "add.1"
  std::string_view opcode;      // "add"
  std::string_view attributes;  // what follows the operands, without metadata, backend_config and
                                // frontend_attributes: "dimensions={0}, …"; at most 64 KiB
  std::string_view frontend;    // "frontend_attributes={…}" with its name, what frameworks say of the instruction; at
                                // most 1 KiB
  std::string_view literal;     // of a constant or parameter: what stands in the parentheses ("24", "0"); at most 200
                                // characters
  std::string_view op_name;     // of the metadata, escapes as printed; empty where there is none
  std::string_view target;      // of a custom-call: "AllocateBuffer"
  int shape = 0;                // of the result; 0: not understood
  int frame = 0;                // in `frames`; 0: none
  int computation = 0;          // that it stands in
  std::vector<int> operands;    // instructions
  std::vector<int> calls;       // computations, in the order of the text: calls=, to_apply=, branches; of a while loop
                                // always the condition, then the body

  bool Is(std::initializer_list<std::string_view> opcodes) const {
    return std::find(opcodes.begin(), opcodes.end(), opcode) != opcodes.end();
  }
};

struct HloComputation {
  std::string_view name;
  std::vector<int> instructions;  // in the order of the text, which of a scheduled module is the schedule
  std::vector<int> parameters;    // instructions, by parameter number; -1 for one that damage cost
  int root = -1;                  // -1 only where the text is damaged
};

struct SourceFrame {
  std::string_view file;
  std::string_view function;
  std::int64_t line = 0;
  int parent = 0;  // the frame that called it; 0: none
};

struct HloModule {
  std::string name;
  std::vector<HloComputation> computations;
  std::vector<HloInstruction> instructions;
  std::vector<HloShape> shapes;     // each distinct one once; 0 is of what is not understood
  std::vector<SourceFrame> frames;  // by number; 0 is none. After those of the text's tables stand those made of the
                                    // source_file and source_line that older compilers print with an instruction
  std::map<std::string, std::string, std::less<>>
      header;  // of the first line: "is_scheduled" → "true", "num_partitions" → "4",
               // "input_output_alias" → "{ {0}: (0, {}, may-alias), … }"
  int entry = -1;
  bool whole = true;        // false: cut, damaged, or over a limit; what is there is what could be read
  bool over_limit = false;  // then it is not whole, and nothing else may be wrong with it

  int Find(std::string_view instruction) const;  // -1: there is none of this name
  const HloShape& ShapeOf(int instruction) const { return shapes[instructions[instruction].shape]; }

  NameIndex by_name;                // of instructions, for Find
  std::shared_ptr<TextArena> text;  // what the views point into; copies of a module share it
};

// The value of an attribute: Attribute(a, "dimensions") of "dimensions={0,1}, sharding={…}" is "{0,1}"; empty where
// there is none.
std::string_view Attribute(std::string_view attributes, std::string_view name);

// The integers of a list such as "{0,1}" or "0,1"; those before the first that is none.
std::vector<std::int64_t> Integers(std::string_view list);

// Sends to the host, of debug prints and callbacks; at most a thousand.
std::vector<int> HostTransfers(const HloModule& module);

// "fusion.1 = fusion(param.1, param), kind=kLoop", without shapes, cut to 250 characters.
std::string InstructionLabel(const HloModule& module, int instruction);

struct SourceLine {
  std::string file;  // empty where it is not known
  std::optional<std::int64_t> line;
};

// The user's own line: of the frames that lead to the instruction the innermost that lies in no library; where all do,
// the outermost.
SourceLine UserLine(const HloModule& module, int instruction);

struct HloLimits {
  std::size_t instructions = 2000000;
  std::size_t text_bytes = std::size_t{160} << 20;  // of what is kept
};

// Reads a module to its end or a limit. Damage costs the instructions that it touches: an operand that is not there is
// left out of the list.
HloModule ReadHlo(ByteSource& source, const HloLimits& limits = {});

}  // namespace whyoom
