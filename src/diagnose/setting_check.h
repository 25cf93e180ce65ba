// Numbers that the steps of remedies compute, such as "batch_size is {batch}: try {floor(batch / 2)}", evaluated where
// their inputs are extreme.
//
// Every hole that computes a number or follows "try" is looked at, so that nothing has to be registered. A hole has to
// bound itself with `within`: what another hole of the step would leave out does not count.
#pragma once

#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace whyoom {

// A sentence for each hole that can propose 0, a negative number, or the value that is in use, which another hole of
// the step shows; in order of the remedies' ids. Empty if there is none.
std::vector<std::string> BadSettings(const RuleSet& rules);

}  // namespace whyoom
