// The report as one page that needs nothing else: style, script and drawings are in it, and its content security policy
// lets it fetch nothing. Well-formed XML, too. Of few failures each is shown whole; of many an overview and a table
// that can be searched and sorted come first. Without script (which only those have) nothing but that is missing.
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

// A few megabytes at most: where the details of all failures do not fit, the most frequent ones have them.
std::string PrintHtml(const Report& report);

}  // namespace whyoom
