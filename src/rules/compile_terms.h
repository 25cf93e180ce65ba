// The terms of the rule data, as what expressions are compiled with.
#pragma once

#include <map>
#include <string>

#include "rules/expression.h"
#include "rules/rule_node.h"

namespace whyoom {

// One for each entry of `nodes`, by name. Reports what is wrong with them; a term with a fault, or one that is part of
// a circle or uses such a one, is always unknown.
Terms CompileTerms(const std::map<std::string, RuleNode>& nodes);

}  // namespace whyoom
