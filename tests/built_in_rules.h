// The rule data that comes with the program, for tests of what is made from it.
#pragma once

#include <vector>

#include "catch.h"
#include "rules/rule_set.h"

// Fails the test that first asks where the data has faults.
inline const whyoom::RuleSet& BuiltInRules() {
  static const whyoom::RuleSet rules = [] {
    std::vector<whyoom::Fault> faults;
    whyoom::RuleSet loaded = whyoom::RuleSet::Load({}, &faults);
    REQUIRE(faults.empty());
    return loaded;
  }();
  return rules;
}
