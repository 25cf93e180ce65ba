#include "program/layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "program/occupancy.h"

namespace whyoom {
namespace {

// Smaller values are many and weigh nothing; what they take stays in the difference to the compiler's figure.
constexpr std::int64_t kSmallestLaidOut = std::int64_t{64} << 10;

}  // namespace

std::string_view OriginalName(std::string_view name) { return name.substr(0, name.find(".remat")); }

ComputedArray OriginalOf(const Program& program, const ProgramValue& value) {
  const std::string_view name = OriginalName(program.InstructionOf(value).name);
  if (value.leaf < 0) return {name, "", 0};
  const std::string& shape = program.ShapeOf(value).shape;
  int alike = 0;
  for (int leaf = 0; leaf < value.leaf; ++leaf)
    alike += program.dimensions().Leaf(value.instruction, leaf).shape == shape;
  return {name, shape, alike};
}

Layout::Layout(const Program& program, bool undo_rematerialization)
    : program_(program), whole_(program.dimensions().whole()) {
  FindFixed();
  FindBuffers(false);
  std::int64_t needed = Need(SizesAsTheyAre());
  fragmentation_ = program.memory().need_bytes - needed;
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

// Of arguments and constants one value says what they take.
void Layout::FindFixed() {
  const std::vector<ProgramValue>& values = program_.values();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const MemoryAllocation& allocation = program_.AllocationOf(values[i]);
    const bool fixed = allocation.kind == AllocationKind::kArgument || allocation.kind == AllocationKind::kConstant;
    if (fixed && values[i].size == allocation.size) fixed_.push_back({values[i].allocation, i});
  }
}

void Layout::FindBuffers(bool undo) {
  const std::vector<ProgramValue>& values = program_.values();
  // What is handed out has its allocation all the time. The carried values of a loop are one with the loop's result.
  std::set<int> handed_out;
  for (const ProgramOutput& output : program_.outputs()) {
    if (output.value < 0) continue;
    const ProgramValue& value = values[static_cast<std::size_t>(output.value)];
    if (value.size == program_.AllocationOf(value).size) handed_out.insert(output.value);
  }
  std::map<ComputedArray, std::vector<int>> computed_again;
  std::vector<int> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ProgramValue& value = values[i];
    const MemoryAllocation& allocation = program_.AllocationOf(value);
    if (allocation.kind == AllocationKind::kArgument || allocation.kind == AllocationKind::kConstant) continue;
    if (value.size < kSmallestLaidOut || value.first < 0) continue;
    if (undo && value.instruction >= 0 && !handed_out.contains(static_cast<int>(i))) {
      const std::string_view name = program_.InstructionOf(value).name;
      const std::string_view original = OriginalName(name);
      if (original != name || program_.module().Find(std::string(original) + ".remat") >= 0) {
        computed_again[OriginalOf(program_, value)].push_back(static_cast<int>(i));
        continue;
      }
    }
    order.push_back(static_cast<int>(i));
  }
  // What is written into in place is one with what it was: a loop's carried values, an update of an array.
  const auto writes_in_place = [&](int instruction) {
    const HloModule& module = program_.module();
    const HloInstruction* at = &module.instructions[static_cast<std::size_t>(instruction)];
    if (at->opcode == "fusion" && !at->calls.empty()) {
      const int root = module.computations[static_cast<std::size_t>(at->calls[0])].root;
      if (root >= 0) at = &module.instructions[static_cast<std::size_t>(root)];
    }
    return at->opcode == "while" || at->opcode == "dynamic-update-slice" || at->opcode == "scatter";
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const ProgramValue& one = values[static_cast<std::size_t>(a)];
    const ProgramValue& other = values[static_cast<std::size_t>(b)];
    return std::tie(one.allocation, one.offset, one.size, one.first, one.last) <
           std::tie(other.allocation, other.offset, other.size, other.first, other.last);
  });
  for (const int i : order) {
    const ProgramValue& value = values[static_cast<std::size_t>(i)];
    if (handed_out.contains(i) && !writes_in_place(value.instruction)) {
      buffers_.push_back({value.offset, value.size, value.first, INT64_MAX - 1, value.allocation, {i}, true});
      continue;
    }
    Buffer* last = buffers_.empty() ? nullptr : &buffers_.back();
    if (last != nullptr && last->allocation == value.allocation && last->offset == value.offset &&
        last->size == value.size && value.first <= last->last) {
      last->last = std::max(last->last, value.last);
      last->values.push_back(i);
    } else {
      buffers_.push_back({value.offset, value.size, value.first, value.last, value.allocation, {i}, false});
    }
  }
  // Values that are kept in place of being computed again get places of their own, which no other value has.
  std::int64_t place = std::int64_t{1} << 60;
  for (const auto& entry : computed_again) {  // not taken apart: Clang 14 lets no lambda see the parts
    const auto& key = entry.first;
    const std::vector<int>& group = entry.second;
    const bool is_output = std::any_of(handed_out.begin(), handed_out.end(), [&](int i) {
      const ProgramValue& value = values[static_cast<std::size_t>(i)];
      return value.instruction >= 0 && OriginalOf(program_, value) == key;
    });
    if (is_output) continue;  // there all the time anyway
    Buffer buffer{place, 0, INT64_MAX, 0, 0, group, false};
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
  for (Buffer& buffer : buffers_) {
    if (!std::any_of(buffer.values.begin(), buffer.values.end(), [&](int i) { return handed_out.contains(i); }))
      continue;
    buffer.is_output = true;
    buffer.last = INT64_MAX - 1;
  }
  occupancy_ = std::make_shared<const Occupancy>(buffers_);
  std::vector<std::int64_t> bytes;
  for (const Buffer& buffer : buffers_) bytes.push_back(buffer.size);
  std::vector<char> placed;
  whole_ = whole_ && occupancy_->whole() && PlaceInOutputs(bytes, &placed);
}

