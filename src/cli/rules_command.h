// Loads the rules of a run, and implements `whyoom rules …`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "read/engine.h"
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
int RunRules(Options options);

// Runs the examples of all failures, which are those of the user's files, through the whole engine. Returns the text to
// print: a line for each that failed, and how many there are.
std::string TestRules(const RuleSet& rules, bool* ok);

// Reads the text of an example of `code`. Returns what is wrong, as the end of a sentence; empty if nothing is. A text
// that must match yields `count` failures of that code only, with the facts and the scenario of the example.
std::string TryExample(const Engine& engine, const std::string& code, const Example& example, bool must_match);

// A fact as messages show it.
std::string ShownValue(const Value& value);

// Sizes may differ by the fraction of a byte.
bool SameFact(const Value& got, const Value& want);

// Parses LOG[:LINE], the first path. If there is a file of this name, all of it is the path. Throws Error for line 0.
void SetTracedPlace(Options* options);

}  // namespace whyoom
