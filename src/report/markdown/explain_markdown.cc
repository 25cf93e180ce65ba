#include "report/markdown/explain_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "report/finding_view.h"
#include "report/markdown/markdown_text.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kExampleLines = 4;
constexpr std::size_t kExampleBytes = 600;

// A sentence of the rule data, in which names may stand between backticks.
std::string Advice(const std::string& text) {
  if (std::count(text.begin(), text.end(), '`') % 2 != 0) return MarkdownSentence(text);
  std::string advice;
  bool in_code = false;
  for (std::size_t begin = 0; begin <= text.size(); in_code = !in_code) {
    const std::size_t end = std::min(text.find('`', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    // Behind a name these are no markup, and no begin of a sentence.
    const std::size_t words = in_code || begin == 0 ? 0 : std::min(part.find_first_not_of(" .,;:)"), part.size());
    advice += part.substr(0, words);
    advice += in_code ? MarkdownCode(part) : MarkdownSentence(part.substr(words));
    begin = end + 1;
  }
  return advice;
}

std::string Paragraph(const std::string& text) { return text.empty() ? "" : "\n" + Advice(text) + "\n"; }

std::string Items(const std::vector<std::string>& texts) {
  std::string items;
  for (const std::string& text : texts) {
    if (!text.empty()) items += "- " + Advice(text) + "\n";
  }
  return items;
}

std::string Heading(std::size_t level, const std::string& markdown) {
  return "\n" + std::string(level, '#') + " " + markdown + "\n";
}

std::string Section(std::size_t level, const std::string& title, const std::string& content) {
  return content.empty() ? "" : Heading(level, title) + "\n" + content;
}

// "[text](where)"; the text alone where it leads nowhere.
std::string LinkTo(const std::string& markdown, const std::string& where) {
  return where.empty() ? markdown : "[" + markdown + "](" + where + ")";
}

std::string RemedyLink(const Remedy& remedy, const PageLinks& links) {
  return LinkTo(MarkdownSentence(remedy.title), links.remedy ? links.remedy(remedy) : "");
}

std::string Anchor(const std::string& name) { return "<a id=\"" + PlainName(name) + "\"></a>"; }

std::vector<std::string> Outlines(const std::vector<Sentence>& sentences) {
  std::vector<std::string> texts;
  for (const Sentence& sentence : sentences) texts.push_back(sentence.text.Outline());
  return texts;
}

std::string LinkList(const std::vector<Link>& links) {
  std::string text;
  for (const Link& link : links) text += "- " + MarkdownSentence(link.title) + ": " + MarkdownUrl(link.url) + "\n";
  return text;
}

// The begin of the first text that the rule data gives as an example.
std::string ExampleOf(const Failure& failure) {
  if (failure.match.empty()) return {};
  const std::string& text = failure.match.front().text;
  std::string block;
  std::size_t begin = std::min(text.find_first_not_of("\n "), text.size());
  for (std::size_t i = 0; i < kExampleLines && begin < text.size(); ++i) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    block += (i == 0 ? "" : "\n") + CutBytes(Printable(text.substr(begin, end - begin)), kExampleBytes);
    begin = end + 1;
  }
  return block;
}

std::string CodeBlock(const std::string& text) {
  std::string lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += "    " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return lines;
}

std::string ScenarioTable(const Explanation& explanation) {
  std::string text;
  for (const Scenario* scenario : explanation.scenarios)
    text +=
        fmt::format("| {} | {} | {} |\n", LinkTo(MarkdownCode(scenario->id), "#scenario-" + PlainName(scenario->id)),
                    MarkdownSentence(scenario->title), Advice(FirstSentence(scenario->about)));
  return text.empty() ? "" : "| scenario | in a few words | what tells it |\n|---|---|---|\n" + text;
}

std::string RemedyTable(const Explanation& explanation, const PageLinks& links) {
  std::string text;
  for (const RemedyEntry& entry : explanation.remedies)
    text += fmt::format("| {} | {} | {} | {} |\n", RemedyLink(*entry.remedy, links), ResultsWord(*entry.remedy),
                        CostWord(*entry.remedy), MarkdownSentence(entry.section));
  return text.empty() ? "" : "| remedy | results | cost | place in the official pages |\n|---|---|---|---|\n" + text;
}

std::string ScenarioSection(const Explanation& explanation, const Scenario& scenario, const PageLinks& links) {
  std::string text = Heading(2, Anchor("scenario-" + scenario.id) + "Scenario " + MarkdownCode(scenario.id) + ": " +
                                    MarkdownSentence(scenario.title));
  text += Paragraph(scenario.about);
  if (scenario.retry) text += Paragraph(RetryText(*scenario.retry));
  text += "\nA diagnosis names it where " + MarkdownCode(scenario.when.source()) + ".\n";
  if (const std::string why = Items(Outlines(scenario.why)); !why.empty())
    text += "\nWhat a diagnosis says of the log, as far as it is known:\n\n" + why;
  std::string remedies;
  for (const RemedyUse& use : InOrder(scenario.remedies)) {
    for (const RemedyEntry& entry : explanation.remedies) {
      if (entry.remedy->id == use.remedy) remedies += (remedies.empty() ? "" : ", ") + RemedyLink(*entry.remedy, links);
    }
  }
  return remedies.empty()
             ? text
             : text + "\nRemedies, in the order that holds where the log says nothing: " + remedies + ".\n";
}

std::string StepList(const Steps& steps) {
  std::string text = Items(steps.plain);
  if (steps.of_log.empty()) return text;
  return text + (text.empty() ? "" : "\n") + "With what the log tells:\n\n" + Items(steps.of_log);
}

// A block of lines, with the language for what colours them.
std::string Fenced(const std::vector<CodeLine>& lines, const std::string& language) {
  std::string fence = "```";
  for (const CodeLine& line : lines) {
    while (line.text.find(fence) != std::string::npos) fence += '`';
  }
  std::string block = fence + language + "\n";
  for (const CodeLine& line : lines) block += Printable(line.text) + "\n";
  return block + fence + "\n";
}

std::string SnippetText(const std::vector<ShownSnippet>& snippets) {
  std::string text;
  for (const ShownSnippet& one : snippets) {
    const std::string& language = one.snippet->language;
    const CodeChange change = ChangeIn(*one.snippet);
    text += (text.empty() ? "" : "\n") + MarkdownSentence(one.framework->name) + ", before:\n\n" +
            Fenced(change.before, language) + "\nAfter:\n\n" + Fenced(change.after, language);
  }
  return text;
}

// What two runs show where the remedy was applied between them.
std::string Traces(const RuleSet& rules, const Remedy& remedy) {
  std::vector<std::string> texts;
  const auto add = [&](const Trace& trace) {
    const auto& of = trace.remedies;
    if (std::none_of(of.begin(), of.end(), [&](const TraceRemedy& one) { return one.id == remedy.id; })) return;
    std::string text;
    for (const Sentence& sentence : trace.why) text += sentence.text.Outline();
    texts.push_back(text);
  };
  for (const Trace& trace : rules.traces()) add(trace);
  return Items(texts);
}

std::string UseList(const RuleSet& rules, const Remedy& remedy, const PageLinks& links) {
  std::string text;
  const Failure* last = nullptr;
  for (const Use& use : UsesOf(rules, remedy)) {
    if (use.failure != last) {
      text += std::string(last == nullptr ? "" : "\n") + "- " +
              LinkTo(MarkdownCode(use.failure->code), links.failure ? links.failure(*use.failure) : "") + " " +
              MarkdownSentence(use.failure->title);
      last = use.failure;
    }
    if (use.scenario != nullptr) text += ", " + MarkdownCode(use.scenario->id);
  }
  return text.empty() ? "" : text + "\n";
}

std::string Labelled(const char* label, const std::string& text) {
  return text.empty() ? "" : "- **" + std::string(label) + "** " + Advice(text) + "\n";
}

std::string Facts(const Remedy& remedy) {
  std::string text = Labelled("Safe?", SafeText(remedy.safety, remedy.safe_why));
  for (const OtherSafety& other : remedy.safety_when) {
    text += "- **Safe?** Where " + MarkdownCode(other.when.source()) + ": " +
            Advice(SafeText(other.safety, other.safe_why)) + "\n";
  }
  text += Labelled("Cost:", CostWord(remedy));
  text += Labelled("What it can gain:", remedy.gain);
  text += Labelled("What speaks for it:", remedy.telltale);
  text += Labelled("Note:", remedy.note);
  return text;
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

std::string MarkdownFailure(const Explanation& explanation, const PageLinks& links) {
  const Failure& failure = *explanation.failure;
  std::string text = "# " + MarkdownCode(explanation.topic) + " " + MarkdownSentence(failure.title) + "\n\n" +
                     MarkdownSentence(failure.category);
  for (const std::string& alias : failure.aliases) text += " · also written " + MarkdownCode(alias);
  text += "\n";
  const bool is_part = explanation.kind == Explanation::Kind::kPart;
  for (const std::string& paragraph : failure.about) {
    text += Paragraph(paragraph);
    if (is_part) break;  // what it is, before the part
  }
  if (failure.retry) text += Paragraph(RetryText(*failure.retry));
  if (const std::string example = ExampleOf(failure); !example.empty())
    text += "\nSuch a log reads, for example:\n\n" + CodeBlock(example);
  text += Section(2, "Scenarios, and what tells them apart", ScenarioTable(explanation));
  text += Section(2, "What helps, and what it costs", RemedyTable(explanation, links));
  for (const Scenario* scenario : explanation.scenarios) text += ScenarioSection(explanation, *scenario, links);
  text += Section(2, "What a diagnosis says whatever the scenario", Items(Outlines(failure.why)));
  return text + Section(2, "Official pages", LinkList(failure.links));
}

std::string MarkdownRemedy(const RuleSet& rules, const Remedy& remedy, const Frameworks& frameworks,
                           const PageLinks& links, std::size_t level) {
  const std::size_t below = level + 1;
  std::string text = std::string(level, '#') + " " + Anchor(remedy.id) + MarkdownSentence(remedy.title) + "\n\n" +
                     MarkdownCode(remedy.id) + "\n\n" + Facts(remedy);
  const std::vector<Steps> all = StepsIn(rules, remedy, frameworks);
  for (const Steps& steps : all) {
    std::string title = "How";
    if (steps.framework != nullptr) title += " in " + MarkdownSentence(steps.framework->name);
    if (steps.stand_in) title += " (there are no other steps)";
    text += Section(below, title, StepList(steps));
  }
  const std::vector<ShownSnippet> snippets = SnippetsIn(rules, remedy, frameworks);
  text += Section(below, "Before and after", SnippetText(snippets));
  std::vector<std::string> releases;
  for (const NameVersions* versions : VersionsIn(rules, all, snippets)) releases.push_back(VersionsText(*versions));
  text += Section(below, "Which releases have it", Items(releases));
  text += Section(below, "What in a log speaks for it", Items(Outlines(remedy.evidence)));
  text += Section(below, "What rules it out", Items(Outlines(remedy.ruled_out)));
  text += Section(below, "What a comparison of two runs shows after it", Traces(rules, remedy));
  std::string with;
  for (const std::string& id : remedy.with) {
    if (const Remedy* other = rules.FindRemedy(id)) with += "- " + RemedyLink(*other, links) + "\n";
  }
  text += Section(below, "Goes well with", with);
  text += Section(below, "Helps with", UseList(rules, remedy, links));
  return text + Section(below, "Read more", LinkList(remedy.links));
}

std::string MarkdownIndex(const RuleSet& rules, const PageLinks& links) {
  std::string text = "# Failures and remedies\n\n| code | what it is | scenarios |\n|---|---|---|\n";
  for (const Failure& failure : rules.failures()) {
    std::string scenarios;
    for (const Scenario& scenario : failure.scenarios)
      scenarios += (scenarios.empty() ? "" : "; ") + MarkdownSentence(scenario.title);
    text += fmt::format("| {} | {} | {} |\n",
                        LinkTo(MarkdownCode(failure.code), links.failure ? links.failure(failure) : ""),
                        MarkdownSentence(failure.title), scenarios);
  }
  text += "\n## Remedies\n\n| remedy | id | results | cost |\n|---|---|---|---|\n";
  for (const auto& [id, remedy] : rules.remedies())
    text += fmt::format("| {} | {} | {} | {} |\n", RemedyLink(remedy, links), MarkdownCode(id), ResultsWord(remedy),
                        CostWord(remedy));
  return text;
}

std::string PrintExplanationMarkdown(const RuleSet& rules, const Explanation& explanation,
                                     const Frameworks& frameworks) {
  PageLinks links;
  if (explanation.kind == Explanation::Kind::kRemedy)
    return MarkdownRemedy(rules, *explanation.remedies.front().remedy, frameworks, links, 1);
  links.remedy = [&](const Remedy& remedy) {
    const auto& shown = explanation.remedies;
    const bool is_here =
        std::any_of(shown.begin(), shown.end(), [&](const RemedyEntry& entry) { return entry.remedy == &remedy; });
    return is_here ? "#" + PlainName(remedy.id) : "";
  };
  std::string text = MarkdownFailure(explanation, links);
  for (const RemedyEntry& entry : explanation.remedies)
    text += "\n" + MarkdownRemedy(rules, *entry.remedy, frameworks, links, 2);
  const std::string shown = FrameworksText(rules, explanation.remedies, frameworks);
  return shown.empty() ? text : text + "\n" + MarkdownSentence(shown) + "\n";
}

}  // namespace whyoom
