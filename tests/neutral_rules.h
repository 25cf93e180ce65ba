// The rule data without its words, so that a golden of what whyoom decides does not change with how advice is put.
#pragma once

#include <string>

// A rule file to be given as --rules: each failure and remedy of rules/ with every sentence for people
// replaced by its place ("[bf16 evidence 2]") and the holes that it fills from the log. Conditions, patterns, estimates
// and examples are as they are.
const std::string& NeutralRulesFile();

// What it holds.
const std::string& NeutralRules();

// The JSON of a report without the fingerprint of the rule data, which changes with each edit of a rule and says
// nothing about a case.
std::string WithoutFingerprint(const std::string& text);

// The text without the folder of that file, which has another name each time.
std::string WithoutFolder(const std::string& text);
