// PeakOf of program/memory.h: a sweep through the schedule over a tree of the allocation's places.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "program/memory.h"

namespace whyoom {
namespace {

// How much of a line is covered by intervals that come and go. The line is cut at all their ends beforehand; a node of
// the tree stands for a run of pieces, so that a change costs the logarithm of their number.
class Cover {
 public:
  explicit Cover(std::vector<std::int64_t> ends) : ends_(std::move(ends)) {
    std::sort(ends_.begin(), ends_.end());
    ends_.erase(std::unique(ends_.begin(), ends_.end()), ends_.end());
    nodes_.resize(4 * ends_.size());
  }

  // The number of the piece that begins at `place`, which is among the ends given.
  std::size_t Piece(std::int64_t place) const {
    return static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), place) - ends_.begin());
  }

  // Adds an interval of the pieces [begin, end) (count 1) or takes it away (count -1).
  void Change(std::size_t begin, std::size_t end, int count) { Change(1, 0, ends_.size() - 1, begin, end, count); }

  std::int64_t covered() const { return nodes_[1].covered; }

 private:
  struct Node {
    int count = 0;  // of intervals that cover the whole node, and not its parent
    std::int64_t covered = 0;
  };

  // The node stands for the pieces [low, high).
  void Change(std::size_t node, std::size_t low, std::size_t high, std::size_t begin, std::size_t end, int count) {
    if (end <= low || high <= begin) return;
    if (begin <= low && high <= end) {
      nodes_[node].count += count;
    } else {
      const std::size_t middle = low + (high - low) / 2;
      Change(2 * node, low, middle, begin, end, count);
      Change(2 * node + 1, middle, high, begin, end, count);
    }
    if (nodes_[node].count > 0) {
      nodes_[node].covered = ends_[high] - ends_[low];
    } else {
      nodes_[node].covered = high - low > 1 ? nodes_[2 * node].covered + nodes_[2 * node + 1].covered : 0;
    }
  }

  std::vector<std::int64_t> ends_;
  std::vector<Node> nodes_;
};

struct Event {
  std::int64_t moment;
  int count;  // 1: begins to live; -1: has ended
  std::size_t begin;
  std::size_t end;
};

bool Counts(const MemoryValue& value) {
  return value.first >= 0 && value.last >= value.first && value.size > 0 && value.offset >= 0;
}

}  // namespace

Peak PeakOf(const MemoryAllocation& allocation) {
  std::vector<std::int64_t> ends;
  for (const MemoryValue& value : allocation.values) {
    if (!Counts(value)) continue;
    ends.push_back(value.offset);
    ends.push_back(value.offset + value.size);
  }
  if (ends.empty()) return {};
  Cover cover(std::move(ends));
  std::vector<Event> events;
  for (const MemoryValue& value : allocation.values) {
    if (!Counts(value)) continue;
    const std::size_t begin = cover.Piece(value.offset);
    const std::size_t end = cover.Piece(value.offset + value.size);
    events.push_back({value.first, 1, begin, end});
    events.push_back({value.last, -1, begin, end});
  }
  // At one moment the new values come first, since both ends of a range are inclusive.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.moment != b.moment ? a.moment < b.moment : a.count > b.count;
  });
  Peak peak;
  for (const Event& event : events) {
    cover.Change(event.begin, event.end, event.count);
    if (cover.covered() > peak.bytes) peak = {event.moment, cover.covered()};
  }
  return peak;
}

}  // namespace whyoom
