#include "program/buffer_assignment.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "text/numbers.h"

namespace whyoom {
namespace {

// Smaller values are numerous but need little memory, which fragmentation_ includes.
constexpr std::int64_t kSmallestPlaced = std::int64_t{64} << 10;
constexpr std::int64_t kNeverEnds = INT64_MAX - 1;

// The memory of an output, which other buffers may use until the output is computed.
struct OutputPlace {
  std::int64_t size;
  std::int64_t made;
  AllocationId allocation;
  std::vector<std::pair<std::int64_t, std::int64_t>> taken = {};  // first and last use, sorted, without overlaps

  bool Reserve(const Buffer& buffer) {
    // The instruction that computes the output can overwrite an operand, but not always. The compiler's choice shows.
    if (made < buffer.last || (made == buffer.last && allocation != buffer.allocation)) return false;
    const auto later = std::partition_point(taken.begin(), taken.end(),
                                            [&](const auto& other) { return other.second <= buffer.first; });
    if (later != taken.end() && later->first < buffer.last) return false;
    taken.emplace(later, buffer.first, buffer.last);
    return true;
  }
};

// "fusion.7" for "fusion.7.remat2", which the compiler rematerializes to save memory.
std::string_view OriginalName(std::string_view name) { return name.substr(0, name.find(".remat")); }

// Identifies an array and all its rematerializations by the name of the instruction, the shape, and the position among
// the arrays of that shape. A rematerialization may have fewer results than the original. Points into the program.
using ComputedArray = std::tuple<std::string_view, std::string_view, int>;

ComputedArray OriginalOf(const Program& program, const ProgramValue& value) {
  const std::string_view name = OriginalName(program.InstructionOf(value).name);
  if (!value.array) return {name, "", 0};
  const std::string& shape = program.ShapeOf(value.array).shape;
  int alike = 0;
  for (ArrayId array{value.array.instruction, 0}; array.leaf < value.array.leaf; ++array.leaf)
    alike += program.ShapeOf(array).shape == shape;
  return {name, shape, alike};
}

}  // namespace

BufferAssignment::BufferAssignment(const Program& program, bool undo_rematerialization)
    : program_(program), whole_(program.dimensions().whole()) {
  for (const AllocationId id : program.memory().allocations.ids()) {
    if (!program.memory().allocations[id].IsFixed()) continue;
    fixed_.push_back(program.ValuesIn(id));
    std::erase_if(fixed_.back(),
                  [&](ValueId value) { return program.values()[value].size != program.memory().allocations[id].size; });
  }
  FindBuffers(false);
  const Sizes compiled = CompiledSizes();
  compiled_heap_ = HeapBytes(compiled, {});
  fragmentation_ = program.memory().need_bytes - FixedBytes(compiled) - compiled_heap_;
  if (!undo_rematerialization) return;
  FindBuffers(true);
}

Sizes BufferAssignment::CompiledSizes() const {
  Sizes sizes;
  sizes.reserve(program_.values().size());
  for (const ProgramValue& value : program_.values()) sizes.push_back(value.size);
  return sizes;
}

void BufferAssignment::FindBuffers(bool undo) {
  const std::set<ValueId> returned = ReturnedValues();
  std::map<ComputedArray, Buffer> kept;  // one buffer for an array that is not rematerialized
  std::vector<Buffer> placed;
  std::set<ComputedArray> outputs;
  for (const ValueId id : returned) outputs.insert(OriginalOf(program_, program_.values()[id]));
  for (const ProgramValue& value : program_.values()) {
    if (program_.AllocationOf(value).IsFixed() || value.size < kSmallestPlaced || value.first < 0) continue;
    const bool is_output = returned.contains(value.id);
    if (!undo || is_output || !IsRematerialized(value)) {
      const bool separate = is_output && !WritesInPlace(value.array.instruction);
      placed.push_back({value.offset,
                        value.size,
                        value.first,
                        separate ? kNeverEnds : value.last,
                        value.allocation,
                        {value.id},
                        separate});
    } else if (ComputedArray array = OriginalOf(program_, value); !outputs.contains(array)) {
      Buffer& buffer = kept.try_emplace(array, Buffer{.first = INT64_MAX}).first->second;
      buffer.size = std::max(buffer.size, value.size);
      buffer.first = std::min(buffer.first, value.first);
      buffer.last = std::max(buffer.last, value.last);
      buffer.allocation = value.allocation;
      buffer.values.push_back(value.id);
    }
  }
  buffers_ = JoinInPlace(std::move(placed));
  for (auto& [array, buffer] : kept) buffers_.push_back(std::move(buffer));
  std::vector<std::int64_t> bytes;
  for (Buffer& buffer : buffers_) {
    bytes.push_back(buffer.size);
    if (std::none_of(buffer.values.begin(), buffer.values.end(), [&](ValueId id) { return returned.contains(id); }))
      continue;
    buffer.is_output = true;
    buffer.last = kNeverEnds;
  }
  occupancy_ = std::make_unique<const Occupancy>(buffers_);
  whole_ = whole_ && PlaceInOutputs(&bytes);
}

// The values that occupy the whole allocation of an output.
std::set<ValueId> BufferAssignment::ReturnedValues() const {
  std::set<ValueId> returned;
  for (const ProgramOutput& output : program_.outputs()) {
    if (!output.value) continue;
    const ProgramValue& value = program_.values()[output.value];
    if (value.size == program_.AllocationOf(value).size) returned.insert(output.value);
  }
  return returned;
}

bool BufferAssignment::IsRematerialized(const ProgramValue& value) const {
  if (!value.array.instruction) return false;
  const std::string_view name = program_.InstructionOf(value).name;
  const std::string_view original = OriginalName(name);
  return original != name || program_.module().Find(std::string(original) + ".remat");
}

// A result that is written in place shares the buffer that it overwrites: loop-carried values, updates of an array.
bool BufferAssignment::WritesInPlace(InstructionId instruction) const {
  const HloInstruction& is = program_.At(instruction);
  const InstructionId root = program_.FusedRoot(is);
  return (root ? program_.At(root) : is).Is({"while", "dynamic-update-slice", "scatter"});
}

bool BufferAssignment::PlaceInOutputs(std::vector<std::int64_t>* bytes) const {
  constexpr std::size_t kMostSteps = 20000000;
  std::size_t steps = 0;
  std::vector<OutputPlace> places;
  std::vector<int> order;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if ((*bytes)[i] <= 0) continue;
    if (buffers_[i].is_output) {
      places.push_back({(*bytes)[i], buffers_[i].first, buffers_[i].allocation});
    } else {
      order.push_back(static_cast<int>(i));
    }
  }
  if (places.empty()) return true;
  std::sort(places.begin(), places.end(), [](const OutputPlace& a, const OutputPlace& b) { return a.size < b.size; });
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return (*bytes)[a] > (*bytes)[b]; });
  for (const int i : order) {
    auto place = std::partition_point(places.begin(), places.end(),
                                      [&](const OutputPlace& one) { return one.size < (*bytes)[i]; });
    for (; place != places.end(); ++place) {
      if (++steps > kMostSteps) return false;
      if (!place->Reserve(buffers_[i])) continue;
      (*bytes)[i] = 0;
      break;
    }
  }
  return true;
}

