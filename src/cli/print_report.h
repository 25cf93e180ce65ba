// A report in the format that was asked for: what every command that ends in one does.
#pragma once

#include <string>

#include "cli/options.h"
#include "report/report.h"
#include "report/text_printer.h"

namespace whyoom {

// `text` says how text for people is to look.
std::string PrintReport(const Report& report, Format format, const TextOptions& text);

}  // namespace whyoom
