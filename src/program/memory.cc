#include "program/memory.h"

#include <algorithm>
#include <optional>

#include "text/numbers.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostWithoutValue = 50000;

// Removes `before` and the number that follows it; nullopt if the text begins differently.
std::optional<std::int64_t> TakeNumberAfter(std::string_view* text, std::string_view before) {
  return Take(text, before) ? TakeNumber(text) : std::nullopt;
}

// " value: <25 while.5{1} (phi) @0> (size=11150557184,offset=5575278592): f32[10889216,4,2]{1,2,0:T(2,128)}"
std::optional<MemoryValue> ReadValue(std::string_view text) {
  if (!TakeNumberAfter(&text, " value: <") || !Take(&text, " ")) return std::nullopt;
  const std::string_view place = text.substr(0, text.find(' '));
  text.remove_prefix(place.size());
  Take(&text, " (phi)");  // a loop-carried value
  const std::optional<std::int64_t> color = TakeNumberAfter(&text, " @");
  const std::optional<std::int64_t> size = TakeNumberAfter(&text, "> (size=");
  const std::optional<std::int64_t> offset = TakeNumberAfter(&text, ",offset=");
  if (place.empty() || !color || !size || !offset || !Take(&text, "): ")) return std::nullopt;
  const auto [name, index] = SplitPlace(place);
  return MemoryValue{{*size, *offset}, std::string(name), std::string(index), std::string(text)};
}

struct MemoryReader {
  MemoryLimits limits;
  ModuleMemory memory;
  bool inside = false;            // within an allocation whose values are kept
  std::int64_t last_number = -1;  // of the last allocation
  std::int64_t filled = 0;        // end of the values of the open allocation
  std::size_t text_bytes = 0;
  std::size_t kept = 0;                         // values
  std::int64_t room = std::int64_t{1} << 57;    // for the sizes of further values
  Arena places;                                 // "while.5{1}"
  NameMap<std::vector<MemoryValue*>> by_place;  // the values of each name

  void ReadAssignment(ByteSource& source) {
    TextLines lines(source);
    std::string_view line;
    while (lines.Next(&line)) {
      if (line.starts_with("allocation ")) {
        EndAllocation();
        memory.assignment_whole = ReadAllocation(line) && memory.assignment_whole;
      } else if (inside && line.starts_with(" value: ")) {
        std::optional<MemoryValue> value = ReadValue(line);
        memory.assignment_whole = value && memory.assignment_whole;
        if (value) AddValue(std::move(*value));
      } else if (line.starts_with("Total bytes used")) {
        break;
      }
    }
    EndAllocation();
    if (last_number < 0 || !source.problem().empty()) memory.assignment_whole = false;
  }

  void ReadRanges(ByteSource& source) {
    for (MemoryAllocation& allocation : memory.allocations) {
      for (MemoryValue& value : allocation.values) by_place[places.Keep(value.name + value.index)].push_back(&value);
    }
    TextLines lines(source);
    std::string_view line;
    bool inside = false;
    bool whole = false;
    while (lines.Next(&line)) {
      if (inside && line.starts_with("    ")) {
        ReadRange(line.substr(4));
      } else if (inside) {
        whole = line.starts_with("  L");  // "  Live ranges at 5 (peak):" follows the list
        break;
      } else if (Take(&line, "HloLiveRange (max ")) {
        memory.schedule_length = TakeNumber(&line).value_or(0);
      } else {
        inside = line == "  BufferLiveRange:";
      }
    }
    if (!whole || !source.problem().empty()) memory.ranges_whole = false;
  }

