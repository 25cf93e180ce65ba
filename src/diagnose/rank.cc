#include "diagnose/rank.h"

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

// Returns the reasons as numbers; the smaller key ranks higher.
std::array<int, 12> SortKey(const RankReasons& reasons) {
  return {reasons.confirmed ? 0 : 1,   reasons.finds_out ? 0 : 1, reasons.free ? 1 : 0,
          reasons.falls_short ? 1 : 0, reasons.supported ? 0 : 1, reasons.too_little ? 1 : 0,
          reasons.gamble ? 1 : 0,      reasons.undoes ? 0 : 1,    reasons.cost,
          reasons.estimated ? 0 : 1,   reasons.doubtful ? 1 : 0,  reasons.prior};
}

bool RanksBefore(const RankedRemedy& one, const RankedRemedy& other) {
  return std::pair(SortKey(*one.rank_reasons), one.remedy->id) <
         std::pair(SortKey(*other.rank_reasons), other.remedy->id);
}

// Adds names to those of another scope.
class InnerScope : public Scope {
 public:
  explicit InnerScope(const Scope& outer) : outer_(outer) {}
  Value Get(std::string_view name) const override { return outer_.Get(name); }
  std::size_t row_count() const override { return outer_.row_count(); }
  Value GetInRow(std::size_t row, std::string_view name) const override { return outer_.GetInRow(row, name); }

 private:
  const Scope& outer_;
};

// Adds the names of the remedy's own estimate ("made.parts").
class RemedyScope : public InnerScope {
 public:
  RemedyScope(const Scope& failure, const RemedyEstimate* made) : InnerScope(failure), made_(made) {}

  Value Get(std::string_view name) const override {
    constexpr std::string_view kMade = "made.";
    if (!name.starts_with(kMade)) return InnerScope::Get(name);
    if (made_ == nullptr || made_->parts == 0) return Unknown{};
    name.remove_prefix(kMade.size());
    if (name == "parts") return static_cast<double>(made_->parts);
    if (name == "of_state") return made_->of_state;
    if (name.starts_with("split.")) return SplitField(name.substr(6));
    return AxisField(made_->axis, name);
  }

 private:
  Value SplitField(std::string_view name) const {
    if (!made_->split) return Unknown{};
    const ArraySplit& split = *made_->split;
    if (name == "mesh_axis") return split.mesh_axis;
    if (split.array.empty()) return Unknown{};
    if (name == "array") return split.array;
    if (name == "is_argument") return split.is_argument;
    return name == "spec" ? Value(split.spec) : Unknown{};
  }

  const RemedyEstimate* made_;
};

const RemedyEstimate* FindEstimate(const Failure& failure, const Remedy& remedy) {
  return failure.estimates && !remedy.change.empty() ? failure.estimates->Find(remedy.change) : nullptr;
}

const RemedyEstimate* FindListed(const std::vector<RemedyEstimate>& listed, const Remedy& remedy) {
  const auto found = std::find_if(listed.begin(), listed.end(),
                                  [&](const RemedyEstimate& estimate) { return estimate.change == remedy.change; });
  return found == listed.end() ? nullptr : &*found;
}

bool Saves(const RemedyEstimate* estimate) { return estimate != nullptr && estimate->saves_bytes > 0; }

const CompiledAttempt* FindCompiled(const Failure& failure, const Remedy& remedy) {
  return failure.recompilation ? failure.recompilation->Best(remedy.id, failure.facts) : nullptr;
}

void SetEstimate(const RemedyEstimate& estimate, double least_spread, RankedRemedy* ranked) {
  ranked->parts = estimate.parts;
  ranked->axis = estimate.axis;
  ranked->split = estimate.split;
  ranked->saves_bytes = std::max<std::int64_t>(0, estimate.saves_bytes);
  ranked->left_bytes = estimate.left_bytes;
  const double share = ranked->remedy->spread_percent / 100.0;
  const double spread = least_spread + share * std::abs(static_cast<double>(estimate.saves_bytes));
  ranked->spread_bytes = std::min(estimate.left_bytes, estimate.spread_bytes + ClampToBytes(spread));
}

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

