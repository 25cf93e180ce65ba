// What follows from facts by the formulas of the rule data, in the order in which these stand there: each sees what was
// read and what follows by the formulas before it.
#pragma once

#include <optional>
#include <vector>

#include "facts/evidence.h"
#include "rules/examine.h"
#include "rules/expression.h"
#include "rules/rule_set.h"

namespace whyoom {

// Only what follows, with no place in a log; `read` means the facts that were read.
Evidence Derive(const std::vector<DerivedFact>& derived, const Scope& read);

// What became of one formula.
struct DerivedTrace {
  enum class Outcome {
    kGiven,        // it gave the fact
    kReadAlready,  // the fact was known without it
    kNotNow,       // its condition does not hold, or is unknown
    kUnknown,      // it comes to nothing here
  };
  const DerivedFact* fact = nullptr;
  Outcome outcome = Outcome::kUnknown;
  Value value;                      // that the formula gives
  std::optional<Examination> when;  // as far as it was asked
  std::optional<Examination> from;
};

// What Derive does, formula by formula.
std::vector<DerivedTrace> TraceDerived(const std::vector<DerivedFact>& derived, const Scope& read);

// Adds it to the facts that were read.
void AddDerived(const std::vector<DerivedFact>& derived, const Scope& read, Evidence* facts);

}  // namespace whyoom
