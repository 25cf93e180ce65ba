// What of the rules none of their examples shows.
#pragma once

#include <string>
#include <vector>

#include "diagnose/rule_case.h"
#include "read/engine.h"

namespace whyoom {

// One line for each head, fact, context's pattern, sign, scenario, sentence and way of doing that no example meets, and
// each failure and context without a text that it just does not match: "failure E1000, head used_of: no example has
// it". In the order of the rules.
std::vector<std::string> Untried(const Engine& engine, const std::vector<RuleCase>& cases);

}  // namespace whyoom
