// A report in a line a failure, to search, to count, or to see at a glance: --brief.
#pragma once

#include <string>

#include "report/report.h"
#include "report/text/text_page.h"

namespace whyoom {

// "train.log:41: E1000.2 one allocation far too large · 20.77 GiB needed, 15.75 GiB usable, 5.02 GiB too much ·
// align_dims: Give tiny dimensions a better place (should be enough)", and a line for each program that fits. Lines are
// not broken. Then the notes, a line each.
std::string PrintBriefLines(const Report& report, const TextOptions& options);

}  // namespace whyoom
