// Runs whyoom, from arguments to exit status.
#pragma once

#include <string>
#include <vector>

namespace whyoom {

// Returns 0 nothing found, 1 found, 2 could not run, 3 some input could not be read completely, 128 + N stopped by
// signal N.
int RunCommandLine(const std::vector<std::string>& arguments);

}  // namespace whyoom
