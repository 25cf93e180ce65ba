// PeakOf and TimelineOf of program/memory.h: a sweep through the schedule over a tree of the allocation's places.
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
  std::size_t cover;
  std::size_t begin;
  std::size_t end;
};

bool Counts(const MemoryValue& value) {
  return value.first >= 0 && value.last >= value.first && value.size > 0 && value.offset >= 0;
}

void AddEvents(const MemoryAllocation& allocation, std::vector<Cover>* covers, std::vector<Event>* events) {
  std::vector<std::int64_t> ends;
  for (const MemoryValue& value : allocation.values) {
    if (!Counts(value)) continue;
    ends.push_back(value.offset);
    ends.push_back(value.offset + value.size);
  }
  if (ends.empty()) return;
  covers->emplace_back(std::move(ends));
  for (const MemoryValue& value : allocation.values) {
    if (!Counts(value)) continue;
    const std::size_t begin = covers->back().Piece(value.offset);
    const std::size_t end = covers->back().Piece(value.offset + value.size);
    events->push_back({value.first, 1, covers->size() - 1, begin, end});
    events->push_back({value.last, -1, covers->size() - 1, begin, end});
  }
}

// Calls visit(moment, bytes) with what the allocations take together, in the order of the schedule: at each moment at
// which values begin to live, and behind each at which some end.
template <typename Visit>
void Sweep(const std::vector<const MemoryAllocation*>& allocations, Visit visit) {
  std::vector<Cover> covers;
  std::vector<Event> events;
  for (const MemoryAllocation* allocation : allocations) AddEvents(*allocation, &covers, &events);
  // At one moment the new values come first, since both ends of a range are inclusive.
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return a.moment != b.moment ? a.moment < b.moment : a.count > b.count;
  });
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Event& event = events[i];
    Cover& cover = covers[event.cover];
    bytes -= cover.covered();
    cover.Change(event.begin, event.end, event.count);
    bytes += cover.covered();
    const bool more =
        i + 1 < events.size() && events[i + 1].moment == event.moment && events[i + 1].count == event.count;
    if (!more) visit(event.moment + (event.count < 0 ? 1 : 0), bytes);
  }
}

}  // namespace

Peak PeakOf(const MemoryAllocation& allocation) {
  Peak peak;
  Sweep({&allocation}, [&](std::int64_t moment, std::int64_t bytes) {
    if (bytes > peak.bytes) peak = {moment, bytes};
  });
  return peak;
}

std::vector<MemoryMoment> TimelineOf(const ModuleMemory& memory, std::size_t most) {
  std::vector<const MemoryAllocation*> temporaries;
  std::int64_t fixed = memory.need_bytes;
  std::int64_t last = memory.schedule_length - 1;
  for (const MemoryAllocation& allocation : memory.allocations) {
    if (allocation.kind != AllocationKind::kTemporaries) continue;
    fixed -= allocation.size;
    temporaries.push_back(&allocation);
  }
  for (const MemoryAllocation* allocation : temporaries) {
    for (const MemoryValue& value : allocation->values) last = Counts(value) ? std::max(last, value.last) : last;
  }
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;  // a schedule beyond that is damage
  if (last < 0 || last > kLongest || memory.schedule_length <= 0 || most == 0) return {};
  const std::int64_t length = last + 1;
  const std::int64_t parts = std::min(length, static_cast<std::int64_t>(most));
  std::vector<Peak> peaks(static_cast<std::size_t>(parts));
  std::int64_t carried = 0;  // into the part that begins
  std::size_t part = 0;      // the next to begin
  const auto begin_of = [&](std::size_t i) { return (static_cast<std::int64_t>(i) * length + parts - 1) / parts; };
  const auto begin_parts = [&](std::int64_t before) {
    for (; part < peaks.size() && begin_of(part) < before; ++part) peaks[part] = {begin_of(part), carried};
  };
  Sweep(temporaries, [&](std::int64_t moment, std::int64_t bytes) {
    begin_parts(moment);
    carried = bytes;
    begin_parts(moment + 1);
    if (moment < length && bytes > peaks[part - 1].bytes) peaks[part - 1] = {moment, bytes};
  });
  begin_parts(length);
  std::vector<MemoryMoment> timeline;
  for (const Peak& peak : peaks)
    timeline.push_back({static_cast<double>(peak.moment) / static_cast<double>(length), fixed + peak.bytes});
  return timeline;
}

}  // namespace whyoom
