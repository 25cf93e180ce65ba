// Runs the examples of failures through the whole engine, for `whyoom rules test`.
#pragma once

#include <string>
#include <vector>

#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

// A fact as messages show it.
std::string ShownValue(const Value& value);

// Sizes may differ by the fraction of a byte.
bool SameFact(const Value& got, const Value& want);

// Reads the text of an example of `code`. Returns what is wrong, as the end of a sentence; empty if nothing is. A text
// that must match yields `count` failures of that code only, with the facts and the scenario of the example.
std::string TryExample(const Engine& engine, const std::string& code, const Example& example, bool must_match);

// Runs the examples of all failures, which are those of the user's files. Returns the text to print: a line for each
// that failed, and how many there are.
std::string TestRules(const RuleSet& rules, bool* ok);

}  // namespace whyoom
