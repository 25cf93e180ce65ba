#include "diagnose/comparison_case.h"

#include "diagnose/situation.h"

namespace whyoom {
namespace {

Run CompareRunOf(const ComparedRuns::OfRun& given) {
  Run run;
  run.path = given.path;
  run.failed = given.failed;
  run.measured = given.measured;
  if (given.measured) run.success = SuccessSign{SuccessSign::Kind::kDump, given.path, 0, ""};
  if (given.ran) run.success = SuccessSign{SuccessSign::Kind::kProgress, given.path, 1, ""};
  run.compiles = given.compiles;
  run.code = given.code;
  run.title = given.title;
  run.other_failures = given.other_failures;
  std::uint64_t line = 0;
  for (const auto& [name, value] : given.facts) run.facts.Set(name, value, {++line, 0});
  int rank = 0;
  for (const auto& fields : given.rows) run.allocations.push_back(AllocationOf(fields, ++rank, ++line));
  return run;
}

}  // namespace

Comparison CompareRuns(const RuleSet& rules, const ComparedRuns& runs) {
  return Compare(CompareRunOf(runs.before), CompareRunOf(runs.after), rules);
}

nlohmann::json Told(const Comparison& comparison) {
  nlohmann::json told = {{"verdict", VerdictId(VerdictOf(comparison.change))},
                         {"change", ChangeId(comparison.change)},
                         {"says", comparison.verdict_text},
                         {"totals", nlohmann::json::object()},
                         {"seems", nlohmann::json::array()},
                         {"notes", comparison.notes}};
  for (const TotalChange& total : comparison.totals) told["totals"][total.id] = total.title;
  for (const SeemingRemedy& seeming : comparison.seems)
    told["seems"].push_back({{"remedies", seeming.ids}, {"says", seeming.why}});
  return told;
}

std::string TryComparison(const RuleSet& rules, const ComparedRuns& runs) {
  return WhatDiffers(nlohmann::json::parse(runs.expect, nullptr, false), Told(CompareRuns(rules, runs)));
}

}  // namespace whyoom
