// Runs whyoom, from arguments to exit status.
#pragma once

#include <string>
#include <vector>

namespace whyoom {

// Returns an exit status of cli/exit_status.h, or that of the job (`whyoom run`).
int RunCommandLine(const std::vector<std::string>& arguments);

}  // namespace whyoom