std::int64_t BufferAssignment::FixedBytes(const Sizes& sizes) const {
  std::int64_t fixed = 0;
  for (const std::vector<ValueId>& values : fixed_) {
    std::int64_t bytes = 0;
    for (const ValueId id : values) bytes = std::max(bytes, sizes[id]);
    fixed += bytes;
  }
  return fixed;
}

std::vector<std::int64_t> BufferAssignment::BytesOutsideOutputs(const Sizes& sizes) const {
  std::vector<std::int64_t> bytes(buffers_.size(), 0);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    for (const ValueId value : buffers_[i].values) bytes[i] = std::max(bytes[i], sizes[value]);
  }
  PlaceInOutputs(&bytes);
  return bytes;
}

std::int64_t BufferAssignment::HeapBytes(const Sizes& sizes, const std::vector<Buffer>& added) const {
  std::vector<std::int64_t> bytes = BytesOutsideOutputs(sizes);
  std::int64_t outputs = 0;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (buffers_[i].is_output) outputs += std::exchange(bytes[i], 0);
  }
  return occupancy_->FindPeak(bytes, added).bytes + outputs;
}

std::int64_t BufferAssignment::Need(const Sizes& sizes, const std::vector<Buffer>& added) const {
  const std::int64_t heap = HeapBytes(sizes, added);
  // Gaps shrink with the buffers that they are between.
  const double share = heap < compiled_heap_ ? static_cast<double>(heap) / static_cast<double>(compiled_heap_) : 1;
  return FixedBytes(sizes) + heap + ClampToBytes(share * static_cast<double>(fragmentation_));
}

std::vector<const Buffer*> BufferAssignment::LiveAtPeak(const Sizes& sizes) const {
  std::vector<std::int64_t> bytes = BytesOutsideOutputs(sizes);
  for (std::size_t i = 0; i < buffers_.size(); ++i) bytes[i] = buffers_[i].is_output ? 0 : bytes[i];
  const Usage peak = occupancy_->FindPeak(bytes, {});
  std::vector<const Buffer*> live;
  if (peak.bytes == 0) return live;
  for (const int i : occupancy_->LiveAt(peak.moment)) live.push_back(&buffers_[i]);
  return live;
}

}  // namespace whyoom
