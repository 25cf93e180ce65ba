// whyoom rules mutate: which changes to rule data nothing would notice.
#pragma once

#include "cli/options.h"

namespace whyoom {

int RunRulesMutate(const Options& options);

}  // namespace whyoom
