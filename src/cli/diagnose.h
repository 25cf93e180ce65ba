// `whyoom PATH …` and `whyoom merge`: from inputs to one report.
#pragma once

#include "cli/run_context.h"

namespace whyoom {

// Both return the exit status. Throw Error if a list, a journal or an output cannot be used.
int RunDiagnose(const RunContext& run);

// Joins reports of --format ndjson to the report that one run over all of their inputs would have made.
int RunMerge(const RunContext& run);

}  // namespace whyoom
