#include "cli/rules_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "report/layout.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::vector<Failure> Diagnose(const Engine& engine, const std::string& text) {
  Report report = ReadArtifact(engine, {"example", ""}, *OpenMemory(text + "\n"));
  return report.table ? report.table->Finish(&report.problems) : std::vector<Failure>();
}

std::string Codes(const std::vector<Failure>& failures) {
  std::string codes;
  for (const Failure& failure : failures) codes += (codes.empty() ? "" : ", ") + failure.rule->code;
  return codes.empty() ? "nothing" : codes;
}

// Returns a fact as read, even if it is removed as contradictory.
Value AsRead(const Failure& failure, const std::string& name) {
  for (const Contradiction& contradiction : failure.contradictions) {
    if (const Fact* figure = contradiction.figures.Find(name)) return figure->value;
  }
  return failure.facts.Get(name);
}

}  // namespace

std::string ShownValue(const Value& value) {
  if (const auto number = AsNumber(value)) return fmt::format("{}", *number);
  if (const auto truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? "unknown" : "'" + *text + "'";
}

bool SameFact(const Value& got, const Value& want) {
  const auto a = AsNumber(got);
  const auto b = AsNumber(want);
  return a && b ? std::abs(*a - *b) < 1 : got == want;
}

std::string TryExample(const Engine& engine, const std::string& code, const Example& example, bool must_match) {
  const std::vector<Failure> failures = Diagnose(engine, example.text);
  const auto its = std::count_if(failures.begin(), failures.end(),
                                 [&](const Failure& failure) { return failure.rule->code == code; });
  if (!must_match) return its > 0 ? "matches but must not" : "";
  if (its != std::ssize(failures) || failures.size() != static_cast<std::size_t>(example.count))
    return "gives " + Codes(failures);
  const Failure& failure = failures[0];
  for (const auto& [name, want] : example.facts) {
    const Value got = AsRead(failure, name);
    if (!SameFact(got, want)) return fmt::format("fact {} is {}, not {}", name, ShownValue(got), ShownValue(want));
  }
  const std::string scenario = failure.scenario == nullptr ? "unknown" : failure.scenario->id;
  const std::string wanted = example.scenario == "" ? "unknown" : example.scenario.value_or(scenario);
  return scenario == wanted ? "" : fmt::format("scenario is {}, not {}", scenario, wanted);
}

std::string TestRules(const RuleSet& rules, bool* ok) {
  const Engine engine(rules);
  std::string text;
  std::size_t count = 0;
  std::size_t failed = 0;
  const auto test = [&](const std::string& code, const std::vector<Example>& examples, bool must_match) {
    for (const Example& example : examples) {
      ++count;
      const std::string complaint = TryExample(engine, code, example, must_match);
      if (complaint.empty()) continue;
      ++failed;
      const std::string why = example.why.empty() ? "" : " (" + example.why + ")";
      const std::string first_line = example.text.substr(0, example.text.find('\n'));
      text += Printable(fmt::format("{}: \"{}\" {}{}", code, CutBytes(first_line, 100), complaint, why)) + "\n";
    }
  };
  for (const FailureRule& failure : rules.failures) {
    test(failure.code, failure.samples.examples, true);
    test(failure.code, failure.samples.counterexamples, false);
  }
  *ok = failed == 0;
  return WithoutCommands(text + fmt::format("{} examples of failures, {} failed\n", count, failed));
}

}  // namespace whyoom
