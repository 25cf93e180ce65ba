// The JSON of `whyoom explain`: one object, described by docs/explain.schema.json.
#pragma once

#include <string>

#include "report/explanation.h"
#include "rules/rule_set.h"

namespace whyoom {

// If `explanation` is null, prints all failures and remedies.
std::string PrintExplanationJson(const RuleSet& rules, const Explanation* explanation, const Frameworks& frameworks,
                                 const std::string& version);

}  // namespace whyoom
