// What is to be done, step by step, for one log.
#pragma once

#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace whyoom {

// The steps of a remedy in a framework, or of the default one where it has none of its own, filled with what `scope`
// knows; those that need what is not known are left out. A step that names what the log's release of a package does
// not have stands behind the others, and says which release has it.
std::vector<std::string> Steps(const RuleSet& rules, const Remedy& remedy, const std::string& framework,
                               const Scope& scope);

}  // namespace whyoom
