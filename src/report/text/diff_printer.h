// What a change did to a job: for people, and as JSON.
//
// The JSON is one object, schema "whyoom.diff/1"; bytes are integers, what is not known is absent:
//
//   {
//     "schema": "whyoom.diff/1",
//     "tool": {"version": "0.1.0", "rules": "<sha-256 of the rule data>"},
//     "verdict": "fits_now",     fits_now, neither_fails, fails_now, other_failure, still_over (less than before),
//                                unchanged, worse (more is over), cannot_tell
//     "before": {"path": "…", "failed": true, "code": "E1000", "module": "jit_step", "over_bytes": 0},
//     "after":  {…},             "over_bytes" is negative where that much is free; "code" is absent where only a dump
//     tells "same_job": true,          false where the modules differ "totals": [{"id": "need_bytes", "before": 0,
//     "after": 0, "difference": 0}],
//                                also limit_bytes (where it differs), arguments_bytes, output_bytes,
//                                shared_output_bytes, hlo_temp_bytes, padding_bytes, host_bytes, free_bytes,
//                                largest_free_block_bytes
//     "allocations": {           absent where not both list theirs
//       "unchanged": 3,
//       "changed": [{"change": "smaller", "count": 2, "name": "…", "op_name": "…", "source": "train.py:17",
//                    "shape_before": "f32[8]", "shape_after": "bf16[8]", "size_before": 0, "size_after": 0}]},
//                                change: smaller, larger, gone, new; sizes are of each; what changed most comes first
//     "changes": [{"change": "reduce_batch", "what": "the batch", "from": 24, "to": 12, "arrays": 4, "evidence": "…"}],
//                                what was done to the program; "undone": true where it is the other way round; without
//                                "change", "candidates" are the ids of what leaves such a trace
//     "seems": [{"ids": ["shard_tensor", "reduce_batch"], "why": "…"}],
//                                several ids: it was one of them, the likeliest first
//     "notes": ["…"],
//     "problems": [{"path": "…", "what": "…"}]
//   }
#pragma once

#include <string>
#include <vector>

#include "compare/compare.h"
#include "input/artifact.h"
#include "report/text/text_page.h"
#include "rules/rule_set.h"

namespace whyoom {

struct Diff {
  Run before;
  Run after;
  Comparison comparison;
  std::vector<Problem> problems;
};

// The verdict first, then the sums, the allocations, what seems to have been done. `rules` gives the remedies' titles.
std::string PrintDiffText(const Diff& diff, const RuleSet& rules, const TextOptions& options);

std::string PrintDiffJson(const Diff& diff, const std::string& version, const std::string& rules_fingerprint);

}  // namespace whyoom
