// The built-in rules, for tests.
#pragma once

#include <string>
#include <vector>

#include "catch.h"
#include "examples/built_in.h"
#include "rules/rule_set.h"

// Compiled from their files, with their examples.
inline const whyoom::RuleSet& BuiltInRules() {
  static const whyoom::RuleSet rules = whyoom::RulesOf(whyoom::BuiltInFiles(), whyoom::ExampleFiles());
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
