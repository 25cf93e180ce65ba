#include "report/explanation_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "report/failure_view.h"
#include "report/outline.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Depth;
using doc::Words;
using Kind = doc::Span::Kind;

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

template <typename Topic>
doc::Spans TopicSpans(const std::string& title, const Topic& topic,
                      const std::function<std::string(const Topic&)>& link) {
  const std::string url = link ? link(topic) : "";
  return url.empty() ? doc::Sentence(title) : doc::Spans{{Printable(title), Kind::kPage, url}};
}

doc::Spans RemedySpans(const Remedy& remedy, const PageLinks& links) {
  return TopicSpans<Remedy>(remedy.title, remedy, links.remedy);
}

void AddParagraph(const std::string& text, doc::Blocks* blocks, Depth depth = Depth::kAlways) {
  if (!text.empty()) blocks->emplace_back(doc::Paragraph{doc::Sentence(text)}, depth);
}

doc::List ListOf(const std::vector<std::string>& texts, doc::List::Style style = doc::List::Style::kBullets) {
  doc::List list{.style = style};
  for (const std::string& text : texts) {
    if (!text.empty()) list.items.push_back({doc::Sentence(text)});
  }
  return list;
}

void AddListSection(const std::string& title, const std::vector<std::string>& texts, Depth depth, doc::Blocks* blocks) {
  doc::AddSection({.title = title, .blocks = {ListOf(texts)}}, depth, blocks);
}

std::vector<std::string> Outlines(const std::vector<Sentence>& sentences) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) texts.push_back(Outline(sentence.text));
  return texts;
}

void AddLinks(const std::string& title, const std::vector<Link>& links, doc::Blocks* blocks) {
  doc::List list;
  for (const Link& link : links) list.items.push_back({{{Printable(link.title), Kind::kLink, link.url}}});
  doc::AddSection({.title = title, .blocks = {std::move(list)}}, Depth::kAlways, blocks);
}

// The first lines of the first example text in the rule data.
doc::Code ExampleOf(const FailureRule& failure) {
  constexpr std::size_t kLines = 4;
  constexpr std::size_t kBytes = 600;
  doc::Code code{"", "text", {}, false};
  const std::string& text = failure.example;
  for (std::size_t at = text.find_first_not_of("\n "); at < text.size() && code.lines.size() < kLines;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    code.lines.push_back({std::string(CutBytes(text.substr(at, end - at), kBytes))});
    at = end + 1;
  }
  return code;
}

std::string ScenarioAnchor(const Scenario& scenario) { return "scenario-" + PlainName(scenario.id); }

// Adds nothing for a single scenario, unless the topic is a whole failure.
void AddScenarioList(const Explanation& explanation, doc::Blocks* blocks) {
  doc::List list{.style = doc::List::Style::kFields};
  for (const Scenario* scenario : explanation.scenarios) {
    const std::string about = FirstSentence(scenario->about);
    doc::Item item{doc::Sentence(scenario->title + (about.empty() ? "" : ". " + about))};
    item.label = {{Printable(scenario->id), Kind::kPage, "#" + ScenarioAnchor(*scenario)}};
    list.items.push_back(std::move(item));
  }
  if (list.items.size() > 1 || explanation.kind == Explanation::Kind::kFailure)
    doc::AddSection({.title = "Scenarios, and how they differ", .blocks = {std::move(list)}}, Depth::kAlways, blocks);
}

void AddRemedyTable(const Explanation& explanation, const PageLinks& links, doc::Blocks* blocks) {
  if (explanation.remedies.empty()) return;
  using Column = doc::Column;
  doc::Table table;
  table.columns = {Column{"remedy"}, Column{"results", Column::Kind::kWord}, Column{"cost", Column::Kind::kWord},
                   Column{"section of the official page", Column::Kind::kWord, 0, Depth::kMore}};
  for (const RemedyEntry& entry : explanation.remedies) {
    table.rows.push_back({{{RemedySpans(*entry.remedy, links)},
                           {Words(ResultsWord(*entry.remedy))},
                           {Words(CostWord(*entry.remedy))},
                           {doc::Sentence(entry.section)}}});
  }
  blocks->emplace_back(doc::Section{.title = "Remedies and their cost", .blocks = {std::move(table)}});
}

