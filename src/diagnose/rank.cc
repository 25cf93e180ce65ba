// The order of the remedies. A remedy ranks higher by these criteria, most important first:
//   1. An inquiry that this log supports, if the scenario is unknown and no remedy that the log supports is estimated
//      to be enough.
//   2. A remedy that may be enough, alone or in a compiled pair, before one estimated not to be. A remedy that
//      costs nothing and is not enough alone (`free`) counts as the latter and is listed separately.
//   3. A remedy that this log supports (by a sentence of evidence, or by an estimate that covers the excess) before
//      other remedies and before inquiries.
//   4. A remedy not estimated to be too little alone before one that is. Among the former, if there are estimates on
//      the program or on a list of allocations, a remedy with an estimate before one without, unless it is a cure (5).
//   5. The cure of a mistake that the report names, unless it is estimated to be too little.
//   6. Among remedies that the log supports: lower cost to the user (docs/rules-reference.md, `cost`). Then an estimate
//      that covers the excess before none, and one that covers it including its spread before one that may not.
//   7. The order of the rule data for the scenario (`prior`): the remedy that helps most often first.
//   8. The id, so that the order is total.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "diagnose/conclude.h"
#include "diagnose/failure_scope.h"
#include "rules/recorder.h"
#include "rules/rule_set.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

// The smaller key ranks higher.
std::pair<std::array<int, 12>, std::string> SortKey(const RankedRemedy& ranked) {
  const RankReasons& reasons = *ranked.rank_reasons;
  return {{!reasons.confirmed, !reasons.finds_out, reasons.free, reasons.falls_short, !reasons.supported,
           reasons.too_little, reasons.gamble, !reasons.undoes, reasons.cost, !reasons.estimated, reasons.doubtful,
           reasons.prior},
          ranked.remedy->id};
}

// The inputs of ranking for one diagnosis.
struct Ranking {
  const RuleSet& rules;
  const FailureScope& scope;
  const Failure& failure;
  const ProgramEstimates& estimates;  // on the program or, without it, on the allocation list

  bool has_program() const { return failure.estimates.has_value(); }
  const Effect* FindEstimate(const Remedy& remedy) const { return estimates.Find(remedy.change); }
  const CompiledAttempt* FindCompiled(const Remedy& remedy) const {
    return failure.recompilation ? failure.recompilation->Best(remedy.id, failure.facts) : nullptr;
  }
};

// Sets the figures of the compile. It decides whether the remedy is enough.
void SetCompiled(const Failure& failure, const CompiledAttempt& compiled, RankedRemedy* ranked) {
  constexpr double kCloseToLimit = 50e6;  // the compiler can still fail when it generates code
  const Recompilation& recompilation = *failure.recompilation;
  const std::int64_t difference = recompilation.Difference(failure.facts);
  ranked->basis = "compiled";
  ranked->saves_bytes = std::max<std::int64_t>(0, recompilation.unchanged_bytes - *compiled.need_bytes);
  ranked->left_bytes = recompilation.NeedOf(compiled, failure.facts);
  ranked->spread_bytes = std::abs(difference);
  ranked->compiled = {recompilation.compiler, compiled.setting, compiled.seconds};
  ranked->patch = compiled.patch;
  ranked->verified_bytes = compiled.verified_bytes;
  const std::optional<double> limit = failure.facts.Number("limit_bytes");
  if (!limit) return;
  const double below = *limit - static_cast<double>(*ranked->left_bytes);
  ranked->enough = below >= 0;
  ranked->borderline =
      std::abs(below) < static_cast<double>(std::abs(difference)) || (below >= 0 && below < kCloseToLimit);
}

