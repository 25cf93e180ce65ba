// Inputs on other machines. whyoom does not access the network, but suggests the command that does.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"

namespace whyoom {

// Returns the shell command that prints a remote file such as gs://bucket/train.log, or that copies it if the name ends
// in "/" or `is_folder`. Returns nullopt if the scheme is unknown.
std::optional<std::string> ReadCommand(const std::string& name, bool is_folder = false);

// Throws Error with the command to type if an input of the command line is a remote name and not a local file.
void ThrowIfRemote(const Options& options);

}  // namespace whyoom