// Text omits a scenario if the list of scenarios already contains everything about it.
void AddScenario(const Explanation& explanation, const Scenario& scenario, const PageLinks& links,
                 doc::Blocks* blocks) {
  doc::Blocks about;
  AddParagraph(scenario.about, &about);
  if (scenario.retry) AddParagraph(RetryText(*scenario.retry), &about);
  about.emplace_back(doc::Paragraph{doc::Joined(
                         {Words("A diagnosis names this scenario if "), Code(scenario.when.source()), Words(".")})},
                     Depth::kMore);
  AddListSection("Sentences in a diagnosis, if their values are known", Outlines(scenario.why), Depth::kMore, &about);
  std::vector<doc::Spans> remedies;
  for (const RemedyUse& use : InOrder(scenario.remedies)) {
    for (const RemedyEntry& entry : explanation.remedies) {
      if (entry.remedy->id == use.remedy) remedies.push_back(RemedySpans(*entry.remedy, links));
    }
  }
  if (!remedies.empty()) {
    about.emplace_back(doc::Paragraph{doc::Joined(
                           {Words("Remedies, in the default order: "), doc::Joined(remedies, ", "), Words(".")})},
                       Depth::kMore);
  }
  const bool is_listed = explanation.kind == Explanation::Kind::kFailure && !scenario.retry &&
                         FirstSentence(scenario.about) == scenario.about;
  blocks->emplace_back(doc::Section{.title = "Scenario " + scenario.id + ": " + scenario.title,
                                    .blocks = std::move(about),
                                    .anchor = ScenarioAnchor(scenario)},
                       is_listed ? Depth::kMore : Depth::kAlways);
}

void AddField(const std::string& label, const doc::Spans& text, doc::List* fields) {
  if (text.empty()) return;
  doc::Item item{text};
  item.label = Words(label);
  fields->items.push_back(std::move(item));
}

doc::List FieldsOf(const Remedy& remedy) {
  doc::List fields{.style = doc::List::Style::kFields};
  AddField("Safe?", doc::Sentence(SafeText(remedy.safety, remedy.safe_why)), &fields);
  for (const ConditionalSafety& other : remedy.safety_when) {
    AddField("Safe?", doc::Joined({Words("In some jobs: "), doc::Sentence(SafeText(other.safety, other.safe_why))}),
             &fields);
  }
  AddField("Cost", Words(CostWord(remedy)), &fields);
  AddField("Gain", doc::Sentence(remedy.gain), &fields);
  AddField("Sign", doc::Sentence(remedy.telltale), &fields);
  AddField("Note", doc::Sentence(remedy.note), &fields);
  return fields;
}

void AddSteps(const std::vector<Steps>& all, doc::Blocks* blocks) {
  for (const Steps& steps : all) {
    std::string title = "How";
    if (steps.framework != nullptr) title += " in " + steps.framework->name;
    if (steps.is_fallback) title += " (the default steps)";
    doc::Blocks content = {ListOf(steps.plain, doc::List::Style::kSteps)};
    AddListSection("With values from the log", steps.of_log, Depth::kMore, &content);
    doc::AddSection({.title = title, .blocks = std::move(content), .follows = true}, Depth::kAlways, blocks);
  }
}

void AddSnippets(const std::vector<ShownSnippet>& snippets, doc::Blocks* blocks) {
  doc::Blocks code;
  for (const ShownSnippet& one : snippets) {
    CodeChange change = ChangeIn(*one.snippet);
    const std::string& language = one.snippet->language;
    code.emplace_back(doc::Code{one.framework->name + ", before:", language, std::move(change.before), false});
    code.emplace_back(doc::Code{"After:", language, std::move(change.after), true});
  }
  doc::AddSection({.title = "Before and after", .blocks = std::move(code), .follows = true}, Depth::kAlways, blocks);
}

// The failures that the remedy helps with, each with its scenarios.
doc::List HelpsWith(const RuleSet& rules, const Remedy& remedy, const PageLinks& links) {
  doc::List list;
  const FailureRule* last = nullptr;
  for (const Use& use : UsesOf(rules, remedy)) {
    if (use.failure != std::exchange(last, use.failure)) {
      list.items.push_back({doc::Joined({TopicSpans<FailureRule>(use.failure->code, *use.failure, links.failure),
                                         Words(" "), doc::Sentence(use.failure->title)})});
    }
    doc::Spans& text = list.items.back().text;
    if (use.scenario != nullptr) text = doc::Joined({text, Words(", scenario "), Code(use.scenario->id)});
  }
  return list;
}

// The content of a remedy, without its name. If `brief` is true, text shows only the steps.
doc::Blocks RemedyContent(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks,
                          const PageLinks& links, bool brief = false) {
  doc::Blocks blocks;
  const Depth depth = brief ? Depth::kMore : Depth::kAlways;
  blocks.emplace_back(FieldsOf(remedy), depth);
  const std::vector<Steps> steps = StepsIn(rules, remedy, frameworks);
  AddSteps(steps, &blocks);
  const std::vector<ShownSnippet> snippets = SnippetsIn(rules, remedy, frameworks);
  AddSnippets(snippets, &blocks);
  std::vector<std::string> releases;
  for (const NameVersions* versions : VersionsIn(rules, steps, snippets)) releases.push_back(VersionsText(*versions));
  doc::AddSection({.title = "Required releases", .blocks = {ListOf(releases)}, .follows = true}, depth, &blocks);
  AddListSection("Evidence for it in a log", Outlines(remedy.evidence), Depth::kMore, &blocks);
  AddListSection("What rules it out", Outlines(remedy.ruled_out), Depth::kMore, &blocks);
  doc::List with;
  for (const std::string& id : remedy.with) {
    if (const Remedy* other = rules.FindRemedy(id)) with.items.push_back({RemedySpans(*other, links)});
  }
  doc::AddSection({.title = "Combines well with", .blocks = {std::move(with)}}, Depth::kMore, &blocks);
  return blocks;
}

