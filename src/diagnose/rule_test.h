// Runs the rules' own examples through the whole engine: what `whyoom rules test` and the tests of the project do.
#pragma once

#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace whyoom {

// In the words of rule testers: an example that must match and does is reported, one that must not and does not is
// validated; noisy is one that matches and must not, missing one that must and does not, or not as it says.
struct RuleTestResult {
  int reported = 0;
  int validated = 0;
  int noisy = 0;
  int missing = 0;
  std::vector<std::string> failures;  // a sentence for each noisy or missing one
  std::vector<std::string>
      changed;  // one for each built-in example that what is disabled turns out otherwise: no fault
  bool ok() const { return noisy == 0 && missing == 0; }
};

// Every example is held against all rules: it must give its own failure and no other.
RuleTestResult TestRules(const RuleSet& rules);

}  // namespace whyoom
