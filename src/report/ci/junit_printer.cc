#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "report/ci/junit_xml.h"
#include "report/failure_view.h"
#include "report/layout.h"
#include "report/printers.h"
#include "report/summary.h"
#include "report/text/text_printer.h"
#include "report/unknown_errors.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// A thousand text reports are about five megabytes; GitLab and Jenkins accept a few tens.
constexpr std::size_t kMostTexts = 1000;
constexpr std::size_t kLongestCaseName = 500;

using Test = JunitTest;

Test FailedTest(const Failure& failure, bool with_text) {
  const std::string program = ProgramOf(failure);
  Test test;
  test.class_name = RuleId(failure);
  test.name = CutBytes(program.empty() ? Printable(failure.rule->title) : program, kLongestCaseName) + " [" +
              Printable(failure.id) + "]";
  test.outcome = "failure";
  test.type = test.class_name;
  test.message = Verdict(failure);
  test.text = with_text ? PrintFailure(failure) : PrintShort(failure);
  return test;
}

// One input may have several problems, but tests need different names.
Test ErrorTest(const Problem& problem, std::set<std::string>* names) {
  const std::string wanted =
      CutBytes(problem.path.empty() ? "the report" : ArtifactText({problem.path, problem.member}), kLongestCaseName);
  Test test;
  test.class_name = problem.of_report ? "whyoom.report" : "whyoom.input";
  test.name = wanted;
  for (std::size_t i = 2; !names->insert(test.class_name + '\n' + test.name).second; ++i)
    test.name = fmt::format("{} ({})", wanted, i);
  test.outcome = "error";
  test.type = test.class_name;
  test.message = Printable(problem.what);
  test.text = ProblemText(problem);
  return test;
}

// The test is skipped, because the error may be harmless; with --strict it fails.
Test UnknownErrorTest(const Problem& problem, bool strict, std::set<std::string>* names) {
  const std::string wanted = CutBytes(UnknownErrorPlace(problem), kLongestCaseName);
  Test test;
  test.class_name = "whyoom.unknown_error";
  test.name = wanted;
  for (std::size_t i = 2; !names->insert(test.class_name + '\n' + test.name).second; ++i)
    test.name = fmt::format("{} ({})", wanted, i);
  test.outcome = strict ? "failure" : "skipped";
  test.type = test.class_name;
  test.message = UnknownErrorText(problem);
  test.text = fmt::format("{}: {}\n{}\n", kUnknownErrors, test.message, kRuleHint);
  return test;
}

std::vector<Test> TestsOf(const Report& report) {
  std::vector<Test> tests;
  for (const Failure& failure : report.failures) tests.push_back(FailedTest(failure, tests.size() < kMostTexts));
  std::set<std::string> names;
  for (const Problem* problem : UnreadInputs(report)) tests.push_back(ErrorTest(*problem, &names));
  if (const std::uint64_t left_out = UnreadInputsLeftOut(report); left_out > 0) {
    const std::string more = fmt::format("{} more inputs could not be read", left_out);
    tests.push_back({"whyoom.report", "more problems", "error", "whyoom.report", more, more});
  }
  for (const Problem* problem : UnknownErrors(report))
    tests.push_back(UnknownErrorTest(*problem, report.strict, &names));
  if (tests.empty()) tests.push_back({"whyoom", "no out-of-memory error", nullptr, "", "", ""});
  return tests;
}

}  // namespace

std::string PrintJunit(const Report& report) {
  std::vector<std::pair<const char*, std::string>> properties = {
      {"version", report.version},
      {"rules", report.rules_fingerprint},
      {"inputs", fmt::format("{}", report.artifacts)},
      {"bytes", fmt::format("{}", report.bytes)},
      {"occurrences", fmt::format("{}", Summarize(report).occurrences)}};
  if (!report.rule_files.empty())
    properties.insert(properties.begin() + 2, {"rule_files", RuleFilesPhrase(report.rule_files)});
  if (const std::size_t known = report.hidden_failures.known.size(); known > 0)
    properties.emplace_back("known", fmt::format("{}", known));
  if (const std::size_t ignored = report.hidden_failures.ignored.size(); ignored > 0)
    properties.emplace_back("ignored", fmt::format("{}", ignored));
  return JunitXml(TestsOf(report), properties);
}

}  // namespace whyoom
