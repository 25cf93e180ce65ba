// Leaves out the failures that a range of time does not hold, as far as the log says when they were.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "facts/compiled_program.h"
#include "input/artifact.h"
#include "read/session.h"
#include "read/suspects.h"
#include "text/timestamp.h"

namespace whyoom {

// From `since` up to, but without, `until`; what is absent is no limit. A bound without a zone is compared with each
// stamp's own reading: with the clock of a logger that names no zone, and with UTC where the zone is known.
struct TimeRange {
  std::optional<Timestamp> since;
  std::optional<Timestamp> until;
};

// A bound as a person writes it: what ParseTimestamp reads; a date alone, which is its midnight; a date and time
// without seconds; or how long before `now`: "45s", "30m", "2h", "7d". nullopt for anything else.
std::optional<Timestamp> ParseTimeBound(std::string_view text, const Timestamp& now);

class TimeFilter {
 public:
  explicit TimeFilter(const TimeRange& range) : range_(range) {}

  // Takes out the sightings that are known to lie outside. One whose time is not known, or has no zone where the bound
  // has one, may lie inside: it stays and is counted.
  void Apply(std::vector<Sighting>* sightings);

  // Likewise the programs of which no statement can lie inside; none of them is counted.
  void Apply(ProgramTable* programs) const;

  // Likewise the lines that speak of a failure of memory, but for those of known failures.
  void Apply(std::vector<SuspectLine>* suspects) const;

  std::uint64_t unknown() const { return unknown_; }

 private:
  enum class Side { kInside, kOutside, kUnknown };
  Side SideOf(const std::optional<Timestamp>& time) const;

  TimeRange range_;
  std::uint64_t unknown_ = 0;
};

// Adds a note about `reports` whose time could not be compared with the range, if there are any.
void ReportUnknownTimes(std::uint64_t reports, std::vector<Problem>* problems);

}  // namespace whyoom
