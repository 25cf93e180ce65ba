#include "program/buffer_assignment.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "text/numbers.h"

namespace whyoom {
namespace {

// Smaller values are numerous but need little memory, which fragmentation includes.
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
    const auto later =
        std::ranges::partition_point(taken, [&](const auto& other) { return other.second <= buffer.first; });
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

// A result that is written in place shares the buffer that it overwrites: loop-carried values, updates of an array.
bool WritesInPlace(const Program& program, InstructionId instruction) {
  const HloInstruction& is = program.At(instruction);
  const InstructionId root = program.FusedRoot(is);
  return (root ? program.At(root) : is).Is({"while", "dynamic-update-slice", "scatter"});
}

// Places buffers in the memory of outputs that are computed later, as the compiler does: the largest first, each in the
// smallest output that is free. Sets the sizes of their extents to 0. Returns false if this takes too long.
bool PlaceInOutputs(const std::vector<Buffer>& buffers, std::vector<Extent>* extents) {
  constexpr std::size_t kMostSteps = 20000000;
  std::size_t steps = 0;
  std::vector<OutputPlace> places;
  std::vector<int> order;
  for (int i = 0; std::cmp_less(i, buffers.size()); ++i) {
    const std::int64_t size = (*extents)[i].size;
    if (size > 0 && buffers[i].is_output) places.push_back({size, buffers[i].first, buffers[i].allocation});
    if (size > 0 && !buffers[i].is_output) order.push_back(i);
  }
  if (places.empty()) return true;
  std::ranges::sort(places, {}, &OutputPlace::size);
  std::ranges::stable_sort(order, std::ranges::greater(), [&](int i) { return (*extents)[i].size; });
  for (const int i : order) {
    std::int64_t& size = (*extents)[i].size;
    auto place = std::ranges::partition_point(places, [&](const OutputPlace& one) { return one.size < size; });
    for (; place != places.end() && size > 0; ++place) {
      if (++steps > kMostSteps) return false;
      if (place->Reserve(buffers[i])) size = 0;
    }
  }
  return true;
}

}  // namespace

std::vector<Buffer> JoinInPlace(std::vector<Buffer> buffers) {
  const auto place = [](const Buffer& buffer) { return std::tie(buffer.allocation, buffer.offset, buffer.size); };
  std::ranges::stable_sort(buffers, [&](const Buffer& a, const Buffer& b) {
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
        buffers.push_back({value, allocation, {id}});
      ++id.value;
    }
  }
  return JoinInPlace(std::move(buffers));
}

std::vector<Usage> UsageOver(const std::vector<Extent>& extents) {
  std::vector<Usage> changes;
  for (const Extent& extent : extents) {
    if (extent.size == 0) continue;
    changes.push_back({extent.first, extent.size});
    changes.push_back({extent.last + 1, -extent.size});
  }
  std::ranges::sort(changes, {}, &Usage::moment);
  std::vector<Usage> usage;
  std::int64_t total = 0;
  for (const Usage& change : changes) {
    total += change.bytes;
    if (usage.empty() || usage.back().moment != change.moment) usage.push_back({change.moment});
    usage.back().bytes = total;
  }
  return usage;
}

Usage PeakOf(const std::vector<Extent>& extents) {
  Usage peak;
  for (const Usage& usage : UsageOver(extents)) {
    if (usage.bytes > peak.bytes) peak = usage;
  }
  return peak;
}

std::vector<MemoryValue> LiveAt(const MemoryAllocation& allocation, std::int64_t moment) {
  constexpr std::size_t kMostKept = 4096;  // each value is compared with all kept ones
  std::vector<const MemoryValue*> live;
  for (const MemoryValue& value : allocation.values) {
    if (moment < 0 || (value.first >= 0 && value.first <= moment && moment <= value.last)) live.push_back(&value);
  }
  std::ranges::stable_sort(live, std::ranges::greater(), &MemoryValue::size);
  std::vector<MemoryValue> kept;
  for (const MemoryValue* value : live) {
    if (kept.size() >= kMostKept) break;
    const bool shares = std::ranges::any_of(kept, [&](const MemoryValue& other) {
      return value->offset < other.offset + other.size && other.offset < value->offset + value->size;
    });
    if (!shares) kept.push_back(*value);
  }
  return kept;
}

std::vector<MemoryMoment> TimelineOf(const ModuleMemory& memory, std::size_t most) {
  constexpr std::int64_t kLongest = std::int64_t{1} << 40;  // a schedule beyond that is damage
  const std::int64_t length = memory.schedule_length;
  if (length <= 0 || length > kLongest) return {};
  std::int64_t fixed = memory.need_bytes;
  for (const MemoryAllocation& allocation : memory.allocations)
    fixed -= allocation.kind == AllocationKind::kTemporaries ? allocation.size : 0;
  const std::int64_t parts = std::min(length, static_cast<std::int64_t>(most));
  std::vector<MemoryMoment> timeline;
  for (std::int64_t part = 0; part < parts; ++part)
    timeline.push_back({static_cast<double>((part * length + parts - 1) / parts) / static_cast<double>(length), fixed});
  const std::vector<Buffer> buffers = TemporariesOf(memory);
  std::vector<Usage> usage = UsageOver({buffers.begin(), buffers.end()});
  usage.push_back({length, 0});
  for (std::size_t i = 0; i + 1 < usage.size(); ++i) {
    const std::int64_t bytes = std::min(memory.need_bytes, fixed + usage[i].bytes);
    for (std::int64_t part = usage[i].moment * parts / length; part * length <= (usage[i + 1].moment - 1) * parts;
         ++part) {
      MemoryMoment& peak = timeline[part];
      if (bytes > peak.bytes)
        peak = {std::max(peak.at, static_cast<double>(usage[i].moment) / static_cast<double>(length)), bytes};
    }
  }
  return timeline;
}

BufferAssignment::BufferAssignment(const Program& program, bool undo_rematerialization) : program_(program) {
  for (const ProgramValue& value : program.values) compiled_sizes.push_back(value.size);
  FindBuffers(false);
  compiled_heap_ = HeapBytes(compiled_sizes, {});
  fragmentation = program.memory.need_bytes - FixedBytes(compiled_sizes) - compiled_heap_;
  if (undo_rematerialization) FindBuffers(true);
}

void BufferAssignment::FindBuffers(bool undo) {
  std::set<ValueId> returned;  // values that occupy the whole allocation of an output
  for (const ProgramOutput& output : program_.outputs) {
    if (!output.value) continue;
    const ProgramValue& value = program_.values[output.value];
    if (value.size == program_.AllocationOf(value).size) returned.insert(output.value);
  }
  std::map<ComputedArray, Buffer> kept;  // one buffer for an array that is not rematerialized
  std::vector<Buffer> placed;
  for (const ProgramValue& value : program_.values) {
    if (program_.AllocationOf(value).IsFixed() || value.size < kSmallestPlaced || value.first < 0) continue;
    const bool is_output = returned.contains(value.id);
    if (!undo || is_output || !IsRematerialized(value)) {
      const bool separate = is_output && !WritesInPlace(program_, value.array.instruction);
      placed.push_back({value, value.allocation, {value.id}, separate});
    } else {
      Buffer& buffer = kept.try_emplace(OriginalOf(program_, value), Buffer{{.first = INT64_MAX}}).first->second;
      buffer.size = std::max(buffer.size, value.size);
      buffer.first = std::min(buffer.first, value.first);
      buffer.last = std::max(buffer.last, value.last);
      buffer.allocation = value.allocation;
      buffer.values.push_back(value.id);
    }
  }
  buffers = JoinInPlace(std::move(placed));
  for (auto& [array, buffer] : kept) buffers.push_back(std::move(buffer));
  for (Buffer& buffer : buffers) {
    if (std::ranges::none_of(buffer.values, [&](ValueId id) { return returned.contains(id); })) continue;
    buffer.is_output = true;
    buffer.last = kNeverEnds;
  }
  std::vector<Extent> extents(buffers.begin(), buffers.end());
  whole = whole && PlaceInOutputs(buffers, &extents);
}

bool BufferAssignment::IsRematerialized(const ProgramValue& value) const {
  if (!value.array.instruction) return false;
  const std::string_view name = program_.InstructionOf(value).name;
  const std::string_view original = OriginalName(name);
  return original != name || program_.module.Find(std::string(original) + ".remat");
}

std::int64_t BufferAssignment::FixedBytes(const Sizes& sizes) const {
  Indexed<AllocationId, std::int64_t> fixed(program_.memory.allocations.size());
  for (const ProgramValue& value : program_.values) {
    const MemoryAllocation& allocation = program_.AllocationOf(value);
    if (allocation.IsFixed() && value.size == allocation.size)
      fixed[value.allocation] = std::max(fixed[value.allocation], sizes[value.id]);
  }
  return std::accumulate(fixed.begin(), fixed.end(), std::int64_t{0});
}

std::pair<std::vector<Extent>, std::int64_t> BufferAssignment::TemporariesAndOutputs(const Sizes& sizes) const {
  std::vector<Extent> extents(buffers.begin(), buffers.end());
  for (std::size_t i = 0; i < buffers.size(); ++i) extents[i].size = SharedBytes(buffers[i].values, sizes);
  PlaceInOutputs(buffers, &extents);
  std::int64_t outputs = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].is_output) outputs += std::exchange(extents[i].size, 0);
  }
  return {std::move(extents), outputs};
}

std::int64_t BufferAssignment::HeapBytes(const Sizes& sizes, const std::vector<Buffer>& added) const {
  auto [extents, outputs] = TemporariesAndOutputs(sizes);
  extents.insert(extents.end(), added.begin(), added.end());
  return PeakOf(extents).bytes + outputs;
}

std::int64_t BufferAssignment::Need(const Sizes& sizes, const std::vector<Buffer>& added) const {
  const std::int64_t heap = HeapBytes(sizes, added);
  // Gaps shrink with the buffers that they are between.
  const double share = heap < compiled_heap_ ? static_cast<double>(heap) / static_cast<double>(compiled_heap_) : 1;
  return FixedBytes(sizes) + heap + ClampToBytes(share * static_cast<double>(fragmentation));
}

std::vector<const Buffer*> BufferAssignment::LiveAtPeak(const Sizes& sizes) const {
  const Usage peak = PeakOf(TemporariesAndOutputs(sizes).first);
  std::vector<const Buffer*> live;
  for (const Buffer& buffer : buffers) {
    if (peak.bytes > 0 && buffer.first <= peak.moment && peak.moment <= buffer.last) live.push_back(&buffer);
  }
  return live;
}

}  // namespace whyoom
