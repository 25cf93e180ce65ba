// What a compiled module needs in HBM, value by value, and when: from *buffer-assignment.txt and *live-range.txt of its
// dump. This is what the compiler decided. Formats: ToString of BufferAssignment and HloLiveRange of XLA.
//
//   allocation 7: size 22301114368, page 0, preallocated-temp:
//    value: <25 copy.1.remat2 @0> (size=11150557184,offset=5575278592): f32[10889216,4,2]{1,2,0:T(2,128)}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/byte_source.h"
#include "program/index.h"

namespace whyoom {

using AllocationId = Index<struct MemoryAllocation>;

enum class AllocationKind { kTemporaries, kArgument, kOutput, kConstant };

// Numbers beyond 2^60, which are damage, become 2^60, so that an offset and a size can be added.
struct MemoryValue {
  std::string name;         // of the instruction, "while.5"
  std::string index;        // of the tuple element, "{1}"; empty for the whole value
  std::string shape;        // with layout
  std::int64_t size = 0;    // with padding
  std::int64_t offset = 0;  // within the allocation
  std::int64_t first = -1;  // positions in the schedule, both inclusive; -1: not known
  std::int64_t last = -1;
  bool phi = false;  // a loop's carried value
};

struct MemoryAllocation {
  AllocationKind kind = AllocationKind::kTemporaries;
  bool is_output = false;       // also for an argument that shares its memory with an output
  int parameter = -1;           // number of the entry's parameter, for arguments
  std::string parameter_index;  // "{1}" within it; empty for a whole one
  std::string parameter_shape;  // "f32[512,1024]", without layout
  std::int64_t size = 0;
  std::vector<MemoryValue> values;

  // As large as its argument or constant throughout the program.
  bool IsFixed() const { return kind == AllocationKind::kArgument || kind == AllocationKind::kConstant; }
};

struct ModuleMemory {
  Indexed<AllocationId, MemoryAllocation> allocations;  // in HBM, without thread-local ones: the error's "Used"
  std::int64_t host_bytes = 0;                          // in the host's memory
  std::int64_t schedule_length = 0;                     // of live-range.txt; 0: there is none
  std::int64_t need_bytes = 0;                          // of all allocations in HBM, also those beyond a limit
  bool assignment_whole = true;                         // false: cut or damaged, as far as the file shows it by itself
  bool ranges_whole = true;                             // the same of the live ranges; true if there are none
  bool over_limit = false;                              // not all values or allocations are kept
  // Tuple elements with a live range that are not among the values ("while.5{1}"): small ones, those of other memory,
  // and those that a cut assignment lacks. At most 50000 of them.
  std::vector<std::string> ranges_without_value;

  bool has_ranges() const { return ranges_whole && schedule_length > 0; }
};

struct MemoryLimits {
  std::int64_t smallest = 0;     // smaller values are left out unless they are as large as their allocation
  std::size_t values = 1000000;  // kept, the largest first
  std::size_t text_bytes = std::size_t{160} << 20;  // of the names and shapes that are kept
};

// `ranges` may be null. If a file was cut in the middle, the result contains what is there; values and allocations are
// in the file's order. The assignment has no end mark: a cut between two lines shows only if the last allocation is not
// filled by its values. program/dump_files.h compares it with the other files.
ModuleMemory ReadMemory(ByteSource& assignment, ByteSource* ranges, const MemoryLimits& limits = {});

// Removes the live ranges.
void DropRanges(ModuleMemory* memory);

}  // namespace whyoom
