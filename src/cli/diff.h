// whyoom diff BEFORE AFTER.
#pragma once

#include "cli/options.h"
#include "cli/output_files.h"
#include "report/text/text_printer.h"
#include "rules/rule_set.h"

namespace whyoom {

// Reads and compares the two runs, writes what came of it. Gives the exit status: 0 AFTER does not fail, 1 it does, 3
// something could not be read whole.
int RunDiff(const RuleSet& rules, const Options& options, const TextOptions& text, const OutputFiles& outputs);

}  // namespace whyoom
