#include "diagnose/conclude.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "diagnose/failure_scope.h"
#include "facts/evidence.h"
#include "rules/recorder.h"

namespace whyoom {
namespace {

// Limits are printed in GiB with two decimals, and compiler versions round the same limit differently.
constexpr double kLimitTolerance = 0.0051 * (1 << 30);

void NameChip(const RuleSet& rules, Evidence* facts) {
  const std::optional<double> limit = facts->Number("limit_bytes");
  for (const Chip& chip : rules.chips) {
    for (const double usable : chip.limits) {
      if (limit && std::abs(*limit - usable) <= kLimitTolerance)
        facts->Set("chip", chip.id, facts->Find("limit_bytes")->place);  // keeps the first one
    }
  }
}

std::optional<Reason> FillSentence(const Sentence& sentence, const FailureScope& scope) {
  if (sentence.when && AsBool(sentence.when->Evaluate(scope)) != true) return std::nullopt;
  if (sentence.row) {
    for (std::size_t row = 0; row < scope.row_count(); ++row) {
      if (AsBool(sentence.row->EvaluateInRow(scope, row)) != true) continue;
      std::optional<std::string> text = sentence.text.FillInRow(scope, row);
      if (text) return Reason{*std::move(text), scope.RowAt(row).place.line, sentence.mistake, sentence.cure};
    }
    return std::nullopt;
  }
  std::optional<std::string> text = sentence.text.Fill(scope);
  if (!text) return std::nullopt;
  const Fact* fact = scope.failure().facts.Find(sentence.at);
  return Reason{*std::move(text), fact == nullptr ? 0 : fact->place.line, sentence.mistake, sentence.cure};
}

// Sets the scenario, or the candidates if the log does not decide.
void FindScenario(const FailureScope& scope, Failure* failure) {
  RecordedStep steps(scope.recorder(), "Scenarios");
  for (const Scenario& scenario : failure->rule->scenarios) {
    RecordedStep step(scope.recorder(), "scenario", scenario.id);
    const Value value = scenario.when.Evaluate(scope);
    const std::optional<bool> holds = AsBool(value);
    if (holds == true && (failure->scenario == nullptr || scenario.priority > failure->scenario->priority))
      failure->scenario = &scenario;
    if (!holds) failure->candidates.push_back(&scenario);
    if (step.is_recorded()) step.SetValue(value, fmt::format("priority {}, {}", scenario.priority, scenario.title));
  }
  if (failure->scenario != nullptr) failure->candidates.clear();
}

Retry RetryOf(const Failure& failure) {
  const Retry otherwise = failure.rule->retry.value_or(Retry());
  if (failure.scenario != nullptr) return failure.scenario->retry.value_or(otherwise);
  if (failure.candidates.empty()) return otherwise;
  const Retry first = failure.candidates.front()->retry.value_or(otherwise);
  const auto agree_on = [&](auto member) {
    return std::all_of(failure.candidates.begin(), failure.candidates.end(), [&](const Scenario* candidate) {
      return candidate->retry.value_or(otherwise).*member == first.*member;
    });
  };
  if (!agree_on(&Retry::answer)) return otherwise.answer == Retry::Answer::kNever ? Retry() : otherwise;
  if (agree_on(&Retry::why)) return first;
  // The candidates have different reasons, and the log does not show which one applies.
  return otherwise.answer == first.answer ? otherwise : Retry{first.answer, ""};
}

Confidence ConfidenceOf(const Failure& failure) {
  const std::vector<std::string>& numbers = failure.rule->numbers;
  const auto known = std::count_if(numbers.begin(), numbers.end(),
                                   [&](const std::string& name) { return failure.facts.Find(name) != nullptr; });
  // A failure from a dump is complete, even if the dump does not state the limit.
  const bool from_dump = failure.facts.Find("dump") != nullptr;
  if (!failure.completeness.whole || (known == 0 && !numbers.empty() && !from_dump)) return Confidence::kLow;
  if (!failure.contradictions.empty()) return Confidence::kLow;
  return known == std::ssize(numbers) ? Confidence::kHigh : Confidence::kMedium;
}

// Finds all contradictions first and removes their figures afterwards, because a figure may be part of several.
void TakeOutContradictions(const RuleSet& rules, Failure* failure) {
  const FailureScope scope(rules, *failure);
  std::vector<std::string> figures;
  for (const ContradictionRule& rule : rules.contradictions) {
    std::optional<Reason> reason = FillSentence(rule.sentence, scope);
    if (!reason) continue;
    Contradiction found{rule.id, std::move(reason->text), reason->line};
    for (const std::string& name : rule.figures) {
      if (const Fact* fact = failure->facts.Find(name)) found.figures.Set(name, fact->value, fact->place);
    }
    figures.insert(figures.end(), rule.figures.begin(), rule.figures.end());
    failure->contradictions.push_back(std::move(found));
  }
  for (const std::string& name : figures) {
    failure->facts.Remove(name);
    if (name == "listed") failure->allocations.clear();
  }
}

}  // namespace

std::vector<Reason> Reasons(const std::vector<Sentence>& sentences, const FailureScope& scope,
                            const char* recorded_as) {
  std::vector<Reason> reasons;
  for (const Sentence& sentence : sentences) {
    RecordedStep step(scope.recorder(), recorded_as);
    std::optional<Reason> reason = FillSentence(sentence, scope);
    if (!reason) step.Set("no", sentence.text.source());
    if (!reason) continue;
    step.Set("yes", reason->text, reason->line);
    reasons.push_back(*std::move(reason));
  }
  return reasons;
}

Failure Conclude(const RuleSet& rules, Failure failure, Figures figures, Recorder* recorder) {
  failure.rules = &rules;
  const FailureRule& rule = *failure.rule;
  if (figures == Figures::kChecked) TakeOutContradictions(rules, &failure);
  if (RecordedStep step(recorder, "Facts"); step.is_recorded()) {
    for (const auto& [name, fact] : failure.facts.all())
      RecordedStep(recorder, name).Set(ValueText(fact.value), "", fact.place.line);
  }
  const FailureScope scope(rules, failure, recorder);
  {
    RecordedStep step(recorder, "Derived facts");
    failure.facts.Add(Derive(rule.derived, scope), /*replace=*/true);
  }
  NameChip(rules, &failure.facts);
  FindScenario(scope, &failure);
  failure.retry = failure.recovered ? Retry() : RetryOf(failure);
  failure.confidence = ConfidenceOf(failure);
  {
    RecordedStep step(recorder, "Why");
    if (failure.scenario != nullptr) failure.why = Reasons(failure.scenario->why, scope, "why");
    std::vector<Reason> always = Reasons(rule.why, scope, "why");
    std::move(always.begin(), always.end(), std::back_inserter(failure.why));
    std::stable_partition(failure.why.begin(), failure.why.end(),
                          [](const Reason& reason) { return !reason.mistake.empty(); });
  }
  RankRemedies(rules, scope, &failure);
  // A mistake is no cause here if undoing it saves nothing.
  std::erase_if(failure.why, [&](const Reason& reason) {
    return std::any_of(failure.ruled_out.begin(), failure.ruled_out.end(),
                       [&](const RuledOut& out) { return out.remedy->id == reason.cure; });
  });
  return failure;
}

}  // namespace whyoom
