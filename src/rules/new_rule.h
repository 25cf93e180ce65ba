// Generates a draft rule file from a message that no rule recognises.
#pragma once

#include <string>
#include <vector>

#include "rules/pattern.h"
#include "rules/rule_set.h"

namespace whyoom {

struct NewRuleRequest {
  std::string code;  // code of the new failure, or any name of a known failure to extend
  // The lines of one or two messages without prefixes and suffixes. Parts that differ between two messages are
  // generalised.
  std::vector<std::vector<std::string>> messages;
  std::string from;  // source of the messages, for readers; empty if unknown
};

// A rule file that recognises the messages.
struct NewRule {
  std::string text;  // the JSON text
  std::vector<Pattern> header_patterns;
  std::vector<std::string> prefilter_literals;  // a log with the message contains one of them; longest first
};

// Returns draft rule files, the one with the shortest header pattern (one sentence) first. If `rules` already has a
// failure with the code, they add a header pattern to it. Sizes are captured as used_bytes, request_bytes, limit_bytes,
// free_bytes or excess_bytes if the adjacent words indicate one and the figures are consistent, else as figure_1,
// figure_2 and so on, with a note. Values of key=value, paths, hosts, ids, quoted names and numbers are generalised.
// Texts that a person must write begin with "TODO". Throws Error if no sentence has enough letters for a literal. Use
// RuleSet::Load and TestRules to check a draft against the other rules.
std::vector<NewRule> NewRules(const RuleSet& rules, const NewRuleRequest& request);

}  // namespace whyoom
