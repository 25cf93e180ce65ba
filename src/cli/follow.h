// whyoom --follow: reads files and pipes while they are written, and tells of a failure as soon as its report is there.
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/report_filter.h"
#include "diagnose/readings.h"
#include "input/read_control.h"
#include "read/engine.h"
#include "report/text/text_printer.h"

namespace whyoom {

// Follows options.paths until each pipe is closed and `control` says stop (a file never ends). In the text format each
// diagnosis is written when it is complete; what comes back is what all of them came to. `filter` says
// which are written, `framework` whose steps they have (empty: the log's). Throws Error where a
// folder is named.
Readings Follow(const Engine& engine, const Options& options, const ReportFilter& filter, const std::string& framework,
                const TextOptions& text, ReadControl* control);

}  // namespace whyoom
