#include "program/buffer_assignment.h"

#include <algorithm>
#include <map>
#include <utility>

namespace whyoom {
namespace {

// Smaller values are many and weigh little; what they need stays in the difference to the compiler's figure.
constexpr std::int64_t kSmallestPlaced = std::int64_t{64} << 10;
constexpr std::int64_t kNeverEnds = INT64_MAX - 1;

bool IsFixed(const MemoryAllocation& allocation) {
  return allocation.kind == AllocationKind::kArgument || allocation.kind == AllocationKind::kConstant;
}

// The memory of an output, which other buffers may use until the output is made.
struct OutputPlace {
  std::int64_t size;
  std::int64_t made;
  std::vector<std::pair<std::int64_t, std::int64_t>> taken = {};  // from and until, in order; none overlap

  bool Reserve(const Buffer& buffer) {
    if (made < buffer.last) return false;
    const auto later = std::partition_point(taken.begin(), taken.end(),
                                            [&](const auto& other) { return other.second <= buffer.first; });
    if (later != taken.end() && later->first < buffer.last) return false;
    taken.emplace(later, buffer.first, buffer.last);
    return true;
  }
};

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

BufferAssignment::BufferAssignment(const Program& program, bool undo_rematerialization)
    : program_(program), whole_(program.dimensions().whole()) {
  FindFixed();
  FindBuffers(false);
  fragmentation_ = program.memory().need_bytes - Need(CompiledSizes());
  if (!undo_rematerialization) return;
  buffers_.clear();
  FindBuffers(true);
}

Sizes BufferAssignment::CompiledSizes() const {
  Sizes sizes;
  sizes.reserve(program_.values().size());
  for (const ProgramValue& value : program_.values()) sizes.push_back(value.size);
  return sizes;
}

// The size of an argument or constant is that of one of its values.
void BufferAssignment::FindFixed() {
  for (const ProgramValue& value : program_.values()) {
    const MemoryAllocation& allocation = program_.AllocationOf(value);
    if (IsFixed(allocation) && value.size == allocation.size) fixed_.push_back({value.allocation, value.number});
  }
}

void BufferAssignment::FindBuffers(bool undo) {
  const std::set<int> returned = ReturnedValues();
  std::map<ComputedArray, std::vector<int>> rematerialized;
  std::vector<int> placed;
  for (const ProgramValue& value : program_.values()) {
    if (IsFixed(program_.AllocationOf(value)) || value.size < kSmallestPlaced || value.first < 0) continue;
    const bool lives_on = undo && !returned.contains(value.number) && IsRematerialized(value);
    (lives_on ? rematerialized[OriginalOf(program_, value)] : placed).push_back(value.number);
  }
  AddPlaced(std::move(placed), returned);
  for (const auto& [array, values] : rematerialized) AddRematerialized(array, values, returned);
  for (Buffer& buffer : buffers_) {
    if (std::none_of(buffer.values.begin(), buffer.values.end(), [&](int i) { return returned.contains(i); })) continue;
    buffer.is_output = true;
    buffer.last = kNeverEnds;
  }
  occupancy_ = std::make_unique<const Occupancy>(buffers_);
  std::vector<std::int64_t> bytes;
  for (const Buffer& buffer : buffers_) bytes.push_back(buffer.size);
  std::vector<char> in_outputs;
  whole_ = whole_ && occupancy_->whole() && PlaceInOutputs(bytes, &in_outputs);
}

// Returned values keep their allocation throughout. The carried values of a loop are one with the loop's result.
std::set<int> BufferAssignment::ReturnedValues() const {
  std::set<int> returned;
  for (const ProgramOutput& output : program_.outputs()) {
    if (output.value < 0) continue;
    const ProgramValue& value = program_.values()[output.value];
    if (value.size == program_.AllocationOf(value).size) returned.insert(output.value);
  }
  return returned;
}

bool BufferAssignment::IsRematerialized(const ProgramValue& value) const {
  if (value.instruction < 0) return false;
  const std::string_view name = program_.InstructionOf(value).name;
  const std::string_view original = OriginalName(name);
  return original != name || program_.module().Find(std::string(original) + ".remat") >= 0;
}

// What is written in place shares the buffer of what it overwrites: a loop's carried values, an update of an array.
bool BufferAssignment::WritesInPlace(int instruction) const {
  const HloInstruction& is = program_.At(instruction);
  const int root = program_.FusedRoot(is);
  return (root >= 0 ? program_.At(root) : is).Is({"while", "dynamic-update-slice", "scatter"});
}

void BufferAssignment::AddPlaced(std::vector<int> values, const std::set<int>& returned) {
  const auto key = [&](int i) {
    const ProgramValue& value = program_.values()[i];
    return std::tie(value.allocation, value.offset, value.size, value.first, value.last);
  };
  std::sort(values.begin(), values.end(), [&](int a, int b) { return key(a) < key(b); });
  for (const int i : values) {
    const ProgramValue& value = program_.values()[i];
    const bool is_output = returned.contains(i) && !WritesInPlace(value.instruction);
    Buffer* last = buffers_.empty() ? nullptr : &buffers_.back();
    if (!is_output && last != nullptr && last->allocation == value.allocation && last->offset == value.offset &&
        last->size == value.size && value.first <= last->last) {
      last->last = std::max(last->last, value.last);
      last->values.push_back(i);
      continue;
    }
    buffers_.push_back({.offset = value.offset,
                        .size = value.size,
                        .first = value.first,
                        .last = is_output ? kNeverEnds : value.last,
                        .allocation = value.allocation,
                        .values = {i},
                        .is_output = is_output});
  }
}

// An array that is kept instead of being recomputed gets a place of its own.
void BufferAssignment::AddRematerialized(const ComputedArray& array, const std::vector<int>& values,
                                         const std::set<int>& returned) {
  const bool is_output = std::any_of(returned.begin(), returned.end(), [&](int i) {
    const ProgramValue& value = program_.values()[i];
    return value.instruction >= 0 && OriginalOf(program_, value) == array;
  });
  if (is_output) return;  // kept throughout in any case
  Buffer buffer{.offset = next_place_, .first = INT64_MAX, .values = values};
  for (const int i : values) {
    const ProgramValue& value = program_.values()[i];
    buffer.size = std::max(buffer.size, value.size);
    buffer.first = std::min(buffer.first, value.first);
    buffer.last = std::max(buffer.last, value.last);
    buffer.allocation = value.allocation;
  }
  next_place_ += buffer.size;
  buffers_.push_back(std::move(buffer));
}

bool BufferAssignment::PlaceInOutputs(const std::vector<std::int64_t>& bytes, std::vector<char>* placed) const {
  constexpr std::size_t kMostLooks = 20000000;
  std::size_t looks = 0;
  placed->assign(buffers_.size(), 0);
  std::vector<OutputPlace> places;
  std::vector<int> order;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (bytes[i] <= 0) continue;
    if (buffers_[i].is_output) {
      places.push_back({bytes[i], buffers_[i].first});
    } else {
      order.push_back(static_cast<int>(i));
    }
  }
  if (places.empty()) return true;
  std::sort(places.begin(), places.end(), [](const OutputPlace& a, const OutputPlace& b) { return a.size < b.size; });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return bytes[a] > bytes[b]; });
  for (const int i : order) {
    auto place =
        std::partition_point(places.begin(), places.end(), [&](const OutputPlace& one) { return one.size < bytes[i]; });
    for (; place != places.end(); ++place) {
      if (++looks > kMostLooks) return false;
      if (!place->Reserve(buffers_[i])) continue;
      (*placed)[i] = 1;
      break;
    }
  }
  return true;
}

