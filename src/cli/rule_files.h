// Finds the rule files that a run uses in addition to the built-in rules, in increasing precedence: the project's
// folder, WHYOOM_RULES, --rules.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "rules/rule_file.h"

namespace whyoom {

struct RuleFiles {
  std::vector<RuleFile> files;               // in increasing order of precedence
  std::vector<std::string> ignored_folders;  // messages about project folders that are not trusted
  bool named = true;                         // --rules names all of them
};

// Reads the files. Throws Error if a file of --rules or WHYOOM_RULES cannot be read.
RuleFiles FindRuleFiles(const Options& options);

// Reads a rule file, or each *.json of a folder except schema.json, sorted by name. Throws Error if that fails.
std::vector<RuleFile> ReadRuleFiles(const std::string& path);

// Only the files of --rules.
RuleFiles RuleFilesOfOption(const Options& options);

}  // namespace whyoom
