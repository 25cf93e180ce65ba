// Which rule files a run uses beside the built-in ones, in the order in which they override each other: the project's
// folder, what WHYOOM_RULES names, what --rules names.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "rules/rule_set.h"

namespace whyoom {

struct RuleFiles {
  std::vector<RuleFile> files;           // in order of their layer
  std::vector<std::string> passed_over;  // folders of a project that must not be trusted, and why: a sentence each
  bool named = true;                     // all of them are named by --rules
};

// Reads them. Throws Error where what --rules or WHYOOM_RULES names cannot be read.
RuleFiles RuleFilesOf(const Options& options);

// The same of those that --rules names, without what the surroundings name.
RuleFiles NamedRuleFiles(const Options& options);

}  // namespace whyoom
