#include "program/occupancy.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace whyoom {
namespace {

// Sums the sizes of added buffers over time.
class Added {
 public:
  explicit Added(const std::vector<Buffer>& buffers) {
    for (const Buffer& buffer : buffers) {
      begins_.push_back(buffer.first);
      if (buffer.last < buffer.first) continue;
      changes_.emplace_back(buffer.first, buffer.size);
      changes_.emplace_back(buffer.last + 1, -buffer.size);
    }
    std::sort(begins_.begin(), begins_.end());
    begins_.erase(std::unique(begins_.begin(), begins_.end()), begins_.end());
    std::sort(changes_.begin(), changes_.end());
  }

  const std::vector<std::int64_t>& begins() const { return begins_; }

  // The bytes that are live at a moment. Moments must not decrease from call to call.
  std::int64_t BytesAt(std::int64_t moment) {
    for (; next_ < changes_.size() && changes_[next_].first <= moment; ++next_) bytes_ += changes_[next_].second;
    return bytes_;
  }

 private:
  std::vector<std::int64_t> begins_;
  std::vector<std::pair<std::int64_t, std::int64_t>> changes_;
  std::size_t next_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace

// Iterates over the events and rebuilds only the groups that an event affects.
class Occupancy::Builder {
 public:
  Builder(Occupancy* occupancy, std::size_t most_members)
      : occupancy_(*occupancy), buffers_(occupancy->buffers_), most_members_(most_members) {}

  void Run() {
    const std::vector<int> by_first = SortedBy(&Buffer::first);
    const std::vector<int> by_last = SortedBy(&Buffer::last);
    std::size_t next = 0;
    std::size_t gone = 0;
    for (std::size_t event = 0; event < occupancy_.events_.size(); ++event) {
      const std::int64_t now = occupancy_.events_[event];
      touched_.clear();
      closed_.clear();
      const std::size_t before = gone;
      for (; gone < by_last.size() && buffers_[by_last[gone]].last < now; ++gone) Touch(buffers_[by_last[gone]]);
      if (gone > before) std::erase_if(touched_, [&](int i) { return buffers_[i].last < now; });
      for (; next < by_first.size() && buffers_[by_first[next]].first <= now; ++next) {
        Touch(buffers_[by_first[next]]);
        touched_.push_back(by_first[next]);
      }
      for (const Open& group : closed_) {
        if (!Emit(group, event)) return;
      }
      Regroup(event);
    }
    for (const auto& [place, group] : open_) Emit(group, occupancy_.events_.size());
  }

 private:
  using Place = std::pair<AllocationId, std::int64_t>;  // allocation, offset
  struct Open {
    std::int64_t begin = 0;  // offsets
    std::int64_t end = 0;
    std::size_t since = 0;
    std::vector<int> members = {};  // sorted by offset
  };

  std::vector<int> SortedBy(std::int64_t Buffer::*key) const {
    std::vector<int> sorted(buffers_.size());
    std::iota(sorted.begin(), sorted.end(), 0);
    std::sort(sorted.begin(), sorted.end(), [&](int a, int b) { return buffers_[a].*key < buffers_[b].*key; });
    return sorted;
  }

  // Closes the groups that share memory with a buffer.
  void Touch(const Buffer& buffer) {
    auto group = open_.lower_bound({buffer.allocation, buffer.offset});
    if (group != open_.begin()) {
      const auto before = std::prev(group);
      if (before->first.first == buffer.allocation && before->second.end > buffer.offset) group = before;
    }
    while (group != open_.end() && group->first.first == buffer.allocation &&
           (group->second.begin < buffer.offset + buffer.size || group->second.begin == buffer.offset)) {
      touched_.insert(touched_.end(), group->second.members.begin(), group->second.members.end());
      closed_.push_back(std::move(group->second));
      group = open_.erase(group);
    }
  }

