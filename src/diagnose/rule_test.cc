#include "diagnose/rule_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnose/read_input.h"
#include "diagnose/rule_coverage.h"
#include "diagnose/setting_check.h"
#include "read/engine.h"

namespace whyoom {
namespace {

// Of an error line's example what it ends with: its line breaks stand for what is before it.
std::string FirstLine(const RuleCase& one) {
  const std::string& text = one.example.text;
  const std::size_t begin = one.kind == RuleCase::Kind::kErrorLine ? text.rfind('\n') + 1 : 0;
  return text.substr(begin, std::min<std::size_t>(text.find('\n', begin) - begin, 100));
}

}  // namespace

std::vector<std::string> RuleTestResult::Failures() const {
  std::vector<std::string> failures;
  for (const Tried& tried : all) {
    if (tried.complaint.empty()) continue;
    const RuleCase& one = tried.one;
    const std::string why = one.example.why.empty() ? "" : fmt::format(" ({})", one.example.why);
    const bool says_how = one.kind == RuleCase::Kind::kFailure || one.kind == RuleCase::Kind::kSituation ||
                          one.kind == RuleCase::Kind::kComparison;
    const std::string how = says_how && one.must_match ? " " + tried.complaint : "";
    failures.push_back(
        fmt::format("{}: {}: \"{}\"{}{}", one.Entry(), one.must_match ? "missing" : "noisy", FirstLine(one), how, why));
  }
  failures.insert(failures.end(), settings.begin(), settings.end());
  return failures;
}

bool RuleTestResult::ok() const {
  return noisy == 0 && missing == 0 && settings.empty() &&
         std::all_of(healthy.begin(), healthy.end(), [](const Healthy& log) { return log.codes.empty(); });
}

RuleTestResult TestRules(const RuleSet& rules, const std::vector<Artifact>& healthy, std::vector<Problem>* problems,
                         bool list_untried) {
  RuleTestResult result;
  result.settings = BadSettings(rules);
  const Engine engine(rules);
  std::vector<RuleCase> cases = CasesOf(rules);
  if (list_untried) result.untried = Untried(engine, cases);
  for (const Artifact& input : healthy) {
    Readings readings = ReadInput(engine, input, Limits());
    RuleTestResult::Healthy log = {input.path, {}};
    if (readings.table) {
      for (const Diagnosis& finding : readings.table->Finish(&readings.problems))
        log.codes.push_back(finding.failure->code);
    }
    std::erase_if(readings.problems, [](const Problem& problem) { return problem.is_unknown_error(); });
    if (problems != nullptr) problems->insert(problems->end(), readings.problems.begin(), readings.problems.end());
    result.healthy.push_back(std::move(log));
  }
  for (RuleCase& one : cases) {
    std::string complaint = Try(engine, one);
    // Built-in examples are of the built-in data as a whole: where some of it is left out, they may turn out otherwise.
    if (!complaint.empty() && (one.example.built_in || one.situation.built_in || one.runs.built_in) &&
        !rules.disabled().empty()) {
      result.changed.push_back({std::move(one), std::move(complaint)});
      continue;
    }
    if (one.must_match) {
      ++(complaint.empty() ? result.reported : result.missing);
    } else {
      ++(complaint.empty() ? result.validated : result.noisy);
    }
    result.all.push_back({std::move(one), std::move(complaint)});
  }
  return result;
}

}  // namespace whyoom