std::int64_t BufferAssignment::FixedBytes(const Sizes& sizes) const {
  std::int64_t fixed = 0;
  for (std::size_t i = 0; i < fixed_.size();) {
    std::int64_t bytes = 0;
    const int allocation = fixed_[i].allocation;
    for (; i < fixed_.size() && fixed_[i].allocation == allocation; ++i)
      bytes = std::max(bytes, sizes[fixed_[i].value]);
    fixed += bytes;
  }
  return fixed;
}

std::int64_t BufferAssignment::Need(const Sizes& sizes, const std::vector<Buffer>& added,
                                    std::vector<int>* live) const {
  std::vector<std::int64_t> bytes(buffers_.size(), 0);
  std::int64_t outputs = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    for (const int value : buffers_[i].values) bytes[i] = std::max(bytes[i], sizes[value]);
    if (buffers_[i].is_output) outputs += bytes[i];
  }
  std::vector<char> placed;
  PlaceInOutputs(bytes, &placed);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (placed[i] != 0 || buffers_[i].is_output) bytes[i] = 0;
  }
  return FixedBytes(sizes) + occupancy_->Most(bytes, added, live) + outputs + fragmentation_;
}

std::vector<int> BufferAssignment::LiveAtPeak() const {
  std::vector<int> live;
  Need(CompiledSizes(), {}, &live);
  return live;
}

}  // namespace whyoom
