#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "report/explanation.h"
#include "report/failure_view.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;
using Kind = doc::Span::Kind;

struct Nothing : Scope {
  Value Get(std::string_view /*name*/) const override { return Unknown{}; }
};

// How to apply a remedy in one framework.
struct Way {
  const Framework* framework = nullptr;  // null if the rule data does not define it
  bool is_fallback = false;              // the default framework's, because the requested one has none
  std::vector<std::string> steps;        // that need no values from a log
  const Snippet* snippet = nullptr;      // code before and after; may be null
};

// For each requested framework; if none is requested, for each framework with steps, the default one first.
std::vector<Way> WaysOf(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks) {
  std::vector<std::pair<std::string, const Framework*>> keys;  // of the steps, and the framework that asks for them
  for (const Framework* asked : frameworks) keys.emplace_back(rules.KeyOfSteps(remedy, asked->id), asked);
  for (const auto& [key, steps] : remedy.how) {
    if (frameworks.empty())
      keys.emplace(key == RuleSet::kDefaultFramework ? keys.begin() : keys.end(), key, rules.FindFramework(key));
  }
  std::vector<Way> ways;
  for (const auto& [key, asked] : keys) {
    const auto how = remedy.how.find(key);
    if (how == remedy.how.end()) continue;
    Way& way = ways.emplace_back(Way{rules.FindFramework(key)});
    way.is_fallback = way.framework != asked;
    for (const Sentence& step : how->second) {
      if (std::optional<std::string> text = step.Fill(Nothing())) way.steps.push_back(*std::move(text));
    }
    if (const auto found = remedy.snippets.find(key); found != remedy.snippets.end()) way.snippet = &found->second;
  }
  return ways;
}

// Whether the steps or the code have this name, which only some releases have.
bool HasName(const std::vector<Way>& ways, const std::string& name) {
  const auto contains = [&](const std::string& text) { return ContainsName(text, name); };
  return std::any_of(ways.begin(), ways.end(), [&](const Way& way) {
    return std::any_of(way.steps.begin(), way.steps.end(), contains) ||
           (way.snippet != nullptr && contains(way.snippet->after));
  });
}

// "jax.memory: jax 0.7.0 or newer".
std::string VersionsText(const NameVersions& versions) {
  std::string text = versions.id + ": " + versions.package + " ";
  if (versions.until.empty()) return text + versions.since + " or newer";
  if (versions.since.empty()) return text + "up to " + versions.until;
  return text + versions.since + " to " + versions.until;
}

// Which framework's steps are shown, and how to see others; empty if all are shown.
std::string FrameworksText(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks) {
  if (frameworks.empty()) return {};
  std::vector<std::string> others;
  for (const Framework& framework : rules.frameworks) {
    if (&framework != frameworks.front() && remedy.how.contains(framework.id)) others.push_back(framework.name);
  }
  if (others.empty()) return {};
  return fmt::format("--framework shows the steps for others: {}, or all.", Listing(others));
}

// How a remedy affects the results: "stay the same"; "diagnostic only" for an inquiry.
std::string ResultsWord(const Remedy& remedy) {
  const std::string& safety = remedy.safety;
  if (remedy.inquiry) return "diagnostic only";
  if (safety == "safe" || safety == "safe_slower") return "stay the same";
  if (safety == "risky") return "may change";
  return "change";
}

// The cost in words: "slower steps".
std::string CostWord(const Remedy& remedy) {
  static constexpr std::array<const char*, 7> kWords = {
      "none", "a small change", "slower steps", "slow or uncertain", "precision", "another setup", "another model"};
  const auto last = static_cast<int>(kWords.size()) - 1;
  return kWords.at(static_cast<std::size_t>(std::clamp(remedy.cost, 0, last)));
}

std::string FirstSentence(const std::string& text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    // "i.e. so" does not end the sentence.
    const bool stop = text[i] == '.' && text[i + 1] == ' ';
    if (stop && i + 2 < text.size() && std::islower(static_cast<unsigned char>(text[i + 2])) == 0)
      return text.substr(0, i + 1);
  }
  return text;
}

// Whether a remedy leaves the results unchanged, and why: "Yes, but slower. Values are computed twice."
std::string SafeText(const std::string& safety, const std::string& safe_why) {
  const std::string word = safety == "safe"          ? "Yes."
                           : safety == "safe_slower" ? "Yes, but slower."
                           : safety == "risky"       ? "Risky."
                                                     : "No.";
  return safe_why.empty() ? word : word + " " + safe_why;
}

doc::Spans Code(const std::string& text) { return Words(Printable(text), Kind::kCode); }

void AddParagraph(const std::string& text, doc::Blocks* blocks) {
  if (!text.empty()) blocks->emplace_back(doc::Paragraph{doc::Sentence(text)});
}

doc::List ListOf(const std::vector<std::string>& texts, doc::List::Style style = doc::List::Style::kBullets) {
  doc::List list{style, {}, 0};
  for (const std::string& text : texts) {
    if (!text.empty()) list.items.push_back({doc::Sentence(text)});
  }
  return list;
}

