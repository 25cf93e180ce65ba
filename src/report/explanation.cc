#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <utility>

#include "facts/evidence.h"
#include "report/command_documents.h"
#include "report/failure_view.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;
using Kind = doc::Span::Kind;

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

// "jax.memory: jax 0.7.0 or newer".
std::string VersionsText(const NameVersions& versions) {
  std::string text = versions.id + ": " + versions.package + " ";
  if (versions.until.empty()) return text + versions.since + " or newer";
  if (versions.since.empty()) return text + "up to " + versions.until;
  return text + versions.since + " to " + versions.until;
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

void AddLinks(const std::string& title, const std::vector<Link>& links, doc::Blocks* blocks) {
  doc::List list;
  for (const Link& link : links) list.items.push_back({{{Printable(link.title), Kind::kLink, link.url}}});
  doc::AddSection({title, {std::move(list)}}, blocks);
}

// The first lines of the first example text in the rule data.
doc::Code ExampleOf(const FailureRule& failure) {
  constexpr std::size_t kLines = 4;
  constexpr std::size_t kBytes = 600;
  doc::Code code = doc::CodeOf(failure.example);
  std::erase_if(code.lines, [](const doc::Span& line) { return line.text.empty(); });
  code.lines.resize(std::min(code.lines.size(), kLines));
  for (doc::Span& line : code.lines) line.text = CutBytes(line.text, kBytes);
  return code;
}

doc::List FieldsOf(const Remedy& remedy) {
  static constexpr const char* kCosts[] = {"none",      "a small change", "slower steps", "slow or uncertain",
                                           "precision", "another setup",  "another model"};
  const auto cost = std::clamp<std::size_t>(static_cast<std::size_t>(remedy.cost), 0, std::size(kCosts) - 1);
  std::vector<std::pair<const char*, std::string>> fields = {{"Safe?", SafeText(remedy.safety, remedy.safe_why)}};
  for (const ConditionalSafety& other : remedy.safety_when)
    fields.emplace_back("or", SafeText(other.safety, other.safe_why));
  fields.insert(fields.end(),
                {{"Cost", kCosts[cost]}, {"Gain", remedy.gain}, {"Sign", remedy.telltale}, {"Note", remedy.note}});
  doc::List list{doc::List::Style::kFields, {}};
  for (const auto& [label, text] : fields) {
    if (!text.empty()) list.items.push_back({.text = doc::Sentence(text), .label = Words(label)});
  }
  return list;
}

// The steps that need no values from a log, for each requested framework. If none is requested, for each framework with
// steps, the default one first.
void AddWays(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks, doc::Blocks* blocks) {
  std::vector<std::pair<std::string, const Framework*>> keys;  // of the steps, and the framework that asks for them
  for (const Framework* asked : frameworks) keys.emplace_back(rules.KeyOfSteps(remedy, asked->id), asked);
  for (const auto& [key, steps] : remedy.how) {
    if (frameworks.empty())
      keys.emplace(key == RuleSet::kDefaultFramework ? keys.begin() : keys.end(), key, rules.FindFramework(key));
  }
  std::string shown;
  doc::Blocks code;
  for (const auto& [key, asked] : keys) {
    const auto how = remedy.how.find(key);
    if (how == remedy.how.end()) continue;
    const Framework* framework = rules.FindFramework(key);
    doc::List steps;
    for (const Sentence& step : how->second) {
      const std::optional<std::string> text = step.Fill(Evidence());
      if (text) steps.items.push_back(doc::Step(doc::Sentence(*text)));
      shown += text.value_or("") + "\n";
    }
    const std::string title = framework == nullptr ? "How" : "How in " + framework->name;
    doc::AddSection({title + (framework == asked ? "" : " (the default steps)"), {std::move(steps)}}, blocks);
    const auto snippet = remedy.snippets.find(key);
    if (snippet == remedy.snippets.end() || framework == nullptr) continue;
    const auto& [language, before, after] = snippet->second;
    code.insert(code.end(),
                {doc::Paragraph{doc::Sentence(framework->name + ", before:")}, doc::CodeOf(before, language),
                 doc::Paragraph{Words("After:")}, doc::CodeOf(after, language)});
    shown += after + "\n";
  }
  doc::AddSection({"Before and after", std::move(code)}, blocks);
  doc::List releases;
  for (const NameVersions& versions : rules.name_versions) {
    if (ContainsName(shown, versions.id)) releases.items.push_back({doc::Sentence(VersionsText(versions))});
  }
  doc::AddSection({"Required releases", {std::move(releases)}}, blocks);
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

doc::Blocks RemedyBlocks(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks) {
  doc::Blocks blocks = {doc::Verdict{0, Printable(remedy.id), doc::Sentence(remedy.title)}};
  doc::AddSection({"", {FieldsOf(remedy)}}, &blocks);
  AddWays(rules, remedy, frameworks, &blocks);
  doc::AddSection({"Helps with", {HelpsWith(rules, remedy)}}, &blocks);
  AddLinks("Read more", remedy.links, &blocks);
  std::vector<std::string> others;
  for (const Framework& framework : rules.frameworks) {
    const bool is_shown = frameworks.empty() || &framework == frameworks.front();
    if (!is_shown && remedy.how.contains(framework.id)) others.push_back(framework.name);
  }
  if (!others.empty())
    AddParagraph(fmt::format("--framework shows the steps for others: {}, or all.", Listing(others)), &blocks);
  return blocks;
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

doc::Blocks ExplanationBlocks(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks) {
  if (explanation.failure == nullptr) return RemedyBlocks(rules, *explanation.remedies.front(), frameworks);
  const FailureRule& failure = *explanation.failure;
  const bool is_part = explanation.topic != failure.code;
  std::vector<doc::Spans> names = {doc::Sentence(failure.category)};
  for (const std::string& alias : failure.aliases) names.push_back(doc::Joined({Words("also written "), Code(alias)}));
  doc::Blocks blocks = {
      doc::Verdict{0, Printable(explanation.topic), doc::Sentence(failure.title), {doc::Joined(names, " · ")}}};
  for (const std::string& about : failure.about)
    if (!is_part || &about == failure.about.data()) AddParagraph(about, &blocks);
  doc::List scenarios{doc::List::Style::kFields, {}};
  bool all_answer = is_part && !explanation.scenarios.empty();
  for (const Scenario* scenario : explanation.scenarios) {
    std::string text = scenario->title + (scenario->about.empty() ? "" : ". " + scenario->about);
    if (scenario->retry) text += " " + RetryText(*scenario->retry);
    all_answer = all_answer && scenario->retry;
    scenarios.items.push_back({.text = doc::Sentence(text), .label = Words(Printable(scenario->id))});
  }
  if (failure.retry && !all_answer) AddParagraph(RetryText(*failure.retry), &blocks);
  doc::AddSection({"Example of such a log", {ExampleOf(failure)}}, &blocks);
  doc::AddSection({"Scenarios", {std::move(scenarios)}}, &blocks);
  doc::Table remedies{{{"id", false, true}, {"remedy"}}, {}, 0};
  for (const Remedy* remedy : explanation.remedies)
    remedies.rows.push_back({doc::Name(remedy->id), doc::Sentence(remedy->title)});
  doc::AddSection({"Remedies", {std::move(remedies)}}, &blocks);
  AddParagraph("whyoom explain describes each of these ids.", &blocks);
  AddLinks("Official pages", failure.links, &blocks);
  return blocks;
}

doc::Blocks TopicBlocks(const RuleSet& rules) {
  const auto item = [](const std::string& label, const std::string& title) {
    return doc::Item{.text = doc::Sentence(title), .label = Code(label)};
  };
  doc::List failures{doc::List::Style::kFields, {}};
  for (const FailureRule& failure : rules.failures) {
    failures.items.push_back(item(failure.code, failure.title));
    doc::List scenarios{doc::List::Style::kFields, {}};
    for (const Scenario& scenario : failure.scenarios)
      scenarios.items.push_back(item("." + scenario.id, scenario.title));
    if (!scenarios.items.empty()) failures.items.back().blocks = {std::move(scenarios)};
  }
  doc::List remedies{doc::List::Style::kFields, {}};
  for (const Remedy& remedy : rules.remedies) remedies.items.push_back(item(remedy.id, remedy.title));
  return {doc::Section{"Failures and their scenarios", {std::move(failures)}},
          doc::Section{"Remedies", {std::move(remedies)}}};
}

}  // namespace whyoom
