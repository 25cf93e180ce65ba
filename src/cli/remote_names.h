// Inputs that lie on other machines: whyoom reads no network, but the tools that do print to a pipe.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"

namespace whyoom {

// The command that prints what a name such as gs://bucket/train.log stands for, quoted for a shell; of a name that ends
// in "/", and of a folder, the command that copies it here. nullopt where the name is of no kind that is known.
std::optional<std::string> ReadCommand(const std::string& name, bool is_folder = false);

// Throws Error, with the command to type instead, where an input of the command line is such a name and no file here.
void ThrowIfRemote(const Options& options);

}  // namespace whyoom
