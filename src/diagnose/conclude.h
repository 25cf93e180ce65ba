// From facts to a verdict: derived facts, the scenario, the confidence. Only here is a scenario named, and only by the
// predicates of the rule data.
#pragma once

#include "diagnose/finding.h"
#include "diagnose/finding_scope.h"
#include "rules/rule_set.h"

namespace whyoom {

// Adds what follows from the facts by the rule data: the failure's derived facts, and the chip by its limit.
void DeriveFacts(const RuleSet& rules, Finding* finding);

// Sets the scenario, or the candidates where the log cannot tell; the reasons; the confidence.
// A scenario holds where its condition is true. Where several hold, the highest priority wins. Where none holds, those
// whose condition is not false are the candidates.
void Classify(const RuleSet& rules, bool fragment, Finding* finding);

// The sentences that hold for the finding of the scope, filled, each with the line that proves it.
std::vector<Reason> Reasons(const std::vector<Sentence>& sentences, const FindingScope& scope);

}  // namespace whyoom
