// Parses a module of HLO text into a graph. Reads *before_optimizations.txt, *after_optimizations.txt and
// *oom_intermediate_module.txt of an XLA dump. Format: HloModule::ToString of XLA.
//
//   %add.1 = f32[256,4096]{1,0} add(%x, %y), metadata={op_name="jit(step)/ffn/add" stack_frame_id=5}
//
// The graph is valid even if the text is damaged. References are valid unless documented otherwise. Operands precede
// their user in the same computation. No computation calls itself, directly or indirectly. A frame's parent has a
// smaller number. The views and spans point into HloModule::memory.
//
// The operand "%loop.5#1" is XLA's short form of a get-tuple-element that it does not print. The reader adds that
// instruction under this name before its first user.
#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <memory_resource>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "facts/array.h"
#include "input/byte_source.h"

namespace whyoom {

// hlo_text.cc: splits HLO text into instructions, lists and attributes, which are views of the text, and stores texts.

// Removes `part` from the start of the text. Returns false, and changes nothing, if the text begins differently.
inline bool Take(std::string_view* text, std::string_view part) {
  if (!text->starts_with(part)) return false;
  text->remove_prefix(part.size());
  return true;
}

// Removes the digits at the start of the text; nullopt if there are none. Larger numbers than 2^60 are damage and
// become 2^60, so adding two cannot overflow.
std::optional<std::int64_t> TakeNumber(std::string_view* text);

// "  ROOT %add.1 = f32[8]{0} add(%x, %y), metadata={…}"
struct InstructionLine {
  bool root = false;
  std::string_view name;        // "add.1"
  std::string_view shape;       // "f32[8]{0}"
  std::string_view opcode;      // "add"
  std::string_view operands;    // "%x, %y"
  std::string_view attributes;  // "metadata={…}"
  bool closed = true;           // false: the line ends within the operands
};

// Returns nullopt unless the line is an instruction at least up to its opening parenthesis.
std::optional<InstructionLine> SplitInstruction(std::string_view line);

// Removes "  ROOT %add.1 = ", the beginning of an instruction, from the line and sets `root` and `name`. Returns false
// if the line begins differently.
bool TakeName(std::string_view* line, InstructionLine* parts);

// Splits a list at commas or another separator: operands, elements of a tuple's shape, attributes, fields of metadata.
// Ignores separators within brackets and quotes. Strips blanks around a part and comments before it ("/*index=5*/").
class ListReader {
 public:
  explicit ListReader(std::string_view list, char separator = ',') : rest_(list), separator_(separator) {}

  std::optional<std::string_view> Next();

  std::string_view rest() const { return rest_; }  // the unread part, including the blank before it
  bool closed() const { return closed_; }          // whether all brackets and quotes read so far were closed

 private:
  std::string_view rest_;
  char separator_;
  bool closed_ = true;
};

// Splits an attribute "key=value" into key and value: "{0,1}", "kLoop", "\"Sharding\"". Both are empty without a '='.
std::pair<std::string_view, std::string_view> SplitAttribute(std::string_view text);

// Removes the first and the last character if they are quotes, braces or parentheses: "\"Sharding\"" becomes
// "Sharding", "{0,1}" and "(0,1)" become "0,1".
std::string_view WithoutEnds(std::string_view value);

// A hash with random keys per process, so that a hostile dump cannot contain names chosen to collide. Mixes eight bytes
// at a time, which is fast for short names.
struct NameHash {
  std::size_t operator()(std::string_view name) const {
    static const std::uint64_t factor = std::uint64_t{std::random_device()()} << 32 | std::random_device()() | 1;
    __extension__ using Wide = unsigned __int128;
    std::uint64_t hash = factor ^ name.size();
    for (std::size_t at = 0; at < name.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, name.data() + at, std::min<std::size_t>(8, name.size() - at));
      // Uses both halves of the product, so no change of the bytes has the same effect for every factor.
      const Wide product = static_cast<Wide>(hash ^ word) * factor;
      hash = static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    }
    return hash;
  }
};

