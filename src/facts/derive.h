// Derives facts by the formulas of the rule data, in list order. A formula can use the facts that were read and those
// that earlier formulas derived.
#pragma once

#include <vector>

#include "facts/evidence.h"
#include "rules/expression.h"
#include "rules/rule_set.h"

namespace whyoom {

// Returns only the derived facts; their `place` is empty. `read` contains the facts that were read.
Evidence Derive(const std::vector<DerivedFact>& derived, const Scope& read);

// Adds the derived facts to `facts`, replacing facts of the same name.
void AddDerived(const std::vector<DerivedFact>& derived, const Scope& read, Evidence* facts);

}  // namespace whyoom
