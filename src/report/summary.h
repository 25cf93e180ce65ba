// What a report comes to: how often which failure, in which programs, what would help most often, what recurs. A
// function of the report's findings alone, whoever read them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/report.h"
#include "text/timestamp.h"

namespace whyoom {

struct Share {
  std::string title;              // of the scenario or the remedy; empty: the name says all
  std::uint64_t diagnoses = 0;    // different failures
  std::uint64_t occurrences = 0;  // how often they were reported, see Tally::occurrences
};

struct Summary {
  std::uint64_t artifacts = 0;  // as the report has them
  std::uint64_t bytes = 0;
  std::uint64_t diagnoses = 0;
  std::uint64_t occurrences = 0;
  std::uint64_t problems = 0;
  std::map<std::string, Share> by_code;
  std::map<std::string, Share> by_scenario;  // see ScenarioName in finding_view.h
  std::map<std::string, Share> by_program;   // of the failures that name one
  std::uint64_t programs_left_out = 0;       // of by_program
  std::map<std::string, Share> by_remedy;    // id of the first that is a cure; where none is, the first
  std::map<std::string, Share> by_inquiry;   // id of the remedy that ranks first, where it finds out more
  // Failures that were reported more than once or in more than one artifact, the most frequent first, equal
  // ones in the order of the report.
  std::vector<const Diagnosis*> recurring;
  std::optional<Timestamp> first_time;  // of any report
  std::optional<Timestamp> last_time;
};

// Borrows the findings.
Summary Summarize(const Report& report);

// The same with the most frequent entries of each long list only.
Summary BoundedSummary(const Report& report);

// The entries of one of the maps, the most occurrences first, equal ones by name.
std::vector<std::pair<std::string, Share>> MostFrequent(const std::map<std::string, Share>& shares);

// "2026-10-01T09:14:07Z to 2026-10-02T11:30:00Z", to the second; once where both are the same, empty where one is not
// known.
std::string PeriodText(const std::optional<Timestamp>& first, const std::optional<Timestamp>& last);

// Whether a report is a batch, which gets an overview: of few failures, the diagnoses themselves are one.
bool IsBatch(const Report& report);

// The findings with the most occurrences first, equal ones in the order of the report. Borrows them.
std::vector<const Diagnosis*> MostFrequentFirst(const Report& report);

}  // namespace whyoom
