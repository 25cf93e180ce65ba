#include "diagnose/rule_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace {

// Returns the first line of the example. For an error line, the last one: the start of the raw line precedes it.
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
    const bool says_how = one.kind == RuleCase::Kind::kFailure || one.kind == RuleCase::Kind::kDiagnosisExample ||
                          one.kind == RuleCase::Kind::kComparison;
    const std::string how = says_how && one.must_match ? " " + tried.complaint : "";
    failures.push_back(
        fmt::format("{}: {}: \"{}\"{}{}", one.Entry(), one.must_match ? "missing" : "noisy", FirstLine(one), how, why));
  }
  return failures;
}

bool RuleTestResult::ok() const {
  return noisy == 0 && missing == 0 &&
         std::all_of(healthy.begin(), healthy.end(), [](const Healthy& log) { return log.codes.empty(); });
}

RuleTestResult TestRules(const RuleSet& rules, const std::vector<Artifact>& healthy, std::vector<Problem>* problems) {
  RuleTestResult result;
  const Engine engine(rules);
  std::vector<RuleCase> cases = CasesOf(rules);
  for (const Artifact& input : healthy) {
    Report report = ReadInput(engine, input, Limits());
    RuleTestResult::Healthy log = {input.path};
    if (report.table) {
      for (const Failure& failure : report.table->Finish(&report.problems)) log.codes.push_back(failure.rule->code);
    }
    std::erase_if(report.problems, [](const Problem& problem) { return problem.is_unknown_error(); });
    if (problems != nullptr) problems->insert(problems->end(), report.problems.begin(), report.problems.end());
    result.healthy.push_back(std::move(log));
  }
  for (RuleCase& one : cases) {
    std::string complaint = Try(engine, one);
    // Built-in examples assume the complete built-in data; with entries disabled, they may have other results.
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
