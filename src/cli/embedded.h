// Data that the build embeds: the skill for coding agents, and build facts.
#pragma once

#include <string>
#include <vector>

#include "text/embedded.h"

namespace whyoom {

// Written by the build (cmake/BuildFacts.cmake).
struct BuildFacts {
  std::string commit;                  // of the sources, or why it is unknown; "…, changed" if the clone had changes
  std::string compiler;                // with target and linkage: "GNU 12.2.0, Linux x86_64, static"
  std::vector<std::string> libraries;  // "re2 10.0.0"
};
const BuildFacts& TheBuild();

// resources/SKILL.md, so that every installation can print it.
const std::vector<EmbeddedFile>& EmbeddedSkill();

// resources/help/*.txt.
const std::vector<EmbeddedFile>& EmbeddedHelp();

// rules/schema.json.
const std::vector<EmbeddedFile>& EmbeddedRuleSchema();

// The files of python/whyoom that `whyoom try` runs.
const std::vector<EmbeddedFile>& TryScripts();

}  // namespace whyoom
