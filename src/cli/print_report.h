// A report in the formats that were asked for: what every command that ends in one does.
#pragma once

#include <functional>
#include <string>

#include "cli/options.h"
#include "report/report.h"
#include "report/text/text_printer.h"

namespace whyoom {

// How a report is to look that goes to a file, or to `descriptor`.
TextOptions StyleOf(const Options& options, bool to_file, int descriptor = 1);

// `text` says how text for people is to look, and of JSON how much of it there is.
std::string PrintReport(const Report& report, Format format, const TextOptions& text, const std::string& source_root);

// Writes the extra outputs of `options`, each as `print` gives it. Throws Error where a file cannot be written, after
// the others were.
using PrintIn = std::function<std::string(Format, const TextOptions&)>;
void WriteExtraOutputs(const Options& options, const PrintIn& print);

// The same of a report, and appends to the step summary where that is asked for.
void WriteExtraOutputs(const Report& report, const Options& options);

}  // namespace whyoom
