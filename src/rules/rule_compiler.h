// Compiles rule files to a RuleSet. The build compiles the built-in rules; a run adds the user's files to them. Each
// step goes on after faults, so that as many as possible are reported at once.
#pragma once

#include <string>
#include <vector>

#include "rules/rule_file.h"
#include "rules/rule_set.h"

namespace whyoom {

// An entry of a section, for `whyoom rules list`.
struct RuleEntry {
  std::string section;  // "remedies"
  std::string id;
  std::string title;                 // or the most descriptive member instead: a pattern, an expression
  std::vector<std::string> changes;  // by user files: "disabled by ours.json:3:5"
};

struct CompiledRules {
  RuleSet rules;  // usable only without faults
  std::vector<Fault> faults;
};

// Adds `files` to `base`. An entry replaces one with its id in `base` or in a lower layer. Unless `entries` is null,
// sets it to all entries by section and id, also the disabled ones.
CompiledRules CompileRules(RuleSet base, const std::vector<RuleFile>& files, std::vector<RuleEntry>* entries = nullptr);

// Adds `files` to the built-in rules.
CompiledRules AddToBuiltIn(const std::vector<RuleFile>& files, std::vector<RuleEntry>* entries = nullptr);

// The sections that have entries, in the order of the descriptions.
const std::vector<std::string>& RuleSections();

}  // namespace whyoom
