// The rule data that a run works with, and `whyoom rules …`, which shows, checks and tries it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/file_writer.h"
#include "cli/options.h"
#include "report/text/text_page.h"
#include "report/text/text_printer.h"
#include "rules/rule_set.h"

namespace whyoom {

// The built-in data and the files of `options`. Throws Error that lists every fault.
RuleSet LoadRules(const Options& options, RuleSet::BuiltInData built_in = RuleSet::BuiltInData::kTrusted);

// The same where there are such files; nothing where the built-in data is all.
std::optional<RuleSet> LoadExtraRules(const Options& options);

// The same for a job that is to be run: it must not stay undone for the sake of files that --rules does not name. Where
// they are at fault, that is said, and only those that it names are used.
std::optional<RuleSet> LoadRulesForJob(const Options& options);

// One line each, for a terminal or a CI server's log.
std::string FaultListing(const std::vector<Fault>& faults);

// Gives the exit status.
int RunRules(const Options& options, const TextOptions& text, const OutputFiles& outputs);

// Sets what is to be traced from its word on the command line: a path, with ":LINE" behind it unless a file has that
// name. Throws CLI::ValidationError for a line 0.
void SetTraced(const std::string& word, Options* options);

// `whyoom rules new`: prints a rule file to begin with. The message comes from the command line, standard input, or a
// line of a log (--from). On standard error: what the rule is found by and what is left to write. Throws Error if no
// rule can be made. Returns the exit status.
int RunNewRule(const Options& options);

}  // namespace whyoom