void SetEstimate(const Ranking& ranking, const Effect& estimate, RankedRemedy* ranked) {
  ranked->basis = ranking.has_program() ? "program" : "list";
  ranked->parts = estimate.parts;
  ranked->axis = estimate.axis;
  ranked->split = estimate.split;
  ranked->saves_bytes = std::max<std::int64_t>(0, estimate.saves_bytes);
  ranked->left_bytes = estimate.left_bytes;
  const double limit = ranking.failure.facts.Number("limit_bytes").value_or(0);
  const double share = ranked->remedy->spread_percent / 100.0;
  constexpr double kSpreadOfLimit = 0.02;  // of every estimate; tools/spread.py measures it
  const double spread = kSpreadOfLimit * limit + share * std::abs(static_cast<double>(estimate.saves_bytes));
  ranked->spread_bytes = std::min(estimate.left_bytes, estimate.spread_bytes + ClampToBytes(spread));
}

// Takes the remedy's figures from its compile, or else estimates them on the program or on the allocation list.
void Estimate(const Ranking& ranking, RankedRemedy* ranked) {
  const Failure& failure = ranking.failure;
  const Remedy& remedy = *ranked->remedy;
  if (const CompiledAttempt* compiled = ranking.FindCompiled(remedy)) return SetCompiled(failure, *compiled, ranked);
  const bool is_partial = failure.facts.Find("listed_bytes") != nullptr;  // most of the need is not listed
  if (const Effect* estimate = ranking.FindEstimate(remedy)) {
    if (is_partial && estimate->saves_bytes <= 0) return;
    SetEstimate(ranking, *estimate, ranked);
  } else if (remedy.saves) {
    RecordedStep step(ranking.scope.recorder(), "saves");
    const Value value = remedy.saves->Evaluate(ranking.scope);
    step.SetValue(value);
    const std::optional<double> saves = AsNumber(value);
    if (!saves || !std::isfinite(*saves)) return;
    ranked->basis = "list";
    ranked->saves_bytes = ClampToBytes(std::max(0.0, *saves));
  }
  // The excess, or its upper bound if the sizes are rounded to the same figure.
  std::optional<double> excess = failure.facts.Number("excess_bytes");
  if (!excess) excess = failure.facts.Number("excess_below_bytes");
  const bool of_list = ranked->basis == "list";
  ranked->at_least = is_partial && of_list;
  if (!ranked->saves_bytes || !excess) return;
  const bool covers = static_cast<double>(*ranked->saves_bytes) >= *excess;
  // If the program was simulated but not with this remedy, "not enough" only means that the list shows too little.
  if (covers || !of_list || (!is_partial && !ranking.has_program())) ranked->enough = covers;
  const double beyond = std::abs(static_cast<double>(*ranked->saves_bytes) - *excess);
  // If the need is not completely known, the memory needed with the remedy is not known either.
  const bool needs_more = of_list && CountsTemporariesOnly(failure.facts);
  ranked->borderline = ranked->enough && (beyond < static_cast<double>(ranked->spread_bytes.value_or(0)) ||
                                          (*ranked->enough && needs_more));
  if (ranked->at_least || needs_more) ranked->left_bytes = ranked->spread_bytes = std::nullopt;
}

// Returns why a change saves nothing, as the suffix of a message id: either the program rules it out, or the estimated
// saving is next to nothing. Empty if neither applies.
std::string WhyNothing(const Ranking& ranking, const Remedy& remedy) {
  constexpr double kNextToNothing = 0.005;  // of the need
  const Failure& failure = ranking.failure;
  const auto is_nothing = [&](std::int64_t saves, std::int64_t need) {
    return static_cast<double>(saves) < kNextToNothing * static_cast<double>(need);
  };
  if (const CompiledAttempt* compiled = ranking.FindCompiled(remedy)) {
    const Recompilation& recompilation = *failure.recompilation;
    const std::int64_t need = recompilation.unchanged_bytes;
    return is_nothing(need - *compiled->need_bytes, need) && !recompilation.Fits(*compiled, failure.facts) ? "compiled"
                                                                                                           : "";
  }
  const Effect* estimate = ranking.FindEstimate(remedy);
  if (!ranking.has_program() || estimate == nullptr) return "";
  if (!estimate->ruled_out.empty()) return estimate->ruled_out;
  return is_nothing(estimate->saves_bytes, failure.estimates->need_bytes) ? "next_to_nothing" : "";
}

