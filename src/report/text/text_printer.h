// The report as a person reads it: the verdict first, then why, then what to do.
#pragma once

#include <string>

#include "report/report.h"

namespace whyoom {

struct TextOptions {
  std::size_t width = 80;  // columns; what comes out is never wider, long names aside
  bool colour = false;     // ANSI colours; the only control characters ever printed
};

std::string PrintText(const Report& report, const TextOptions& options);

// One diagnosis of a report, whole.
std::string PrintFinding(const Finding& finding, const TextOptions& options);

}  // namespace whyoom
