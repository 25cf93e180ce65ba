// `whyoom explain`: prints explanations from the rules.
#pragma once

#include <string>

#include "cli/options.h"
#include "report/text/text_printer.h"
#include "rules/rule_set.h"

namespace whyoom {

// Returns the exit status. Throws Error for an unknown topic or framework.
int RunExplain(const RuleSet& rules, const Options& options, const TextOptions& text);

// The id of the framework of --framework; empty if the option is not used. Throws Error, which lists the frameworks, if
// there is no framework of that id or name.
std::string SelectedFramework(const Options& options, const RuleSource& rules);

}  // namespace whyoom
