// `whyoom try`: compiles a program again with each remedy that needs no change to its source.
#pragma once

#include <vector>

#include "cli/command_attempts.h"
#include "cli/run_context.h"
#include "diagnose/finding_table.h"
#include "facts/program_estimates.h"
#include "input/artifact.h"
#include "program/xla_dump.h"

namespace whyoom {

// Compiles the module of the dump that failed (or, if none failed, that needs most), unchanged and with each attempt of
// cli/attempts.h, and, if `command` is not null, the user's command with other settings. If no attempt fits, also
// compiles pairs. An interrupt or the total time limit ends it early; returns what is known. Throws Error if there is
// no such module or it cannot be compiled unchanged.
// `stated`: findings that state the need and the limit; the dump's figures are used otherwise. `control`: an interrupt
// ends the attempts only, so its request to stop is withdrawn at the end. Adds notes to `problems`.
Recompilation Recompile(const RunContext& run, const XlaDump& dump, const FindingTable& stated,
                        const CommandCompiler* command, ReadControl* control, std::vector<Problem>* problems);

// Diagnoses the dump, or that of the user's command, with the results of Recompile. Returns the exit status.
int RunTry(const RunContext& run);

}  // namespace whyoom
