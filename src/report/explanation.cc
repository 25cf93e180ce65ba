#include "report/explanation.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "rules/suggest.h"

namespace whyoom {
namespace {

bool IsInside(const std::string& section, std::string_view wanted) {
  return wanted.empty() || section == wanted || section.starts_with(std::string(wanted) + ".");
}

// Adds the remedies of a section in the default order. An empty `section` selects all.
void AddRemedies(const RuleSet& rules, std::vector<RemedyUse> uses, std::string_view section,
                 Explanation* explanation) {
  std::stable_sort(uses.begin(), uses.end(), [](const RemedyUse& a, const RemedyUse& b) { return a.prior < b.prior; });
  std::vector<const Remedy*>& remedies = explanation->remedies;
  for (const RemedyUse& use : uses) {
    const Remedy* remedy = rules.FindRemedy(use.remedy);
    const bool is_new = std::find(remedies.begin(), remedies.end(), remedy) == remedies.end();
    if (remedy != nullptr && is_new && IsInside(use.section, section)) remedies.push_back(remedy);
  }
}

// The whole failure, or the remedies of a section of the official page.
Explanation OfFailure(const RuleSet& rules, const FailureRule& failure, const std::string& section) {
  Explanation explanation{failure.code + (section.empty() ? "" : "." + section), &failure};
  AddRemedies(rules, failure.remedies, section, &explanation);
  for (const Scenario& scenario : failure.scenarios) {
    if (section.empty()) explanation.scenarios.push_back(&scenario);
    AddRemedies(rules, scenario.remedies, section, &explanation);
  }
  return explanation;
}

// "3" of E1000 is a scenario, "3.C" a section of the page, "1" a family of scenarios.
std::optional<Explanation> OfPart(const RuleSet& rules, const FailureRule& failure, const std::string& part) {
  if (part.empty()) return std::nullopt;
  Explanation explanation{failure.code + "." + part, &failure};
  for (const Scenario& scenario : failure.scenarios) {
    if (!IsInside(scenario.id, part)) continue;
    explanation.scenarios.push_back(&scenario);
    AddRemedies(rules, scenario.remedies.empty() ? failure.remedies : scenario.remedies, "", &explanation);
  }
  if (explanation.scenarios.empty()) explanation = OfFailure(rules, failure, part);
  if (explanation.scenarios.empty() && explanation.remedies.empty()) return std::nullopt;
  return explanation;
}

}  // namespace

std::optional<Explanation> FindExplanation(const RuleSet& rules, std::string_view topic) {
  if (const FailureRule* failure = rules.FindFailure(topic)) return OfFailure(rules, *failure, "");
  if (const Remedy* remedy = rules.FindRemedy(topic)) return Explanation{remedy->id, nullptr, {}, {remedy}};
  // Codes such as tpu.vmem contain dots themselves, so the longest known code that is a prefix wins.
  for (std::size_t dot = topic.rfind('.'); dot != std::string_view::npos && dot > 0; dot = topic.rfind('.', dot - 1)) {
    const FailureRule* failure = rules.FindFailure(topic.substr(0, dot));
    if (failure == nullptr) continue;
    std::string part(topic.substr(dot + 1));
    if (std::optional<Explanation> found = OfPart(rules, *failure, part)) return found;
    for (char& c : part) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return OfPart(rules, *failure, part);
  }
  return std::nullopt;
}

std::string SuggestTopic(const RuleSet& rules, std::string_view topic) {
  std::vector<std::string> known;
  for (const FailureRule& failure : rules.failures) {
    known.push_back(failure.code);
    for (const Scenario& scenario : failure.scenarios) known.push_back(failure.code + "." + scenario.id);
  }
  for (const Remedy& remedy : rules.remedies) known.push_back(remedy.id);
  for (const FailureRule& failure : rules.failures)
    known.insert(known.end(), failure.aliases.begin(), failure.aliases.end());
  return Nearest(topic, known);
}

}  // namespace whyoom
