// Compiles rule files to RuleData. The build compiles the built-in rules; a run adds the user's files to them. Each
// step goes on after faults, so that all are reported at once.
#pragma once

#include <string>
#include <vector>

#include "rules/rule_data.h"
#include "rules/rule_file.h"

namespace whyoom {

// An entry of a section, for `whyoom rules list`. Places are "ours.json:3:5", or "the built-in rules".
struct RuleEntry {
  std::string section;  // "remedies"
  std::string id;
  std::string title;  // or the most descriptive member instead: a pattern, an expression
  std::string place;
  bool built_in = false;
  std::vector<std::string> replaces;     // places of the entries that it replaces
  std::vector<std::string> extended_by;  // places of extensions
  std::string disabled_by;               // place of the entry that disables it; empty: in use
  std::vector<std::string> without;      // its disabled parts: "heads/used_of, by ours.json:3:5"
};

struct CompiledRules {
  RuleData data;  // usable only without faults
  std::vector<Fault> faults;
  std::vector<RuleEntry> entries;  // by section and id, also the disabled ones
};

struct CompileOptions {
  bool is_checked = true;  // false: the files are known to be valid; they provide no literals
  bool lists_entries = false;
};

// Adds `files` to `base`. An entry replaces one with its id in `base` or in a lower layer.
CompiledRules CompileRules(RuleData base, const std::vector<RuleFile>& files, const CompileOptions& options = {});

// The sections that have entries, in the order of the descriptions.
const std::vector<std::string>& RuleSections();

}  // namespace whyoom
