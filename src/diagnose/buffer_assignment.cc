#include "diagnose/buffer_assignment.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "input/text_lines.h"

namespace whyoom {
namespace {

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }
bool Holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::optional<AssignedAllocation> ReadAllocation(std::string_view line) {
  static const re2::RE2 head(R"(^allocation \d+: size (\d{1,18}),?(.*))");
  AssignedAllocation allocation;
  re2::StringPiece rest;
  if (!re2::RE2::PartialMatch(Piece(line), head, &allocation.size, &rest)) return std::nullopt;
  const std::string_view properties(rest.data(), rest.size());
  if (Holds(properties, " color ") || Holds(properties, "thread-local")) return std::nullopt;
  allocation.is_output = Holds(properties, "maybe-live-out");
  if (Holds(properties, " parameter ")) {
    allocation.kind = AllocationKind::kArgument;
  } else if (allocation.is_output) {
    allocation.kind = AllocationKind::kOutput;
  } else if (Holds(properties, " constant")) {
    allocation.kind = AllocationKind::kConstant;
  }
  return allocation;
}

std::optional<AssignedValue> ReadValue(std::string_view line) {
  static const re2::RE2 value(
      R"(^ value: <\d+ (\S+?)(\{[\d,]*\})?(?: \(phi\))? @\d+> \(size=(\d{1,18}),offset=(\d{1,18})\): (.*))");
  AssignedValue read;
  if (!re2::RE2::PartialMatch(Piece(line), value, &read.name, &read.index, &read.size, &read.offset, &read.shape))
    return std::nullopt;
  if (read.index == "{}") read.index.clear();
  return read;
}

bool Overlap(const AssignedValue& a, const AssignedValue& b) {
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

// Larger first; of equal ones in the file's order. Keeps those whose memory is not taken yet.
std::vector<AssignedValue> WithoutSharing(std::vector<AssignedValue> values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const AssignedValue& a, const AssignedValue& b) { return a.size > b.size; });
  constexpr std::size_t kMostKept = 4096;  // each is compared with all that are kept
  std::vector<AssignedValue> kept;
  for (AssignedValue& value : values) {
    if (kept.size() >= kMostKept) break;
    const bool shares =
        std::any_of(kept.begin(), kept.end(), [&](const AssignedValue& other) { return Overlap(value, other); });
    if (!shares) kept.push_back(std::move(value));
  }
  return kept;
}

}  // namespace

std::vector<AssignedAllocation> ReadBufferAssignment(ByteSource& source, std::int64_t smallest, std::size_t most) {
  std::vector<AssignedAllocation> allocations;
  TextLines lines(source);
  std::string_view line;
  bool inside = false;
  std::size_t kept = 0;
  while (lines.Next(&line)) {
    if (line.starts_with("allocation ")) {
      std::optional<AssignedAllocation> allocation = ReadAllocation(line);
      inside = allocation.has_value() && allocations.size() < most;
      if (inside) allocations.push_back(*std::move(allocation));
    } else if (inside && line.starts_with(" value: ")) {
      std::optional<AssignedValue> value = ReadValue(line);
      if (!value || kept >= most) continue;
      if (value->size < smallest && value->size != allocations.back().size) continue;
      allocations.back().values.push_back(*std::move(value));
      ++kept;
    } else if (line.starts_with("Total bytes used")) {
      break;
    }
  }
  return allocations;
}

std::int64_t ReadHostBytes(ByteSource& source) {
  // Layout::kHostMemorySpace of XLA is 5.
  static const re2::RE2 host(R"(^allocation \d+: size (\d{1,18}), color 5\b)");
  std::int64_t bytes = 0;
  TextLines lines(source);
  std::string_view line;
  while (lines.Next(&line)) {
    std::int64_t size = 0;
    if (line.starts_with("allocation ") && re2::RE2::PartialMatch(Piece(line), host, &size) &&
        __builtin_add_overflow(bytes, size, &bytes))
      return INT64_MAX;
    if (line.starts_with("Total bytes used")) break;
  }
  return bytes;
}

std::map<std::string, LiveRange> ReadLiveRanges(ByteSource& source, const std::map<std::string, bool>& wanted) {
  static const re2::RE2 range(R"(^    (\S+?)(?:\{\})?:(\d{1,18})-(\d{1,18})$)");
  std::map<std::string, LiveRange> ranges;
  TextLines lines(source);
  std::string_view line;
  bool inside = false;
  while (lines.Next(&line)) {
    if (line == "  BufferLiveRange:") {
      inside = true;
    } else if (inside && !line.starts_with("    ")) {
      break;
    } else if (inside) {
      std::string name;
      LiveRange read;
      if (re2::RE2::FullMatch(Piece(line), range, &name, &read.first, &read.last) && wanted.contains(name))
        ranges.emplace(name, read);
    }
  }
  return ranges;
}

std::vector<AssignedValue> LiveAtPeak(const AssignedAllocation& allocation,
                                      const std::map<std::string, LiveRange>& ranges) {
  // What begins or ends to live, in order of time; at one moment the new values come first, since both ends are
  // inclusive.
  struct Event {
    std::int64_t moment;
    bool ends;
    const AssignedValue* value;
  };
  std::vector<Event> events;
  std::vector<std::pair<LiveRange, const AssignedValue*>> lives;
  for (const AssignedValue& value : allocation.values) {
    const auto range = ranges.find(value.name + value.index);
    if (range == ranges.end()) continue;
    lives.emplace_back(range->second, &value);
    events.push_back({range->second.first, false, &value});
    events.push_back({range->second.last, true, &value});
  }
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::pair(a.moment, a.ends) < std::pair(b.moment, b.ends);
  });
  // Values in the same place at the same time are one.
  std::map<std::pair<std::int64_t, std::int64_t>, int> places;
  std::int64_t sum = 0;
  std::int64_t peak = -1;
  std::int64_t peak_moment = 0;
  for (const Event& event : events) {
    int& users = places[{event.value->offset, event.value->size}];
    if (event.ends) {
      if (--users == 0) sum -= event.value->size;
    } else if (users++ == 0) {
      sum += event.value->size;
    }
    if (sum > peak) {
      peak = sum;
      peak_moment = event.moment;
    }
  }
  std::vector<AssignedValue> live;
  for (const auto& [range, value] : lives) {
    if (range.first <= peak_moment && peak_moment <= range.last) live.push_back(*value);
  }
  return WithoutSharing(live.empty() ? allocation.values : std::move(live));
}

}  // namespace whyoom
