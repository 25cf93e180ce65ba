// Reads the lines of the user's sources that a report names.
#pragma once

#include <string>

#include "diagnose/report.h"

namespace whyoom {

// Adds to each diagnosis the lines of Python files that its first reason, its first remedy or its largest allocation
// names, at most three. A log may be hostile, so only regular .py files are read whose real path, after links, is below
// the folder `root`. A path of another machine is looked up by its last parts. Reads at most 4 MiB of a file. Does
// nothing if `root` is empty or does not exist.
void AddSourceLines(const std::string& root, Report* report);

}  // namespace whyoom
