// Which buffers share memory, and when: how much is live at the peak, whatever the sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "facts/prospects.h"
#include "program/memory.h"

namespace whyoom {

using ValueId = Index<struct ProgramValue>;

struct Buffer {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::int64_t first = 0;  // positions in the schedule, both inclusive
  std::int64_t last = 0;
  AllocationId allocation = AllocationId(0);
  std::vector<ValueId> values;
  bool is_output = false;  // returned: its memory is reserved throughout, and others may use it before
};

// The memory in use from a moment of the schedule on, until the next one.
struct Usage {
  std::int64_t moment = -1;  // -1: never
  std::int64_t bytes = 0;
};

// Computed once, so that finding the peak of other sizes costs little more than adding them up.
//
// Buffers that are live at one time and overlap in place, directly or through others, are a group. A group needs the
// larger of its largest buffer and of the sum of all others.
class Occupancy {
 public:
  // Borrows the buffers. Gives up if all groups together have more than `most_members` members.
  explicit Occupancy(const std::vector<Buffer>& buffers, std::size_t most_members = std::size_t{1} << 22);

  // The first moment at which a buffer begins and most is live, if the buffers need `bytes` (by their place in the
  // list), and the `added` buffers get memory of their own. No usage if not whole().
  Usage FindPeak(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added) const;

  // Places in the list of the buffers that are live at a moment, sorted by their place in memory.
  std::vector<int> LiveAt(std::int64_t moment) const;

  // The memory that the buffers cover with the sizes that they were placed with, over time. Empty if not whole().
  std::vector<Usage> Covered() const;

  bool whole() const { return whole_; }  // false: there were too many members

 private:
  // A group while its members stay the same: from one event until before another.
  struct Group {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t members = 0;  // begin in members_; the next group's members follow
    std::int64_t extent = 0;  // bytes from the first place to the last
    int largest = 0;
  };
  class Builder;

  std::vector<int> SortedByPlace(std::vector<int> buffers) const;

  const std::vector<Buffer>& buffers_;
  std::vector<std::int64_t> events_;  // when a buffer begins, or has ended
  std::vector<char> begins_;          // by event: whether a buffer begins
  std::vector<Group> groups_;
  std::vector<int> members_;
  bool whole_ = true;
};

// The first peak of an allocation of temporaries, each place in memory counted once. The difference to the allocation's
// size is fragmentation.
Usage PeakOf(const MemoryAllocation& allocation);

// The values of an allocation of temporaries that are live at its peak. Of values that share their place then, only the
// first in `values`. If no value has a live range, as many as fit without sharing memory, the largest first.
std::vector<MemoryValue> LiveAtPeak(const MemoryAllocation& allocation);

// The memory that a program needs over its schedule, without fragmentation, cut into at most `most` parts: of each part
// the moment that needs most, so that the peak is always among them. Empty if no live ranges are known.
std::vector<MemoryMoment> TimelineOf(const ModuleMemory& memory, std::size_t most = 64);

}  // namespace whyoom
