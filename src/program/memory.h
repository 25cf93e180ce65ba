// What a compiled module takes in HBM, value by value, and when: from *buffer-assignment.txt and *live-range.txt of its
// dump. This is what the compiler decided; program/change.h lays a changed program out anew.
//
//   allocation 7: size 22301114368, page 0, preallocated-temp:
//    value: <25 copy.1.remat2 @0> (size=11150557184,offset=5575278592): f32[10889216,4,2]{1,2,0:T(2,128)}
//
// Formats: ToString of BufferAssignment and HloLiveRange in XLA's open source.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "facts/prospects.h"
#include "input/byte_source.h"

namespace whyoom {

enum class AllocationKind { kTemporaries, kArgument, kOutput, kConstant };

// Numbers beyond 2^60, which are damage, come as 2^60, so that an offset and a size can be added.
struct MemoryValue {
  std::string name;         // of the instruction, "while.5"
  std::string index;        // of the tuple element, "{1}"; empty for the whole value
  std::string shape;        // with layout
  std::int64_t size = 0;    // with padding
  std::int64_t offset = 0;  // within the allocation
  std::int64_t first = -1;  // places in the schedule, both inclusive; -1: not known
  std::int64_t last = -1;
  bool phi = false;  // a loop's carried value
};

struct MemoryAllocation {
  AllocationKind kind = AllocationKind::kTemporaries;
  bool is_output = false;       // also for an argument that an output shares
  int parameter = -1;           // number of the entry's parameter, for arguments
  std::string parameter_index;  // "{1}" within it; empty for a whole one
  std::string parameter_shape;  // "f32[512,1024]", without layout
  std::int64_t size = 0;
  std::vector<MemoryValue> values;
};

struct ModuleMemory {
  std::vector<MemoryAllocation> allocations;  // in HBM, thread-local ones left out: those of the error's "Used"
  std::int64_t host_bytes = 0;                // in the host's memory
  std::int64_t schedule_length = 0;           // of live-range.txt; 0 where there is none
  std::int64_t need_bytes = 0;                // of all allocations in HBM, also of those that a limit left out
  bool assignment_whole = true;               // false: cut or damaged, as far as the file shows it by itself
  bool ranges_whole = true;                   // likewise; true where there are none
  bool over_limit = false;                    // not all values or allocations are kept
  // Tuple elements with a live range that are no value kept here ("while.5{1}"): small ones, those of other memory, and
  // those that a cut assignment lacks. At most 50000 of them.
  std::vector<std::string> ranges_without_value;
};

struct MemoryLimits {
  std::int64_t smallest = 0;     // smaller values are left out unless they are as large as their allocation
  std::size_t values = 1000000;  // kept, the largest first
  std::size_t text_bytes = std::size_t{160} << 20;  // of the names and shapes that are kept
};

// `ranges` may be null. A file cut in the middle gives what it holds; values and allocations come in the file's order.
// The assignment's file has no end mark: cut between two lines it shows that only where the last allocation is not
// filled by its values. program/dump_files.h tells more from the other files.
ModuleMemory ReadMemory(ByteSource& assignment, ByteSource* ranges, const MemoryLimits& limits = {});

// Takes the live ranges out again, as if there were none.
void DropRanges(ModuleMemory* memory);

struct Peak {
  std::int64_t moment = -1;  // on the schedule; -1: no value has a range
  std::int64_t bytes = 0;
};

// When the values of an allocation of temporaries take most, each place in memory counted once, and how much; against
// the allocation's size this tells what fragmentation takes. Of several such moments the first.
Peak PeakOf(const MemoryAllocation& allocation);

// What a program takes over its schedule, cut into as many parts as `most`, or as it has moments: of each part the
// moment that takes most, so that the peak is always there. What fragmentation takes is in none of them. Empty where no
// live ranges are known.
std::vector<MemoryMoment> TimelineOf(const ModuleMemory& memory, std::size_t most = 64);

// The values of an allocation of temporaries that are live at the peak: the moment at which the values, with padding
// and each place in memory counted once, take most. Values that share their place at that moment come as one, under the
// name of the first in `values`. Where no value has a live range, as many as fit without sharing memory, the largest
// first.
std::vector<MemoryValue> LiveAtPeak(const MemoryAllocation& allocation);

}  // namespace whyoom
