// `whyoom merge`: one report from many.
#pragma once

#include "cli/options.h"
#include "cli/output_files.h"
#include "diagnose/readings.h"
#include "rules/rule_set.h"

namespace whyoom {

// Reads what --format ndjson printed, from options.paths (files, folders, "-" for standard input), and puts it together
// to what reading all of the logs at once would have given, whatever the order. What is not such a report is a problem.
Readings ReadReports(const RuleSet& rules, const Options& options, const OutputFiles& outputs);

}  // namespace whyoom
