// What the build put into the program: completion scripts, the skill for coding agents, and what it was built from.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/builtin.h"

namespace whyoom {

// Written by the build (cmake/BuildFacts.cmake).
struct BuildFacts {
  std::string commit;    // of the sources, or why it is not known; "…, changed" where the clone was not clean
  std::string compiler;  // with the target and how it is linked: "GNU 12.2.0, Linux x86_64, static"
  std::vector<std::string> libraries;  // "re2 10.0.0", as found when it was built
};
const BuildFacts& TheBuild();

// Lines of at most 80 columns without a line break at the end; the first is "whyoom X.Y.Z" alone, for scripts.
std::string VersionText();

// The scripts of integrations/completions.
const std::vector<EmbeddedFile>& CompletionScripts();

// resources/SKILL.md, what a coding agent must know to use this program: any installation can hand it out.
const std::vector<EmbeddedFile>& EmbeddedSkill();
inline std::string_view Skill() { return EmbeddedSkill().front().text; }

}  // namespace whyoom
