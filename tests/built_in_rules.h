// The rule data that comes with the program, for tests of what is made from it.
#pragma once

#include <string>
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

// The same with a rule file beside them, whose entries come on top.
inline whyoom::RuleSet RulesWith(const std::string& file) {
  std::vector<whyoom::Fault> faults;
  whyoom::RuleSet loaded = whyoom::RuleSet::Load({{"test.json", file}}, &faults);
  for (const whyoom::Fault& fault : faults) UNSCOPED_INFO(fault.ToString());
  REQUIRE(faults.empty());
  return loaded;
}