void SetSafety(const FailureScope& scope, RankedRemedy* ranked) {
  const Remedy& remedy = *ranked->remedy;
  const auto other = std::find_if(remedy.safety_when.begin(), remedy.safety_when.end(), [&](const auto& conditional) {
    return AsBool(conditional.when.Evaluate(scope)) == true;
  });
  const bool is_conditional = other != remedy.safety_when.end();
  ranked->safety = is_conditional ? other->safety : remedy.safety;
  ranked->safe_why = is_conditional ? other->safe_why : remedy.safe_why;
}

// The names of a remedy's own estimate ("made.parts").
ExtendedScope::Names MadeNames(const Effect* made) {
  if (made == nullptr || made->parts == 0) return {};
  ExtendedScope::Names names = {{"made.parts", static_cast<double>(made->parts)}, {"made.of_state", made->of_state}};
  for (const std::string field : {"array", "axis", "length", "name"})
    names["made." + field] = AxisField(made->axis, field);
  if (made->split) names["made.split.mesh_axis"] = made->split->mesh_axis;
  if (made->split && !made->split->array.empty()) {
    names["made.split.array"] = made->split->array;
    names["made.split.is_argument"] = made->split->is_argument;
    names["made.split.spec"] = made->split->spec;
  }
  return names;
}

// Returns why the step cannot be done with the log's versions; empty if it can.
std::string VersionProblem(const RuleSet& rules, const std::string& step, const Scope& scope) {
  for (const NameVersions& need : rules.name_versions) {
    if (!ContainsName(step, need.id)) continue;
    const Value fact = scope.Get(need.VersionFact());
    const std::string* version = AsText(fact);
    if (version == nullptr || need.ExistsIn(*version) != false) continue;
    const bool is_too_old = !need.since.empty() && CompareVersions(*version, need.since) < 0;
    return rules.Say(is_too_old ? "step.too_old" : "step.too_new",
                     ExtendedScope(&scope, {{"need.name", need.id},
                                            {"need.package", need.package},
                                            {"need.since", need.since},
                                            {"need.until", need.until},
                                            {"need.version", *version}}));
  }
  return "";
}

// Returns the steps of a remedy for a framework, or the default steps if it has none, with placeholders filled from
// `scope`. Omits steps with unknown placeholders. Steps that contain a name that the log's version of a package lacks
// come last and state which version has it.
std::vector<std::string> StepsFor(const RuleSet& rules, const Remedy& remedy, const std::string& framework,
                                  const Scope& scope) {
  const auto steps = remedy.how.find(rules.KeyOfSteps(remedy, framework));
  std::vector<std::string> can;
  std::vector<std::string> cannot;
  if (steps == remedy.how.end()) return can;
  for (const Sentence& step : steps->second) {
    const std::optional<std::string> text = step.Fill(scope);
    if (!text) continue;
    const std::string problem = VersionProblem(rules, *text, scope);
    (problem.empty() ? can : cannot).push_back(*text + (problem.empty() ? "" : " " + problem));
  }
  can.insert(can.end(), cannot.begin(), cannot.end());
  return can;
}

