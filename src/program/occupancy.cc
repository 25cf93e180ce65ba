#include "program/occupancy.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace whyoom {
namespace {

// The buffers added to a layout, as sums over time.
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

  // What is live at a moment; asked in the order of time.
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

// Goes through the events; only groups that one touches are put together anew.
class Occupancy::Builder {
 public:
  Builder(Occupancy* occupancy, std::size_t most_members)
      : occupancy_(*occupancy), buffers_(occupancy->buffers_), most_members_(most_members) {}

  void Run();

 private:
  using Place = std::pair<int, std::int64_t>;  // allocation, offset
  struct Open {
    std::int64_t end = 0;  // offset
    std::size_t since = 0;
    std::vector<int> members;  // in the order of their places
  };

  void Touch(const Buffer& buffer);
  bool Emit(Open group, std::size_t event);
  void Regroup(std::size_t event);

  Occupancy& occupancy_;
  const std::vector<Buffer>& buffers_;
  const std::size_t most_members_;
  std::map<Place, Open> open_;  // by their begins
  std::vector<int> touched_;    // members of the groups taken apart at this event
  std::vector<Open> closed_;
};

// Takes the groups that share memory with a buffer apart.
void Occupancy::Builder::Touch(const Buffer& buffer) {
  auto group = open_.lower_bound({buffer.allocation, buffer.offset});
  if (group != open_.begin()) {
    const auto before = std::prev(group);
    if (before->first.first == buffer.allocation && before->second.end > buffer.offset) group = before;
  }
  while (group != open_.end() && group->first.first == buffer.allocation &&
         (group->first.second < buffer.offset + buffer.size || group->first.second == buffer.offset)) {
    touched_.insert(touched_.end(), group->second.members.begin(), group->second.members.end());
    closed_.push_back(std::move(group->second));
    group = open_.erase(group);
  }
}

// False where that are too many members.
bool Occupancy::Builder::Emit(Open group, std::size_t event) {
  Group done{group.since, event, occupancy_.members_.size(), group.members.front()};
  for (const int member : group.members) {
    if (buffers_[At(member)].size > buffers_[At(done.largest)].size) done.largest = member;
  }
  occupancy_.members_.insert(occupancy_.members_.end(), group.members.begin(), group.members.end());
  occupancy_.groups_.push_back(done);
  return occupancy_.members_.size() <= most_members_;
}

// Makes groups of what is touched.
void Occupancy::Builder::Regroup(std::size_t event) {
  std::sort(touched_.begin(), touched_.end(), [&](int a, int b) {
    const Buffer& one = buffers_[At(a)];
    const Buffer& other = buffers_[At(b)];
    return std::tie(one.allocation, one.offset, a) < std::tie(other.allocation, other.offset, b);
  });
  for (std::size_t i = 0; i < touched_.size();) {
    const Buffer& begin = buffers_[At(touched_[i])];
    Open group{begin.offset, event, {}};
    for (; i < touched_.size(); ++i) {
      const Buffer& buffer = buffers_[At(touched_[i])];
      if (buffer.allocation != begin.allocation || (buffer.offset >= group.end && buffer.offset != begin.offset)) break;
      group.end = std::max(group.end, buffer.offset + buffer.size);
      group.members.push_back(touched_[i]);
    }
    open_.emplace(Place(begin.allocation, begin.offset), std::move(group));
  }
}

void Occupancy::Builder::Run() {
  std::vector<int> by_first(buffers_.size());
  for (std::size_t i = 0; i < by_first.size(); ++i) by_first[i] = static_cast<int>(i);
  std::vector<int> by_last = by_first;
  std::sort(by_first.begin(), by_first.end(),
            [&](int a, int b) { return buffers_[At(a)].first < buffers_[At(b)].first; });
  std::sort(by_last.begin(), by_last.end(), [&](int a, int b) { return buffers_[At(a)].last < buffers_[At(b)].last; });
  std::size_t next = 0;
  std::size_t gone = 0;
  for (std::size_t event = 0; event < occupancy_.events_.size(); ++event) {
    const std::int64_t now = occupancy_.events_[event];
    touched_.clear();
    closed_.clear();
    const std::size_t before = gone;
    for (; gone < by_last.size() && buffers_[At(by_last[gone])].last < now; ++gone) Touch(buffers_[At(by_last[gone])]);
    if (gone > before) std::erase_if(touched_, [&](int i) { return buffers_[At(i)].last < now; });
    for (; next < by_first.size() && buffers_[At(by_first[next])].first <= now; ++next) {
      Touch(buffers_[At(by_first[next])]);
      touched_.push_back(by_first[next]);
    }
    for (Open& group : closed_) {
      if (!Emit(std::move(group), event)) {
        occupancy_.whole_ = false;
        return;
      }
    }
    Regroup(event);
  }
  for (auto& [place, group] : open_) {
    if (!Emit(std::move(group), occupancy_.events_.size())) occupancy_.whole_ = false;
  }
}

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

std::int64_t Occupancy::Most(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added,
                             std::vector<int>* live) const {
  if (!whole_) return 0;
  // What begins at an event less what ends; [0] is before all of them.
  std::vector<std::int64_t> totals(events_.size() + 2, 0);
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t end = g + 1 < groups_.size() ? groups_[g + 1].members : members_.size();
    std::int64_t all = 0;
    for (std::size_t i = groups_[g].members; i < end; ++i) all += bytes[At(members_[i])];
    const std::int64_t largest = bytes[At(groups_[g].largest)];
    const std::int64_t takes = std::max(largest, all - largest);
    totals[groups_[g].begin + 1] += takes;
    totals[groups_[g].end + 1] -= takes;
  }
  for (std::size_t i = 1; i < totals.size(); ++i) totals[i] += totals[i - 1];
  Added more(added);
  std::int64_t most = 0;
  std::int64_t when = -1;
  const auto look = [&](std::int64_t moment, std::size_t event) {
    const std::int64_t total = totals[event] + more.BytesAt(moment);
    if (total <= most) return;
    most = total;
    when = moment;
  };
  std::size_t next = 0;
  for (std::size_t event = 0; event < events_.size(); ++event) {
    for (; next < more.begins().size() && more.begins()[next] < events_[event]; ++next)
      look(more.begins()[next], event);
    const bool begins = next < more.begins().size() && more.begins()[next] == events_[event];
    if (begins) ++next;
    if (begins || begins_[event] != 0) look(events_[event], event + 1);
  }
  for (; next < more.begins().size(); ++next) look(more.begins()[next], events_.size());
  if (live == nullptr || most == 0) return most;
  live->clear();
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].first <= when && when <= buffers_[i].last) live->push_back(static_cast<int>(i));
  }
  std::sort(live->begin(), live->end(), [&](int a, int b) {
    const Buffer& one = buffers_[At(a)];
    const Buffer& other = buffers_[At(b)];
    return std::tie(one.allocation, one.offset, a) < std::tie(other.allocation, other.offset, b);
  });
  return most;
}

}  // namespace whyoom
