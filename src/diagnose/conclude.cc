#include "diagnose/conclude.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagnose/finding_scope.h"

namespace whyoom {
namespace {

// Limits are printed with two decimals of a GiB, and compilers of different years round the same limit up or down.
constexpr double kLimitTolerance = 0.0051 * (1 << 30);

void NameChip(const RuleSet& rules, Finding* finding) {
  const Fact* limit = finding->facts.Find("limit_bytes");
  if (limit == nullptr) return;
  const std::optional<double> bytes = AsNumber(limit->value);
  if (!bytes) return;
  for (const Chip& chip : rules.chips()) {
    for (const double usable : chip.limits) {
      if (std::abs(*bytes - usable) <= kLimitTolerance) {
        finding->facts.Set("chip", chip.id, limit->place);
        return;
      }
    }
  }
}

std::optional<Reason> Say(const Sentence& sentence, const FindingScope& scope) {
  if (sentence.when && AsBool(sentence.when->Evaluate(scope)) != true) return std::nullopt;
  if (sentence.row) {
    for (std::size_t row = 0; row < scope.row_count(); ++row) {
      if (AsBool(sentence.row->EvaluateInRow(scope, row)) != true) continue;
      std::optional<std::string> text = sentence.text.FillInRow(scope, row);
      if (!text) continue;
      return Reason{*std::move(text), scope.RowAt(row).place.line};
    }
    return std::nullopt;
  }
  std::optional<std::string> text = sentence.text.Fill(scope);
  if (!text) return std::nullopt;
  const Fact* fact = scope.finding().facts.Find(sentence.at);
  return Reason{*std::move(text), fact == nullptr ? 0 : fact->place.line};
}

}  // namespace

std::vector<Reason> Reasons(const std::vector<Sentence>& sentences, const FindingScope& scope) {
  std::vector<Reason> reasons;
  for (const Sentence& sentence : sentences) {
    if (std::optional<Reason> reason = Say(sentence, scope)) reasons.push_back(*std::move(reason));
  }
  return reasons;
}

void DeriveFacts(const RuleSet& rules, Finding* finding) {
  for (const DerivedFact& derived : finding->failure->derived) {
    const FindingScope scope(rules, *finding);
    if (derived.when && AsBool(derived.when->Evaluate(scope)) != true) continue;
    finding->facts.Set(derived.name, derived.from.Evaluate(scope), {}, derived.replace);
  }
  NameChip(rules, finding);
}

void Classify(const RuleSet& rules, bool fragment, Finding* finding) {
  finding->scenario = nullptr;
  finding->candidates.clear();
  const Failure& failure = *finding->failure;
  const FindingScope scope(rules, *finding);
  for (const Scenario& scenario : failure.scenarios) {
    const std::optional<bool> holds = AsBool(scenario.when.Evaluate(scope));
    if (holds == true && (finding->scenario == nullptr || scenario.priority > finding->scenario->priority))
      finding->scenario = &scenario;
    if (!holds) finding->candidates.push_back(&scenario);
  }
  if (finding->scenario != nullptr) finding->candidates.clear();

  const auto known = std::count_if(failure.numbers.begin(), failure.numbers.end(),
                                   [&](const std::string& name) { return finding->facts.Find(name) != nullptr; });
  // What a dump tells is no fragment, also where it does not tell the limit.
  const bool from_dump = finding->facts.Find("dump") != nullptr;
  finding->confidence = fragment || (known == 0 && !failure.numbers.empty() && !from_dump) ? Confidence::kLow
                        : known == static_cast<long>(failure.numbers.size())               ? Confidence::kHigh
                                                                                           : Confidence::kMedium;
  finding->why = Reasons(failure.why, scope);
  if (finding->scenario != nullptr) {
    std::vector<Reason> more = Reasons(finding->scenario->why, scope);
    finding->why.insert(finding->why.begin(), std::make_move_iterator(more.begin()),
                        std::make_move_iterator(more.end()));
  }
}

}  // namespace whyoom
