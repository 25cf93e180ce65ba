// `whyoom try`: compiles a dumped program again with each remedy that needs no change to the source.
#pragma once

#include <optional>
#include <string>

#include "cli/run_context.h"
#include "facts/program_estimates.h"
#include "program/xla_dump.h"

namespace whyoom {

// Compiles the module of the dump that failed (or, if none failed, that needs most), unchanged and with each attempt of
// cli/attempts.h. If no attempt fits, also compiles pairs. An interrupt or the total time limit ends it early; returns
// what is known. Throws Error if there is no such module or it cannot be compiled unchanged.
// `control`: an interrupt ends the attempts only, so its request to stop is withdrawn at the end.
Recompilation Recompile(const RunContext& run, const std::string& python, const XlaDump& dump, ReadControl* control);

// Diagnoses the dump with the results of Recompile. Returns the exit status.
int RunTry(const RunContext& run);

}  // namespace whyoom
