// A rule file to begin with, made from a message that nothing knows yet.
#pragma once

#include <string>
#include <vector>

namespace whyoom {

// The JSON text of a rule file with one failure `code`, whose head is the first of the lines of `message` and whose
// example is all of them. What differs from run to run is no part of the pattern: sizes become captures size_1, size_2,
// …, other numbers, and what stands in quotes, match any. Titles and the like say "TODO". Throws Error where `message`
// has no line with text. Whether the rule is usable (a literal, nothing else that the example gives) is for
// RuleSet::Load and TestRules to say.
std::string NewRule(const std::string& code, const std::vector<std::string>& message);

}  // namespace whyoom
