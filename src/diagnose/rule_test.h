// Runs the rules' own examples through the whole engine: what `whyoom rules test` and the tests of the project do.
#pragma once

#include <string>
#include <vector>

#include "diagnose/rule_case.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

// In the words of rule testers: an example that must match and does is reported, one that must not and does not is
// validated; noisy is one that matches and must not, missing one that must and does not, or not as it says.
struct RuleTestResult {
  struct Tried {
    RuleCase one;
    std::string complaint;  // empty: it is as it says
  };
  // A log of a job that ran well, in which nothing is to be found.
  struct Healthy {
    std::string input;
    std::vector<std::string> codes;  // of what was found all the same
  };
  std::vector<Tried> all;
  std::vector<Healthy> healthy;
  std::vector<std::string> settings;  // faults of computed settings
  std::vector<std::string> untried;   // where that was asked for, see Untried
  int reported = 0;
  int validated = 0;
  int noisy = 0;
  int missing = 0;
  std::vector<Tried> changed;  // built-in examples that what is disabled turns out otherwise: no faults
  bool ok() const;
  std::vector<std::string> Failures() const;  // a sentence for each noisy or missing one, and for each faulty setting
};

// Every example is held against all rules: it must give its own failure and no other. `healthy` are files that hold
// none; what of them cannot be read is among the problems.
RuleTestResult TestRules(const RuleSet& rules, const std::vector<Artifact>& healthy = {},
                         std::vector<Problem>* problems = nullptr, bool list_untried = false);

// One line for each head, fact, context's pattern, sign, scenario, sentence and way of doing that no example meets, and
// each failure and context without a text that it just does not match: "failure E1000, head used_of: no example has
// it". In the order of the rules.
std::vector<std::string> Untried(const Engine& engine, const std::vector<RuleCase>& cases);

}  // namespace whyoom
