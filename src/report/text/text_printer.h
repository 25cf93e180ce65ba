// Prints reports as plain text: the verdict first, then the reasons, then what to do.
#pragma once

#include <string>

#include "report/document.h"
#include "report/report.h"
#include "report/text/text_page.h"

namespace whyoom {

std::string PrintText(const Report& report, const TextOptions& options);

// One diagnosis of a report, with default options.
std::string PrintFinding(const Diagnosis& finding);

std::string PrintBlocks(doc::Blocks blocks, const TextOptions& options);

}  // namespace whyoom