// The inputs of ranking for one diagnosis.
struct Ranking {
  const RuleSet& rules;
  const FailureScope& scope;
  const Failure& failure;
  std::optional<double> excess;
  std::vector<RemedyEstimate> listed;
  std::vector<MissingName> lacked;
};

// Takes the remedy's figures from its compile, or else estimates them on the program or on the allocation list.
void Estimate(const Ranking& ranking, RankedRemedy* ranked) {
  const auto& [rules, scope, failure, excess, listed, lacked] = ranking;
  const Remedy& remedy = *ranked->remedy;
  const bool is_partial = failure.facts.Find("listed_bytes") != nullptr;  // most of the need is not listed
  const RemedyEstimate* estimate = FindEstimate(failure, remedy);
  const double least_spread = rules.Threshold("spread_of_limit") * failure.facts.Number("limit_bytes").value_or(0);
  if (const CompiledAttempt* compiled = FindCompiled(failure, remedy)) return SetCompiled(failure, *compiled, ranked);
  if (estimate != nullptr && estimate->open) return;
  if (estimate != nullptr) {
    ranked->basis = "program";
    SetEstimate(*estimate, least_spread, ranked);
  } else if (const RemedyEstimate* shown = FindListed(listed, remedy)) {
    if (is_partial && !Saves(shown)) return;
    ranked->basis = "list";
    SetEstimate(*shown, least_spread, ranked);
  } else if (remedy.saves) {
    RecordedStep step(scope.recorder(), "saves");
    const Value value = remedy.saves->Evaluate(scope);
    step.SetValue(value);
    const std::optional<double> saves = AsNumber(value);
    if (!saves || !std::isfinite(*saves)) return;
    ranked->basis = "list";
    ranked->saves_bytes = ClampToBytes(std::max(0.0, *saves));
  }
  ranked->at_least = is_partial && ranked->basis == "list";
  if (!ranked->saves_bytes || !excess) return;
  const bool covers = static_cast<double>(*ranked->saves_bytes) >= *excess;
  // If the program was simulated but not with this remedy, "not enough" only means that the list shows too little.
  if (covers || (!ranked->at_least && (ranked->basis == "program" || !failure.estimates))) ranked->enough = covers;
  const double beyond = std::abs(static_cast<double>(*ranked->saves_bytes) - *excess);
  // If the need is not completely known, the memory needed with the remedy is not known either.
  const bool needs_more = ranked->basis == "list" && CountsTemporariesOnly(failure.facts);
  ranked->borderline = ranked->enough && (beyond < static_cast<double>(ranked->spread_bytes.value_or(0)) ||
                                          (*ranked->enough && needs_more));
  if (ranked->at_least || needs_more) ranked->left_bytes = ranked->spread_bytes = std::nullopt;
}

// Returns why a change saves nothing, as the suffix of a message id: either the program rules it out, or the estimated
// saving is next to nothing. Empty if neither applies.
std::string WhyNothing(const RuleSet& rules, const Failure& failure, const Remedy& remedy) {
  if (const CompiledAttempt* compiled = FindCompiled(failure, remedy)) {
    const Recompilation& recompilation = *failure.recompilation;
    const double saves = static_cast<double>(recompilation.unchanged_bytes - *compiled->need_bytes);
    const double least = rules.Threshold("next_to_nothing") * static_cast<double>(recompilation.unchanged_bytes);
    return saves < least && !recompilation.Fits(*compiled, failure.facts) ? "compiled" : "";
  }
  const RemedyEstimate* estimate = FindEstimate(failure, remedy);
  if (estimate == nullptr || estimate->open) return "";
  if (!estimate->ruled_out.empty()) return estimate->ruled_out;
  const double least = rules.Threshold("next_to_nothing") * static_cast<double>(failure.estimates->need_bytes);
  return static_cast<double>(estimate->saves_bytes) < least ? "next_to_nothing" : "";
}

