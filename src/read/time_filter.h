// Drops failures outside a time range, if the log contains their time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "facts/compiled_program.h"
#include "input/artifact.h"
#include "read/candidate_errors.h"
#include "read/session.h"
#include "text/timestamp.h"

namespace whyoom {

// The half-open range [since, until); an absent bound is no limit. A bound without a time zone is compared with each
// timestamp as printed: with the local time of a logger that names no zone, and with UTC if the zone is known.
struct TimeRange {
  std::optional<Timestamp> since;
  std::optional<Timestamp> until;
};

// Parses a bound as users write it: what ParseTimestamp accepts; a date, meaning its midnight; a date and time without
// seconds; or a time before `now`: "45s", "30m", "2h", "7d". Returns nullopt for anything else.
std::optional<Timestamp> ParseTimeBound(std::string_view text, const Timestamp& now);

class TimeFilter {
 public:
  explicit TimeFilter(const TimeRange& range) : range_(range) {}

  // Removes sightings that are known to be outside. Keeps and counts those without a time, and those without a time
  // zone if the bound has one.
  void Apply(std::vector<Sighting>* sightings);

  // Removes programs whose first and last statements are both outside the range. Does not count unknown times.
  void Apply(ProgramTable* programs) const;

  // Removes candidate errors that are outside, except those that belong to known failures.
  void Apply(std::vector<CandidateLine>* candidate_errors) const;

  std::uint64_t unknown() const { return unknown_; }

 private:
  enum class Side { kInside, kOutside, kUnknown };
  Side SideOf(const std::optional<Timestamp>& time) const;

  TimeRange range_;
  std::uint64_t unknown_ = 0;
};

// Adds a note on the `reports` whose time could not be compared with the range, if there are any.
void ReportUnknownTimes(std::uint64_t reports, std::vector<Problem>* problems);

}  // namespace whyoom
