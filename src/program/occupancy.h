// Finds the peak memory of buffers that share memory, for any sizes of the buffers.
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

// The memory in use from a position in the schedule until the next `Usage`.
struct Usage {
  std::int64_t moment = -1;  // -1: never
  std::int64_t bytes = 0;
};

// Analyzes the buffers once, so failure the peak for other sizes costs little more than a sum.
//
// Buffers that are live at the same time and overlap in memory, directly or through others, form a group. A group needs
// the size of its largest buffer or the sum of all others, whichever is larger.
class Occupancy {
 public:
  // Borrows the buffers. whole() is false if all groups together have more than `most_members` members.
  explicit Occupancy(const std::vector<Buffer>& buffers, std::size_t most_members = std::size_t{1} << 22);

  // Returns the first moment of peak usage if each buffer needs `bytes` (by index) and the `added` buffers share no
  // memory. Returns an empty usage if not whole().
  Usage FindPeak(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added) const;

  // Indices of the buffers that are live at a moment, sorted by allocation and offset.
  std::vector<int> LiveAt(std::int64_t moment) const;

  // The memory that the buffers cover over time, with their original sizes. Empty if not whole().
  std::vector<Usage> Covered() const;

  bool whole() const { return whole_; }  // false if there were too many members

 private:
  // A group during a period in which its members stay the same.
  struct Group {
    std::size_t begin = 0;  // events: the first, and one past the last
    std::size_t end = 0;
    std::size_t members = 0;  // first index in members_; the next group's members follow
    std::int64_t extent = 0;  // bytes from the lowest offset to the highest end
    int largest = 0;
  };
  class Builder;

  std::vector<int> SortedByPlace(std::vector<int> buffers) const;

  const std::vector<Buffer>& buffers_;
  std::vector<std::int64_t> events_;  // moments at which a buffer begins or has just ended
  std::vector<char> begins_;          // by event: whether a buffer begins
  std::vector<Group> groups_;
  std::vector<int> members_;
  bool whole_ = true;
};

// Whether the value has a live range and memory.
bool IsPlaced(const MemoryValue& value);

// Whether two values of one allocation have memory in common, not necessarily at the same time.
bool Overlap(const MemoryValue& a, const MemoryValue& b);

// The first peak of an allocation of temporaries. Counts shared memory once. The difference to the allocation's size is
// fragmentation.
Usage PeakOf(const MemoryAllocation& allocation);

// The values of an allocation of temporaries that are live at its peak, without values that overlap a larger one (or an
// equal one that precedes it in `values`). If no value has a live range, chooses from all values in the same way.
std::vector<MemoryValue> LiveAtPeak(const MemoryAllocation& allocation);

// The memory that a program needs over its schedule, without fragmentation. Divides the schedule into at most `most`
// parts and returns the peak of each part, which includes the overall peak. Empty if no live ranges are known.
std::vector<MemoryMoment> TimelineOf(const ModuleMemory& memory, std::size_t most = 64);

}  // namespace whyoom