  // "allocation 7: size 512, color 5, page 0, parameter 1, shape |f32[8]| at ShapeIndex {0}, maybe-live-out:"
  // Returns false if the file is damaged.
  bool ReadAllocation(std::string_view text) {
    if (!text.ends_with(':')) return false;  // truncated: the missing part may state that it is not in HBM
    text.remove_suffix(1);
    const std::optional<std::int64_t> number = TakeNumberAfter(&text, "allocation ");
    const std::optional<std::int64_t> size = TakeNumberAfter(&text, ": size ");
    if (!number || !size) return false;
    MemoryAllocation allocation{.size = *size};
    std::int64_t color = 0;
    bool is_thread_local = false;
    bool is_constant = false;
    ListReader properties(text);
    while (std::optional<std::string_view> property = properties.Next()) {
      if (*property == "thread-local") is_thread_local = true;
      if (*property == "constant") is_constant = true;
      if (*property == "maybe-live-out") allocation.is_output = true;
      if (Take(&*property, "color ")) color = TakeNumber(&*property).value_or(-1);
      if (Take(&*property, "parameter "))
        allocation.parameter = static_cast<int>(std::min<std::int64_t>(TakeNumber(&*property).value_or(0), INT32_MAX));
    }
    allocation.kind = allocation.parameter >= 0 ? AllocationKind::kArgument
                      : allocation.is_output    ? AllocationKind::kOutput
                      : is_constant             ? AllocationKind::kConstant
                                                : AllocationKind::kTemporaries;
    if (!is_thread_local) AddAllocation(std::move(allocation), color);
    // If the numbers do not increase, the file contains two assignments, and the total would include both.
    return *number > std::exchange(last_number, *number);
  }

  void AddAllocation(MemoryAllocation allocation, std::int64_t color) {
    if (color == kHostMemorySpace) memory.host_bytes = SaturatingAdd(memory.host_bytes, allocation.size);
    if (color != 0) return;
    memory.need_bytes = SaturatingAdd(memory.need_bytes, allocation.size);
    if (memory.allocations.size() >= limits.values) {
      memory.over_limit = true;
      return;
    }
    memory.allocations.push_back(std::move(allocation));
    inside = true;
    filled = 0;
  }

  // The values fill an allocation to its end. If they do not, the file was truncated. A small gap is accepted, since
  // users who share a dump may remove small values.
  void EndAllocation() {
    if (!inside) return;
    inside = false;
    constexpr std::int64_t kLittle = std::int64_t{1} << 20;
    const std::int64_t size = memory.allocations.back().size;
    if (size - std::min(filled, size) > std::max(kLittle, size / 256)) memory.assignment_whole = false;
  }

  void AddValue(MemoryValue value) {
    MemoryAllocation& allocation = memory.allocations.back();
    filled = std::max(filled, SaturatingAdd(value.offset, value.size));
    if (value.size < limits.smallest && value.size != allocation.size) return;
    if (kept >= limits.values || text_bytes > limits.text_bytes) {
      memory.over_limit = true;
      return;
    }
    ++kept;
    text_bytes += value.name.size() + value.index.size() + value.shape.size();
    value.size = std::min(value.size, room);
    room -= value.size;
    allocation.values.push_back(std::move(value));
  }

  // "while.5{1}:5-7"
  void ReadRange(std::string_view line) {
    std::string_view place = line.substr(0, line.rfind(':'));
    std::string_view numbers = line.substr(place.size());
    const std::optional<std::int64_t> first = TakeNumberAfter(&numbers, ":");
    const std::optional<std::int64_t> last = TakeNumberAfter(&numbers, "-");
    if (!first || !last || *last < *first || !numbers.empty()) {
      memory.ranges_whole = false;
      return;
    }
    if (place.ends_with("{}")) place.remove_suffix(2);
    const auto* found = Find(by_place, place);
    if (found == nullptr) {
      if (memory.ranges_without_value.size() < kMostWithoutValue) memory.ranges_without_value.emplace_back(place);
      return;
    }
    memory.schedule_length = std::max(memory.schedule_length, *last + 1);
    for (MemoryValue* value : *found) {
      if (value->first >= 0) return;  // the first range wins
      value->first = *first;
      value->last = *last;
    }
  }
};

}  // namespace

std::pair<std::string_view, std::string_view> SplitPlace(std::string_view place) {
  const std::size_t brace = place.ends_with('}') ? std::min(place.rfind('{'), place.size()) : place.size();
  const std::string_view index = place.substr(brace);
  return {place.substr(0, brace), index == "{}" ? std::string_view() : index};
}

ModuleMemory ReadMemory(ByteSource& assignment, ByteSource* ranges, const MemoryLimits& limits) {
  MemoryReader reader{limits};
  reader.ReadAssignment(assignment);
  if (ranges != nullptr) reader.ReadRanges(*ranges);
  return std::move(reader.memory);
}

}  // namespace whyoom