void SetSafety(const FailureScope& scope, RankedRemedy* ranked) {
  const Remedy& remedy = *ranked->remedy;
  ranked->safety = remedy.safety;
  ranked->safe_why = remedy.safe_why;
  for (const ConditionalSafety& other : remedy.safety_when) {
    if (AsBool(other.when.Evaluate(scope)) != true) continue;
    ranked->safety = other.safety;
    ranked->safe_why = other.safe_why;
    break;
  }
}

bool UndoesMistake(const Failure& failure, const Remedy& remedy) {
  return std::any_of(failure.why.begin(), failure.why.end(),
                     [&](const Reason& reason) { return reason.cure == remedy.id; });
}

// Whether the compiler confirmed that the remedy fits together with another. Pairs are compiled if nothing fits alone.
bool FitsInPair(const RankedRemedy& ranked, const Failure& failure) {
  const auto& compiled = failure.recompilation;
  return compiled && !ranked.enough_with.empty() &&
         compiled->FittingPair(ranked.remedy->id, ranked.enough_with.front(), failure.facts) != nullptr;
}

RankReasons ReasonsOf(const RankedRemedy& ranked, int prior, const Failure& failure, bool scenario_known,
                      bool worked_out) {
  const bool cures = !ranked.remedy->inquiry || !scenario_known;
  RankReasons reasons;
  reasons.finds_out = !scenario_known && ranked.remedy->inquiry && !ranked.why.empty();
  reasons.free = ranked.free;
  reasons.confirmed = ranked.compiled && (ranked.enough == true || FitsInPair(ranked, failure));
  reasons.too_little = ranked.enough == false;
  reasons.falls_short = reasons.too_little && ranked.enough_with.empty();
  reasons.supported =
      cures && (!ranked.why.empty() || ranked.enough == true || (reasons.too_little && !reasons.falls_short));
  reasons.undoes = ranked.enough != false && UndoesMistake(failure, *ranked.remedy);
  // If other remedies were estimated on the program or list, one without an estimate ranks lower.
  reasons.gamble = worked_out && !ranked.enough && !reasons.undoes;
  reasons.cost = reasons.supported ? ranked.remedy->cost : 0;
  reasons.estimated = ranked.enough.has_value();
  reasons.doubtful = ranked.borderline;
  reasons.prior = prior;
  return reasons;
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

// Marks the remedies to list separately, unless there are no others.
void SetFree(const Failure& failure, std::vector<RankedRemedy>* remedies) {
  const auto is_free = [&](const RankedRemedy& ranked) {
    return ranked.remedy->cost == 0 && ranked.safety == "safe" && ranked.enough == false &&
           !FitsInPair(ranked, failure);
  };
  const bool others = std::any_of(remedies->begin(), remedies->end(), [&](const RankedRemedy& ranked) {
    return !ranked.remedy->inquiry && !is_free(ranked);
  });
  for (RankedRemedy& ranked : *remedies) ranked.free = others && is_free(ranked);
}

// "supported, enough, cost 0, prior 20": the sort keys of a remedy (RankReasons), in order.
std::string OrderText(const RankReasons& reasons) {
  std::string text;
  const auto add = [&](bool applies, const std::string& part) {
    if (applies) text += (text.empty() ? "" : ", ") + part;
  };
  add(reasons.finds_out, "finds out");
  add(reasons.free, "free");
  add(reasons.confirmed, "compiled");
  add(reasons.falls_short, "falls short");
  add(true, reasons.supported ? "supported" : "not supported");
  add(true, !reasons.estimated ? "no estimate" : reasons.too_little ? "not enough" : "enough");
  add(reasons.gamble, "gamble");
  add(reasons.undoes, "undoes mistake");
  add(reasons.doubtful, "doubtful");
  add(reasons.supported, fmt::format("cost {}", reasons.cost));
  add(true, fmt::format("prior {}", reasons.prior));
  return text;
}

void RecordOrder(const Failure& failure, Recorder* recorder) {
  RecordedStep step(recorder, "Order");
  if (!step.is_recorded()) return;
  for (const RankedRemedy& ranked : failure.remedies)
    RecordedStep(recorder, fmt::format("{}", ranked.rank), ranked.remedy->id).Set(OrderText(*ranked.rank_reasons));
}

// Returns the remedy as offered here, or nullopt. Adds the reason to `ruled_out` if it has a text.
std::optional<RankedRemedy> Consider(const Remedy& remedy, const Ranking& ranking, std::vector<RuledOut>* ruled_out) {
  const auto& [rules, scope, failure, excess, listed, lacked] = ranking;
  RecordedStep step(scope.recorder(), "remedy", remedy.id);
  step.Set("not offered");
  if (remedy.when && AsBool(remedy.when->Evaluate(scope)) != true) return std::nullopt;
  const auto rule_out = [&](const std::string& why) {
    step.Set(why.empty() ? "not offered" : "ruled out", why);
    if (!why.empty()) ruled_out->push_back({&remedy, why});
    return std::nullopt;
  };
  // A remedy that was tried on the program need not be estimated from a list.
  if (const std::string why = WhyNothing(rules, failure, remedy); !why.empty())
    return rule_out(rules.Say("ruled_out." + why, scope));
  const RemedyEstimate* made = FindEstimate(failure, remedy);
  const bool is_tried = made != nullptr || FindCompiled(failure, remedy) != nullptr;
  std::vector<Reason> against = is_tried ? std::vector<Reason>() : Reasons(remedy.ruled_out, scope, "against");
  // A reason without a text only means that nothing supports the remedy; an estimated saving on the list supports it.
  if (Saves(FindListed(listed, remedy)))
    std::erase_if(against, [](const Reason& reason) { return reason.text.empty(); });
  if (!against.empty()) return rule_out(against.front().text);
  RankedRemedy ranked;
  ranked.remedy = &remedy;
  SetSafety(scope, &ranked);
  ranked.why = Reasons(remedy.evidence, scope, "for");
  const RemedyEstimate* figures = made != nullptr ? made : FindListed(listed, remedy);
  ranked.how = StepsFor(rules, remedy, failure.framework, RemedyScope(scope, figures), lacked);
  step.Set("no step");
  if (ranked.how.empty() && !remedy.how.empty()) return std::nullopt;
  Estimate(ranking, &ranked);
  // The steps of the rule data may name other options than the compiled one, which is what to type.
  if (ranked.compiled && ranked.compiled->setting.starts_with(kCompilerOptions)) ranked.how.clear();
  step.Set("offered");
  return ranked;
}

// The excess, or its upper bound if the sizes are rounded to the same figure.
std::optional<double> MostExcess(const Failure& failure) {
  const std::optional<double> excess = failure.facts.Number("excess_bytes");
  return excess ? excess : failure.facts.Number("excess_below_bytes");
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

std::int64_t Bytes(const Failure& failure, std::string_view fact) {
  return ClampToBytes(std::max(0.0, failure.facts.Number(fact).value_or(0)));
}

// Names for the message about a missing name: the name, its package, and the log's version.
class NeedScope : public InnerScope {
 public:
  NeedScope(const Scope& log, const MissingName& name) : InnerScope(log), need_(*name.need), version_(name.version) {}

  Value Get(std::string_view name) const override {
    if (name == "need.name") return need_.id;
    if (name == "need.package") return need_.package;
    if (name == "need.since") return need_.since;
    if (name == "need.until") return need_.until;
    if (name == "need.version") return version_;
    return InnerScope::Get(name);
  }

 private:
  const NameVersions& need_;
  const std::string& version_;
};

// Returns why the step cannot be done with the log's versions; empty if it can.
std::string VersionProblem(const RuleSet& rules, const std::string& step, const Scope& scope,
                           const std::vector<MissingName>& lacked) {
  for (const MissingName& name : lacked) {
    if (!ContainsName(step, name.need->id)) continue;
    const bool is_too_old = !name.need->since.empty() && CompareVersions(name.version, name.need->since) < 0;
    return rules.Say(is_too_old ? "step.too_old" : "step.too_new", NeedScope(scope, name));
  }
  return "";
}

}  // namespace

ListedProgram ToListedProgram(const Failure& failure, const FailureScope& scope) {
  ListedProgram listed;
  listed.need_bytes = Bytes(failure, "need_bytes");
  listed.arguments_bytes = Bytes(failure, "arguments_bytes");
  listed.fragmentation_bytes = Bytes(failure, "fragmentation_bytes");
  for (std::size_t row = 0; row < scope.row_count(); ++row) {
    const Allocation& allocation = scope.RowAt(row);
    if (!allocation.array || !allocation.size_bytes || allocation.kind == kRequestedAllocation) continue;
    listed.values.push_back({*allocation.array, *allocation.size_bytes, PartOf(scope, row)});
  }
  return listed;
}

void RankRemedies(const RuleSet& rules, const FailureScope& scope, Failure* failure) {
  const bool own = failure->scenario != nullptr && !failure->scenario->remedies.empty();
  const std::vector<RemedyUse>& uses = own ? failure->scenario->remedies : failure->rule->remedies;
  const std::optional<double> excess = MostExcess(*failure);
  const Ranking ranking{
      rules,
      scope,
      *failure,
      excess,
      failure->estimates ? std::vector<RemedyEstimate>() : EstimateFromList(ToListedProgram(*failure, scope)),
      MissingNames(rules, scope)};
  std::vector<RankedRemedy> remedies;
  std::vector<int> priors;
  std::vector<RuledOut> ruled_out;
  {
    RecordedStep step(scope.recorder(), own ? "Scenario remedies" : "Remedies");
    for (const RemedyUse& use : uses) {
      const Remedy* remedy = rules.FindRemedy(use.remedy);
      if (remedy == nullptr) continue;  // the loader reports it
      std::optional<RankedRemedy> ranked = Consider(*remedy, ranking, &ruled_out);
      if (!ranked) continue;
      ranked->section = use.section;
      remedies.push_back(*std::move(ranked));
      priors.push_back(use.prior);
    }
  }
  PairUp(*failure, &remedies);
  SetFree(*failure, &remedies);
  // If a supported remedy is estimated to be enough, no inquiry is needed first.
  const bool known = failure->scenario != nullptr || failure->rule->scenarios.empty() ||
                     std::any_of(remedies.begin(), remedies.end(), [](const RankedRemedy& ranked) {
                       return ranked.enough == true && !ranked.why.empty();
                     });
  const bool worked_out = failure->estimates.has_value() || !ranking.listed.empty();
  for (std::size_t i = 0; i < remedies.size(); ++i)
    remedies[i].rank_reasons = ReasonsOf(remedies[i], priors[i], *failure, known, worked_out);
  std::sort(remedies.begin(), remedies.end(), RanksBefore);
  for (std::size_t i = 0; i < remedies.size(); ++i) remedies[i].rank = static_cast<int>(i) + 1;
  PairUp(*failure, &remedies);  // again, in the order of rank
  failure->remedies = std::move(remedies);
  RecordOrder(*failure, scope.recorder());
  failure->ruled_out = std::move(ruled_out);
}

std::vector<MissingName> MissingNames(const RuleSet& rules, const Scope& scope) {
  std::vector<MissingName> lacked;
  for (const NameVersions& need : rules.name_versions()) {
    const Value version = scope.Get(need.VersionFact());
    const std::string* known = AsText(version);
    if (known != nullptr && need.ExistsIn(*known) == false) lacked.push_back({&need, *known});
  }
  return lacked;
}

std::vector<std::string> StepsFor(const RuleSet& rules, const Remedy& remedy, const std::string& framework,
                                  const Scope& scope, const std::vector<MissingName>& lacked) {
  const auto steps = remedy.how.find(rules.KeyOfSteps(remedy, framework));
  std::vector<std::string> can;
  std::vector<std::string> cannot;
  if (steps == remedy.how.end()) return can;
  for (const Template& step : steps->second) {
    std::optional<std::string> text = step.Fill(scope);
    if (!text) continue;
    const std::string version_problem = VersionProblem(rules, *text, scope, lacked);
    (version_problem.empty() ? can : cannot)
        .push_back(*std::move(text) + (version_problem.empty() ? "" : " ") + version_problem);
  }
  can.insert(can.end(), std::make_move_iterator(cannot.begin()), std::make_move_iterator(cannot.end()));
  return can;
}

}  // namespace whyoom
