#include "program/occupancy.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace whyoom {
namespace {

std::vector<std::int64_t> SizesOf(const std::vector<Buffer>& buffers) {
  std::vector<std::int64_t> sizes;
  for (const Buffer& buffer : buffers) sizes.push_back(buffer.size);
  return sizes;
}

}  // namespace

std::vector<Buffer> JoinInPlace(std::vector<Buffer> buffers) {
  const auto place = [](const Buffer& buffer) { return std::tie(buffer.allocation, buffer.offset, buffer.size); };
  std::stable_sort(buffers.begin(), buffers.end(), [&](const Buffer& a, const Buffer& b) {
    return std::tuple_cat(place(a), std::tie(a.first, a.last)) < std::tuple_cat(place(b), std::tie(b.first, b.last));
  });
  std::vector<Buffer> joined;
  for (Buffer& buffer : buffers) {
    const bool joins = !buffer.is_output && !joined.empty() && place(buffer) == place(joined.back()) &&
                       buffer.first <= joined.back().last;
    if (!joins) {
      joined.push_back(std::move(buffer));
      continue;
    }
    joined.back().last = std::max(joined.back().last, buffer.last);
    joined.back().values.insert(joined.back().values.end(), buffer.values.begin(), buffer.values.end());
  }
  return joined;
}

std::vector<Buffer> TemporariesOf(const ModuleMemory& memory) {
  std::vector<Buffer> buffers;
  ValueId id(0);
  for (const AllocationId allocation : memory.allocations.ids()) {
    for (const MemoryValue& value : memory.allocations[allocation].values) {
      if (memory.allocations[allocation].kind == AllocationKind::kTemporaries && value.first >= 0 && value.size > 0)
        buffers.push_back({value.offset, value.size, value.first, value.last, allocation, {id}});
      ++id.value;
    }
  }
  return JoinInPlace(std::move(buffers));
}

Occupancy::Occupancy(const std::vector<Buffer>& buffers) : buffers_(buffers) {
  for (int i = 0; std::cmp_less(i, buffers.size()); ++i) {
    changes_.push_back({buffers[i].first, i, true});
    changes_.push_back({buffers[i].last + 1, i, false});
  }
  std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) { return a.moment < b.moment; });
}

std::vector<Usage> Occupancy::Over(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added) const {
  const auto is_earlier = [](const auto& a, const auto& b) { return a.moment < b.moment; };
  std::vector<Usage> changes;
  for (const Change& change : changes_)
    changes.push_back({change.moment, change.begins ? bytes[change.buffer] : -bytes[change.buffer]});
  for (const Buffer& buffer : added) {
    changes.push_back({buffer.first, buffer.size});
    changes.push_back({buffer.last + 1, -buffer.size});
  }
  const auto of_added = changes.begin() + static_cast<std::ptrdiff_t>(changes_.size());
  std::sort(of_added, changes.end(), is_earlier);
  std::inplace_merge(changes.begin(), of_added, changes.end(), is_earlier);
  std::vector<Usage> over;
  std::int64_t total = 0;
  for (const Usage& change : changes) {
    total += change.bytes;
    if (over.empty() || over.back().moment != change.moment) over.push_back({change.moment});
    over.back().bytes = total;
  }
  return over;
}

Usage Occupancy::FindPeak(const std::vector<std::int64_t>& bytes, const std::vector<Buffer>& added) const {
  Usage peak;
  for (const Usage& usage : Over(bytes, added)) {
    if (usage.bytes > peak.bytes) peak = usage;
  }
  return peak;
}

std::vector<int> Occupancy::LiveAt(std::int64_t moment) const {
  std::vector<int> live;
  for (int i = 0; std::cmp_less(i, buffers_.size()); ++i) {
    if (buffers_[i].first <= moment && moment <= buffers_[i].last) live.push_back(i);
  }
  return live;
}

Usage PeakOf(const ModuleMemory& memory) {
  const std::vector<Buffer> buffers = TemporariesOf(memory);
  return Occupancy(buffers).FindPeak(SizesOf(buffers));
}

std::vector<MemoryValue> LiveAt(const MemoryAllocation& allocation, std::int64_t moment) {
  constexpr std::size_t kMostKept = 4096;  // each value is compared with all kept ones
  std::vector<const MemoryValue*> live;
  for (const MemoryValue& value : allocation.values) {
    if (moment < 0 || (value.first >= 0 && value.first <= moment && moment <= value.last)) live.push_back(&value);
  }
  std::stable_sort(live.begin(), live.end(),
                   [](const MemoryValue* a, const MemoryValue* b) { return a->size > b->size; });
  std::vector<MemoryValue> kept;
  for (const MemoryValue* value : live) {
    if (kept.size() >= kMostKept) break;
    const bool shares = std::any_of(kept.begin(), kept.end(), [&](const MemoryValue& other) {
      return value->offset < other.offset + other.size && other.offset < value->offset + value->size;
    });
    if (!shares) kept.push_back(*value);
  }
  return kept;
}

std::vector<MemoryMoment> TimelineOf(const ModuleMemory& memory, std::size_t most) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;  // a schedule beyond that is damage
  const std::vector<Buffer> buffers = TemporariesOf(memory);
  std::int64_t fixed = memory.need_bytes;
  std::int64_t length = memory.schedule_length;
  for (const MemoryAllocation& allocation : memory.allocations)
    fixed -= allocation.kind == AllocationKind::kTemporaries ? allocation.size : 0;
  for (const Buffer& buffer : buffers) length = std::max(length, buffer.last + 1);
  if (memory.schedule_length <= 0 || length > kLongest || most == 0) return {};
  const std::int64_t parts = std::min(length, static_cast<std::int64_t>(most));
  std::vector<Usage> peaks;
  for (std::int64_t part = 0; part < parts; ++part) peaks.push_back({(part * length + parts - 1) / parts, 0});
  const std::vector<Usage> over = Occupancy(buffers).Over(SizesOf(buffers));
  for (std::size_t i = 0; i < over.size(); ++i) {
    // The parts in which this usage begins and ends; it counts from the start of each but the first.
    const std::int64_t end = i + 1 < over.size() ? over[i + 1].moment : length;
    for (std::int64_t part = over[i].moment * parts / length; part < parts && peaks[part].moment < end; ++part) {
      if (over[i].bytes > peaks[part].bytes)
        peaks[part] = {std::max(over[i].moment, peaks[part].moment), over[i].bytes};
    }
  }
  std::vector<MemoryMoment> timeline;
  for (const Usage& peak : peaks) {
    timeline.push_back({static_cast<double>(peak.moment) / static_cast<double>(length),
                        std::min(memory.need_bytes, fixed + peak.bytes)});
  }
  return timeline;
}

}  // namespace whyoom
