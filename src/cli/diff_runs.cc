#include "cli/diff_runs.h"

namespace whyoom {

Run MakeRun(const std::string& path, const Diagnosis& finding) {
  Run run;
  run.path = path;
  run.failed = true;
  run.compiles = finding.failure->phase == "compile";
  run.code = finding.failure->code;
  run.title = finding.failure->title;
  run.facts = finding.facts;
  run.allocations = finding.allocations;
  return run;
}

FindingPair MatchFindings(const std::vector<Diagnosis>& before, const std::vector<Diagnosis>& after) {
  FindingPair best;
  if (!before.empty()) best.before = 0;
  if (!after.empty()) best.after = 0;
  int best_score = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; j < after.size(); ++j) {
      if (before[i].failure->code != after[j].failure->code) continue;
      const Value module = before[i].facts.Get("module");
      const int score = IsKnown(module) && module == after[j].facts.Get("module") ? 2 : 1;
      if (score <= best_score) continue;
      best_score = score;
      best = {i, j};
    }
  }
  return best;
}

}  // namespace whyoom
