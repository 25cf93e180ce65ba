// A whole run, from arguments to exit status.
#pragma once

#include <string>
#include <vector>

namespace whyoom {

// 0 nothing found, 1 found, 2 could not run, 3 some input could not be read whole, 128 + N signal N ended it early.
int RunCommandLine(const std::vector<std::string>& arguments);

}  // namespace whyoom
