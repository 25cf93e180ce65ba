// Runs the examples of the rules through the whole engine, for `whyoom rules test` and this project's tests.
#pragma once

#include <string>
#include <vector>

#include "diagnose/rule_case.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

// Counts, in the usual terms of rule tests: reported (must match and does), validated (must not match and does not),
// noisy (must not match but does), and missing (must match but does not, or with another result).
struct RuleTestResult {
  struct Tried {
    RuleCase one;
    std::string complaint;  // what is wrong; empty if the case passes
  };
  // A log of a successful job, in which nothing must be found.
  struct Healthy {
    std::string input;
    std::vector<std::string> codes;  // codes of the failures found nevertheless
  };
  std::vector<Tried> all;
  std::vector<Healthy> healthy;
  int reported = 0;
  int validated = 0;
  int noisy = 0;
  int missing = 0;
  std::vector<Tried> changed;  // built-in examples that fail because of disabled entries; not faults
  bool ok() const;
  std::vector<std::string> Failures() const;  // a sentence for each noisy or missing example
};

// Tries every example on all rules. A failure's example must yield only that failure. `healthy` are files without
// failures. Adds unreadable files to `problems`.
RuleTestResult TestRules(const RuleSet& rules, const std::vector<Artifact>& healthy = {},
                         std::vector<Problem>* problems = nullptr);

}  // namespace whyoom
