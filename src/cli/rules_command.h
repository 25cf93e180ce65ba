// The rule data that a run works with, and `whyoom rules …`, which shows, checks and tries it.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/output_files.h"
#include "report/text/text_printer.h"
#include "rules/rule_set.h"

namespace whyoom {

// The built-in data and the files of `options`. Throws Error that lists every fault.
RuleSet LoadRules(const Options& options, RuleSet::BuiltInData built_in = RuleSet::BuiltInData::kTrusted);

// Of files and folders. Throws Error where one cannot be read.
std::vector<RuleFile> RuleFiles(const std::vector<std::string>& paths);

// Gives the exit status.
int RunRules(const Options& options, const TextOptions& text, const OutputFiles& outputs);

}  // namespace whyoom
