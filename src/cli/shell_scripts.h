// The scripts by which a shell completes whyoom's command lines. They know no option: they ask `whyoom __complete`.
#pragma once

#include <string_view>

#include "cli/options.h"

namespace whyoom {

std::string_view CompletionScript(Shell shell);

}  // namespace whyoom
