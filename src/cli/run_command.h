// whyoom run -- CMD …: the job, its log and its dump; and the diagnosis where it failed.
#pragma once

#include "cli/options.h"
#include "cli/output_files.h"
#include "rules/rule_set.h"

namespace whyoom {

// Runs the job of `options` and returns its exit status. What it prints is read while it runs: a thread takes the lines
// from a queue of a few MiB, so that nothing is stored and memory does not grow with the log; a log that comes faster
// than it can be read (hundreds of MB a second) is slowed down as by any pipe. Where the job fails and something is
// found, the diagnosis goes to standard error, or to the file of --output. With --exit-retry its status stands in place
// of the job's where the job will fail again, see cli/exit_retry.h.
int RunAndDiagnose(const Options& options, const RuleSet& rules, const OutputFiles& outputs);

}  // namespace whyoom
