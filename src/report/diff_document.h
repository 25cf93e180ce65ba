// The document of `whyoom diff`: the verdict, totals, allocations that changed, and remedies that seem applied.
#pragma once

#include "report/diff.h"
#include "report/document.h"
#include "rules/rule_set.h"

namespace whyoom {

// `rules` gives the titles of remedies.
doc::Blocks DiffBlocks(const Diff& diff, const RuleSet& rules);

}  // namespace whyoom
