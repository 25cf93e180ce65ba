// All that a printer sees. Printers format; they decide nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/readings.h"
#include "facts/compiled_program.h"
#include "input/artifact.h"

namespace whyoom {

struct Report {
  std::string version;                    // of the program
  std::string rules_fingerprint;          // of the rule data
  std::vector<std::string> rule_files;    // in use beside the built-in data, see RuleSet::extra_files
  std::vector<Diagnosis> findings;        // root causes first
  std::vector<CompiledProgram> programs;  // no failures; the one that needs most first
  std::uint64_t programs_left_out = 0;    // beyond what a report holds
  std::uint64_t artifacts = 0;            // read, also in part
  std::uint64_t bytes = 0;                // read from them
  std::vector<Problem> problems;
  std::uint64_t problems_left_out = 0;
  std::map<std::string, std::uint64_t> reports_left_out;  // by code: of failures beyond what a report holds
  PassedOver passed_over;                                 // found, but not among the findings
  std::vector<std::string> shards;                        // "2/8": the parts of a batch it is of; empty: the whole
  std::optional<int> exit_status;                         // of the job, where `whyoom run` made the report
  bool strict = false;                                    // errors about memory that no rule knows count as failures
};

// What was read, concluded.
Report MakeReport(const std::string& rules_fingerprint, Readings readings);

// The names of rule files as a report tells them: some hundred at most, and how many there are more.
std::vector<std::string> RuleFilesTold(const std::vector<std::string>& files);

// "my-rules.json and 3 more", for a sentence; empty where there are none.
std::string RuleFilesPhrase(const std::vector<std::string>& files);

}  // namespace whyoom
