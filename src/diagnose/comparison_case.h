// Examples of what is said of two runs: of what was read of each, which words, and which remedies.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "compare/compare.h"
#include "rules/rule_set.h"

namespace whyoom {

Comparison CompareRuns(const RuleSet& rules, const ComparedRuns& runs);

// All that such an example may expect, as it is in the comparison:
//
//   {"verdict": "still_over", "says": "still 1.00 GiB over (was 2.00 GiB over)", "totals": {"need_bytes": "needed"},
//    "changes": [{"remedies": ["reduce_batch"], "what": "the batch", "says": "…"}],
//    "seems": [{"remedies": ["reduce_batch"], "says": "…"}], "notes": ["…"]}
nlohmann::json Told(const Comparison& comparison);

// What of `runs.expect` is not so, as the end of a sentence; empty where all is.
std::string TryComparison(const RuleSet& rules, const ComparedRuns& runs);

}  // namespace whyoom
