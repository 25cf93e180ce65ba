// The built-in rules, for tests.
#pragma once

#include <string>
#include <vector>

#include "catch.h"
#include "examples/built_in.h"
#include "rules/rule_compiler.h"

// Compiled from their files, with their examples.
inline const whyoom::RuleSet& BuiltInRules() {
  static const whyoom::RuleSet rules = whyoom::RulesOf(whyoom::BuiltInFiles(), whyoom::ExampleFiles());
  return rules;
}

// The built-in rules with an additional rule file.
inline whyoom::RuleSet RulesWith(const std::string& file) {
  whyoom::CompiledRules compiled = whyoom::AddToBuiltIn({{"test.json", file}});
  for (const whyoom::Fault& fault : compiled.faults) UNSCOPED_INFO(fault.ToString());
  REQUIRE(compiled.faults.empty());
  return std::move(compiled.rules);
}
