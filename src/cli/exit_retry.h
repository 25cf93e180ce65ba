// whyoom run --exit-retry: whether a retry of a failed job would fail the same way, for schedulers that only check an
// exit status.
#pragma once

#include <cstdint>

#include "diagnose/report.h"

namespace whyoom {

// Whether a retry of the job is known to fail the same way. That requires that something was found, that every failure
// will recur, that there is no unknown memory error, and that the failures ended the job:
// - The job ended by itself. After SIGTERM, SIGKILL and the like, something else ended it, even if a shell reports
//   them as 128 + N. SIGABRT, SIGSEGV and the like are crashes of the job.
// - The job did not continue: no later line shows that (Failure::recovered) or an error with another cause, and each
//   failure is in the last 500 lines.
// In doubt, returns false: a useless retry costs less than a job that is given up. `lines`: how many the job printed;
// `exit_status`: as in a shell.
bool FailsAgain(const Report& report, int exit_status, std::uint64_t lines);

}  // namespace whyoom
