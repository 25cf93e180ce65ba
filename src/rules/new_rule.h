// A rule file to begin with, made from a message that nothing knows yet.
#pragma once

#include <string>
#include <vector>

#include "rules/pattern.h"
#include "rules/rule_set.h"

namespace whyoom {

struct NewRuleRequest {
  std::string code;                  // of the new failure, or (any name) of a known one that gets this wording
  std::vector<std::string> message;  // its lines as patterns see them: without what loggers put round them
  std::string from;                  // where they were read, for people; empty: nowhere
};

// One rule file that recognises the message.
struct NewRule {
  std::string text;               // the JSON text
  std::vector<Pattern> heads;     // what the rule looks for
  std::vector<std::string> asks;  // literals one of which a log must hold to be looked at, longest first
};

// Rule files for the message, the one whose head takes least of it first; those that follow are narrower. Where a
// failure of `rules` has the code, they add a wording to it, with its own names for the figures; else each holds one
// failure. Figures and names of things are captured under names taken from the words beside them; what is needed and
// what there is, where the message holds one against the other, become need_bytes and have_bytes. All lines are the
// example that must match, the first words of the head one that must not. Texts that only a person can write begin with
// "TODO". Throws Error where no line has words enough to be found by. Whether a rule is usable beside the others is for
// RuleSet::Load and TestRules to say.
std::vector<NewRule> NewRules(const RuleSet& rules, const NewRuleRequest& request);

}  // namespace whyoom
