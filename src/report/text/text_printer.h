// Prints reports as plain text: the verdict first, then the reasons, then what to do.
#pragma once

#include <string>

#include "diagnose/report.h"
#include "report/document.h"
#include "report/text/text_page.h"

namespace whyoom {

std::string PrintText(const Report& report, const TextOptions& options);

// One diagnosis of a report, with default options.
std::string PrintFailure(const Failure& failure);

std::string PrintBlocks(doc::Blocks blocks, const TextOptions& options);

}  // namespace whyoom