// The names must outlive the map.
template <class Value>
using NameMap = std::unordered_map<std::string_view, Value, NameHash>;

// Returns null if the map lacks the name.
template <class Value>
const Value* Find(const NameMap<Value>& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? nullptr : &found->second;
}

// Stores copies of texts and lists in a few large blocks, because millions of small allocations would be slow.
class Arena {
 public:
  std::string_view Keep(std::string_view text) {
    const std::span<const char> copy = Keep<char>({text.data(), text.size()});
    return {copy.data(), copy.size()};
  }
  template <class Item>
  std::span<const Item> Keep(std::span<const Item> items) {
    if (items.empty()) return {};
    auto* const copy = static_cast<Item*>(memory_.allocate(items.size_bytes(), alignof(Item)));
    std::uninitialized_copy(items.begin(), items.end(), copy);
    bytes_ += items.size_bytes();
    return {copy, items.size()};
  }

  std::size_t bytes() const { return bytes_; }  // of the copies

 private:
  std::pmr::monotonic_buffer_resource memory_;
  std::size_t bytes_ = 0;
};

// An index of one kind of list. Each list has its own type, so an InstructionId cannot be passed as a ValueId.
template <class Thing>
struct Index {
  int value = -1;  // -1: refers to nothing

  constexpr Index() = default;
  constexpr explicit Index(std::integral auto number) : value(static_cast<int>(number)) {}
  explicit operator bool() const { return value >= 0; }
  friend auto operator<=>(Index, Index) = default;
};

// A vector that is indexed by `Id`.
template <class Id, class Item>
class Indexed : public std::vector<Item> {
 public:
  using std::vector<Item>::vector;

  Item& operator[](Id id) { return std::vector<Item>::operator[](id.value); }
  const Item& operator[](Id id) const { return std::vector<Item>::operator[](id.value); }
  Id next_id() const { return Id(this->size()); }  // of the next element to be added

  // All indices, in order.
  std::vector<Id> ids() const {
    std::vector<Id> all;
    for (std::size_t i = 0; i < this->size(); ++i) all.emplace_back(i);
    return all;
  }
};

using ArrayDims = std::vector<std::int64_t>;
using InstructionId = Index<struct HloInstruction>;
using ComputationId = Index<struct HloComputation>;

inline constexpr std::string_view kBfloat16 = "bf16";  // the element type
inline constexpr std::string_view kFloat64 = "f64";
inline constexpr int kHostMemorySpace = 5;  // S(5) in a layout; XLA's Layout::kHostMemorySpace

// An array, or a tuple of shapes.
struct HloShape {
  ArrayShape array;           // the dtype is empty for tuples, tokens and unknown shapes
  std::vector<int> elements;  // of a tuple: indices into HloModule::shapes
  bool is_tuple = false;
};

struct HloInstruction {
  std::string_view name;    // "add.1"
  std::string_view opcode;  // "add"
  // "dimensions={0}, …", without metadata, backend_config and frontend_attributes; at most 64 KiB
  std::string_view attributes;
  std::string_view frontend;  // "frontend_attributes={…}"; at most 1 KiB
  std::string_view literal;   // of a constant or parameter: the text in parentheses ("24"); at most 200 bytes
  std::string_view op_name;   // of the metadata, with escapes; may be empty
  int shape = 0;              // of the result: index into HloModule::shapes
  int frame = 0;              // index into HloModule::frames; 0: none
  ComputationId computation;
  std::span<const InstructionId> operands;
  std::span<const ComputationId> calls;  // in text order; for a while loop the condition, then the body

  bool Is(std::initializer_list<std::string_view> opcodes) const {
    return std::ranges::find(opcodes, opcode) != opcodes.end();
  }
};

struct HloComputation {
  std::string_view name;
  std::vector<InstructionId> instructions;  // in text order, which is the schedule of a scheduled module
  std::vector<InstructionId> parameters;    // by parameter number; an empty id if one is missing
  InstructionId root;                       // an empty id only if the text is damaged
};