void AddLinks(const std::string& title, const std::vector<Link>& links, doc::Blocks* blocks) {
  doc::List list;
  for (const Link& link : links) list.items.push_back({{{Printable(link.title), Kind::kLink, link.url}}});
  doc::AddSection({title, {std::move(list)}}, blocks);
}

// The first lines of the first example text in the rule data.
doc::Code ExampleOf(const FailureRule& failure) {
  constexpr std::size_t kLines = 4;
  constexpr std::size_t kBytes = 600;
  doc::Code code{"", "text", {}};
  const std::string& text = failure.example;
  for (std::size_t at = text.find_first_not_of("\n "); at < text.size() && code.lines.size() < kLines;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    code.lines.push_back({std::string(CutBytes(text.substr(at, end - at), kBytes))});
    at = end + 1;
  }
  return code;
}

// Adds nothing for a single scenario, unless the topic is a whole failure.
void AddScenarioList(const Explanation& explanation, doc::Blocks* blocks) {
  doc::List list{doc::List::Style::kFields, {}, 0};
  for (const Scenario* scenario : explanation.scenarios) {
    const std::string about = FirstSentence(scenario->about);
    doc::Item item{doc::Sentence(scenario->title + (about.empty() ? "" : ". " + about))};
    item.label = Words(Printable(scenario->id));
    list.items.push_back(std::move(item));
  }
  if (list.items.size() > 1 || explanation.kind == Explanation::Kind::kFailure)
    doc::AddSection({"Scenarios, and how they differ", {std::move(list)}}, blocks);
}

// `whole`: with the cost of each remedy.
void AddRemedyTable(const Explanation& explanation, bool whole, doc::Blocks* blocks) {
  doc::Table table{{{"id"}, {"remedy"}}, {}, 0};
  if (whole) table.columns.push_back({"cost"});
  for (const RemedyEntry& entry : explanation.remedies) {
    const Remedy& remedy = *entry.remedy;
    table.rows.push_back({doc::Name(remedy.id), doc::Sentence(remedy.title)});
    const bool is_safe = remedy.inquiry || remedy.safety.starts_with("safe");
    if (whole)
      table.rows.back().push_back(Words(CostWord(remedy) + (is_safe ? "" : "; results " + ResultsWord(remedy))));
  }
  doc::AddSection({"Remedies", {std::move(table)}}, blocks);
  if (!whole) AddParagraph("`whyoom explain ID` describes a remedy.", blocks);
}

// A scenario, unless the list of scenarios already contains everything about it.
void AddScenario(const Explanation& explanation, const Scenario& scenario, doc::Blocks* blocks) {
  const bool is_listed = explanation.kind == Explanation::Kind::kFailure && !scenario.retry &&
                         FirstSentence(scenario.about) == scenario.about;
  if (is_listed) return;
  doc::Blocks about;
  AddParagraph(scenario.about, &about);
  if (scenario.retry) AddParagraph(RetryText(*scenario.retry), &about);
  doc::AddSection({"Scenario " + scenario.id + ": " + scenario.title, std::move(about)}, blocks);
}

void AddField(const std::string& label, const doc::Spans& text, doc::List* fields) {
  if (text.empty()) return;
  doc::Item item{text};
  item.label = Words(label);
  fields->items.push_back(std::move(item));
}

doc::List FieldsOf(const Remedy& remedy) {
  doc::List fields{doc::List::Style::kFields, {}, 0};
  AddField("Safe?", doc::Sentence(SafeText(remedy.safety, remedy.safe_why)), &fields);
  for (const ConditionalSafety& other : remedy.safety_when)
    AddField("or", doc::Sentence(SafeText(other.safety, other.safe_why)), &fields);
  AddField("Cost", Words(CostWord(remedy)), &fields);
  AddField("Gain", doc::Sentence(remedy.gain), &fields);
  AddField("Sign", doc::Sentence(remedy.telltale), &fields);
  AddField("Note", doc::Sentence(remedy.note), &fields);
  return fields;
}

void AddWays(const std::vector<Way>& ways, doc::Blocks* blocks) {
  doc::Blocks code;
  for (const Way& way : ways) {
    const std::string title = way.framework == nullptr ? "How" : "How in " + way.framework->name;
    doc::AddSection(
        {title + (way.is_fallback ? " (the default steps)" : ""), {ListOf(way.steps, doc::List::Style::kSteps)}},
        blocks);
    if (way.snippet == nullptr || way.framework == nullptr) continue;
    for (const auto& [caption, text] : {std::pair(way.framework->name + ", before:", way.snippet->before),
                                        std::pair(std::string("After:"), way.snippet->after)})
      code.emplace_back(doc::Code{caption, way.snippet->language, doc::CodeOf(text).lines});
  }
  doc::AddSection({"Before and after", std::move(code)}, blocks);
}

