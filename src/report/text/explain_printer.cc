#include "report/text/explain_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "report/finding_view.h"
#include "report/text/text_page.h"
#include "rules/suggest.h"

namespace whyoom {
namespace {

struct Nothing : Scope {
  Value Get(std::string_view /*name*/) const override { return Unknown{}; }
};

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

void PrintLinks(const std::vector<Link>& links, TextPage& page) {
  for (const Link& link : links) page.Paragraph(link.title + ": " + link.url);
}

constexpr std::size_t kColumn = 10;

void Field(TextPage& page, std::string_view label, std::string_view text) {
  if (!text.empty()) page.Item("   " + std::string(label), kColumn + 3, text);
}

std::string SafetyWord(const std::string& safety) {
  if (safety == "safe") return "Yes.";
  if (safety == "safe_slower") return "Yes, but slower.";
  if (safety == "risky") return "Risky.";
  return "No.";
}

// The steps that hold without a log; holes need one.
std::vector<std::string> PlainSteps(const std::vector<Template>& steps) {
  std::vector<std::string> filled;
  for (const Template& step : steps) {
    if (std::optional<std::string> text = step.Fill(Nothing())) filled.push_back(*std::move(text));
  }
  return filled;
}

void ExplainRemedy(TextPage& page, const Remedy& remedy) {
  Field(page, "safe?", SafetyWord(remedy.safety) + " " + remedy.safe_why);
  Field(page, "gain", remedy.gain);
  Field(page, "telltale", remedy.telltale);
  Field(page, "note", remedy.note);
  for (const auto& [framework, steps] : remedy.how) {
    std::string label = framework.empty() ? "how" : framework;
    for (const std::string& step : PlainSteps(steps)) {
      Field(page, label, step);
      label.clear();
    }
  }
  for (const Link& link : remedy.links) Field(page, "see", link.title + ": " + link.url);
}

// The remedies of a code, each once, in the order of the scenarios. `section` empty: all.
std::vector<std::pair<const Remedy*, std::string>> Uses(const RuleSet& rules,
                                                        const std::vector<const std::vector<RemedyUse>*>& lists,
                                                        std::string_view section) {
  std::vector<std::pair<const Remedy*, std::string>> uses;
  std::set<std::string> seen;
  for (const std::vector<RemedyUse>* list : lists) {
    std::vector<RemedyUse> sorted = *list;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const RemedyUse& a, const RemedyUse& b) { return a.prior < b.prior; });
    for (const RemedyUse& use : sorted) {
      const bool inside =
          section.empty() || use.section == section || use.section.rfind(std::string(section) + ".", 0) == 0;
      const Remedy* remedy = rules.FindRemedy(use.remedy);
      if (inside && remedy != nullptr && seen.insert(use.remedy).second) uses.emplace_back(remedy, use.section);
    }
  }
  return uses;
}

void ExplainUses(TextPage& page, const std::vector<std::pair<const Remedy*, std::string>>& uses) {
  for (const auto& [remedy, section] : uses) {
    page.Blank();
    page.Item(remedy->id, 0, "— " + remedy->title + (section.empty() ? "" : " [" + section + "]"));
    ExplainRemedy(page, *remedy);
  }
}

void ExplainScenario(TextPage& page, const Scenario& scenario) {
  page.Blank();
  page.Item(scenario.id, 0, scenario.title);
  page.Paragraph(scenario.about, 3);
  if (scenario.retry) page.Paragraph(RetryText(*scenario.retry), 3);
}

void ExplainRetry(const Failure& failure, TextPage& page) {
  if (!failure.retry || RetryText(*failure.retry).empty()) return;
  page.Blank();
  page.Paragraph(RetryText(*failure.retry));
}

std::string ExplainFailure(const RuleSet& rules, const Failure& failure, TextPage& page) {
  page.Title(failure.code, failure.title);
  page.Paragraph(failure.category);
  if (!failure.aliases.empty()) {
    std::string names;
    for (const std::string& alias : failure.aliases) names += (names.empty() ? "" : ", ") + alias;
    page.Paragraph("Also written: " + names);
  }
  for (const std::string& paragraph : failure.about) {
    page.Blank();
    page.Paragraph(paragraph);
  }
  ExplainRetry(failure, page);
  if (!failure.scenarios.empty()) page.Heading("Scenarios");
  for (const Scenario& scenario : failure.scenarios) ExplainScenario(page, scenario);
  std::vector<const std::vector<RemedyUse>*> lists = {&failure.remedies};
  for (const Scenario& scenario : failure.scenarios) lists.push_back(&scenario.remedies);
  const auto uses = Uses(rules, lists, "");
  if (!uses.empty()) page.Heading("What helps");
  ExplainUses(page, uses);
  page.Heading("Official pages");
  PrintLinks(failure.links, page);
  return page.Take();
}

