// The report as a person reads it: the verdict first, then why, then what to do.
#pragma once

#include <string>

#include "report/document.h"
#include "report/report.h"
#include "report/text/text_page.h"

namespace whyoom {

std::string PrintText(const Report& report, const TextOptions& options);

// One diagnosis of a report, as usual and without colour.
std::string PrintFinding(const Diagnosis& finding);

// Part of a document.
std::string PrintBlocks(doc::Blocks blocks, const TextOptions& options);

}  // namespace whyoom
