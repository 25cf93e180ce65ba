// The input of all printers. Printers format it and make no decisions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/readings.h"
#include "facts/compiled_program.h"
#include "input/artifact.h"
#include "text/regex_options.h"

namespace whyoom {

struct Report {
  std::string version;                    // of the program
  std::string rules_fingerprint;          // of the rule data
  std::vector<std::string> rule_files;    // in addition to the built-in rules, see RuleSet::extra_files
  std::vector<Diagnosis> findings;        // root causes first
  std::vector<CompiledProgram> programs;  // that fit; sorted by need, largest first
  std::uint64_t programs_left_out = 0;    // beyond the report's limit
  std::uint64_t artifacts = 0;            // including partly read ones
  std::uint64_t bytes = 0;                // read from the artifacts
  std::vector<Problem> problems;
  std::uint64_t problems_left_out = 0;
  std::map<std::string, std::uint64_t> reports_left_out;  // by code: failures beyond the report's limit
  HiddenFindings hidden_findings;                         // found, but not among the findings
  std::vector<std::string> shards;                        // "2/8": the covered parts of a batch; empty: all
  std::optional<int> exit_status;                         // of the job, if `whyoom run` made the report
  bool strict = false;                                    // unknown memory errors count as failures
};

Report MakeReport(const std::string& rules_fingerprint, Readings readings);

// The names of rule files for a report: at most 100, then "and N more".
std::vector<std::string> ShownRuleFiles(const std::vector<std::string>& files);

// "my-rules.json and 3 more", for a sentence; empty if there are none.
std::string RuleFilesPhrase(const std::vector<std::string>& files);

}  // namespace whyoom
