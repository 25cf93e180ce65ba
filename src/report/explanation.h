// `whyoom explain`: finds a code, a scenario, a section of the official pages or a remedy in the rule data, and makes
// the document that explains it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.h"
#include "rules/rule_set.h"

namespace whyoom {

// All pointers are borrowed from the rules.
struct Explanation {
  std::string topic;                       // "E1000.2", with the code as spelled in the rule data
  const FailureRule* failure = nullptr;    // null if the topic is a remedy
  std::vector<const Scenario*> scenarios;  // for a failure all; for a part the selected ones, perhaps none
  std::vector<const Remedy*> remedies;     // without duplicates, in the default order
};

// Finds a code or alias ("E1000", "0100", "E0100"), one with a scenario ("E1000.2", "0101.fragmentation") or a section
// of the official page ("E1000.3.C"), or a remedy id ("donate_buffers"). Returns nullopt if there is no such topic.
std::optional<Explanation> FindExplanation(const RuleSet& rules, std::string_view topic);

// The topic closest to a mistyped one; empty if none is close.
std::string SuggestTopic(const RuleSet& rules, std::string_view topic);

// The frameworks whose steps are shown; empty: all that have steps.
using Frameworks = std::vector<const Framework*>;

// A failure without the steps of its remedies, or a remedy.
doc::Blocks ExplanationBlocks(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks);

// Lists all failures with their scenarios, and all remedies.
doc::Blocks TopicBlocks(const RuleSet& rules);

}  // namespace whyoom