// Returns the remedy as offered here, or nullopt. Adds the reason to `ruled_out` if it has a text.
std::optional<RankedRemedy> Consider(const Remedy& remedy, const Ranking& ranking, std::vector<RuledOut>* ruled_out) {
  const auto& [rules, scope, failure, estimates] = ranking;
  RecordedStep step(scope.recorder(), "remedy", remedy.id);
  step.Set("not offered");
  if (remedy.when && AsBool(remedy.when->Evaluate(scope)) != true) return std::nullopt;
  const auto rule_out = [&step, &remedy, ruled_out](const std::string& why) {
    step.Set(why.empty() ? "not offered" : "ruled out", why);
    if (!why.empty()) ruled_out->push_back({&remedy, why});
    return std::nullopt;
  };
  if (const std::string why = WhyNothing(ranking, remedy); !why.empty())
    return rule_out(rules.Say("ruled_out." + why, scope));
  const Effect* estimate = ranking.FindEstimate(remedy);
  // A remedy that was tried on the program need not be estimated from a list.
  const bool is_tried = (ranking.has_program() && estimate != nullptr) || ranking.FindCompiled(remedy) != nullptr;
  std::vector<Reason> against = is_tried ? std::vector<Reason>() : Reasons(remedy.ruled_out, scope, "against");
  // A reason without a text only means that nothing supports the remedy; an estimated saving on the list supports it.
  if (estimate != nullptr && estimate->saves_bytes > 0)
    std::erase_if(against, [](const Reason& reason) { return reason.text.empty(); });
  if (!against.empty()) return rule_out(against.front().text);
  RankedRemedy ranked;
  ranked.remedy = &remedy;
  SetSafety(scope, &ranked);
  ranked.why = Reasons(remedy.evidence, scope, "for");
  ranked.how = StepsFor(rules, remedy, failure.framework, ExtendedScope(&scope, MadeNames(estimate)));
  step.Set("no step");
  if (ranked.how.empty() && !remedy.how.empty()) return std::nullopt;
  Estimate(ranking, &ranked);
  // The steps of the rule data may name other options than the compiled one, which is what to type.
  if (ranked.compiled && ranked.compiled->setting.starts_with(kCompilerOptions)) ranked.how.clear();
  step.Set("offered");
  return ranked;
}

// Finds pairs of remedies that the compiler confirmed to be enough together but not alone.
void PairUp(const Failure& failure, std::vector<RankedRemedy>* remedies) {
  if (!failure.recompilation) return;
  for (RankedRemedy& one : *remedies) {
    one.enough_with.clear();
    for (const RankedRemedy& other : *remedies) {
      if (&one == &other || one.enough != false || other.enough != false) continue;
      if (failure.recompilation->FittingPair(one.remedy->id, other.remedy->id, failure.facts) != nullptr)
        one.enough_with.push_back(other.remedy->id);
    }
  }
}

// Sets the reasons other than `prior`, and whether to list the remedy separately.
void SetReasons(const Failure& failure, bool scenario_known, bool any_estimates, RankedRemedy* ranked) {
  RankReasons& reasons = *ranked->rank_reasons;
  const bool in_pair = !ranked->enough_with.empty();
  const bool cures = !ranked->remedy->inquiry || !scenario_known;
  reasons.finds_out = !scenario_known && ranked->remedy->inquiry && !ranked->why.empty();
  ranked->free = ranked->remedy->cost == 0 && ranked->safety == "safe" && ranked->enough == false && !in_pair;
  reasons.free = ranked->free;
  reasons.confirmed = ranked->compiled && (ranked->enough == true || in_pair);
  reasons.too_little = ranked->enough == false;
  reasons.falls_short = reasons.too_little && !in_pair;
  reasons.supported = cures && (!ranked->why.empty() || ranked->enough == true || in_pair);
  reasons.undoes =
      ranked->enough != false && std::any_of(failure.why.begin(), failure.why.end(),
                                             [&](const Reason& reason) { return reason.cure == ranked->remedy->id; });
  // If other remedies were estimated on the program or list, one without an estimate ranks lower.
  reasons.gamble = any_estimates && !ranked->enough && !reasons.undoes;
  reasons.cost = reasons.supported ? ranked->remedy->cost : 0;
  reasons.estimated = ranked->enough.has_value();
  reasons.doubtful = ranked->borderline;
}

// "supported, enough, cost 0, prior 20": the sort keys of a remedy (RankReasons), in order.
std::string OrderText(const RankReasons& reasons) {
  const std::pair<bool, std::string> keys[] = {{reasons.finds_out, "finds out"},
                                               {reasons.free, "free"},
                                               {reasons.confirmed, "compiled"},
                                               {reasons.falls_short, "falls short"},
                                               {true, reasons.supported ? "supported" : "not supported"},
                                               {true, !reasons.estimated   ? "no estimate"
                                                      : reasons.too_little ? "not enough"
                                                                           : "enough"},
                                               {reasons.gamble, "gamble"},
                                               {reasons.undoes, "undoes mistake"},
                                               {reasons.doubtful, "doubtful"},
                                               {reasons.supported, fmt::format("cost {}", reasons.cost)}};
  std::string text;
  for (const auto& [applies, key] : keys) text += applies ? key + ", " : "";
  return text + fmt::format("prior {}", reasons.prior);
}

