// whyoom rules mutate: which changes to rule data nothing would notice.
#pragma once

#include "cli/options.h"
#include "cli/output_files.h"

namespace whyoom {

int RunRulesMutate(const Options& options, const OutputFiles& outputs);

}  // namespace whyoom
