// Draws the conclusions from the facts. The only code that selects a scenario, and only by conditions of the rule data.
#pragma once

#include <vector>

#include "diagnose/failure_scope.h"
#include "facts/failure.h"
#include "program/listed.h"
#include "rules/rule_set.h"

namespace whyoom {

enum class Figures { kChecked, kTrusted };

// Adds the conclusions to a failure that has none:
//   0. Removes figures that contradict each other by the rule data, so that no later step uses them.
//   1. Adds the failure's derived facts, and the chip that its limit identifies.
//   2. Selects the scenario with the highest priority among those whose condition is true. If there is none, those
//      whose condition is unknown are the candidates.
//   3. Determines whether a retry can succeed: the answer of the scenario or, if it has none, of the failure. If there
//      are candidates: their answer if they agree, else the failure's, with "unknown" in place of "never".
//   4. Sets the confidence, which is low after a contradiction, and the reasons, those of the scenario first.
//   5. Ranks the remedies, see RankRemedies.
//
// Skips step 0 if the figures are trusted. `recorder` records steps 1, 2, 5 and the reasons; it may be null.
Failure Conclude(const RuleSet& rules, Failure failure, Figures figures = Figures::kChecked,
                 Recorder* recorder = nullptr);

// Returns the sentences whose conditions are true in `scope`, with their placeholders filled and the line that proves
// each. `recorded_as` is their name in a recording.
std::vector<Reason> Reasons(const std::vector<Sentence>& sentences, const FailureScope& scope, const char* recorded_as);

// --- diagnose/rank.cc, which states the order of the remedies.

// Sets the remedies that the rule data allows for a diagnosis whose scenario is set, and ruled_out: a remedy whose
// `ruled_out` condition is true is not offered. The estimates come from the rule data. `scope` belongs to the failure.
void RankRemedies(const RuleSet& rules, const FailureScope& scope, Failure* failure);

// Converts the allocation list. `scope` belongs to the failure. Skips rows without a single array of known size.
ListedProgram ToListedProgram(const Failure& failure, const FailureScope& scope);

}  // namespace whyoom
