// whyoom run -- CMD …: the job, its log and its dump; and the diagnosis where it failed.
#pragma once

#include "cli/run_context.h"

namespace whyoom {

// Runs the job of `options` and returns its exit status. What it prints is kept in memory, up to 64 MiB
// (cli/job_log.h), and read only after the job has failed, so that the job never waits for whyoom. Where something is
// found then, the diagnosis goes to standard error, or to the file of --output. With --exit-retry its status stands in
// place of the job's where the job will fail again, see cli/exit_retry.h.
int RunAndDiagnose(const RunContext& run);

}  // namespace whyoom
