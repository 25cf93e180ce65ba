#include "diagnose/budget.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "text/numbers.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostSteps = 3;  // more steps at once are not practical, and the number of sets grows quickly

using Steps = std::vector<const RankedRemedy*>;  // in order of rank

bool Names(const RankedRemedy& one, const RankedRemedy& other) {
  const std::vector<std::string>& with = one.remedy->with;
  return std::find(with.begin(), with.end(), other.remedy->id) != with.end();
}

std::optional<double> CompiledLeftByBoth(const RankedRemedy& one, const RankedRemedy& other,
                                         const Diagnosis& diagnosis) {
  const auto& compiled = diagnosis.recompilation;
  const CompiledAttempt* pair =
      compiled ? compiled->BestOfPair(one.remedy->id, other.remedy->id, diagnosis.facts) : nullptr;
  return pair == nullptr ? std::nullopt : std::optional(static_cast<double>(compiled->NeedOf(*pair, diagnosis.facts)));
}

// Returns the memory that the program needs with both remedies, as compiled or else as simulated; nullopt if neither.
std::optional<double> LeftByBoth(const RankedRemedy& one, const RankedRemedy& other, const Diagnosis& diagnosis) {
  if (const std::optional<double> compiled = CompiledLeftByBoth(one, other, diagnosis)) return compiled;
  if (!diagnosis.estimates) return std::nullopt;
  const PairEstimate* pair = diagnosis.estimates->Find(one.remedy->change, other.remedy->change);
  return pair == nullptr ? std::nullopt : std::optional(static_cast<double>(pair->left_bytes));
}

bool MayBeAdded(const RankedRemedy& one, const RankedRemedy& other, const Diagnosis& diagnosis) {
  if (CompiledLeftByBoth(one, other, diagnosis)) return true;
  const bool one_names = Names(one, other);
  const bool other_names = Names(other, one);
  return (one_names && other_names) || ((one_names || other_names) && LeftByBoth(one, other, diagnosis));
}

// Either figure may be missing or rounded, so returns the larger one.
double NeedOf(const Diagnosis& diagnosis, double excess) {
  return std::max(diagnosis.facts.Number("need_bytes").value_or(0),
                  diagnosis.facts.Number("limit_bytes").value_or(0) + excess);
}

// Visits all sets of up to kMostSteps remedies that may be added.
template <typename Visit>
void ForEachSet(const Steps& all, std::size_t from, const Diagnosis& diagnosis, Steps* chosen, const Visit& visit) {
  for (std::size_t i = from; i < all.size(); ++i) {
    const bool together = std::all_of(chosen->begin(), chosen->end(), [&](const RankedRemedy* other) {
      return MayBeAdded(*other, *all[i], diagnosis);
    });
    if (!together) continue;
    chosen->push_back(all[i]);
    visit(*chosen);
    if (chosen->size() < kMostSteps) ForEachSet(all, i + 1, diagnosis, chosen, visit);
    chosen->pop_back();
  }
}

Budget Add(const Steps& steps, const Diagnosis& diagnosis, double excess, double need) {
  Budget budget;
  budget.excess_bytes = static_cast<std::int64_t>(excess);
  const std::optional<double> left_by_two =
      steps.size() < 2 ? std::nullopt : LeftByBoth(*steps[0], *steps[1], diagnosis);
  double left = 1;  // share of the need that remains after the steps so far
  double saved = 0;
  for (const RankedRemedy* step : steps) {
    const double saves = std::min(static_cast<double>(*step->saves_bytes), need);
    double more = left * saves;
    if (left_by_two && budget.steps.size() == 1) more = std::max(0.0, left * need - *left_by_two);
    budget.steps.push_back({step->remedy, static_cast<std::int64_t>(more)});
    saved += more;
    left = std::max(0.0, left - more / need);
  }
  // A single step keeps its own estimate, so that it agrees with the remedy.
  if (steps.size() == 1) {
    budget.steps[0].saves_bytes = *steps[0]->saves_bytes;
    saved = static_cast<double>(*steps[0]->saves_bytes);
  }
  budget.covered = saved >= excess;
  return budget;
}

