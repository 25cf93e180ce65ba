// The results of a run. The reports of inputs and of earlier runs join; MakeReport then draws the conclusions, and the
// printers format the result and make no decisions.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/failure_table.h"
#include "facts/compiled_program.h"
#include "facts/failure.h"
#include "input/artifact.h"

namespace whyoom {

struct Report {
  std::optional<FailureTable> table;      // before the conclusions; absent if nothing was found
  std::vector<Failure> failures;          // after the conclusions, like the next three; root causes first
  std::vector<CompiledProgram> programs;  // that fit; sorted by need, largest first
  std::uint64_t programs_left_out = 0;    // beyond the report's limit
  std::map<std::string, std::uint64_t> reports_left_out;  // by code: failures beyond the report's limit

  std::uint64_t artifacts = 0;  // number read, even partly: inputs, or members unpacked from them
  std::uint64_t bytes = 0;      // unpacked
  std::vector<Problem> problems;
  std::uint64_t problems_left_out = 0;  // number beyond what a report can contain
  std::set<std::string> hidden;         // ids of failures that the user does not want to see; bounded
  bool retry = false;                   // the system prevented reading; another attempt may succeed

  // Not joined.
  std::string version;                  // of the program
  std::string rules_fingerprint;        // of the rule data
  std::vector<std::string> rule_files;  // in addition to the built-in rules, see RuleSet::extra_files
  std::optional<int> exit_status;       // of the job, if `whyoom run` made the report
  bool strict = false;                  // unknown memory errors count as failures

  // Commutative and associative, except for the order of the problems. Call before the conclusions are drawn.
  void Join(Report other);
};

// Draws the conclusions, once, at the end.
Report MakeReport(const std::string& rules_fingerprint, Report found);

// Whether a retry of the job is known to fail the same way. That requires that something was found, that every failure
// will recur, that no memory error is unknown, and that the failures ended the job: nothing shows that it went on, and
// it ended by itself. After SIGTERM, SIGKILL and the like, something else ended it, even if a shell reports them as
// 128 + N; SIGABRT, SIGSEGV and the like are crashes of the job. In doubt, returns false: a useless retry costs less
// than a job that is given up.
bool FailsAgain(const Report& report);

// The names of rule files for a report: at most 100, then "and N more".
std::vector<std::string> ShownRuleFiles(const std::vector<std::string>& files);

}  // namespace whyoom
