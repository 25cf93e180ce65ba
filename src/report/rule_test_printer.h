// Prints the results of testing the examples of rules, for people and for CI.
#pragma once

#include <string>

#include "diagnose/rule_test.h"

namespace whyoom {

std::string PrintRuleTestText(const RuleTestResult& result);

// {"format": "whyoom.rule-test/1", "rules": fingerprint, "examples": 1072, "reported": 797, "validated": 275,
//   "noisy": 0, "missing": 0, "changed": 0, "failures": [{"entry": "E1000", "number": 3, "result": "missing", "text":
//   "…", "what": "…", "why": "…"}], "healthy": {"inputs": 12, "noisy": [{"input": "logs/a.log", "codes": ["E1000"]}]}}
std::string PrintRuleTestJson(const RuleTestResult& result, const std::string& fingerprint);

// One test for each example and each healthy log.
std::string PrintRuleTestJunit(const RuleTestResult& result, const std::string& fingerprint);

}  // namespace whyoom
