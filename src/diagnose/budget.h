// Which remedies together are estimated to cover what is over.
//
// Estimates may count the same bytes twice, so:
//   1. only remedies are added that all name each other in the rule data (rules/README.md, `with`); where the program
//      was changed by two of them together, one name is enough;
//   2. where the program was changed by two of them together, what that leaves counts;
//   3. else a further step saves only of what the steps before leave: where one saves two fifths of the memory needed,
//      the next one's estimate counts for three fifths. Where they save different bytes this is too little; two that
//      save the very same bytes, as two ways to keep fewer activations do, must not name each other.
// Of the sets that cover the excess the one with the least dear member is taken (rules/README.md, `cost`), then the one
// with the fewest steps, then the one ranked highest. Where no set does, the one that saves most.
#pragma once

#include <optional>

#include "diagnose/diagnosis.h"
#include "diagnose/finding.h"
#include "diagnose/finding_scope.h"
#include "program/listed.h"

namespace whyoom {

// What is over, or where sizes are rounded to the same figure, what it is less than (the fact excess_below_bytes).
std::optional<double> MostExcess(const Diagnosis& diagnosis);

// Whether a budget may contain the remedy: it is estimated to save at least `least_share` of the excess, and is a cure.
bool IsStep(const RankedRemedy& ranked, double excess, double least_share);

// Whether two remedies, each with an estimate, may be added and together cover the excess, which is known.
bool AreEnough(const RankedRemedy& one, const RankedRemedy& other, const Diagnosis& diagnosis);

// From the facts and the ranked remedies. nullopt where the excess is not known or there is none, and where what is
// listed covers too little of the need to say what is left. What saves less than `least_share` of the excess is no
// step.
std::optional<Budget> MakeBudget(const Diagnosis& diagnosis, double least_share);

// `scope` is of the finding. Rows without one array of a known size are left out.
ListedProgram ListedOf(const Finding& finding, const FindingScope& scope);

}  // namespace whyoom