// "3" of E1000 is a scenario, "3.C" a place in the page, "1" a family of scenarios.
std::optional<std::string> ExplainPart(const RuleSet& rules, const Failure& failure, const std::string& part,
                                       TextPage& page) {
  std::vector<const Scenario*> scenarios;
  for (const Scenario& scenario : failure.scenarios) {
    if (scenario.id == part || scenario.id.rfind(part + ".", 0) == 0) scenarios.push_back(&scenario);
  }
  std::vector<const std::vector<RemedyUse>*> lists;
  std::string section;
  if (scenarios.empty()) {
    section = part;
    lists.push_back(&failure.remedies);
    for (const Scenario& scenario : failure.scenarios) lists.push_back(&scenario.remedies);
  }
  for (const Scenario* scenario : scenarios) lists.push_back(&scenario->remedies);
  const auto uses = Uses(rules, lists, section);
  if (scenarios.empty() && uses.empty()) return std::nullopt;
  page.Title(failure.code + "." + part, failure.title);
  for (const Scenario* scenario : scenarios) ExplainScenario(page, *scenario);
  const bool all_own =
      std::all_of(scenarios.begin(), scenarios.end(), [](const Scenario* one) { return one->retry.has_value(); });
  if (!all_own) ExplainRetry(failure, page);
  page.Heading("What helps");
  ExplainUses(page, uses);
  page.Heading("Official pages");
  PrintLinks(failure.links, page);
  return page.Take();
}

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

}  // namespace

std::optional<std::string> Explain(const RuleSet& rules, std::string_view topic, const TextOptions& options) {
  TextPage page(options);
  if (const Failure* failure = rules.FindFailure(topic)) return ExplainFailure(rules, *failure, page);
  if (const Remedy* remedy = rules.FindRemedy(topic)) {
    page.Title(remedy->id, remedy->title);
    ExplainRemedy(page, *remedy);
    return page.Take();
  }
  // Codes such as tpu.vmem hold dots themselves, so the longest code that is a beginning wins.
  for (std::size_t dot = topic.rfind('.'); dot != std::string_view::npos && dot > 0; dot = topic.rfind('.', dot - 1)) {
    const Failure* failure = rules.FindFailure(topic.substr(0, dot));
    if (failure == nullptr) continue;
    const std::string part(topic.substr(dot + 1));
    if (auto text = ExplainPart(rules, *failure, part, page)) return text;
    return ExplainPart(rules, *failure, UpperCase(part), page);
  }
  return std::nullopt;
}

std::vector<Topic> Topics(const RuleSet& rules) {
  std::vector<Topic> topics;
  for (const Failure& failure : rules.failures()) {
    topics.push_back({failure.code, failure.title});
    for (const Scenario& scenario : failure.scenarios)
      topics.push_back({failure.code + "." + scenario.id, scenario.title});
  }
  for (const auto& [id, remedy] : rules.remedies()) topics.push_back({id, remedy.title});
  return topics;
}

std::string ListTopics(const RuleSet& rules, const TextOptions& options) {
  TextPage page(options);
  page.Heading("Codes");
  for (const Failure& failure : rules.failures()) {
    page.Item(failure.code, 12, failure.title);
    for (const Scenario& scenario : failure.scenarios) page.Item("  ." + scenario.id, 18, scenario.title);
  }
  page.Heading("Remedies");
  for (const auto& [id, remedy] : rules.remedies()) page.Item(id, 24, remedy.title);
  return page.Take();
}

std::string ListLiterals(const RuleSet& rules) {
  std::set<std::string_view> lines;
  for (const std::string_view literal : rules.literals()) {
    std::string_view longest;
    for (std::size_t begin = 0, at = 0; at <= literal.size(); ++at) {
      if (at < literal.size() && !IsControl(literal[at])) continue;
      if (at - begin > longest.size()) longest = literal.substr(begin, at - begin);
      begin = at + 1;
    }
    // An empty line would find every line.
    if (!longest.empty()) lines.insert(longest);
  }
  std::string text;
  for (const std::string_view line : lines) text.append(line).append("\n");
  return text;
}

std::string SuggestTopic(const RuleSet& rules, std::string_view topic) {
  std::vector<std::string> known;
  for (const Topic& each : Topics(rules)) known.push_back(each.name);
  for (const Failure& failure : rules.failures())
    known.insert(known.end(), failure.aliases.begin(), failure.aliases.end());
  return Nearest(topic, known);
}

}  // namespace whyoom
