// What a code, a scenario or a remedy means, from the rule data alone, as text: `whyoom explain`.
#pragma once

#include <string>

#include "report/explanation.h"
#include "report/text/text_page.h"
#include "rules/rule_set.h"

namespace whyoom {

// Of a failure an overview first: what it is, its scenarios, its remedies in a table; then each scenario, and each
// remedy once. Of a scenario what the failure is, the scenario, and the remedies with their steps.
std::string PrintExplanation(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks,
                             const TextOptions& options);

// All topics, each with its title, for a reader who does not know them.
std::string ListTopics(const RuleSet& rules, const TextOptions& options);

// What a log must hold one of, in upper or lower case, to be looked at closely: RuleSet::literals(), one a line, blanks
// at their ends included; a file for `grep -iF -f`. Of a literal that holds control characters its longest part
// without.
std::string ListLiterals(const RuleSet& rules);

}  // namespace whyoom
