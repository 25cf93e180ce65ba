// Reads how XLA laid out a module's memory: *buffer-assignment.txt of a dump, and when each value lives:
// *live-range.txt.
//
//   allocation 7: size 22301114368, page 0, preallocated-temp:
//    value: <25 copy.1.remat2 @0> (size=11150557184,offset=5575278592): f32[10889216,4,2]{1,2,0:T(2,128)}
//
// Formats: ToString of BufferAssignment and HloLiveRange in XLA's open source. Sizes are with padding; an allocation
// with a `color` is in another memory than HBM; `thread-local` ones are of reducers and take nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "input/byte_source.h"

namespace whyoom {

struct AssignedValue {
  std::string name;   // of the instruction, "while.5"
  std::string index;  // of the tuple element, "{1}"; empty for the whole value
  std::string shape;  // with layout
  std::int64_t size = 0;
  std::int64_t offset = 0;  // within the allocation
};

enum class AllocationKind { kTemporaries, kArgument, kOutput, kConstant };

struct AssignedAllocation {
  AllocationKind kind = AllocationKind::kTemporaries;
  bool is_output = false;  // also for an argument that an output shares
  std::int64_t size = 0;
  std::vector<AssignedValue> values;
};

// Allocations in HBM. Values smaller than `smallest` bytes are left out, unless they are as large as their allocation;
// of those kept at most `most`, the largest of each allocation first to be met.
std::vector<AssignedAllocation> ReadBufferAssignment(ByteSource& source, std::int64_t smallest, std::size_t most);

// Bytes of the allocations in the host's memory.
std::int64_t ReadHostBytes(ByteSource& source);

struct LiveRange {
  std::int64_t first = 0;  // places in the instruction sequence, both inclusive
  std::int64_t last = 0;
};

// By name and index as in AssignedValue, "while.5{1}" or "copy.1". Only names that `wanted` holds are kept.
std::map<std::string, LiveRange> ReadLiveRanges(ByteSource& source, const std::map<std::string, bool>& wanted);

// The values of an allocation of temporaries that are live at the peak: the moment at which the values, with padding
// and each place in memory counted once, take most. Values that share their place at that moment come as one, under the
// name of the first in `values`. Where no value has a live range, as many as fit without sharing memory, the largest
// first.
std::vector<AssignedValue> LiveAtPeak(const AssignedAllocation& allocation,
                                      const std::map<std::string, LiveRange>& ranges);

}  // namespace whyoom