// The failures that the remedy helps with, each with its scenarios.
doc::List HelpsWith(const RuleSet& rules, const Remedy& remedy) {
  const auto helps = [&](const std::vector<RemedyUse>& uses) {
    return std::any_of(uses.begin(), uses.end(), [&](const RemedyUse& use) { return use.remedy == remedy.id; });
  };
  doc::List list;
  for (const FailureRule& failure : rules.failures) {
    doc::Spans scenarios;
    for (const Scenario& scenario : failure.scenarios) {
      if (helps(scenario.remedies)) scenarios = doc::Joined({scenarios, Words(", scenario "), Code(scenario.id)});
    }
    if (helps(failure.remedies) || !scenarios.empty())
      list.items.push_back({doc::Joined({Code(failure.code), Words(" "), doc::Sentence(failure.title), scenarios})});
  }
  return list;
}

// Adds a failure. `whole`: with an example of a log, and each scenario even if all are asked for.
void AddFailure(const Explanation& explanation, bool whole, doc::Blocks* blocks) {
  const FailureRule& failure = *explanation.failure;
  const bool is_part = explanation.kind == Explanation::Kind::kPart;
  std::vector<doc::Spans> names = {doc::Sentence(failure.category)};
  for (const std::string& alias : failure.aliases) names.push_back(doc::Joined({Words("also written "), Code(alias)}));
  blocks->emplace_back(
      doc::Verdict{0, Printable(explanation.topic), doc::Sentence(failure.title), {doc::Joined(names, " · ")}});
  for (const std::string& paragraph : failure.about) {
    AddParagraph(paragraph, blocks);
    if (is_part) break;
  }
  const auto& scenarios = explanation.scenarios;
  const bool all_answer =
      is_part && !scenarios.empty() &&
      std::all_of(scenarios.begin(), scenarios.end(), [](const Scenario* one) { return one->retry.has_value(); });
  if (failure.retry && !all_answer) AddParagraph(RetryText(*failure.retry), blocks);
  if (doc::Code example = ExampleOf(failure); whole && !example.lines.empty())
    doc::AddSection({"Example of such a log", {std::move(example)}}, blocks);
  AddScenarioList(explanation, blocks);
  if (whole || is_part) {
    for (const Scenario* scenario : explanation.scenarios) AddScenario(explanation, *scenario, blocks);
  }
  AddRemedyTable(explanation, whole, blocks);
  AddLinks("Official pages", failure.links, blocks);
}

}  // namespace

doc::Blocks FailureBlocks(const Explanation& explanation) {
  doc::Blocks blocks;
  AddFailure(explanation, true, &blocks);
  return blocks;
}

doc::Blocks RemedyBlocks(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks) {
  doc::Blocks blocks = {doc::Verdict{0, Printable(remedy.id), doc::Sentence(remedy.title)}};
  blocks.emplace_back(FieldsOf(remedy));
  const std::vector<Way> ways = WaysOf(rules, remedy, frameworks);
  AddWays(ways, &blocks);
  std::vector<std::string> releases;
  for (const NameVersions& versions : rules.name_versions) {
    if (HasName(ways, versions.id)) releases.push_back(VersionsText(versions));
  }
  doc::AddSection({"Required releases", {ListOf(releases)}}, &blocks);
  doc::AddSection({"Helps with", {HelpsWith(rules, remedy)}}, &blocks);
  AddLinks("Read more", remedy.links, &blocks);
  return blocks;
}

doc::Blocks ExplanationBlocks(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks) {
  doc::Blocks blocks;
  if (explanation.kind == Explanation::Kind::kRemedy) {
    const Remedy& remedy = *explanation.remedies.front().remedy;
    blocks = RemedyBlocks(rules, remedy, frameworks);
    AddParagraph(FrameworksText(rules, remedy, frameworks), &blocks);
  } else {
    AddFailure(explanation, false, &blocks);
  }
  return blocks;
}

doc::Blocks TopicBlocks(const RuleSet& rules) {
  const auto item = [](const std::string& label, const std::string& title) {
    return doc::Item{.text = doc::Sentence(title), .label = Code(label)};
  };
  doc::List failures{doc::List::Style::kFields, {}, 0};
  for (const FailureRule& failure : rules.failures) {
    failures.items.push_back(item(failure.code, failure.title));
    doc::List scenarios{doc::List::Style::kFields, {}, 0};
    for (const Scenario& scenario : failure.scenarios)
      scenarios.items.push_back(item("." + scenario.id, scenario.title));
    if (!scenarios.items.empty()) failures.items.back().blocks = {std::move(scenarios)};
  }
  doc::List remedies{doc::List::Style::kFields, {}, 0};
  for (const Remedy& remedy : rules.remedies) remedies.items.push_back(item(remedy.id, remedy.title));
  return {doc::Section{"Failures and their scenarios", {std::move(failures)}},
          doc::Section{"Remedies", {std::move(remedies)}}};
}

}  // namespace whyoom
