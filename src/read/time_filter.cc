#include "read/time_filter.h"

#include <fmt/format.h>

#include <algorithm>
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

TimeFilter::Side TimeFilter::SideOf(const std::optional<Timestamp>& time) const {
  if (!range_.since && !range_.until) return Side::kInside;
  if (!time) return Side::kUnknown;
  const std::int64_t at = time->microseconds;
  const bool since_known = Comparable(*time, range_.since);
  const bool until_known = Comparable(*time, range_.until);
  if (since_known && range_.since && at < range_.since->microseconds) return Side::kOutside;
  if (until_known && range_.until && at >= range_.until->microseconds) return Side::kOutside;
  return since_known && until_known ? Side::kInside : Side::kUnknown;
}

void TimeFilter::Apply(std::vector<Sighting>* sightings) {
  std::erase_if(*sightings, [this](const Sighting& sighting) {
    const Side side = SideOf(sighting.time);
    if (side == Side::kUnknown) ++unknown_;
    return side == Side::kOutside;
  });
}

void TimeFilter::Apply(ProgramTable* programs) const {
  if (!range_.since && !range_.until) return;
  ProgramTable kept;
  kept.LeaveOut(programs->left_out());
  for (CompiledProgram& program : programs->Take()) {
    const bool outside = SideOf(program.last_time) == Side::kOutside && SideOf(program.first_time) == Side::kOutside;
    if (!outside) kept.Add(std::move(program));
  }
  *programs = std::move(kept);
}

void TimeFilter::Apply(std::vector<CandidateLine>* candidate_errors) const {
  std::erase_if(*candidate_errors, [this](const CandidateLine& suspect) {
    return !suspect.known && SideOf(suspect.time) == Side::kOutside;
  });
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
