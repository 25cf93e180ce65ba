// What the rule data is made of, entry by entry, and what files made of what was there: `whyoom rules list`.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace whyoom {

struct RuleEntry {
  std::string section;  // "remedies"
  std::string id;
  std::string title;  // or what tells most about it instead: a pattern, an expression
  std::string place;  // "ours.json:3:5"
  bool built_in = false;
  std::vector<std::string> replaces;      // places of the entries whose place it takes
  std::vector<std::string> extended_by;   // places of extensions
  std::string disabled_by;                // the place where that is said; empty: it is in use
  std::vector<std::string> without = {};  // what of it is disabled: "heads/used_of, by ours.json:3:5"
};

// The sections that have entries, in the order in which they are listed.
const std::vector<std::string>& RuleSections();

// The built-in entries and those of `files`, in order of section and id. Files that are no JSON have none.
std::vector<RuleEntry> ListRuleEntries(const std::vector<RuleFile>& files);

}  // namespace whyoom
