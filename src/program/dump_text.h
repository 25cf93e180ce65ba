// What a report prints of a dump: which values count, and how an instruction reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "program/hlo.h"
#include "program/memory.h"

namespace whyoom {

// The values of an allocation of temporaries that are live at the peak: the moment at which the values, with padding
// and each place in memory counted once, take most. Values that share their place at that moment come as one, under the
// name of the first in `values`. Where no value has a live range, as many as fit without sharing memory, the largest
// first.
std::vector<MemoryValue> LiveAtPeak(const MemoryAllocation& allocation);

// "fusion.1 = fusion(param.1, param), kind=kLoop", without shapes, cut to 250 characters.
std::string InstructionLabel(const HloModule& module, int instruction);

struct SourceLine {
  std::string file;  // empty where it is not known
  std::optional<std::int64_t> line;
};

// The user's own line: of the frames that lead to the instruction the innermost that lies in no library; where all do,
// the outermost.
SourceLine UserLine(const HloModule& module, int instruction);

}  // namespace whyoom
