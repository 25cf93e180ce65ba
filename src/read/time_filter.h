// The time range of --since and --until.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "input/artifact.h"
#include "text/timestamp.h"

namespace whyoom {

// The half-open range [since, until); an absent bound is no limit. A bound without a time zone is compared with each
// timestamp as printed: with the local time of a logger that names no zone, and with UTC if the zone is known.
struct TimeRange {
  std::optional<Timestamp> since;
  std::optional<Timestamp> until;

  // Returns nullopt if that is unknown: there is no time, or it has no time zone although the bound has one.
  std::optional<bool> Contains(const std::optional<Timestamp>& time) const;
};

// Parses a bound as users write it: what ParseTimestamp accepts; a date, meaning its midnight; a date and time without
// seconds; or a time before `now`: "45s", "30m", "2h", "7d". Returns nullopt for anything else.
std::optional<Timestamp> ParseTimeBound(std::string_view text, const Timestamp& now);

// Adds a note on the `reports` whose time could not be compared with the range, if there are any.
void ReportUnknownTimes(std::uint64_t reports, std::vector<Problem>* problems);

}  // namespace whyoom
