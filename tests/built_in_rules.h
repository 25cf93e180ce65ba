// The built-in rules, for tests.
#pragma once

#include <string>
#include <vector>

#include "catch.h"
#include "rules/rule_set.h"

// With their examples. Fails the calling test if the rules have faults.
inline const whyoom::RuleSet& BuiltInRules() {
  static const whyoom::RuleSet rules = [] {
    std::vector<whyoom::Fault> faults;
    whyoom::RuleSet loaded = whyoom::RuleSet::Load({}, &faults, whyoom::RuleSet::BuiltInData::kChecked);
    REQUIRE(faults.empty());
    return loaded;
  }();
  return rules;
}

// The built-in rules with an additional rule file.
inline whyoom::RuleSet RulesWith(const std::string& file) {
  std::vector<whyoom::Fault> faults;
  whyoom::RuleSet loaded = whyoom::RuleSet::Load({{"test.json", file}}, &faults);
  for (const whyoom::Fault& fault : faults) UNSCOPED_INFO(fault.ToString());
  REQUIRE(faults.empty());
  return loaded;
}
