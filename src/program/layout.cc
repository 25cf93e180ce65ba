#include "program/layout.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

namespace whyoom {
namespace {

// Smaller values are many and weigh nothing; what they take stays in the difference to the compiler's figure.
constexpr std::int64_t kSmallest = std::int64_t{64} << 10;

// "fusion.7.remat2" is "fusion.7", computed again.
std::string_view Original(std::string_view name) { return name.substr(0, name.find(".remat")); }

}  // namespace

Layout::Layout(const Program& program, bool undo_rematerialization) : program_(program) {
  FindBuffers(false);
  std::int64_t needed = Need(SizesAsTheyAre());
  fragmentation_ = std::max<std::int64_t>(0, program.memory().need_bytes - needed);
  if (undo_rematerialization) {
    buffers_.clear();
    FindBuffers(true);
  }
}

Sizes Layout::SizesAsTheyAre() const {
  Sizes sizes;
  sizes.reserve(program_.values().size());
  for (const ProgramValue& value : program_.values()) sizes.push_back(value.size);
  return sizes;
}

void Layout::FindBuffers(bool undo) {
  const std::vector<ProgramValue>& values = program_.values();
  std::map<std::pair<int, std::int64_t>, int> outputs;  // by allocation and size: the value that is handed out
  for (const ProgramOutput& output : program_.outputs()) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].instruction == output.instruction && values[i].leaf == output.leaf)
        outputs[{values[i].allocation, values[i].size}] = static_cast<int>(i);
    }
  }
  std::map<std::tuple<std::string_view, int>, std::vector<int>> computed_again;
  std::vector<int> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ProgramValue& value = values[i];
    const MemoryAllocation& allocation = program_.memory().allocations[static_cast<std::size_t>(value.allocation)];
    if (allocation.kind == AllocationKind::kArgument || allocation.kind == AllocationKind::kConstant) continue;
    if (value.size < kSmallest || value.first < 0) continue;
    if (undo && value.instruction >= 0) {
      const std::string_view name = program_.InstructionOf(value).name;
      const std::string_view original = Original(name);
      if (original != name || program_.module().Find(std::string(original) + ".remat") >= 0) {
        computed_again[{original, value.leaf}].push_back(static_cast<int>(i));
        continue;
      }
    }
    order.push_back(static_cast<int>(i));
  }
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const ProgramValue& one = values[static_cast<std::size_t>(a)];
    const ProgramValue& other = values[static_cast<std::size_t>(b)];
    return std::tie(one.allocation, one.offset, one.size, one.first, one.last) <
           std::tie(other.allocation, other.offset, other.size, other.first, other.last);
  });
  for (const int i : order) {
    const ProgramValue& value = values[static_cast<std::size_t>(i)];
    Buffer* last = buffers_.empty() ? nullptr : &buffers_.back();
    if (last != nullptr && last->allocation == value.allocation && last->offset == value.offset &&
        last->size == value.size && value.first <= last->last) {
      last->last = std::max(last->last, value.last);
      last->values.push_back(i);
    } else {
      buffers_.push_back({value.offset, value.size, value.first, value.last, value.allocation, {i}});
    }
  }
  // Values that are kept in place of being computed again get places of their own, which no other value has.
  std::int64_t place = std::int64_t{1} << 60;
  for (const auto& [key, group] : computed_again) {
    Buffer buffer{place, 0, INT64_MAX, 0, 0, group};
    for (const int i : group) {
      const ProgramValue& value = values[static_cast<std::size_t>(i)];
      buffer.size = std::max(buffer.size, value.size);
      buffer.first = std::min(buffer.first, value.first);
      buffer.last = std::max(buffer.last, value.last);
      buffer.allocation = value.allocation;
    }
    place += buffer.size;
    buffers_.push_back(std::move(buffer));
  }
  // An output has its memory all the time.
  for (Buffer& buffer : buffers_) {
    const MemoryAllocation& allocation = program_.memory().allocations[static_cast<std::size_t>(buffer.allocation)];
    if (allocation.kind != AllocationKind::kOutput) continue;
    const auto output = outputs.find({buffer.allocation, buffer.size});
    if (output == outputs.end() || buffer.size != allocation.size) continue;
    if (std::find(buffer.values.begin(), buffer.values.end(), output->second) == buffer.values.end()) continue;
    buffer.first = 0;
    buffer.last = INT64_MAX - 1;
    buffer.values = {output->second};
  }
}