std::int64_t Saved(const Budget& budget) {
  std::int64_t saved = 0;
  for (const BudgetStep& step : budget.steps) saved += step.saves_bytes;
  return saved;
}

// Smaller is better; see the header.
auto Key(const Budget& budget, const Steps& steps) {
  int highest_cost = 0;
  int ranks = 0;
  for (const RankedRemedy* step : steps) {
    highest_cost = std::max(highest_cost, step->remedy->cost);
    ranks += step->rank;
  }
  return std::tuple(budget.covered ? 0 : 1, budget.covered ? highest_cost : 0, budget.covered ? 0 : -Saved(budget),
                    steps.size(), ranks);
}

ListedPart PartOf(const FindingScope& scope, std::size_t row) {
  const auto is = [&](std::string_view field) { return AsBool(scope.GetInRow(row, field)) == true; };
  if (is("is_constant")) return ListedPart::kConstant;
  if (is("is_plain_argument")) return ListedPart::kArgument;
  if (is("is_argument")) return ListedPart::kCopied;
  if (is("is_convert")) return ListedPart::kConverted;
  if (is("is_loop_residual")) return ListedPart::kStacked;
  if (is("in_backward")) return ListedPart::kBackward;
  return is("in_gradient") ? ListedPart::kForward : ListedPart::kOther;
}

std::int64_t Bytes(const Finding& finding, std::string_view fact) {
  return ClampToBytes(std::max(0.0, finding.facts.Number(fact).value_or(0)));
}

}  // namespace

std::optional<double> MostExcess(const Diagnosis& diagnosis) {
  const std::optional<double> excess = diagnosis.facts.Number("excess_bytes");
  return excess ? excess : diagnosis.facts.Number("excess_below_bytes");
}

bool IsStep(const RankedRemedy& ranked, double excess, double least_share) {
  return !ranked.remedy->inquiry && ranked.saves_bytes &&
         static_cast<double>(*ranked.saves_bytes) >= least_share * excess;
}

bool AreEnough(const RankedRemedy& one, const RankedRemedy& other, const Diagnosis& diagnosis) {
  const std::optional<double> excess = MostExcess(diagnosis);
  return excess && MayBeAdded(one, other, diagnosis) &&
         Add({&one, &other}, diagnosis, *excess, NeedOf(diagnosis, *excess)).covered;
}

std::optional<Budget> MakeBudget(const Diagnosis& diagnosis, double least_share) {
  const std::optional<double> excess = MostExcess(diagnosis);
  if (!excess || !(*excess > 0) || *excess > kMaxBytes) return std::nullopt;
  const double need = NeedOf(diagnosis, *excess);
  Steps all;
  for (const RankedRemedy& ranked : diagnosis.remedies) {
    if (IsStep(ranked, *excess, least_share)) all.push_back(&ranked);
  }
  Budget best;
  best.excess_bytes = static_cast<std::int64_t>(*excess);
  Steps best_steps;
  Steps chosen;
  ForEachSet(all, 0, diagnosis, &chosen, [&](const Steps& steps) {
    Budget budget = Add(steps, diagnosis, *excess, need);
    if (best_steps.empty() || Key(budget, steps) < Key(best, best_steps)) {
      best = std::move(budget);
      best_steps = steps;
    }
  });
  const bool is_partial =
      std::any_of(all.begin(), all.end(), [](const RankedRemedy* ranked) { return ranked->at_least; });
  if (is_partial && !best.covered) return std::nullopt;
  best.at_most = diagnosis.facts.Find("excess_bytes") == nullptr;
  return best;
}

ListedProgram ToListedProgram(const Finding& finding, const FindingScope& scope) {
  ListedProgram listed;
  listed.need_bytes = Bytes(finding, "need_bytes");
  listed.arguments_bytes = Bytes(finding, "arguments_bytes");
  listed.fragmentation_bytes = Bytes(finding, "fragmentation_bytes");
  for (std::size_t row = 0; row < scope.row_count(); ++row) {
    const Allocation& allocation = scope.RowAt(row);
    if (!allocation.array || !allocation.size_bytes || allocation.kind == kRequestedAllocation) continue;
    listed.values.push_back({*allocation.array, *allocation.size_bytes, PartOf(scope, row)});
  }
  return listed;
}

}  // namespace whyoom