// Adds the sections that only the page of a remedy has.
void AddUses(const RuleSet& rules, const Remedy& remedy, const PageLinks& links, doc::Blocks* blocks) {
  doc::AddSection({.title = "Helps with", .blocks = {HelpsWith(rules, remedy, links)}}, Depth::kAlways, blocks);
  AddLinks("Read more", remedy.links, blocks);
}

void AddRemedies(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks,
                 const PageLinks& links, doc::Blocks* blocks) {
  doc::Blocks remedies;
  AddParagraph(FrameworksText(rules, explanation.remedies, frameworks), &remedies);
  AddParagraph("`whyoom explain REMEDY_ID` describes one remedy in full.", &remedies);
  const bool brief = explanation.kind == Explanation::Kind::kPart && !explanation.scenarios.empty();
  for (const RemedyEntry& entry : explanation.remedies) {
    const Remedy& remedy = *entry.remedy;
    const std::string place = entry.section.empty() ? "" : " [" + entry.section + "]";
    remedies.emplace_back(doc::Section{.title = remedy.id + ": " + remedy.title + place,
                                       .blocks = RemedyContent(rules, remedy, frameworks, links, brief),
                                       .anchor = PlainName(remedy.id)});
  }
  doc::AddSection({.title = "Each remedy", .blocks = std::move(remedies)}, Depth::kAlways, blocks);
}

void AddFailure(const Explanation& explanation, const PageLinks& links, doc::Blocks* blocks) {
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
  if (doc::Code example = ExampleOf(failure); !example.lines.empty()) {
    blocks->emplace_back(doc::Section{.title = "Example of such a log", .blocks = {std::move(example)}}, Depth::kMore);
  }
  AddScenarioList(explanation, blocks);
  AddRemedyTable(explanation, links, blocks);
  for (const Scenario* scenario : explanation.scenarios) AddScenario(explanation, *scenario, links, blocks);
  AddListSection("Sentences for every scenario", Outlines(failure.why), Depth::kMore, blocks);
}

}  // namespace

std::string PlainName(std::string_view id) {
  std::string name;
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        std::isalnum(byte) != 0 || c == '_' || c == '-' || (c == '.' && !name.empty() && name.back() != '.');
    name += plain ? std::string(1, c) : fmt::format("_{:02x}", byte);
  }
  return name;
}

doc::Blocks FailureBlocks(const Explanation& explanation, const PageLinks& links) {
  doc::Blocks blocks;
  AddFailure(explanation, links, &blocks);
  AddLinks("Official pages", explanation.failure->links, &blocks);
  return blocks;
}

doc::Blocks RemedyBlocks(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks,
                         const PageLinks& links) {
  doc::Blocks blocks = {doc::Verdict{0, Printable(remedy.id), doc::Sentence(remedy.title)}};
  for (doc::Block& block : RemedyContent(rules, remedy, frameworks, links)) blocks.push_back(std::move(block));
  AddUses(rules, remedy, links, &blocks);
  return blocks;
}

doc::Blocks ExplanationBlocks(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks) {
  if (explanation.kind == Explanation::Kind::kRemedy) {
    doc::Blocks blocks = RemedyBlocks(rules, *explanation.remedies.front().remedy, frameworks, {});
    AddParagraph(FrameworksText(rules, explanation.remedies, frameworks), &blocks);
    return blocks;
  }
  PageLinks links;
  links.remedy = [](const Remedy& remedy) { return "#" + PlainName(remedy.id); };
  doc::Blocks blocks;
  AddFailure(explanation, links, &blocks);
  AddRemedies(rules, explanation, frameworks, links, &blocks);
  AddLinks("Official pages", explanation.failure->links, &blocks);
  return blocks;
}

doc::Blocks TopicBlocks(const RuleSet& rules, const PageLinks& links) {
  const auto item = [](doc::Spans label, const std::string& title) {
    doc::Item made{doc::Sentence(title)};
    made.label = std::move(label);
    return made;
  };
  doc::List failures{.style = doc::List::Style::kFields};
  for (const FailureRule& failure : rules.failures) {
    failures.items.push_back(item(TopicSpans<FailureRule>(failure.code, failure, links.failure), failure.title));
    doc::List scenarios{.style = doc::List::Style::kFields};
    for (const Scenario& scenario : failure.scenarios)
      scenarios.items.push_back(item(Code("." + scenario.id), scenario.title));
    if (!scenarios.items.empty()) failures.items.back().blocks = {std::move(scenarios)};
  }
  doc::List remedies{.style = doc::List::Style::kFields};
  for (const Remedy& remedy : rules.remedies)
    remedies.items.push_back(item(TopicSpans<Remedy>(remedy.id, remedy, links.remedy), remedy.title));
  return {doc::Section{.title = "Failures and their scenarios", .blocks = {std::move(failures)}},
          doc::Section{.title = "Remedies", .blocks = {std::move(remedies)}}};
}

}  // namespace whyoom
