// Finds the peak memory of buffers, for any sizes of the buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "facts/compiled_program.h"
#include "program/memory.h"

namespace whyoom {

using ValueId = Index<struct ProgramValue>;

struct Buffer {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::int64_t first = 0;  // live range: positions in the schedule, both inclusive
  std::int64_t last = 0;
  AllocationId allocation = AllocationId(0);
  std::vector<ValueId> values;
  bool is_output = false;  // allocated throughout; until it is computed, other buffers may use its memory
};

// Joins buffers of one place and size whose live ranges overlap or touch: values that are updated in place. An output
// begins a new buffer. The result is sorted by allocation, offset, size and live range.
std::vector<Buffer> JoinInPlace(std::vector<Buffer> buffers);

// The buffers of all temporaries with a live range.
std::vector<Buffer> TemporariesOf(const ModuleMemory& memory);

// The memory in use from a position in the schedule until the next `Usage`.
struct Usage {
  std::int64_t moment = -1;  // -1: never
  std::int64_t bytes = 0;
};

// Sorts the live ranges once, so finding the peak for other sizes costs little more than a sum. Buffers that overlap in
// memory count twice; JoinInPlace joins nearly all of them.
class Occupancy {
 public:
  // Borrows the buffers.
  explicit Occupancy(const std::vector<Buffer>& buffers);

  // The memory over time if each buffer needs `bytes` (by index) and the `added` buffers exist, too.
  std::vector<Usage> Over(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added = {}) const;

  // The first moment of peak usage.
  Usage FindPeak(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added = {}) const;

  // Indices of the buffers that are live at a moment.
  std::vector<int> LiveAt(std::int64_t moment) const;

 private:
  struct Change {
    std::int64_t moment;
    int buffer;
    bool begins;
  };

  const std::vector<Buffer>& buffers_;
  std::vector<Change> changes_;  // by moment
};

// The first peak of the temporaries.
Usage PeakOf(const ModuleMemory& memory);

// The values of an allocation that are live at a moment (-1: all values), without values that overlap a larger one, or
// an equal one that precedes it in `values`. Largest first.
std::vector<MemoryValue> LiveAt(const MemoryAllocation& allocation, std::int64_t moment);

// The memory that a program needs over its schedule, without fragmentation. Divides the schedule into at most `most`
// parts and returns the peak of each part, which includes the overall peak. Empty if no live ranges are known.
std::vector<MemoryMoment> TimelineOf(const ModuleMemory& memory, std::size_t most = 64);

}  // namespace whyoom
