// `whyoom skill`: what a coding agent has to know to use this program (resources/SKILL.md, in the Agent Skills format),
// so that any installation can hand it out.
#pragma once

#include <string_view>
#include <vector>

#include "rules/builtin.h"

namespace whyoom {

// resources/SKILL.md alone, as it was when the program was built.
const std::vector<EmbeddedFile>& EmbeddedSkill();

// Its text.
inline std::string_view Skill() { return EmbeddedSkill().front().text; }

}  // namespace whyoom
