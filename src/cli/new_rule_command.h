// `whyoom rules new`: a rule file to begin with, printed.
#pragma once

#include "cli/options.h"

namespace whyoom {

// The message is given on the command line, on standard input, or as a line of a log (--from). Prints the file, and on
// standard error what the rule is found by and what is left to write. Throws Error where no rule can be made.
int RunNewRule(const Options& options);

}  // namespace whyoom
