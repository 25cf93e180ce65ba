// Prints a report in the requested formats.
#pragma once

#include <functional>
#include <string>

#include "cli/options.h"
#include "diagnose/report.h"
#include "report/text/text_printer.h"

namespace whyoom {

// Text style for a report that goes to a file or to `descriptor`.
TextOptions StyleOf(const Options& options, bool to_file, int descriptor = 1);

// `text`: style of the text format; its detail also applies to JSON.
std::string PrintReport(const Report& report, Format format, const TextOptions& text, const std::string& source_root);

// Writes the report to --output or else, after the text `before`, to `descriptor`; also if --output cannot be written.
// Then writes the extra outputs. Throws Error at the end if a file could not be written.
void WriteReport(const Report& report, const Options& options, int descriptor, const std::string& before = "");

// Writes the extra outputs of `options` with `print`. If one cannot be written, writes the others, then throws Error.
using PrintFunction = std::function<std::string(Format, const TextOptions&)>;
void WriteExtraOutputs(const Options& options, const PrintFunction& print);

// Writes the extra outputs of a report.
void WriteExtraOutputs(const Report& report, const Options& options);

}  // namespace whyoom
