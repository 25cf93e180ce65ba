#include "report/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>
#include <utility>

#include "rules/suggest.h"

namespace whyoom {
namespace {

struct Nothing : Scope {
  Value Get(std::string_view /*name*/) const override { return Unknown{}; }
};

using Lists = std::vector<std::pair<const std::vector<RemedyUse>*, const Scenario*>>;

bool IsInside(const std::string& section, std::string_view wanted) {
  return wanted.empty() || section == wanted || section.starts_with(std::string(wanted) + ".");
}

// Lists each remedy once, in the order of the lists. An empty `section` selects all.
std::vector<RemedyEntry> Entries(const RuleSet& rules, const Lists& lists, std::string_view section) {
  std::vector<RemedyEntry> entries;
  std::map<std::string, std::size_t> seen;
  for (const auto& [list, scenario] : lists) {
    for (const RemedyUse& use : InOrder(*list)) {
      const Remedy* remedy = rules.FindRemedy(use.remedy);
      if (remedy == nullptr || !IsInside(use.section, section)) continue;
      const auto [at, is_new] = seen.emplace(use.remedy, entries.size());
      if (is_new) entries.push_back({remedy, use.section});
      if (scenario != nullptr) entries[at->second].scenarios.push_back(scenario->id);
    }
  }
  return entries;
}

Lists ListsOf(const FailureRule& failure) {
  Lists lists = {{&failure.remedies, nullptr}};
  for (const Scenario& scenario : failure.scenarios) lists.emplace_back(&scenario.remedies, &scenario);
  return lists;
}

Explanation OfFailure(const RuleSet& rules, const FailureRule& failure) {
  Explanation explanation{Explanation::Kind::kFailure, failure.code, &failure};
  for (const Scenario& scenario : failure.scenarios) explanation.scenarios.push_back(&scenario);
  explanation.remedies = Entries(rules, ListsOf(failure), "");
  return explanation;
}

// "3" of E1000 is a scenario, "3.C" a section of the page, "1" a family of scenarios.
std::optional<Explanation> OfPart(const RuleSet& rules, const FailureRule& failure, const std::string& part) {
  if (part.empty()) return std::nullopt;
  Explanation explanation{Explanation::Kind::kPart, failure.code + "." + part, &failure};
  Lists lists;
  for (const Scenario& scenario : failure.scenarios) {
    if (!IsInside(scenario.id, part)) continue;
    explanation.scenarios.push_back(&scenario);
    lists.emplace_back(scenario.remedies.empty() ? &failure.remedies : &scenario.remedies, &scenario);
  }
  const bool is_place = explanation.scenarios.empty();
  explanation.remedies = Entries(rules, is_place ? ListsOf(failure) : lists, is_place ? part : "");
  if (is_place && explanation.remedies.empty()) return std::nullopt;
  return explanation;
}

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

// The keys of steps or snippets, that of the default framework first.
std::vector<std::string> KeysOf(const auto& by_framework) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : by_framework)
    keys.insert(key == RuleSet::kDefaultFramework ? keys.begin() : keys.end(), key);
  return keys;
}

Steps ToSteps(const Framework* framework, const std::vector<Sentence>& steps) {
  Steps made{framework};
  for (const Sentence& step : steps) {
    if (const std::optional<std::string> text = step.Fill(Nothing())) made.texts.push_back(*text);
  }
  return made;
}

}  // namespace

std::optional<Explanation> FindExplanation(const RuleSet& rules, std::string_view topic) {
  if (const FailureRule* failure = rules.FindFailure(topic)) return OfFailure(rules, *failure);
  if (const Remedy* remedy = rules.FindRemedy(topic))
    return Explanation{Explanation::Kind::kRemedy, remedy->id, nullptr, {}, {{remedy}}};
  // Codes such as tpu.vmem contain dots themselves, so the longest known code that is a prefix wins.
  for (std::size_t dot = topic.rfind('.'); dot != std::string_view::npos && dot > 0; dot = topic.rfind('.', dot - 1)) {
    const FailureRule* failure = rules.FindFailure(topic.substr(0, dot));
    if (failure == nullptr) continue;
    const std::string part(topic.substr(dot + 1));
    std::optional<Explanation> found = OfPart(rules, *failure, part);
    return found ? found : OfPart(rules, *failure, UpperCase(part));
  }
  return std::nullopt;
}

std::vector<Topic> Topics(const RuleSet& rules) {
  std::vector<Topic> topics;
  for (const FailureRule& failure : rules.failures) {
    topics.push_back({failure.code, failure.title});
    for (const Scenario& scenario : failure.scenarios)
      topics.push_back({failure.code + "." + scenario.id, scenario.title});
  }
  for (const Remedy& remedy : rules.remedies) topics.push_back({remedy.id, remedy.title});
  return topics;
}

