// Faults of the rule data that no reader of rules can see in a single entry, for the tests.
#pragma once

#include <string>
#include <vector>

#include "examples/rule_case.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

// Returns one line for each header pattern, fact, context pattern, sign, scenario, sentence and remedy step that no
// example covers, and for each failure and context without a near miss: "failure E1000, head used_of: no example
// matches it". In the order of the rules.
std::vector<std::string> UncoveredEntries(const Engine& engine, const std::vector<RuleCase>& cases);

// Checks numbers that steps of remedies compute, such as "batch_size: {batch} → {floor(batch / 2)}", with extreme
// inputs. Checks every placeholder that computes a number or follows an arrow. A placeholder must limit its own value
// with `within`; an unknown value elsewhere in the step does not make up for it.
//
// Returns a sentence for each placeholder that can propose 0, a negative number, or the value in use, if another
// placeholder of the step shows it; sorted by remedy id.
std::vector<std::string> BadSettings(const RuleSet& rules);

// Returns a sentence for each entry that can never matter: a header pattern that another failure also has, a scenario
// with the condition of an earlier one, a remedy that no failure offers, a context that no failure uses, and a
// framework of a remedy for which every step has a placeholder, so that no step remains if the log lacks the facts.
std::vector<std::string> UselessEntries(const RuleSet& rules);

}  // namespace whyoom
