// Which remedies leave such a trace as two runs differ by. The thresholds stand at the head of the .cc, with reasons.
#pragma once

#include <vector>

#include "compare/compare.h"
#include "compare/compare_rows.h"

namespace whyoom {

// `matched` is of the two runs' allocations, or null where one of them lists none.
std::vector<SeemingRemedy> SeemingRemedies(const Run& before, const Run& after, const MatchedRows* matched);

}  // namespace whyoom
