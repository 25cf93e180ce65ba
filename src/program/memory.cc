#include "program/memory.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "input/byte_source.h"
#include "program/hlo.h"
#include "program/name_map.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

// No memory is larger, and the sum of two such numbers does not overflow.
constexpr std::int64_t kMost = std::int64_t{1} << 60;
constexpr std::size_t kMostWithoutValue = 50000;

// Removes a number from the start of the text. Caps it at kMost.
std::optional<std::int64_t> TakeNumber(std::string_view* text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error == std::errc::invalid_argument || text->starts_with('-')) return std::nullopt;
  text->remove_prefix(end - text->data());
  return error == std::errc() ? std::min(number, kMost) : kMost;
}

bool Take(std::string_view* text, std::string_view part) {
  if (!text->starts_with(part)) return false;
  text->remove_prefix(part.size());
  return true;
}

// Splits "while.5{1}" into name and index. For "{}", the whole value, the index is empty.
void SplitIndex(std::string_view place, std::string* name, std::string* index) {
  const std::size_t brace = place.ends_with('}') ? place.rfind('{') : std::string_view::npos;
  *name = place.substr(0, brace);
  if (brace != std::string_view::npos && place.substr(brace) != "{}") *index = place.substr(brace);
}

struct AllocationLine {
  std::int64_t size = 0;
  std::int64_t color = 0;
  std::int64_t number = 0;
  bool thread_local_ = false;
  MemoryAllocation allocation;
};

// ", page 0, parameter 1, shape |f32[8]| at ShapeIndex {0}, maybe-live-out:"
void ReadProperties(std::string_view text, AllocationLine* line) {
  MemoryAllocation& allocation = line->allocation;
  bool constant = false;
  while (Take(&text, ", ")) {
    if (Take(&text, "color ")) line->color = TakeNumber(&text).value_or(-1);
    if (Take(&text, "thread-local")) line->thread_local_ = true;
    if (Take(&text, "constant")) constant = true;
    if (Take(&text, "maybe-live-out")) allocation.is_output = true;
    if (Take(&text, "parameter ")) {
      allocation.kind = AllocationKind::kArgument;
      allocation.parameter = static_cast<int>(std::min<std::int64_t>(TakeNumber(&text).value_or(-1), INT32_MAX));
    }
    if (Take(&text, "shape |") || Take(&text, "output shape is |"))
      text.remove_prefix(std::min(text.find('|'), text.size()));
    text.remove_prefix(std::min(text.find(", "), text.size()));
  }
  if (allocation.kind == AllocationKind::kArgument) return;
  if (allocation.is_output) {
    allocation.kind = AllocationKind::kOutput;
  } else if (constant) {
    allocation.kind = AllocationKind::kConstant;
  }
}

// "allocation 7: size 22301114368, page 0, preallocated-temp:"
std::optional<AllocationLine> ReadAllocation(std::string_view text) {
  AllocationLine line;
  if (!text.ends_with(':')) return std::nullopt;  // truncated: the missing part may state that it is not in HBM
  if (!Take(&text, "allocation ")) return std::nullopt;
  const std::optional<std::int64_t> number = TakeNumber(&text);
  if (!number || !Take(&text, ": size ")) return std::nullopt;
  line.number = *number;
  const std::optional<std::int64_t> size = TakeNumber(&text);
  if (!size) return std::nullopt;
  line.size = *size;
  line.allocation.size = *size;
  ReadProperties(text, &line);
  return line;
}

// " value: <25 while.5{1} (phi) @0> (size=11150557184,offset=5575278592): f32[10889216,4,2]{1,2,0:T(2,128)}"
std::optional<MemoryValue> ReadValue(std::string_view text) {
  if (!Take(&text, " value: <") || !TakeNumber(&text) || !Take(&text, " ")) return std::nullopt;
  const std::size_t name_end = text.find(' ');
  if (name_end == std::string_view::npos || name_end == 0) return std::nullopt;
  const std::string_view place = text.substr(0, name_end);
  text.remove_prefix(name_end);
  Take(&text, " (phi)");  // a loop-carried value
  if (!Take(&text, " @") || !TakeNumber(&text) || !Take(&text, "> (size=")) return std::nullopt;
  const std::optional<std::int64_t> size = TakeNumber(&text);
  if (!size || !Take(&text, ",offset=")) return std::nullopt;
  const std::optional<std::int64_t> offset = TakeNumber(&text);
  if (!offset || !Take(&text, "): ")) return std::nullopt;
  MemoryValue value{.name = {}, .index = {}, .shape = std::string(text), .size = *size, .offset = *offset};
  SplitIndex(place, &value.name, &value.index);
  return value;
}

class MemoryReader {
 public:
  explicit MemoryReader(const MemoryLimits& limits) : limits_(limits) {}

