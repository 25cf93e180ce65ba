// What the build put into the program of integrations/completions.
#pragma once

#include <vector>

#include "rules/builtin.h"

namespace whyoom {

const std::vector<EmbeddedFile>& CompletionScripts();

}  // namespace whyoom
