// The rules without their texts, so that golden tests of decisions do not depend on wording.
#pragma once

#include <string>

// Path of a rule file for --rules: all failures and remedies of rules/ with each text replaced by its position in the
// rules ("[bf16 evidence 2]") and its placeholders. Conditions, patterns, estimates and examples are unchanged.
const std::string& NeutralRulesFile();

// The content of that file.
const std::string& NeutralRules();

// The JSON of a report without the fingerprint of the rules, which changes with each edit of a rule.
std::string WithoutFingerprint(const std::string& text);

// The text without the folder of the rule file, whose name varies.
std::string WithoutFolder(const std::string& text);
