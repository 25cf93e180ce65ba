// Reads from a module's text (*oom_intermediate_module.txt, *after_optimizations.txt of a dump) what a report would
// print of some of its instructions: op name, the user's line of source, and the instruction itself as label.
//
// Since 2026 instructions carry a stack_frame_id; the tables FileNames, FunctionNames, FileLocations and StackFrames at
// the head of the text lead from it to a file and a line. A frame's parent is the frame that called it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "input/byte_source.h"

namespace whyoom {

struct HloInstruction {
  std::string label;  // "fusion.1 = fusion(param.1, param), kind=kLoop", without shapes, cut to 250 characters
  std::string opcode;
  std::string op_name;
  std::string source_file;
  std::optional<std::int64_t> source_line;
};

struct HloModule {
  std::map<std::string, HloInstruction> instructions;  // by name; only those asked for
  std::vector<std::pair<std::string, HloInstruction>>
      host_transfers;  // sends to the host, of debug prints and callbacks
};

// Instructions whose names `wanted` holds, and all sends to the host (at most a thousand).
HloModule ReadHloModule(ByteSource& source, const std::map<std::string, bool>& wanted);

}  // namespace whyoom
