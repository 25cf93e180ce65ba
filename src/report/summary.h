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
  std::uint64_t diagnoses = 0;    // different failures
  std::uint64_t occurrences = 0;  // how often they were reported, see Tally::occurrences
};

struct Summary {
  std::uint64_t diagnoses = 0;
  std::uint64_t occurrences = 0;
  std::uint64_t problems = 0;
  std::map<std::string, Share> by_code;
  std::map<std::string, Share> by_scenario;  // see ScenarioName
  std::map<std::string, Share> by_program;   // of the failures that name one
  std::map<std::string, Share> by_remedy;    // id of the first that is a cure; where none is, the first
  // Failures that were reported more than once or in more than one artifact, the most frequent first, equal
  // ones in the order of the report.
  std::vector<const Diagnosis*> recurring;
  std::optional<Timestamp> first_time;  // of any report
  std::optional<Timestamp> last_time;
};

// Borrows the findings.
Summary Summarize(const Report& report);

// The entries of one of the maps, the most occurrences first, equal ones by name.
std::vector<std::pair<std::string, Share>> MostFrequent(const std::map<std::string, Share>& shares);

// The findings with the most occurrences first, equal ones in the order of the report. Borrows them.
std::vector<const Diagnosis*> MostFrequentFirst(const Report& report);

// "E1000.2"; "E1000.?" where the log cannot tell which scenario; "gpu.oom" where there are none.
std::string ScenarioName(const Diagnosis& finding);

// The program that failed, as its log names it; empty where it does not.
std::string ProgramOf(const Diagnosis& finding);

// What to do first: the first remedy that is a cure, else the first. Null where there is none.
const Remedy* FirstRemedy(const Diagnosis& finding);

}  // namespace whyoom
