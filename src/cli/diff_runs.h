// Which failures of two jobs `whyoom diff` holds against each other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare/compare.h"
#include "diagnose/diagnosis.h"

namespace whyoom {

// The findings of two runs that belong together: same code and module, else same code, else the first of each. An index
// is nullopt where that run has no finding.
struct FindingPair {
  std::optional<std::size_t> before;
  std::optional<std::size_t> after;
};
FindingPair MatchFindings(const std::vector<Diagnosis>& before, const std::vector<Diagnosis>& after);

// A run that failed in this way.
Run MakeRun(const std::string& path, const Diagnosis& finding);

}  // namespace whyoom