std::string SuggestTopic(const RuleSet& rules, std::string_view topic) {
  std::vector<std::string> known;
  for (const Topic& each : Topics(rules)) known.push_back(each.name);
  for (const FailureRule& failure : rules.failures)
    known.insert(known.end(), failure.aliases.begin(), failure.aliases.end());
  return Nearest(topic, known);
}

std::vector<Steps> StepsIn(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks) {
  std::vector<Steps> all;
  if (frameworks.empty()) {
    for (const std::string& key : KeysOf(remedy.how))
      all.push_back(ToSteps(rules.FindFramework(key), remedy.how.at(key)));
    return all;
  }
  for (const Framework* framework : frameworks) {
    const auto found = remedy.how.find(rules.KeyOfSteps(remedy, framework->id));
    if (found == remedy.how.end()) continue;
    const Framework* of = rules.FindFramework(found->first);
    all.push_back(ToSteps(of, found->second));
    all.back().is_fallback = of != framework;
  }
  return all;
}

std::vector<ShownSnippet> SnippetsIn(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks) {
  std::vector<ShownSnippet> shown;
  const auto add = [&](const std::string& key) {
    const Framework* framework = rules.FindFramework(key);
    const auto found = remedy.snippets.find(key);
    const bool is_new =
        std::none_of(shown.begin(), shown.end(), [&](const ShownSnippet& one) { return one.framework == framework; });
    if (framework != nullptr && found != remedy.snippets.end() && is_new) shown.push_back({framework, &found->second});
  };
  if (frameworks.empty()) {
    for (const std::string& key : KeysOf(remedy.snippets)) add(key);
  }
  for (const Framework* framework : frameworks)
    add(remedy.snippets.contains(framework->id) ? framework->id : rules.KeyOfSteps(remedy, framework->id));
  return shown;
}

std::vector<const NameVersions*> VersionsIn(const RuleSet& rules, const std::vector<Steps>& steps,
                                            const std::vector<ShownSnippet>& snippets) {
  std::vector<const NameVersions*> found;
  const auto contain = [](const std::vector<std::string>& texts, const std::string& name) {
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return ContainsName(text, name); });
  };
  for (const NameVersions& versions : rules.name_versions) {
    const bool in_code = std::any_of(snippets.begin(), snippets.end(), [&](const ShownSnippet& one) {
      return ContainsName(one.snippet->after, versions.id);
    });
    const bool is_in = in_code || std::any_of(steps.begin(), steps.end(),
                                              [&](const Steps& one) { return contain(one.texts, versions.id); });
    if (is_in) found.push_back(&versions);
  }
  return found;
}

std::string VersionsText(const NameVersions& versions) {
  std::string text = versions.id + ": " + versions.package + " ";
  if (versions.until.empty()) return text + versions.since + " or newer";
  if (versions.since.empty()) return text + "up to " + versions.until;
  return text + versions.since + " to " + versions.until;
}

std::string FrameworksText(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks) {
  if (frameworks.empty()) return {};
  std::vector<std::string> others;
  for (const Framework& framework : rules.frameworks) {
    if (&framework != frameworks.front() && remedy.how.contains(framework.id)) others.push_back(framework.name);
  }
  if (others.empty()) return {};
  return fmt::format("--framework shows the steps for others: {}, or all.", Listing(others));
}

std::string ResultsWord(const Remedy& remedy) {
  const std::string& safety = remedy.safety;
  if (remedy.inquiry) return "diagnostic only";
  if (safety == "safe" || safety == "safe_slower") return "stay the same";
  if (safety == "risky") return "may change";
  return "change";
}

std::string CostWord(const Remedy& remedy) {
  static constexpr std::array<const char*, 7> kWords = {
      "none", "a small change", "slower steps", "slow or uncertain", "precision", "another setup", "another model"};
  const auto last = static_cast<int>(kWords.size()) - 1;
  return kWords.at(static_cast<std::size_t>(std::clamp(remedy.cost, 0, last)));
}

std::vector<RemedyUse> InOrder(const std::vector<RemedyUse>& uses) {
  std::vector<RemedyUse> sorted = uses;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const RemedyUse& a, const RemedyUse& b) { return a.prior < b.prior; });
  return sorted;
}

std::vector<Use> UsesOf(const RuleSet& rules, const Remedy& remedy) {
  std::vector<Use> uses;
  for (const FailureRule& failure : rules.failures) {
    for (const auto& [list, scenario] : ListsOf(failure)) {
      for (const RemedyUse& use : *list) {
        if (use.remedy == remedy.id) uses.push_back({&failure, scenario, use.section});
      }
    }
  }
  return uses;
}

}  // namespace whyoom
