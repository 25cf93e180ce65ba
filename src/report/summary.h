// The summary of a report: how often each failure occurs and in which programs, and which remedies rank first most
// often. All but the numbers of inputs, bytes and problems is computed from the failures alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/report.h"
#include "text/timestamp.h"

namespace whyoom {

struct Share {
  std::string title;              // of the scenario or remedy; empty if the name is enough
  std::uint64_t failures = 0;     // number of different failures
  std::uint64_t occurrences = 0;  // how often they were reported, see Tally::occurrences
};

struct Summary {
  std::uint64_t artifacts = 0;  // as in the report
  std::uint64_t bytes = 0;
  std::uint64_t failures = 0;
  std::uint64_t occurrences = 0;
  std::uint64_t problems = 0;
  std::map<std::string, Share> by_code;
  std::map<std::string, Share> by_scenario;  // see ScenarioName in failure_view.h
  std::map<std::string, Share> by_program;   // only failures that name a program
  std::uint64_t programs_left_out = 0;       // from by_program
  std::map<std::string, Share> by_remedy;    // id of the first remedy
  std::optional<Timestamp> first_time;       // of any report
  std::optional<Timestamp> last_time;
};

// Borrows the failures.
Summary Summarize(const Report& report);

// Like Summarize, but keeps only the most frequent entries of each long list.
Summary BoundedSummary(const Report& report);

// Sorts the entries by occurrences, then by diagnoses, most first; ties by name.
std::vector<std::pair<std::string, Share>> MostFrequent(const std::map<std::string, Share>& shares);

// "2026-10-01T09:14:07Z to 2026-10-02T11:30:00Z", in whole seconds. A single time if both are the same; empty if one is
// unknown.
std::string PeriodText(const std::optional<Timestamp>& first, const std::optional<Timestamp>& last);

// True if the report has an overview: if it has more than a few failures, or groups that the user asked for.
bool IsBatch(const Report& report);

// Sorts the failures by occurrences, then by artifacts, most first; ties in report order. Borrows them.
std::vector<const Failure*> MostFrequentFirst(const Report& report);

}  // namespace whyoom
