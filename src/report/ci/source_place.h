// Where in the user's sources a failure comes from, for formats that point there (annotations, code scanning).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "diagnose/diagnosis.h"

namespace whyoom {

struct SourcePlace {
  std::string path;       // as the log has it, printable
  std::int64_t line = 1;  // 1-based
};

// The line that makes the largest allocation, as the report says; where it names none, or one in a library, the
// innermost call outside of libraries in the traceback above the failure. nullopt where neither is known.
std::optional<SourcePlace> UserSource(const Diagnosis& finding);

// `path` relative to the folder `root` where it lies below it; else a path that is relative already, without "./".
// nullopt for what lies elsewhere, or climbs out of its folder, or is no file ("Cell In[3]").
std::optional<std::string> RelativeTo(const std::string& root, const std::string& path);

}  // namespace whyoom
