// What there is to tell of a code, a scenario, a place in the official pages or a remedy, from the rule data alone:
// chosen once for every format of `whyoom explain`. The formats lay it out; texts are not yet made printable.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/document.h"
#include "rules/rule_set.h"

namespace whyoom {

// A remedy and what it is told for.
struct RemedyEntry {
  const Remedy* remedy = nullptr;      // borrowed from the rules, as all below
  std::string section;                 // its place in the pages that the failure links; empty where no failure is told
  std::vector<std::string> scenarios;  // that name it; empty: whatever the scenario
};

struct Explanation {
  enum class Kind { kFailure, kPart, kRemedy };
  Kind kind = Kind::kFailure;
  std::string topic;                       // "E1000.2", with the code as the rule data writes it
  const Failure* failure = nullptr;        // null where the topic is a remedy
  std::vector<const Scenario*> scenarios;  // of the failure all; of a part those that it means, which may be none
  std::vector<RemedyEntry> remedies;       // each once, the usual order first
};

// Topics: a code or alias ("E1000", "0100", "E0100"), with a scenario ("E1000.2", "0101.fragmentation") or a place in
// the official page ("E1000.3.C"), or the id of a remedy ("donate_buffers"). nullopt where there is no such topic.
std::optional<Explanation> FindExplanation(const RuleSet& rules, std::string_view topic);

// What can be asked about: every code, scenario and remedy, without aliases.
struct Topic {
  std::string name;
  std::string title;
};
std::vector<Topic> Topics(const RuleSet& rules);

// The topic nearest to a mistyped one; empty where none is near.
std::string SuggestTopic(const RuleSet& rules, std::string_view topic);

// The same of a framework, by id or name.
std::string SuggestFramework(const RuleSet& rules, std::string_view name);

// The steps of a remedy in one framework.
struct Steps {
  const Framework* framework = nullptr;  // whose they are; null where the rule data has no such entry
  bool stand_in = false;                 // the default framework's, in place of one without steps of its own
  std::vector<std::string> plain;        // that hold without a log
  std::vector<std::string> of_log;       // outlines of those that a log fills, see Template::Outline
};

// Whose steps are shown: those that are named, and where none is, of all that have some.
using Frameworks = std::vector<const Framework*>;

// For each that is named one entry, which may be the default framework's; the default one first otherwise.
std::vector<Steps> StepsIn(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks);

// Code before and after a remedy, in one framework.
struct ShownSnippet {
  const Framework* framework = nullptr;  // never null
  const Snippet* snippet = nullptr;      // borrowed from the rules
};

// For the same frameworks as the steps: the default framework's where its steps stand in, too.
std::vector<ShownSnippet> SnippetsIn(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks);

struct CodeChange {
  std::vector<doc::CodeLine> before;
  std::vector<doc::CodeLine> after;
};
CodeChange ChangeIn(const Snippet& snippet);

// Of the names in steps and code those that not each release has: "jax.memory: jax 0.7.0 or newer".
std::vector<const NameVersions*> VersionsIn(const RuleSet& rules, const std::vector<Steps>& steps,
                                            const std::vector<ShownSnippet>& snippets);
std::string VersionsText(const NameVersions& versions);

// Which steps a reader sees, and how to see others, in one sentence; empty where all are shown.
std::string FrameworksText(const RuleSet& rules, const std::vector<RemedyEntry>& remedies,
                           const Frameworks& frameworks);

// "stay the same": what a remedy does to the results; of one that only finds out more, that it does.
std::string ResultsWord(const Remedy& remedy);

// "slower steps": what it costs.
std::string CostWord(const Remedy& remedy);

// The remedies of one list in their usual order.
std::vector<RemedyUse> InOrder(const std::vector<RemedyUse>& uses);

// Where a remedy is named: "E1000.2", or the code alone where it is named whatever the scenario.
struct Use {
  const Failure* failure = nullptr;
  const Scenario* scenario = nullptr;  // null: whatever the scenario
  std::string section;
};
std::vector<Use> UsesOf(const RuleSet& rules, const Remedy& remedy);

// What a log must hold one of, in upper or lower case, to be looked at closely: RuleSet::literals(), one a line, blanks
// at their ends included; a file for `grep -iF -f`. Of a literal that holds control characters its longest part
// without.
std::string ListLiterals(const RuleSet& rules);

}  // namespace whyoom
