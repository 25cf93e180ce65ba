// The content of `whyoom explain` for a code, a scenario, a section of the official pages or a remedy, from the rule
// data alone and the same for all formats. Texts are not made printable yet.
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

// The steps of a remedy for one framework.
struct Steps {
  const Framework* framework = nullptr;  // null if the rule data does not define it
  bool is_fallback = false;              // the default framework's steps, because the framework has none
  std::vector<std::string> texts;        // of the steps that need no values from a log
};

// The requested frameworks; empty: all that have steps.
using Frameworks = std::vector<const Framework*>;

// Returns an entry for each requested framework (perhaps with the default one's steps); if none is requested, an entry
// for each framework with steps, the default one first.
std::vector<Steps> StepsIn(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks);

// Code before and after a remedy, in one framework.
struct ShownSnippet {
  const Framework* framework = nullptr;  // never null
  const Snippet* snippet = nullptr;      // borrowed from the rules
};

// For the same frameworks as StepsIn, with the same fallback to the default framework.
std::vector<ShownSnippet> SnippetsIn(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks);

// The names in steps and code that only some releases have: "jax.memory: jax 0.7.0 or newer".
std::vector<const NameVersions*> VersionsIn(const RuleSet& rules, const std::vector<Steps>& steps,
                                            const std::vector<ShownSnippet>& snippets);
std::string VersionsText(const NameVersions& versions);

// Which framework's steps are shown, and how to see others; empty if all are shown.
std::string FrameworksText(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks);

// How a remedy affects the results: "stay the same"; "diagnostic only" for an inquiry.
std::string ResultsWord(const Remedy& remedy);

// The cost in words: "slower steps".
std::string CostWord(const Remedy& remedy);

// Sorted by prior, the default order.
std::vector<RemedyUse> InOrder(const std::vector<RemedyUse>& uses);

// A scenario that lists a remedy ("E1000.2"), or a failure if the remedy applies to every scenario.
struct Use {
  const FailureRule* failure = nullptr;
  const Scenario* scenario = nullptr;  // null: every scenario
  std::string section;
};
std::vector<Use> UsesOf(const RuleSet& rules, const Remedy& remedy);

}  // namespace whyoom
