// A rule file to begin with, made from a message that no rule recognises yet.
#pragma once

#include <string>
#include <vector>

#include "rules/pattern.h"
#include "rules/rule_set.h"

namespace whyoom {

struct NewRuleRequest {
  std::string code;  // of the new failure, or (any name) of a known one that gets this wording
  // The lines of one or two messages as patterns see them, without what loggers put around them. What differs between
  // two messages is no part of the rule.
  std::vector<std::vector<std::string>> messages;
  std::string from;  // where they were read, for people; empty: unknown
};

// One rule file that recognises the messages.
struct NewRule {
  std::string text;               // the JSON text
  std::vector<Pattern> heads;     // header patterns
  std::vector<std::string> asks;  // literals one of which a log must contain to be looked at, longest first
};

// Returns rule files for the messages: first the one whose header pattern takes one sentence, then one that takes more.
// If `rules` has a failure with the code, they add a wording to it. Sizes are captured: as used_bytes, request_bytes,
// limit_bytes, free_bytes or excess_bytes if the words next to them say so and the figures agree, else as figure_1,
// figure_2 and so on, with a note. Values of key=value, paths, hosts, ids, quoted names and numbers match any such
// text. Texts that only a person can write begin with "TODO". Throws Error if no sentence has enough letters to be
// found by. RuleSet::Load and TestRules tell whether a rule is usable beside the others.
std::vector<NewRule> NewRules(const RuleSet& rules, const NewRuleRequest& request);

}  // namespace whyoom
