// What a code, a scenario or a remedy means, as JSON: one object, which docs/explain.schema.json describes.
#pragma once

#include <string>

#include "report/explanation.h"
#include "rules/rule_set.h"

namespace whyoom {

// Without an explanation (null): all failures and remedies.
std::string PrintExplanationJson(const RuleSet& rules, const Explanation* explanation, const Frameworks& frameworks,
                                 const std::string& version);

}  // namespace whyoom