  void ReadAssignment(ByteSource& source) {
    TextLines lines(source);
    std::string_view line;
    bool any = false;
    while (lines.Next(&line)) {
      if (line.starts_with("allocation ")) {
        any = true;
        EndAllocation();
        if (const std::optional<AllocationLine> allocation = ReadAllocation(line)) {
          AddAllocation(*allocation);
        } else {
          memory_.assignment_whole = false;
        }
      } else if (inside_ && line.starts_with(" value: ")) {
        if (std::optional<MemoryValue> value = ReadValue(line)) {
          AddValue(std::move(*value));
        } else {
          memory_.assignment_whole = false;
        }
      } else if (line.starts_with("Total bytes used")) {
        break;
      }
    }
    EndAllocation();
    if (!any || !source.problem().empty()) memory_.assignment_whole = false;
  }

  void ReadRanges(ByteSource& source) {
    IndexValues();
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
        memory_.schedule_length = TakeNumber(&line).value_or(0);
      } else {
        inside = line == "  BufferLiveRange:";
      }
    }
    if (!whole || !source.problem().empty()) memory_.ranges_whole = false;
  }
  ModuleMemory Result() { return std::move(memory_); }

 private:
  void AddAllocation(const AllocationLine& line) {
    // If the numbers do not increase, the file contains two assignments. The total would include both, so reject it.
    if (line.number <= number_) memory_.assignment_whole = false;
    number_ = line.number;
    if (line.thread_local_) return;
    if (line.color == kHostMemorySpace) memory_.host_bytes = SaturatingAdd(memory_.host_bytes, line.size);
    if (line.color != 0) return;
    memory_.need_bytes = SaturatingAdd(memory_.need_bytes, line.size);
    if (memory_.allocations.size() >= limits_.values) {
      memory_.over_limit = true;
      return;
    }
    memory_.allocations.push_back(line.allocation);
    inside_ = true;
    filled_ = 0;
  }

  // The values fill an allocation to its end. If they do not, the file was truncated. A small gap is accepted, since
  // users who share a dump may remove small values.
  void EndAllocation() {
    if (!inside_) return;
    inside_ = false;
    constexpr std::int64_t kLittle = std::int64_t{1} << 20;
    const std::int64_t size = memory_.allocations.back().size;
    if (size - std::min(filled_, size) > std::max(kLittle, size / 256)) memory_.assignment_whole = false;
  }

  void AddValue(MemoryValue value) {
    MemoryAllocation& allocation = memory_.allocations.back();
    filled_ = std::max(filled_, SaturatingAdd(value.offset, value.size));
    if (value.size < limits_.smallest && value.size != allocation.size) return;
    if (kept_ >= limits_.values || text_bytes_ > limits_.text_bytes) {
      memory_.over_limit = true;
      return;
    }
    ++kept_;
    text_bytes_ += value.name.size() + value.index.size() + value.shape.size();
    value.size = std::min(value.size, room_);
    room_ -= value.size;
    allocation.values.push_back(std::move(value));
  }

  void IndexValues() {
    for (MemoryAllocation& allocation : memory_.allocations) {
      for (MemoryValue& value : allocation.values) by_place_[places_.Keep(value.name + value.index)].push_back(&value);
    }
  }

  // "while.5{1}:5-7"
  void ReadRange(std::string_view line) {
    const std::size_t colon = std::min(line.rfind(':'), line.size());
    std::string_view numbers = line.substr(std::min(colon + 1, line.size()));
    const std::optional<std::int64_t> first = TakeNumber(&numbers);
    const std::optional<std::int64_t> last = first && Take(&numbers, "-") ? TakeNumber(&numbers) : std::nullopt;
    if (!last || *last < *first || !numbers.empty()) {
      memory_.ranges_whole = false;
      return;
    }
    std::string_view place = line.substr(0, colon);
    if (place.ends_with("{}")) place.remove_suffix(2);
    const auto* found = Find(by_place_, place);
    if (found == nullptr) {
      if (memory_.ranges_without_value.size() < kMostWithoutValue) memory_.ranges_without_value.emplace_back(place);
      return;
    }
    for (MemoryValue* value : *found) {
      if (value->first >= 0) return;  // the first range wins
      value->first = *first;
      value->last = *last;
    }
  }

  MemoryLimits limits_;
  ModuleMemory memory_;
  bool inside_ = false;       // within an allocation whose values are kept
  std::int64_t number_ = -1;  // of the last allocation
  std::int64_t filled_ = 0;   // end of the values of the open allocation
  std::size_t text_bytes_ = 0;
  std::size_t kept_ = 0;                         // values
  std::int64_t room_ = std::int64_t{1} << 57;    // for the sizes of further values
  TextArena places_;                             // "while.5{1}"
  NameMap<std::vector<MemoryValue*>> by_place_;  // the values of each name
};

}  // namespace

ModuleMemory ReadMemory(ByteSource& assignment, ByteSource* ranges, const MemoryLimits& limits) {
  MemoryReader reader(limits);
  reader.ReadAssignment(assignment);
  if (ranges != nullptr) reader.ReadRanges(*ranges);
  return reader.Result();
}

void DropRanges(ModuleMemory* memory) {
  memory->schedule_length = 0;
  memory->ranges_without_value.clear();
  for (MemoryAllocation& allocation : memory->allocations) {
    for (MemoryValue& value : allocation.values) value.first = value.last = -1;
  }
}

}  // namespace whyoom
