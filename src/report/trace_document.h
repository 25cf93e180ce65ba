// The document of `whyoom rules trace`: the outcome of each line that contains a rule's literal, and how each failure
// was diagnosed.
#pragma once

#include "diagnose/trace.h"
#include "report/document.h"

namespace whyoom {

doc::Blocks TraceBlocks(const LogTrace& trace);

}  // namespace whyoom
