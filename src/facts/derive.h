// What follows from facts by the formulas of the rule data, in the order in which these stand there: each sees what was
// read and what follows by the formulas before it.
#pragma once

#include <vector>

#include "facts/evidence.h"
#include "rules/expression.h"
#include "rules/rule_set.h"

namespace whyoom {

// Only what follows, with no place in a log; `read` means the facts that were read.
Evidence Derive(const std::vector<DerivedFact>& derived, const Scope& read);

// Adds it to the facts that were read.
void AddDerived(const std::vector<DerivedFact>& derived, const Scope& read, Evidence* facts);

}  // namespace whyoom
