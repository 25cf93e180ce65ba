// How a log came to its diagnosis, for people: `whyoom rules trace`.
#pragma once

#include <string>

#include "diagnose/trace.h"
#include "report/text/text_page.h"

namespace whyoom {

std::string PrintTraceText(const LogTrace& trace, const TextOptions& options);

// The part of it that is of one finding; `number` counts them.
void PrintFindingTrace(const FindingTrace& trace, std::size_t number, TextPage* page);

}  // namespace whyoom
