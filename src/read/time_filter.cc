#include "read/time_filter.h"

#include <fmt/format.h>

#include <array>
#include <string>

#include "text/numbers.h"

namespace whyoom {
namespace {

// Whether the two can be compared: local time in an unknown zone cannot be compared with a time in a known zone.
bool Comparable(const Timestamp& time, const std::optional<Timestamp>& bound) {
  return !bound || time.zone_known || !bound->zone_known;
}

// Returns the microseconds of "45s", "30m", "2h" or "7d".
std::optional<std::int64_t> ParseAgo(std::string_view text) {
  constexpr std::string_view kUnits = "smhd";
  constexpr std::array<std::int64_t, kUnits.size()> kSeconds = {1, 60, 3600, 86400};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  // Five digits are enough for any log and cannot overflow.
  if (digits == 0 || digits > 5 || digits + 1 != text.size()) return std::nullopt;
  const std::size_t unit = kUnits.find(text.back());
  if (unit == std::string_view::npos) return std::nullopt;
  return static_cast<std::int64_t>(ParseWholeNumber(text.substr(0, digits)).value_or(0)) * kSeconds[unit] * 1000000;
}

}  // namespace

std::optional<Timestamp> ParseTimeBound(std::string_view text, const Timestamp& now) {
  if (const std::optional<std::int64_t> ago = ParseAgo(text)) return Timestamp{now.microseconds - *ago, now.zone_known};
  for (const char* rest : {"", ":00", " 00:00:00"}) {
    if (const std::optional<Timestamp> time = ParseTimestamp(std::string(text) + rest)) return time;
  }
  return std::nullopt;
}

std::optional<bool> TimeRange::Contains(const std::optional<Timestamp>& time) const {
  if (!since && !until) return true;
  if (!time) return std::nullopt;
  const bool since_known = Comparable(*time, since);
  const bool until_known = Comparable(*time, until);
  if (since_known && since && time->microseconds < since->microseconds) return false;
  if (until_known && until && time->microseconds >= until->microseconds) return false;
  return since_known && until_known ? std::optional(true) : std::nullopt;
}

void ReportUnknownTimes(std::uint64_t reports, std::vector<Problem>* problems) {
  if (reports == 0) return;
  problems->push_back({"time range", "",
                       fmt::format("{} of failures {} no time that can be compared with --since or --until; {} kept",
                                   reports == 1 ? "1 report" : fmt::format("{} reports", reports),
                                   reports == 1 ? "has" : "have", reports == 1 ? "it was" : "they were"),
                       true, Problem::kNote});
}

}  // namespace whyoom