ListedPart PartOf(const FailureScope& scope, std::size_t row) {
  const auto is = [&](std::string_view field) { return AsBool(scope.GetInRow(row, field)) == true; };
  if (is("is_constant")) return ListedPart::kConstant;
  if (is("is_plain_argument")) return ListedPart::kArgument;
  if (is("is_argument")) return ListedPart::kCopied;
  if (is("is_convert")) return ListedPart::kConverted;
  if (is("is_loop_residual")) return ListedPart::kStacked;
  if (is("in_backward")) return ListedPart::kBackward;
  return is("in_gradient") ? ListedPart::kForward : ListedPart::kOther;
}

}  // namespace

ListedProgram ToListedProgram(const Failure& failure, const FailureScope& scope) {
  const auto bytes = [&](std::string_view fact) {
    return ClampToBytes(std::max(0.0, failure.facts.Number(fact).value_or(0)));
  };
  ListedProgram listed{bytes("need_bytes"), bytes("arguments_bytes"), bytes("fragmentation_bytes"), {}};
  for (std::size_t row = 0; row < scope.row_count(); ++row) {
    const Allocation& allocation = scope.RowAt(row);
    if (!allocation.array || !allocation.size_bytes || allocation.kind == kRequestedAllocation) continue;
    listed.values.push_back({*allocation.array, *allocation.size_bytes, PartOf(scope, row)});
  }
  return listed;
}

void RankRemedies(const RuleSet& rules, const FailureScope& scope, Failure* failure) {
  const bool own = failure->scenario != nullptr && !failure->scenario->remedies.empty();
  ProgramEstimates listed;
  if (!failure->estimates) listed.changes = EstimateFromList(ToListedProgram(*failure, scope));
  const Ranking ranking{rules, scope, *failure, failure->estimates ? *failure->estimates : listed};
  std::vector<RankedRemedy> remedies;
  std::vector<RuledOut> ruled_out;
  {
    RecordedStep step(scope.recorder(), own ? "Scenario remedies" : "Remedies");
    for (const RemedyUse& use : own ? failure->scenario->remedies : failure->rule->remedies) {
      const Remedy* remedy = rules.FindRemedy(use.remedy);
      if (remedy == nullptr) continue;  // the loader reports it
      std::optional<RankedRemedy> ranked = Consider(*remedy, ranking, &ruled_out);
      if (!ranked) continue;
      ranked->section = use.section;
      ranked->rank_reasons.emplace().prior = use.prior;
      remedies.push_back(*std::move(ranked));
    }
  }
  PairUp(*failure, &remedies);
  // If a supported remedy is estimated to be enough, no inquiry is needed first.
  const bool known = failure->scenario != nullptr || failure->rule->scenarios.empty() ||
                     std::any_of(remedies.begin(), remedies.end(), [](const RankedRemedy& ranked) {
                       return ranked.enough == true && !ranked.why.empty();
                     });
  const bool any_estimates = failure->estimates.has_value() || !listed.changes.empty();
  for (RankedRemedy& ranked : remedies) SetReasons(*failure, known, any_estimates, &ranked);
  std::sort(remedies.begin(), remedies.end(),
            [](const RankedRemedy& a, const RankedRemedy& b) { return SortKey(a) < SortKey(b); });
  for (std::size_t i = 0; i < remedies.size(); ++i) remedies[i].rank = static_cast<int>(i) + 1;
  PairUp(*failure, &remedies);  // again, in the order of rank
  failure->remedies = std::move(remedies);
  if (RecordedStep step(scope.recorder(), "Order"); step.is_recorded()) {
    for (const RankedRemedy& ranked : failure->remedies)
      RecordedStep(scope.recorder(), fmt::format("{}", ranked.rank), ranked.remedy->id)
          .Set(OrderText(*ranked.rank_reasons));
  }
  failure->ruled_out = std::move(ruled_out);
}

}  // namespace whyoom
