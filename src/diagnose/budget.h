// Finds the remedies that together are estimated to cover the excess.
//
// Estimates may count the same bytes twice, so:
//   1. Remedies are added only if all of them name each other in the rule data (docs/rules-reference.md, `with`). If
//      the program was simulated with both together, it is enough that one names the other.
//   2. If the program was simulated with two of them together, that estimate is used.
//   3. Otherwise, only a share of a further step's estimate is added. For example, if the first step saves two fifths
//      of the memory needed, three fifths of the next step's estimate are added. This underestimates the saving if
//      the two save different bytes. Remedies that save the very same bytes, such as two ways to keep fewer
//      activations, must not name each other.
//
// Among the sets that cover the excess, chooses the one whose most expensive member is cheapest (`cost` in the rule
// data), then the one with the fewest steps, then the one ranked highest. If no set covers it, chooses the one that
// saves most.
#pragma once

#include <optional>

#include "diagnose/diagnosis.h"
#include "diagnose/finding.h"
#include "diagnose/finding_scope.h"
#include "program/listed.h"

namespace whyoom {

// Returns the excess, or its upper bound (the fact excess_below_bytes) if the sizes are rounded to the same figure.
std::optional<double> MostExcess(const Diagnosis& diagnosis);

// Whether a budget may contain the remedy: it is not an inquiry and is estimated to save at least `least_share` of the
// excess.
bool IsStep(const RankedRemedy& ranked, double excess, double least_share);

// Whether two remedies with estimates may be added and together cover the excess. False if the excess is unknown.
bool AreEnough(const RankedRemedy& one, const RankedRemedy& other, const Diagnosis& diagnosis);

// Makes the budget from the facts and the ranked remedies. Returns nullopt if the excess is unknown or zero, or if the
// allocation list covers too little of the need to estimate the rest. Remedies that save less than `least_share` of the
// excess are not steps.
std::optional<Budget> MakeBudget(const Diagnosis& diagnosis, double least_share);

// Converts the allocation list. `scope` belongs to the finding. Skips rows without a single array of known size.
ListedProgram ToListedProgram(const Finding& finding, const FindingScope& scope);

}  // namespace whyoom
