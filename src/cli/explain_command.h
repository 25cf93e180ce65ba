// `whyoom explain`: what the rule data knows, printed, or written as pages.
#pragma once

#include <string>
#include <vector>

#include "cli/choices.h"
#include "cli/options.h"
#include "report/text/text_page.h"
#include "rules/rule_set.h"

namespace whyoom {

// The exit status. Throws Error for a topic or a framework that there is not.
int RunExplain(const RuleSet& rules, const Options& options, const TextOptions& text);

// What can stand for TOPIC and FRAMEWORK on the command line.
std::vector<Word> TopicWords(const RuleSet& rules);
std::vector<Word> CodeWords(const RuleSet& rules);  // of TOPIC, those of failures
std::vector<Word> FrameworkWords(const RuleSet& rules);

// The id of the framework that reports are to advise for; empty where none is asked for. Throws Error, which lists
// them, where there is none of that id or name.
std::string AskedFramework(const Options& options, const RuleSource& rules);

}  // namespace whyoom
