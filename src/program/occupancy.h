// Which buffers of a layout share memory with which, and when: worked out once, so that what is live at most costs each
// change of sizes little more than adding them up.
//
// Buffers that are live at one time and overlap in place, be it by way of others, are a group. A group takes the larger
// of its largest buffer and of all the others together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/layout.h"

namespace whyoom {

class Occupancy {
 public:
  // Borrows the buffers. Members of all groups beyond `most_members` are too many to be gone through.
  explicit Occupancy(const std::vector<Buffer>& buffers, std::size_t most_members = std::size_t{1} << 22);

  // The most that is live at a moment at which a buffer begins, when the buffers take `bytes` (by number), and `added`
  // buffers take memory of their own. `live` (may be null) gets the numbers of the buffers at the first such moment, in
  // the order of their places; it stays as it is where nothing takes memory. 0 where it is not whole.
  std::int64_t Most(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added,
                    std::vector<int>* live) const;

  bool whole() const { return whole_; }  // false: there were too many members

 private:
  // A group while it has the same members: from one event until before another.
  struct Group {
    std::size_t begin = 0;
    std::size_t end = 0;
    std::size_t members = 0;  // where they begin in members_; they end where those of the next begin
    int largest = 0;
  };
  class Builder;

  const std::vector<Buffer>& buffers_;
  std::vector<std::int64_t> events_;  // when a buffer begins, or is no more
  std::vector<char> begins_;          // of an event: whether a buffer begins
  std::vector<Group> groups_;
  std::vector<int> members_;
  bool whole_ = true;
};

}  // namespace whyoom