  // Stores a finished group. Returns false if there are too many members.
  bool Emit(const Open& group, std::size_t event) {
    Group done{group.since, event, occupancy_.members_.size(), group.end - group.begin, group.members.front()};
    for (const int member : group.members) {
      if (buffers_[member].size > buffers_[done.largest].size) done.largest = member;
    }
    occupancy_.members_.insert(occupancy_.members_.end(), group.members.begin(), group.members.end());
    occupancy_.groups_.push_back(done);
    occupancy_.whole_ = occupancy_.whole_ && occupancy_.members_.size() <= most_members_;
    return occupancy_.whole_;
  }

  // Forms new groups from the touched buffers.
  void Regroup(std::size_t event) {
    touched_ = occupancy_.SortedByPlace(std::move(touched_));
    for (std::size_t i = 0; i < touched_.size();) {
      const Buffer& first = buffers_[touched_[i]];
      Open group{first.offset, first.offset, event};
      for (; i < touched_.size(); ++i) {
        const Buffer& buffer = buffers_[touched_[i]];
        if (buffer.allocation != first.allocation || (buffer.offset >= group.end && buffer.offset != first.offset))
          break;
        group.end = std::max(group.end, buffer.offset + buffer.size);
        group.members.push_back(touched_[i]);
      }
      open_.emplace(Place(first.allocation, first.offset), std::move(group));
    }
  }

  Occupancy& occupancy_;
  const std::vector<Buffer>& buffers_;
  const std::size_t most_members_;
  std::map<Place, Open> open_;  // by their start
  std::vector<int> touched_;    // buffers that begin at this event, and members of the groups closed at it
  std::vector<Open> closed_;
};

Occupancy::Occupancy(const std::vector<Buffer>& buffers, std::size_t most_members) : buffers_(buffers) {
  std::vector<std::pair<std::int64_t, bool>> events;
  events.reserve(2 * buffers.size());
  for (const Buffer& buffer : buffers) {
    events.emplace_back(buffer.first, true);
    events.emplace_back(buffer.last + 1, false);
  }
  std::sort(events.begin(), events.end());
  for (const auto& [moment, begins] : events) {
    if (events_.empty() || events_.back() != moment) {
      events_.push_back(moment);
      begins_.push_back(0);
    }
    if (begins) begins_.back() = 1;
  }
  Builder(this, most_members).Run();
}

std::vector<Usage> Occupancy::Covered() const {
  std::vector<Usage> covered;
  if (!whole_) return covered;
  std::vector<std::int64_t> changes(events_.size() + 1, 0);
  for (const Group& group : groups_) {
    changes[group.begin] += group.extent;
    changes[group.end] -= group.extent;
  }
  std::int64_t bytes = 0;
  for (std::size_t event = 0; event < events_.size(); ++event) {
    bytes += changes[event];
    covered.push_back({events_[event], bytes});
  }
  return covered;
}

Usage Occupancy::FindPeak(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added) const {
  if (!whole_) return {};
  // The change of memory at each event; index 0 is before the first event.
  std::vector<std::int64_t> totals(events_.size() + 2, 0);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t end = g + 1 < groups_.size() ? groups_[g + 1].members : members_.size();
    std::int64_t all = 0;
    for (std::size_t i = groups_[g].members; i < end; ++i) all += bytes[members_[i]];
    const std::int64_t largest = bytes[groups_[g].largest];
    const std::int64_t needed = std::max(largest, all - largest);
    totals[groups_[g].begin + 1] += needed;
    totals[groups_[g].end + 1] -= needed;
  }
  std::partial_sum(totals.begin(), totals.end(), totals.begin());
  Added more(added);
  Usage peak;
  const auto look = [&](std::int64_t moment, std::size_t event) {
    const std::int64_t total = totals[event] + more.BytesAt(moment);
    if (total > peak.bytes) peak = {moment, total};
  };
  auto begin = more.begins().begin();
  const auto end = more.begins().end();
  for (std::size_t event = 0; event < events_.size(); ++event) {
    for (; begin != end && *begin < events_[event]; ++begin) look(*begin, event);
    const bool begins = begin != end && *begin == events_[event];
    if (begins) ++begin;
    if (begins || begins_[event] != 0) look(events_[event], event + 1);
  }
  for (; begin != end; ++begin) look(*begin, events_.size());
  return peak;
}

std::vector<int> Occupancy::LiveAt(std::int64_t moment) const {
  std::vector<int> live;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].first <= moment && moment <= buffers_[i].last) live.push_back(static_cast<int>(i));
  }
  return SortedByPlace(std::move(live));
}

