// Expressions of the rule data that may name each other: terms, and what is true of a row.
#pragma once

#include <map>
#include <string>

#include "rules/expression.h"
#include "rules/rule_node.h"

namespace whyoom {

// One for each entry of `nodes`, by name. Reports what is wrong with them; a term with a fault, or one that is part of
// a circle or uses such a one, is always unknown. `what` is what faults call one of them: "term".
Terms CompileTerms(const std::map<std::string, RuleNode>& nodes, const std::string& what);

}  // namespace whyoom
