// Turns the paths of a command line into artifacts, in an order that does not depend on the file system.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "input/artifact.h"

namespace whyoom {

// Calls `visit` for each file at or below each path: paths in the order given, the entries of a folder
// sorted by name (bytes). "-" is standard input. Symbolic links to files are followed, links to folders
// only where named on the command line (a link inside a tree could loop). Anything that is no readable
// file or folder is told to `problem`, never skipped in silence; devices, sockets and FIFOs found *inside* a folder
// count as such, a FIFO or device named by the user is read.
void Walk(const std::vector<std::string>& paths, const std::function<void(const Artifact&)>& visit,
          const std::function<void(const Problem&)>& problem);

}  // namespace whyoom