bool Layout::PlaceInOutputs(const std::vector<std::int64_t>& bytes, std::vector<char>* placed) const {
  constexpr std::size_t kMostLooks = 20000000;
  std::size_t looks = 0;
  placed->assign(buffers_.size(), 0);
  struct Place {
    std::int64_t size;
    std::int64_t made;                                         // when the output itself is, which stays
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;  // from and until, in order; none overlap
  };
  std::vector<Place> places;
  std::vector<int> order;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].is_output && bytes[i] > 0) {
      places.push_back({bytes[i], buffers_[i].first, {}});
    } else if (bytes[i] > 0) {
      order.push_back(static_cast<int>(i));
    }
  }
  if (places.empty()) return true;
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.size < b.size; });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return bytes[static_cast<std::size_t>(a)] > bytes[static_cast<std::size_t>(b)];
  });
  for (const int i : order) {
    const Buffer& buffer = buffers_[static_cast<std::size_t>(i)];
    const auto fits = std::lower_bound(places.begin(), places.end(), bytes[static_cast<std::size_t>(i)],
                                       [](const Place& place, std::int64_t size) { return place.size < size; });
    for (auto place = fits; place != places.end(); ++place) {
      if (++looks > kMostLooks) return false;
      if (place->made < buffer.last) continue;
      const auto later = std::partition_point(place->taken.begin(), place->taken.end(),
                                              [&](const auto& other) { return other.second <= buffer.first; });
      if (later != place->taken.end() && later->first < buffer.last) continue;
      place->taken.emplace(later, buffer.first, buffer.last);
      (*placed)[static_cast<std::size_t>(i)] = 1;
      break;
    }
  }
  return true;
}

std::int64_t Layout::PeakOf(const Sizes& sizes, const std::vector<Buffer>& added, std::vector<int>* live) const {
  std::vector<std::int64_t> bytes(buffers_.size(), 0);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    for (const int value : buffers_[i].values) bytes[i] = std::max(bytes[i], sizes[static_cast<std::size_t>(value)]);
  }
  std::int64_t outputs = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) outputs += buffers_[i].is_output ? bytes[i] : 0;
  std::vector<char> placed;
  PlaceInOutputs(bytes, &placed);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (placed[i] != 0 || buffers_[i].is_output) bytes[i] = 0;
  }
  return occupancy_->Most(bytes, added, live) + outputs;
}

std::int64_t Layout::Need(const Sizes& sizes) const { return Need(sizes, {}); }

std::int64_t Layout::Need(const Sizes& sizes, const std::vector<Buffer>& added, std::vector<int>* live) const {
  std::int64_t fixed = 0;
  for (std::size_t i = 0; i < fixed_.size();) {
    std::int64_t bytes = sizes[fixed_[i].value];
    const int allocation = fixed_[i].allocation;
    for (++i; i < fixed_.size() && fixed_[i].allocation == allocation; ++i)
      bytes = std::max(bytes, sizes[fixed_[i].value]);
    fixed += bytes;
  }
  return fixed + PeakOf(sizes, added, live) + fragmentation_;
}

}  // namespace whyoom
