#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "report/encodings.h"
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

struct Test {
  std::string class_name;
  std::string name;
  const char* outcome = nullptr;  // element name, such as "failure"; null: passed
  std::string type;
  std::string message;
  std::string text;
};

std::string Attribute(const char* name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, EscapeMarkup(value, true));
}

std::string Element(const Test& test) {
  const std::string head = "    <testcase" + Attribute("classname", test.class_name) + Attribute("name", test.name);
  if (test.outcome == nullptr) return head + "/>\n";
  return head + ">\n" +
         fmt::format("      <{0}{1}{2}>{3}</{0}>\n", test.outcome, Attribute("type", test.type),
                     Attribute("message", test.message), EscapeMarkup(test.text, false)) +
         "    </testcase>\n";
}

std::string Property(const char* name, const std::string& value) {
  return "      <property" + Attribute("name", name) + Attribute("value", value) + "/>\n";
}

std::string JunitXml(const std::vector<Test>& tests,
                     const std::vector<std::pair<const char*, std::string>>& properties) {
  const auto count = [&](std::string_view outcome) {
    return std::count_if(tests.begin(), tests.end(),
                         [&](const Test& test) { return test.outcome != nullptr && test.outcome == outcome; });
  };
  const std::string counts = fmt::format(" name=\"whyoom\" tests=\"{}\" failures=\"{}\" errors=\"{}\"", tests.size(),
                                         count("failure"), count("error"));
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" + counts +
                     ">\n    <properties>\n";
  for (const auto& [name, value] : properties) text += Property(name, value);
  text += "    </properties>\n";
  for (const Test& test : tests) text += Element(test);
  return text + "  </testsuite>\n</testsuites>\n";
}

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
std::string NewName(const std::string& class_name, const std::string& wanted, std::set<std::string>* names) {
  const std::string name = CutBytes(wanted, kLongestCaseName);
  std::string made = name;
  for (std::size_t i = 2; !names->insert(class_name + '\n' + made).second; ++i) made = fmt::format("{} ({})", name, i);
  return made;
}

// An unread input is an error. An unknown error is skipped, because it may be harmless; with --strict it fails.
Test RemarkTest(const Remark& remark, bool strict, std::set<std::string>* names) {
  const bool is_unknown = remark.hint != nullptr;
  const bool of_report = remark.problem == nullptr || remark.problem->of_report;
  const char* kind = is_unknown ? "whyoom.unknown_error" : of_report ? "whyoom.report" : "whyoom.input";
  const std::string name = NewName(kind, remark.place.empty() ? "the report" : remark.place, names);
  const char* outcome = !is_unknown ? "error" : strict ? "failure" : "skipped";
  const std::string text =
      is_unknown ? fmt::format("{}: {}\n{}\n", remark.title, remark.text, remark.hint) : remark.Sentence();
  return {kind, name, outcome, kind, remark.text, text};
}

std::vector<Test> TestsOf(const Report& report) {
  std::vector<Test> tests;
  for (const Failure& failure : report.failures) tests.push_back(FailedTest(failure, tests.size() < kMostTexts));
  std::set<std::string> names;
  for (const Remark& remark : RemarksOf(report, kMostTexts)) tests.push_back(RemarkTest(remark, report.strict, &names));
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
  if (!report.hidden.empty()) properties.emplace_back("ignored", fmt::format("{}", report.hidden.size()));
  return JunitXml(TestsOf(report), properties);
}

}  // namespace whyoom
