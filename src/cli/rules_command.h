// Loads the rules of a run, and implements `whyoom rules …`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/file_writer.h"
#include "cli/options.h"
#include "report/text/text_printer.h"
#include "rules/rule_file.h"
#include "rules/rule_set.h"

namespace whyoom {

// The files that a run uses in addition to the built-in rules: those of WHYOOM_RULES, then those of --rules, in
// increasing order of precedence. Throws Error if a file cannot be read.
std::vector<RuleFile> FindRuleFiles(const Options& options);

// Only the files of --rules.
std::vector<RuleFile> RuleFilesOfOption(const Options& options);

// Reads a rule file, or each *.json of a folder except schema.json, sorted by name. Throws Error if that fails.
std::vector<RuleFile> ReadRuleFiles(const std::string& path);

// Loads the built-in rules and the user's files. Throws Error that lists all faults.
RuleSet LoadRules(const Options& options);

// Like LoadRules, but returns nullopt if there are no user files.
std::optional<RuleSet> LoadExtraRules(const Options& options);

// For `whyoom run`. Faults in the files of WHYOOM_RULES must not prevent the job from running: prints them and uses
// only the files of --rules.
std::optional<RuleSet> LoadRulesForJob(const Options& options);

// Returns the exit status.
int RunRules(const Options& options, const TextOptions& text);

// Parses LOG[:LINE]. If a file named `word` exists, all of it is the path. Throws CLI::ValidationError for line 0.
void SetTracedPlace(const std::string& word, Options* options);

}  // namespace whyoom
