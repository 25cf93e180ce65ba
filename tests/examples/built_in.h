// The built-in rule files and their examples, which the program does not contain.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rules/rule_compiler.h"

namespace whyoom {

// The files of rules/ and of rules/examples/, sorted by name.
const std::vector<RuleFile>& BuiltInFiles();
const std::vector<RuleFile>& ExampleFiles();

// A line with a prefix or suffix, the text that remains without it, and the facts in the prefix or suffix: reporter,
// time, repeats, logged, healthy.
struct AffixExample {
  std::string affix;  // id of the prefix or suffix pattern
  Example example;
};

// Those in entries and in "examples" of the files.
std::vector<AffixExample> AffixExamples(const std::vector<RuleFile>& files);

// Adds the examples of `files` to the entries that they name. Returns what is wrong, one line per fault.
std::string AddExamples(const std::vector<RuleFile>& files, RuleSet* rules);

// Compiles the files alone, with the examples. Fails with an exception if there are faults.
RuleSet RulesOf(const std::vector<RuleFile>& files, const std::vector<RuleFile>& examples);

}  // namespace whyoom
