#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "report/failure_view.h"
#include "report/formatting.h"
#include "report/printers.h"
#include "report/summary.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// A thousand text reports are about five megabytes; GitLab and Jenkins accept a few tens.
constexpr std::size_t kMostTexts = 1000;
constexpr std::size_t kLongestCaseName = 500;

std::string Attribute(const char* name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, EscapeMarkup(value, true));
}

class Tests {
 public:
  // A test that did not pass. Makes its name unique, because one input may have several problems.
  void Add(const char* outcome, const std::string& class_name, const std::string& name, const std::string& message,
           const std::string& text) {
    ++counts_[outcome];
    const std::string wanted = CutBytes(name, kLongestCaseName);
    std::string unique = wanted;
    for (std::size_t i = 2; !names_.insert(class_name + '\n' + unique).second; ++i)
      unique = fmt::format("{} ({})", wanted, i);
    xml_ += fmt::format("    <testcase{0}{1}>\n      <{2}{3}{4}>{5}</{2}>\n    </testcase>\n",
                        Attribute("classname", class_name), Attribute("name", unique), outcome,
                        Attribute("type", class_name), Attribute("message", message), EscapeMarkup(text));
  }

  // `properties` is XML. If there are no tests, adds one that passed.
  std::string Print(const std::string& properties) {
    if (names_.empty()) xml_ = "    <testcase classname=\"whyoom\" name=\"no out-of-memory error\"/>\n";
    const std::string counts =
        fmt::format(" name=\"whyoom\" tests=\"{}\" failures=\"{}\" errors=\"{}\"",
                    std::max<std::size_t>(1, names_.size()), counts_["failure"], counts_["error"]);
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + counts + ">\n  <testsuite" + counts +
           ">\n    <properties>\n" + properties + "    </properties>\n" + xml_ + "  </testsuite>\n</testsuites>\n";
  }

 private:
  std::string xml_;
  std::set<std::string> names_;
  std::map<std::string_view, std::size_t> counts_;  // by outcome
};

// An unread input is an error. An unknown error is skipped, because it may be harmless; with --strict it fails.
void AddRemark(const Remark& remark, bool strict, Tests* tests) {
  const std::string name = remark.place.empty() ? "the report" : remark.place;
  if (remark.is_unknown) {
    tests->Add(strict ? "failure" : "skipped", "whyoom.unknown_error", name, remark.text,
               fmt::format("{}: {}\n{}\n", kUnknownErrors, remark.text, kRuleHint));
  } else {
    const bool of_report = remark.problem == nullptr || remark.problem->of_report;
    tests->Add("error", of_report ? "whyoom.report" : "whyoom.input", name, remark.text, remark.Sentence());
  }
}

}  // namespace

std::string PrintJunit(const Report& report) {
  std::string properties;
  const auto add = [&](const char* name, const std::string& value) {
    properties += "      <property" + Attribute("name", name) + Attribute("value", value) + "/>\n";
  };
  add("version", report.version);
  for (const auto& file : report.rule_files) add("rule_file", file);
  add("inputs", std::to_string(report.artifacts));
  if (!report.hidden.empty()) add("ignored", std::to_string(report.hidden.size()));
  Tests tests;
  std::size_t texts = 0;
  for (const Failure& failure : report.failures) {
    const std::string program = ProgramOf(failure);
    const std::string name = program.empty() ? Printable(failure.rule->title) : program;
    tests.Add("failure", RuleId(failure), name + " [" + Printable(failure.id) + "]", Verdict(failure),
              texts++ < kMostTexts ? PrintFailure(failure) : PrintShort(failure));
  }
  for (const Remark& remark : RemarksOf(report, kMostTexts)) AddRemark(remark, report.strict, &tests);
  return tests.Print(properties);
}

}  // namespace whyoom
