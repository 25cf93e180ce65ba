// Reads the compiler's buffer assignment: the memory and live range of each value, from *buffer-assignment.txt and
// *live-range.txt of a dump. Formats: ToString of BufferAssignment and HloLiveRange of XLA.
//
//   allocation 7: size 22301114368, page 0, preallocated-temp:
//    value: <25 copy.1.remat2 @0> (size=11150557184,offset=5575278592): f32[10889216,4,2]{1,2,0:T(2,128)}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/byte_source.h"
#include "program/hlo.h"

namespace whyoom {

using AllocationId = Index<struct MemoryAllocation>;
using ValueId = Index<struct ProgramValue>;  // numbers the values of all allocations in order

enum class AllocationKind { kTemporaries, kArgument, kOutput, kConstant };

// The part of an allocation that a value occupies, and when. The numbers are at most 2^60, and the sum of the sizes of
// all values is at most 2^57, more than any device has.
struct Extent {
  std::int64_t size = 0;    // with padding
  std::int64_t offset = 0;  // within the allocation
  std::int64_t first = -1;  // live range: positions in the schedule, both inclusive; -1: not known
  std::int64_t last = -1;
};

struct MemoryValue : Extent {
  std::string name;   // of the instruction, "while.5"
  std::string index;  // of the tuple element, "{1}"; empty for the whole value
  std::string shape;  // with layout
};

struct MemoryAllocation {
  AllocationKind kind = AllocationKind::kTemporaries;
  bool is_output = false;  // also for an argument that shares its memory with an output
  int parameter = -1;      // for arguments: number of the entry computation's parameter
  std::int64_t size = 0;
  std::vector<MemoryValue> values;

  // Arguments and constants occupy their memory throughout the program.
  bool IsFixed() const { return kind == AllocationKind::kArgument || kind == AllocationKind::kConstant; }
};

struct ModuleMemory {
  Indexed<AllocationId, MemoryAllocation> allocations;  // in HBM, not thread-local: "Used" in the error message
  std::int64_t host_bytes = 0;                          // in the host's memory
  std::int64_t schedule_length = 0;                     // positions in live-range.txt; 0 if there is none
  std::int64_t need_bytes = 0;                          // of all allocations in HBM, including any beyond a limit
  bool assignment_whole = true;                         // false: the file itself shows that it is truncated or damaged
  bool ranges_whole = true;                             // the same for the live ranges; true if there are none
  bool over_limit = false;                              // some values or allocations were dropped
  // Results and tuple elements ("while.5{1}") that have a live range but are not among the values: small values, values
  // in other memory, and values that a truncated assignment lacks. At most 50000.
  std::vector<std::string> ranges_without_value;

  bool has_ranges() const { return ranges_whole && schedule_length > 0; }
};

struct MemoryLimits {
  std::int64_t smallest = 0;                        // drop smaller values, unless they fill their allocation
  std::size_t values = 1000000;                     // number of values to keep; later ones are dropped
  std::size_t text_bytes = std::size_t{160} << 20;  // of the names and shapes to keep
};

// Reads a buffer assignment and live ranges (`ranges` may be null). Values and allocations keep the file's order. For a
// truncated file, returns the readable part. The assignment has no end mark: truncation between two lines is detected
// only if the values do not fill the last allocation. program/dump_files.h also compares it with the other files.
ModuleMemory ReadMemory(ByteSource& assignment, ByteSource* ranges, const MemoryLimits& limits = {});

// Splits "while.5{1}" into the name and the index of the tuple element; the index is empty for the whole value ("{}").
std::pair<std::string_view, std::string_view> SplitPlace(std::string_view place);

}  // namespace whyoom
