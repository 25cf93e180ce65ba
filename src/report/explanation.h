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

// A remedy in the context of a topic.
struct RemedyEntry {
  const Remedy* remedy = nullptr;      // borrowed from the rules, like all pointers below
  std::string section;                 // of the linked official pages; empty if the topic is not a failure
  std::vector<std::string> scenarios;  // that list it; empty: every scenario
};

struct Explanation {
  enum class Kind { kFailure, kPart, kRemedy };
  Kind kind = Kind::kFailure;
  std::string topic;                       // "E1000.2", with the code as spelled in the rule data
  const FailureRule* failure = nullptr;    // null if the topic is a remedy
  std::vector<const Scenario*> scenarios;  // for a failure all; for a part the selected ones, perhaps none
  std::vector<RemedyEntry> remedies;       // without duplicates, in the default order
};

// Finds a code or alias ("E1000", "0100", "E0100"), one with a scenario ("E1000.2", "0101.fragmentation") or a section
// of the official page ("E1000.3.C"), or a remedy id ("donate_buffers"). Returns nullopt if there is no such topic.
std::optional<Explanation> FindExplanation(const RuleSet& rules, std::string_view topic);

// All codes, scenarios and remedies, without aliases.
struct Topic {
  std::string name;
  std::string title;
};
std::vector<Topic> Topics(const RuleSet& rules);

// The topic closest to a mistyped one; empty if none is close.
std::string SuggestTopic(const RuleSet& rules, std::string_view topic);

// The frameworks whose steps are shown; empty: all that have steps.
using Frameworks = std::vector<const Framework*>;

// The topic with all its remedies in full.
doc::Blocks ExplanationBlocks(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks);

// For pages: a failure without the steps of its remedies, and a remedy.
doc::Blocks FailureBlocks(const Explanation& explanation);
doc::Blocks RemedyBlocks(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks);

// Lists all failures with their scenarios, and all remedies.
doc::Blocks TopicBlocks(const RuleSet& rules);

}  // namespace whyoom
