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

using PrintFunction = std::function<std::string(Format, const TextOptions&)>;

// Prints the formats of the options with `print`, and writes them: to --output or else, after the text `before`, to
// `descriptor` (also if --output cannot be written), and to the extra outputs. Throws Error at the end if a file could
// not be written.
void WriteFormats(const Options& options, const PrintFunction& print, int descriptor = 1,
                  const std::string& before = "");
void WriteReport(const Report& report, const Options& options, int descriptor, const std::string& before = "");

// Writes only the extra outputs.
void WriteExtraOutputs(const Report& report, const Options& options);

}  // namespace whyoom
