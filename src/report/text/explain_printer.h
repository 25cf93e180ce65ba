// What a code, a scenario or a remedy means, from the rule data alone: `whyoom explain`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/text/text_page.h"
#include "rules/rule_set.h"

namespace whyoom {

// Topics: a code or alias ("E1000", "0100", "E0100"), with a scenario ("E1000.2", "0101.fragmentation") or a place in
// the official page
// ("E1000.3.C"), or the id of a remedy ("donate_buffers"). nullopt where there is no such topic.
std::optional<std::string> Explain(const RuleSet& rules, std::string_view topic, const TextOptions& options);

// What can be asked about: every code, scenario and remedy, without aliases.
struct Topic {
  std::string name;
  std::string title;
};
std::vector<Topic> Topics(const RuleSet& rules);

// All topics, each with its title, for a reader who does not know them.
std::string ListTopics(const RuleSet& rules, const TextOptions& options);

// What a log must hold one of, in upper or lower case, to be looked at closely: RuleSet::literals(), one a line, blanks
// at their ends included; a file for `grep -iF -f`. Of a literal that holds control characters its longest part
// without.
std::string ListLiterals(const RuleSet& rules);

// The topic nearest to a mistyped one; empty where none is near.
std::string SuggestTopic(const RuleSet& rules, std::string_view topic);

}  // namespace whyoom
