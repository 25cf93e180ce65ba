// The document of `whyoom rules trace`: what became of each line with a rule's literal, and how each failure was
// concluded.
#pragma once

#include "diagnose/trace.h"
#include "report/document.h"

namespace whyoom {

doc::Blocks TraceBlocks(const LogTrace& trace);

}  // namespace whyoom
