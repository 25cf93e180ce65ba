// whyoom --follow: reads files and pipes while they are written, and prints a diagnosis as soon as its report is
// complete.
#pragma once

#include "cli/run_context.h"

namespace whyoom {

// Returns the exit status when every pipe is closed, or after a signal. Throws Error if a folder is named.
int RunFollow(const RunContext& run);

}  // namespace whyoom
