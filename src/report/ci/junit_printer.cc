#include "report/ci/junit_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "report/ci/brief.h"
#include "report/finding_view.h"
#include "report/layout.h"
#include "report/summary.h"
#include "report/text/text_printer.h"
#include "report/unknown_errors.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// The text reports of a thousand failures are some five megabytes; GitLab and Jenkins read a few tens.
constexpr std::size_t kMostTexts = 1000;
constexpr std::size_t kLongestName = 500;

// Characters that XML 1.0 has no way to write.
bool IsIllegal(char32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || code == 0xFFFE || code == 0xFFFF;
}

// For attributes and text alike. A line break, which the parser would make a blank of in an attribute, is written as a
// reference there.
std::string Escape(std::string_view text, bool attribute) {
  std::string escaped;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeUtf8(text, at);
    at += point.length;
    if (point.code == '&') {
      escaped += "&amp;";
    } else if (point.code == '<') {
      escaped += "&lt;";
    } else if (point.code == '>') {
      escaped += "&gt;";
    } else if (point.code == '"') {
      escaped += "&quot;";
    } else if (attribute && (point.code == '\n' || point.code == '\t')) {
      escaped += fmt::format("&#{};", static_cast<unsigned>(point.code));
    } else {
      AppendUtf8(IsIllegal(point.code) ? kReplacement : point.code, &escaped);
    }
  }
  return escaped;
}

std::string Attribute(const char* name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, Escape(value, true));
}

struct Test {
  std::string class_name;
  std::string name;
  const char* outcome = nullptr;  // element that says what went wrong; null: passed
  std::string type;
  std::string message;
  std::string text;
};

std::string Element(const Test& test) {
  const std::string head = "    <testcase" + Attribute("classname", test.class_name) + Attribute("name", test.name);
  if (test.outcome == nullptr) return head + "/>\n";
  return head + ">\n" +
         fmt::format("      <{0}{1}{2}>{3}</{0}>\n", test.outcome, Attribute("type", test.type),
                     Attribute("message", test.message), Escape(test.text, false)) +
         "    </testcase>\n";
}

Test FailedTest(const Diagnosis& finding, bool with_text) {
  const std::string program = ProgramOf(finding);
  Test test;
  test.class_name = RuleId(finding);
  test.name = CutBytes(program.empty() ? Printable(finding.failure->title) : program, kLongestName) + " [" +
              Printable(finding.id) + "]";
  test.outcome = "failure";
  test.type = test.class_name;
  test.message = Verdict(finding);
  test.text = with_text ? PrintFinding(finding, TextOptions()) : BriefText(finding) + "\n";
  return test;
}

// Of one input there may be several problems; tests of a report are told apart by name.
Test ErrorTest(const Problem& problem, std::set<std::string>* names) {
  const std::string wanted =
      CutBytes(problem.path.empty() ? "the report" : ArtifactText({problem.path, problem.member}), kLongestName);
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

// Skipped, since nothing is known that failed; but a failure for who asked for that.
Test UnknownErrorTest(const Problem& problem, bool strict, std::set<std::string>* names) {
  const std::string wanted = CutBytes(UnknownErrorPlace(problem), kLongestName);
  Test test;
  test.class_name = "whyoom.unknown_error";
  test.name = wanted;
  for (std::size_t i = 2; !names->insert(test.class_name + '\n' + test.name).second; ++i)
    test.name = fmt::format("{} ({})", wanted, i);
  test.outcome = strict ? "failure" : "skipped";
  test.type = test.class_name;
  test.message = UnknownErrorText(problem);
  test.text = fmt::format("{}: {}", kUnknownErrors, test.message);
  if (const std::string command = RuleCommand(problem); !command.empty())
    test.text += fmt::format("\n{}\n{}\n", kMakeARule, command);
  return test;
}

std::vector<Test> TestsOf(const Report& report) {
  std::vector<Test> tests;
  for (const Diagnosis& finding : report.findings) tests.push_back(FailedTest(finding, tests.size() < kMostTexts));
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

std::string Property(const char* name, const std::string& value) {
  return "      <property" + Attribute("name", name) + Attribute("value", value) + "/>\n";
}

}  // namespace

std::string PrintJunit(const Report& report) {
  const std::vector<Test> tests = TestsOf(report);
  const auto count = [&](std::string_view outcome) {
    return std::count_if(tests.begin(), tests.end(),
                         [&](const Test& test) { return test.outcome != nullptr && test.outcome == outcome; });
  };
  const std::string counts = fmt::format(" name=\"whyoom\" tests=\"{}\" failures=\"{}\" errors=\"{}\"", tests.size(),
                                         count("failure"), count("error"));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" + counts +
                     ">\n    <properties>\n";
  text += Property("version", report.version) + Property("rules", report.rules_fingerprint) +
          (report.rule_files.empty() ? "" : Property("rule_files", RuleFilesPhrase(report.rule_files))) +
          Property("inputs", fmt::format("{}", report.artifacts)) + Property("bytes", fmt::format("{}", report.bytes)) +
          Property("occurrences", fmt::format("{}", Summarize(report).occurrences));
  text += "    </properties>\n";
  for (const Test& test : tests) text += Element(test);
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace whyoom
