// Runs whyoom, from arguments to exit status.
#pragma once

#include <string>
#include <vector>

namespace whyoom {

// Exit statuses, as listed in the README. After a signal: kSignalled plus its number.
inline constexpr int kNothing = 0;
inline constexpr int kFound = 1;
inline constexpr int kCouldNotRun = 2;
inline constexpr int kUnreadInput = 3;
inline constexpr int kFitUnknown = 4;  // diff: no evidence whether AFTER fits
inline constexpr int kSignalled = 128;

// Returns one of these, or the exit status of the job (`whyoom run`).
int RunCommandLine(const std::vector<std::string>& arguments);

}  // namespace whyoom
