// Which buffers share memory, and when: how much is live at the peak, whatever the sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace whyoom {

struct Buffer {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  int allocation = 0;
  std::vector<int> values = {};  // numbers in Program::values()
  bool is_output = false;        // returned: its memory is reserved throughout, and others may use it before
};

// What the buffers cover from an event on until the next one.
struct CoveredBytes {
  std::int64_t moment = 0;
  std::int64_t bytes = 0;
};

// Which buffers share memory, and when. Computed once, so that finding the peak of other sizes costs little more than
// adding them up.
//
// Buffers that are live at one time and overlap in place, directly or through others, are a group. A group needs the
// larger of its largest buffer and of the sum of all others.
class Occupancy {
 public:
  // Borrows the buffers. Gives up if all groups together have more than `most_members` members.
  explicit Occupancy(const std::vector<Buffer>& buffers, std::size_t most_members = std::size_t{1} << 22);

  // The most that is live at a moment at which a buffer begins, if the buffers need `bytes` (by number), and the
  // `added` buffers get memory of their own. `live` (may be null) receives the numbers of the buffers at the first such
  // moment, sorted by place; it is unchanged if nothing needs memory. 0 if not whole().
  std::int64_t Most(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added,
                    std::vector<int>* live) const;

  // The memory that the buffers cover with the sizes that they were placed with, over time. Empty if not whole().
  std::vector<CoveredBytes> Covered() const;

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

  std::vector<int> LiveAt(std::int64_t moment) const;

  const std::vector<Buffer>& buffers_;
  std::vector<std::int64_t> events_;  // when a buffer begins, or has ended
  std::vector<char> begins_;          // by event: whether a buffer begins
  std::vector<Group> groups_;
  std::vector<int> members_;
  bool whole_ = true;
};

}  // namespace whyoom