struct SourceFrame {
  std::string_view file;
  std::int64_t line = 0;
  int parent = 0;  // the frame that called it; 0: none
};

struct HloModule {
  std::string name;
  Indexed<ComputationId, HloComputation> computations;
  Indexed<InstructionId, HloInstruction> instructions;
  std::vector<HloShape> shapes;  // without duplicates; 0 stands for a shape that was not understood
  // 0: none. The frames of the text's tables come first, then those made from the source_file and source_line that
  // older compilers print with an instruction.
  std::vector<SourceFrame> frames;
  std::string_view header;  // attributes of the first line: "is_scheduled=true, num_partitions=4"
  ComputationId entry;
  bool whole = true;        // false: truncated, damaged, or over a limit; contains the readable part
  bool over_limit = false;  // a limit was exceeded, so `whole` is false, but the file may be intact

  // The first instruction of this name; an empty id if there is none.
  InstructionId Find(std::string_view name) const {
    const auto found = by_name.find(name);
    return found == by_name.end() ? InstructionId() : found->second;
  }
  // Of the entry computation.
  std::vector<InstructionId> Parameters() const {
    return entry ? computations[entry].parameters : std::vector<InstructionId>();
  }
  const HloShape& ShapeOf(InstructionId instruction) const { return shapes[instructions[instruction].shape]; }

  NameMap<InstructionId> by_name;
  std::shared_ptr<Arena> memory = std::make_shared<Arena>();  // copies of a module share it
};

// Returns the value of an attribute, or empty: Attribute("dimensions={0,1}, kind=kLoop", "dimensions") is "{0,1}".
std::string_view Attribute(std::string_view attributes, std::string_view name, char separator = ',');

// Parses a list such as "{0,1}" or "0,1", up to the first part that is not an integer.
std::vector<std::int64_t> Integers(std::string_view list);

// Op names as frameworks write them: "jit(step)/transpose(jvp(loss))/rematted_computation/mul". Differentiation, vmap
// and checkpointing wrap words around the user's names.
inline bool Mentions(std::string_view op_name, std::string_view part) {
  return op_name.find(part) != std::string_view::npos;
}

inline bool IsDifferentiated(std::string_view op_name) { return Mentions(op_name, "jvp("); }
// Part of a transposed linear function: mostly the backward pass.
inline bool IsTransposed(std::string_view op_name) { return Mentions(op_name, "transpose("); }
// The backward pass of reverse-mode differentiation.
inline bool IsGradient(std::string_view op_name) { return Mentions(op_name, "transpose(jvp"); }

inline bool IsMapped(std::string_view op_name) { return Mentions(op_name, "vmap("); }

// Number of devices that the module is partitioned over, at least 1.
int PartitionsOf(const HloModule& module);

// Sends to the host, from debug prints and callbacks; at most 1000.
std::vector<InstructionId> HostTransfers(const HloModule& module);

// "fusion.1 = fusion(param.1, param), kind=kLoop": no shapes, cut to 250 bytes.
std::string InstructionLabel(const HloModule& module, InstructionId instruction);

struct SourceLine {
  std::string file;  // empty if unknown
  std::optional<std::int64_t> line;
};

// The user's source line: the innermost frame outside of libraries, or the innermost of all if all are in libraries.
SourceLine UserLine(const HloModule& module, InstructionId instruction);

// The array's shape and the user's line that creates it, if known: "f32[8,128] at train.py:7".
std::string ShapeAtLine(const HloModule& module, const ArrayShape& shape, InstructionId instruction);

struct HloLimits {
  std::size_t instructions = 2000000;
  std::size_t text_bytes = std::size_t{160} << 20;  // of the stored text
};

// Reads a module to its end or a limit. Skips damaged instructions and omits missing operands.
HloModule ReadHlo(ByteSource& source, const HloLimits& limits = {});

}  // namespace whyoom
