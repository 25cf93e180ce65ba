// The place in the user's sources that a failure comes from, for annotations and code scanning.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "facts/failure.h"

namespace whyoom {

struct SourcePlace {
  std::string path;       // as in the log, printable
  std::int64_t line = 1;  // 1-based
};

// Returns the first of the user's lines that the report shows. If it shows none, the line that makes the largest
// allocation. If the log does not name that line, or the line is in a library,
// returns the innermost call outside libraries in the traceback above the failure. Returns nullopt if neither is known.
std::optional<SourcePlace> UserSource(const Failure& failure);

// Returns `path` relative to `root` if the file is in that folder; returns a relative path without "./". Returns
// nullopt for other paths, for paths that start with "..", and for names that are not files ("Cell In[3]").
std::optional<std::string> RelativeTo(const std::string& root, const std::string& path);

}  // namespace whyoom
