#include "diagnose/rule_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnose/readings.h"
#include "read/engine.h"

namespace whyoom {
namespace {

Readings Read(const Engine& engine, const std::string& text) {
  return ReadArtifact(engine, {"example", ""}, *OpenMemory(text + "\n"));
}

std::vector<Diagnosis> Diagnose(const Engine& engine, const std::string& text) {
  Readings readings = Read(engine, text);
  std::vector<Problem> problems;
  return readings.table ? readings.table->Finish({}, &problems) : std::vector<Diagnosis>();
}

std::string Show(const Value& value) {
  if (const auto number = AsNumber(value)) return fmt::format("{}", *number);
  if (const auto truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? "unknown" : "'" + *text + "'";
}

bool Same(const Value& got, const Value& want) {
  const auto a = AsNumber(got);
  const auto b = AsNumber(want);
  return a && b ? std::abs(*a - *b) < 1 : got == want;  // a size has fractions of a byte
}

std::string Codes(const std::vector<Diagnosis>& findings) {
  std::string codes;
  for (const Diagnosis& finding : findings) codes += (codes.empty() ? "" : ", ") + finding.failure->code;
  return codes.empty() ? "nothing" : codes;
}

// What is wrong with the findings of an example that must match; empty where nothing is.
std::string Complaint(const Failure& failure, const Example& example, const std::vector<Diagnosis>& findings) {
  if (findings.size() != 1 || findings[0].failure != &failure) return "gives " + Codes(findings);
  const Diagnosis& finding = findings[0];
  for (const auto& [name, want] : example.facts) {
    const Value got = finding.facts.Get(name);
    if (!Same(got, want)) return fmt::format("fact {} is {}, not {}", name, Show(got), Show(want));
  }
  if (!example.scenario) return {};
  const std::string said = finding.scenario == nullptr ? "" : finding.scenario->id;
  if (said != *example.scenario) {
    return fmt::format("scenario is {}, not {}", said.empty() ? "not known" : said,
                       example.scenario->empty() ? "not known" : *example.scenario);
  }
  return {};
}

std::string FirstLine(const std::string& text) { return text.substr(0, std::min<std::size_t>(text.find('\n'), 100)); }

// Built-in examples are of the built-in data as a whole: where some of it is left out, they may turn out otherwise.
bool MayTurnOut(const Engine& engine, const Example& example, const std::string& what, RuleTestResult* result) {
  if (!example.built_in || engine.rules().disabled().empty()) return false;
  result->changed.push_back("changed: " + what);
  return true;
}

void TestFailure(const Engine& engine, const Failure& failure, RuleTestResult* result) {
  for (const Example& example : failure.match) {
    const std::string complaint = Complaint(failure, example, Diagnose(engine, example.text));
    if (complaint.empty()) {
      ++result->reported;
    } else if (!MayTurnOut(engine, example,
                           fmt::format("{}: \"{}\" {}", failure.code, FirstLine(example.text), complaint), result)) {
      ++result->missing;
      result->failures.push_back(
          fmt::format("{}: missing: \"{}\" {}", failure.code, FirstLine(example.text), complaint));
    }
  }
  for (const Example& example : failure.no_match) {
    bool noisy = false;
    for (const Diagnosis& finding : Diagnose(engine, example.text)) noisy = noisy || finding.failure == &failure;
    if (noisy &&
        MayTurnOut(engine, example, fmt::format("{}: \"{}\" gives it", failure.code, FirstLine(example.text)), result))
      continue;
    ++(noisy ? result->noisy : result->validated);
    if (noisy)
      result->failures.push_back(
          fmt::format("{}: noisy: \"{}\" ({})", failure.code, FirstLine(example.text), example.why));
  }
}

void Count(bool ok, const std::string& what, const std::string& text, RuleTestResult* result) {
  ++(ok ? result->reported : result->missing);
  if (!ok) result->failures.push_back(fmt::format("{}: missing: \"{}\"", what, FirstLine(text)));
}

// Whether one of the programs that the text states has all the facts.
bool StatesProgram(const Engine& engine, const Example& example) {
  Readings readings = Read(engine, example.text);
  if (!readings.table) return false;
  const std::vector<CompiledProgram> all = readings.table->programs().Take();
  return std::any_of(all.begin(), all.end(), [&](const CompiledProgram& program) {
    return std::all_of(example.facts.begin(), example.facts.end(),
                       [&](const auto& fact) { return Same(program.facts.Get(fact.first), fact.second); });
  });
}

void TestContext(const Engine& engine, const Context& context, RuleTestResult* result) {
  for (const Example& example : context.match) {
    if (context.is_program) {
      Count(StatesProgram(engine, example), "context " + context.id, example.text, result);
      continue;
    }
    std::vector<Capture> captures;
    bool ok = false;
    for (const Pattern& pattern : context.patterns) {
      PatternMatch match;
      if (!pattern.Find(example.text, 0, &match)) continue;
      ok = true;
      captures.insert(captures.end(), match.captures.begin(), match.captures.end());
    }
    for (const auto& [name, want] : example.facts) {
      ok = ok && std::any_of(captures.begin(), captures.end(), [&, name = name, want = want](const Capture& capture) {
             return capture.name == name && Same(capture.value, want);
           });
    }
    Count(ok, "context " + context.id, example.text, result);
  }
  for (const std::string& text : context.until_examples) {
    PatternMatch match;
    Count(context.until.Find(text, 0, &match), "context " + context.id, text, result);
  }
}

void TestFrameworks(const RuleSet& rules, RuleTestResult* result) {
  for (const Framework& framework : rules.frameworks()) {
    for (const std::string& example : framework.examples) {
      PatternMatch match;
      const bool ok = std::any_of(framework.signs.begin(), framework.signs.end(),
                                  [&](const Pattern& sign) { return sign.Find(example, 0, &match); });
      Count(ok, "framework " + framework.id, example, result);
    }
  }
}

void TestQuotations(const RuleSet& rules, RuleTestResult* result) {
  for (const Quotation& quotation : rules.quotations()) {
    for (const std::string& example : quotation.examples)
      Count(quotation.MatchesExample(example), "quotation " + quotation.id, example, result);
    for (const std::string& log : quotation.logs)
      Count(!quotation.MatchesExample(log), "quotation " + quotation.id + " (log)", log, result);
  }
}

bool TellsUnknownError(const Engine& engine, const std::string& text) {
  const std::vector<Problem> problems = Read(engine, text).problems;
  return std::any_of(problems.begin(), problems.end(), [](const Problem& one) { return one.is_unknown_error(); });
}

void TestSuspects(const Engine& engine, RuleTestResult* result) {
  for (const Suspect& suspect : engine.rules().suspects()) {
    for (const Example& example : suspect.match) {
      const bool tells = TellsUnknownError(engine, example.text);
      const std::string what = "suspect " + suspect.id;
      if (tells || !MayTurnOut(engine, example, what + ": \"" + FirstLine(example.text) + "\"", result))
        Count(tells, what, example.text, result);
    }
    for (const Example& example : suspect.no_match) {
      const bool noisy = TellsUnknownError(engine, example.text);
      ++(noisy ? result->noisy : result->validated);
      if (noisy)
        result->failures.push_back(
            fmt::format("suspect {}: noisy: \"{}\" ({})", suspect.id, FirstLine(example.text), example.why));
    }
  }
  for (const ErrorLine& line : engine.rules().error_lines()) {
    for (const std::string& example : line.examples) {
      PatternMatch match;
      Count(line.pattern.Find(example, 0, &match), "error line " + line.id, example.substr(example.rfind('\n') + 1),
            result);
    }
  }
}

void TestAffixes(const Engine& engine, RuleTestResult* result) {
  for (const AffixExample& example : engine.rules().affix_examples()) {
    std::vector<Line> lines;
    RawLine raw;
    raw.number = 1;
    raw.bytes = example.text;
    engine.normalizer().Normalize(raw, &lines);
    Count(lines.size() == 1 && lines[0].text == example.leaves, "affix " + example.affix, example.text, result);
  }
}

}  // namespace

RuleTestResult TestRules(const RuleSet& rules) {
  RuleTestResult result;
  const Engine engine(rules);
  for (const Failure& failure : rules.failures()) TestFailure(engine, failure, &result);
  for (const Context& context : rules.contexts()) TestContext(engine, context, &result);
  TestFrameworks(rules, &result);
  TestQuotations(rules, &result);
  TestSuspects(engine, &result);
  TestAffixes(engine, &result);
  return result;
}

}  // namespace whyoom
