#include "report/explanation.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "rules/suggest.h"

namespace whyoom {
namespace {

using Lists = std::vector<std::pair<const std::vector<RemedyUse>*, const Scenario*>>;

// Sorted by prior, the default order.
std::vector<RemedyUse> InOrder(const std::vector<RemedyUse>& uses) {
  std::vector<RemedyUse> sorted = uses;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const RemedyUse& a, const RemedyUse& b) { return a.prior < b.prior; });
  return sorted;
}

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

}  // namespace whyoom
