// From facts to a verdict. Only here is a scenario named, and only by the predicates of the rule data.
#pragma once

#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/finding_scope.h"
#include "rules/rule_set.h"

namespace whyoom {

// All that follows from a finding:
//   0. figures that contradict each other by the rule data are taken out of the facts, so that nothing below sees them;
//   1. the failure's derived facts, and the chip by its limit;
//   2. the scenario: of those whose condition is true the one with the highest priority; where none is, those whose
//      condition is not false are the candidates;
//   3. whether the same job can succeed when it is started again: what the scenario says, else the failure; of several
//      candidates what all of them say. Where they differ it is the failure's answer, but never "never", which holds
//      only where it holds whatever happened;
//   4. the confidence, low where anything contradicts, and the reasons, those of the scenario first;
//   5. the remedies in order, see diagnose/rank.h.
// Figures that are trusted are not checked against each other. `recorder` gets each step, unless it is null.
enum class Figures { kChecked, kTrusted };
Diagnosis Conclude(const RuleSet& rules, Finding finding, Figures figures = Figures::kChecked,
                   Recorder* recorder = nullptr);

// The sentences that hold for the finding of the scope, filled, each with the line that proves it. `recorded_as` names
// them in a recording.
std::vector<Reason> Reasons(const std::vector<Sentence>& sentences, const FindingScope& scope, const char* recorded_as);

}  // namespace whyoom
