// Loads the rules of a run, and implements `whyoom rules …`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/file_writer.h"
#include "cli/options.h"
#include "report/text/text_printer.h"
#include "rules/rule_set.h"

namespace whyoom {

// Loads the built-in rules and the user's files. Throws Error that lists all faults.
RuleSet LoadRules(const Options& options);

// Like LoadRules, but returns nullopt if there are no user files.
std::optional<RuleSet> LoadExtraRules(const Options& options);

// For `whyoom run`. Faults in files that --rules does not name must not prevent the job from running: prints them and
// uses only the files of --rules.
std::optional<RuleSet> LoadRulesForJob(const Options& options);

// Returns the exit status.
int RunRules(const Options& options, const TextOptions& text);

// Parses LOG[:LINE]. If a file named `word` exists, all of it is the path. Throws CLI::ValidationError for line 0.
void SetTracedPlace(const std::string& word, Options* options);

}  // namespace whyoom
