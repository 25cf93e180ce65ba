// What a change did to a job, for people.
#pragma once

#include <string>

#include "report/diff.h"
#include "report/text/text_page.h"
#include "rules/rule_set.h"

namespace whyoom {

// The verdict first, then the sums, the allocations, what seems to have been done. `rules` gives the remedies' titles.
std::string PrintDiffText(const Diff& diff, const RuleSet& rules, const TextOptions& options);

}  // namespace whyoom
