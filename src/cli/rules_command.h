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

// The files of --rules and WHYOOM_RULES. Throws Error if a file cannot be read.
std::vector<RuleFile> FindRuleFiles(const Options& options);

// Reads a rule file, or each *.json of a folder except schema.json, sorted by name. Throws Error if that fails.
std::vector<RuleFile> ReadRuleFiles(const std::string& path);

// Loads the built-in rules and the user's files. Throws Error that lists all faults.
RuleSet LoadRules(const Options& options);

// Like LoadRules, but returns nullopt if there are no user files.
std::optional<RuleSet> LoadExtraRules(const Options& options);

// Returns the exit status.
int RunRules(const Options& options, const TextOptions& text);

// Parses LOG[:LINE], the first path. If there is a file of this name, all of it is the path. Throws Error for line 0.
void SetTracedPlace(Options* options);

}  // namespace whyoom
