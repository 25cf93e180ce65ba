// `whyoom rules list`: each entry of the rule data, where it is from, and what files made of it.
#pragma once

#include "cli/options.h"
#include "report/text/text_page.h"

namespace whyoom {

// Gives the exit status. Among the rule files of `options` may be names of sections: then only those are listed. Throws
// Error where the rule data has a fault.
int ListRules(const Options& options, const TextOptions& text);

}  // namespace whyoom
