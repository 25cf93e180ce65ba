// How a log came to its diagnosis, for people: `whyoom rules trace`.
#pragma once

#include <string>

#include "diagnose/trace.h"
#include "report/text/text_page.h"

namespace whyoom {

std::string PrintTraceText(const LogTrace& trace, const TextOptions& options);

}  // namespace whyoom