std::vector<int> Occupancy::SortedByPlace(std::vector<int> buffers) const {
  std::sort(buffers.begin(), buffers.end(), [&](int a, int b) {
    return std::tie(buffers_[a].allocation, buffers_[a].offset, a) <
           std::tie(buffers_[b].allocation, buffers_[b].offset, b);
  });
  return buffers;
}

namespace {

// The memory that the values of the allocations cover over time.
std::vector<Usage> CoverageOf(const std::vector<const MemoryAllocation*>& allocations) {
  std::vector<Buffer> buffers;
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    for (const MemoryValue& value : allocations[i]->values) {
      if (!IsPlaced(value)) continue;
      buffers.push_back({.offset = value.offset,
                         .size = value.size,
                         .first = value.first,
                         .last = value.last,
                         .allocation = AllocationId(i)});
    }
  }
  return Occupancy(buffers, std::size_t{1} << 24).Covered();
}

// Drops values that overlap a larger one, or an equal one that precedes it. Returns the others, largest first.
std::vector<MemoryValue> WithoutSharing(std::vector<MemoryValue> values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const MemoryValue& a, const MemoryValue& b) { return a.size > b.size; });
  constexpr std::size_t kMostKept = 4096;  // each value is compared with all kept ones
  std::vector<MemoryValue> kept;
  for (MemoryValue& value : values) {
    if (kept.size() >= kMostKept) break;
    const bool shares =
        std::any_of(kept.begin(), kept.end(), [&](const MemoryValue& other) { return Overlap(value, other); });
    if (!shares) kept.push_back(std::move(value));
  }
  return kept;
}

}  // namespace

bool IsPlaced(const MemoryValue& value) {
  return value.first >= 0 && value.last >= value.first && value.size > 0 && value.offset >= 0;
}

bool Overlap(const MemoryValue& a, const MemoryValue& b) {
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

Usage PeakOf(const MemoryAllocation& allocation) {
  Usage peak;
  for (const Usage& covered : CoverageOf({&allocation})) {
    if (covered.bytes > peak.bytes) peak = covered;
  }
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
    for (const MemoryValue& value : allocation.values) last = IsPlaced(value) ? std::max(last, value.last) : last;
  }
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;  // a schedule beyond that is damage
  if (last < 0 || last > kLongest || memory.schedule_length <= 0 || most == 0) return {};
  const std::int64_t length = last + 1;
  const std::int64_t parts = std::min(length, static_cast<std::int64_t>(most));
  const std::vector<Usage> covered = CoverageOf(temporaries);
  std::vector<MemoryMoment> timeline;
  std::int64_t carried = 0;  // from the previous part
  auto next = covered.begin();
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t begin = (part * length + parts - 1) / parts;
    const std::int64_t end = ((part + 1) * length + parts - 1) / parts;
    for (; next != covered.end() && next->moment <= begin; ++next) carried = next->bytes;
    Usage peak{begin, carried};
    for (; next != covered.end() && next->moment < end; ++next) {
      carried = next->bytes;
      if (carried > peak.bytes) peak = *next;
    }
    timeline.push_back({static_cast<double>(peak.moment) / static_cast<double>(length), fixed + peak.bytes});
  }
  return timeline;
}

std::vector<MemoryValue> LiveAtPeak(const MemoryAllocation& allocation) {
  const std::int64_t peak = PeakOf(allocation).moment;
  if (peak < 0) return WithoutSharing(allocation.values);
  std::vector<MemoryValue> live;
  for (const MemoryValue& value : allocation.values) {
    if (value.first >= 0 && value.first <= peak && peak <= value.last) live.push_back(value);
  }
  return WithoutSharing(std::move(live));
}

}  // namespace whyoom