std::int64_t Layout::PeakOf(const Sizes& sizes, std::vector<int>* live) const {
  std::vector<std::int64_t> bytes(buffers_.size(), 0);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    for (const int value : buffers_[i].values) bytes[i] = std::max(bytes[i], sizes[static_cast<std::size_t>(value)]);
  }
  std::vector<int> by_start(buffers_.size());
  for (std::size_t i = 0; i < by_start.size(); ++i) by_start[i] = static_cast<int>(i);
  std::sort(by_start.begin(), by_start.end(), [&](int a, int b) {
    return buffers_[static_cast<std::size_t>(a)].first < buffers_[static_cast<std::size_t>(b)].first;
  });
  const auto by_place = [&](int a, int b) {
    const Buffer& one = buffers_[static_cast<std::size_t>(a)];
    const Buffer& other = buffers_[static_cast<std::size_t>(b)];
    return std::tie(one.allocation, one.offset, a) < std::tie(other.allocation, other.offset, b);
  };
  std::vector<int> active;  // in order of place
  std::int64_t most = 0;
  for (std::size_t next = 0; next < by_start.size();) {
    const std::int64_t now = buffers_[static_cast<std::size_t>(by_start[next])].first;
    std::erase_if(active, [&](int i) { return buffers_[static_cast<std::size_t>(i)].last < now; });
    for (; next < by_start.size() && buffers_[static_cast<std::size_t>(by_start[next])].first == now; ++next) {
      active.insert(std::upper_bound(active.begin(), active.end(), by_start[next], by_place), by_start[next]);
    }
    // What overlaps in place shares its memory: the larger of the largest and of the others together.
    std::int64_t total = 0;
    for (std::size_t i = 0; i < active.size();) {
      const Buffer& begin = buffers_[static_cast<std::size_t>(active[i])];
      std::int64_t end = begin.offset;
      std::int64_t largest = 0;
      std::int64_t largest_bytes = 0;
      std::int64_t all = 0;
      for (; i < active.size(); ++i) {
        const Buffer& buffer = buffers_[static_cast<std::size_t>(active[i])];
        if (buffer.allocation != begin.allocation || (buffer.offset >= end && buffer.offset != begin.offset)) break;
        end = std::max(end, buffer.offset + buffer.size);
        all += bytes[static_cast<std::size_t>(active[i])];
        if (buffer.size > largest) {
          largest = buffer.size;
          largest_bytes = bytes[static_cast<std::size_t>(active[i])];
        }
      }
      total += std::max(largest_bytes, all - largest_bytes);
    }
    if (total > most) {
      most = total;
      if (live != nullptr) *live = active;
    }
  }
  return most;
}

std::int64_t Layout::Need(const Sizes& sizes) const { return Need(sizes, nullptr); }

std::int64_t Layout::Need(const Sizes& sizes, std::vector<int>* live) const {
  // Of arguments and constants one value says what they take.
  std::int64_t fixed = 0;
  const std::vector<ProgramValue>& values = program_.values();
  std::map<int, std::int64_t> own;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MemoryAllocation& allocation = program_.memory().allocations[static_cast<std::size_t>(values[i].allocation)];
    if (allocation.kind != AllocationKind::kArgument && allocation.kind != AllocationKind::kConstant) continue;
    if (values[i].size != allocation.size) continue;
    const auto [entry, is_new] = own.emplace(values[i].allocation, sizes[i]);
    if (!is_new) entry->second = std::max(entry->second, sizes[i]);
  }
  for (const auto& [allocation, bytes] : own) fixed += bytes;
  return fixed + PeakOf(sizes, live) + fragmentation_;
}

}  // namespace whyoom
