#include "report/text/explain_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "report/finding_view.h"
#include "report/layout.h"
#include "report/phrases.h"
#include "report/text/text_page.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kExplainIndent = 3;
constexpr std::size_t kColumn = 13;  // of what stands beside a label
constexpr std::size_t kResults = 17;
constexpr std::size_t kCost = 14;

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }

class ExplainPage {
 public:
  ExplainPage(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks,
              const TextOptions& options)
      : rules_(rules), explanation_(explanation), frameworks_(frameworks), page_(options) {}

  std::string Print() {
    switch (explanation_.kind) {
      case Explanation::Kind::kFailure:
        PrintFailure();
        break;
      case Explanation::Kind::kPart:
        PrintPart();
        break;
      case Explanation::Kind::kRemedy:
        PrintRemedyTopic();
        break;
    }
    return WithoutCommands(page_.Take());
  }

 private:
  void PrintFailure();
  void PrintPart();
  void PrintRemedyTopic();
  void PrintTitle(const std::string& name, const std::string& title);
  void PrintAbout(const Failure& failure);
  void PrintScenarioList();
  void PrintTable();
  void PrintScenarios();
  void PrintScenario(const Scenario& scenario);
  void PrintRemedies(bool whole);
  void PrintWhole(const Remedy& remedy);
  void PrintSteps(const Remedy& remedy);
  void PrintSnippets(const Remedy& remedy);
  void PrintCode(const std::string& label, const std::vector<CodeLine>& lines, TextPage::Look look);
  void PrintLinks(const Failure& failure);

  void Field(const std::string& label, const std::string& text) {
    if (!text.empty()) page_.Item(std::string(kExplainIndent, ' ') + label, kColumn, WithoutMarks(Printable(text)));
  }

  void Again(const std::optional<Retry>& retry, std::size_t column) {
    if (!retry || RetryText(*retry).empty()) return;
    if (column == 0) page_.Blank();
    page_.Paragraph(Printable(RetryText(*retry)), column);
  }

  const RuleSet& rules_;
  const Explanation& explanation_;
  const Frameworks& frameworks_;
  TextPage page_;
};

void ExplainPage::PrintFailure() {
  const Failure& failure = *explanation_.failure;
  PrintTitle(failure.code, failure.title);
  std::vector<std::string> facts = {Printable(failure.category)};
  for (const std::string& alias : failure.aliases) facts.push_back("also written " + Printable(alias));
  page_.Paragraph(Joined(facts), DisplayWidth(failure.code) + 2);
  PrintAbout(failure);
  Again(failure.retry, 0);
  PrintScenarioList();
  PrintTable();
  PrintScenarios();
  PrintRemedies(true);
  PrintLinks(failure);
}

void ExplainPage::PrintPart() {
  const Failure& failure = *explanation_.failure;
  PrintTitle(explanation_.topic, failure.title);
  if (!failure.about.empty()) {
    page_.Blank();
    page_.Paragraph(Printable(failure.about.front()));
  }
  bool all_own = !explanation_.scenarios.empty();
  for (const Scenario* scenario : explanation_.scenarios) {
    page_.Blank();
    PrintScenario(*scenario);
    all_own = all_own && scenario->retry.has_value();
  }
  if (!all_own) Again(failure.retry, 0);
  PrintTable();
  PrintRemedies(explanation_.scenarios.empty());
  PrintLinks(failure);
}

void ExplainPage::PrintRemedyTopic() {
  const Remedy& remedy = *explanation_.remedies.front().remedy;
  PrintTitle(remedy.id, remedy.title);
  PrintWhole(remedy);
  for (const Link& link : remedy.links) Field("see", link.title + ": " + link.url);
  std::vector<std::string> codes;
  for (const Use& use : UsesOf(rules_, remedy)) {
    if (codes.empty() || codes.back() != use.failure->code) codes.push_back(use.failure->code);
  }
  Field("helps", "with " + Joined(codes));
  if (const std::string text = FrameworksText(rules_, explanation_.remedies, frameworks_); !text.empty()) {
    page_.Blank();
    page_.Paragraph(Printable(text));
  }
}

void ExplainPage::PrintTitle(const std::string& name, const std::string& title) {
  const std::size_t column = DisplayWidth(Printable(name)) + 2;
  std::vector<std::string> lines = Wrap(Printable(title), page_.width() > column ? page_.width() - column : 1);
  page_.Title(Printable(name), lines.front());
  for (std::size_t i = 1; i < lines.size(); ++i) page_.Paragraph(lines[i], column, &Style::Strong);
}

void ExplainPage::PrintAbout(const Failure& failure) {
  for (const std::string& paragraph : failure.about) {
    page_.Blank();
    page_.Paragraph(Printable(paragraph));
  }
}

// One entry each, with the sentence that tells it from the others.
void ExplainPage::PrintScenarioList() {
  if (explanation_.scenarios.empty()) return;
  page_.Heading("Scenarios, and what tells them apart");
  std::size_t column = 0;
  for (const Scenario* scenario : explanation_.scenarios) column = std::max(column, scenario->id.size() + 2);
  for (const Scenario* scenario : explanation_.scenarios) {
    const std::string tells = FirstSentence(scenario->about);
    page_.Item("  " + Printable(scenario->id), column + 2,
               Printable(scenario->title + (tells.empty() ? "" : ". " + tells)));
  }
}

void ExplainPage::PrintTable() {
  if (explanation_.remedies.empty()) return;
  page_.Heading("What helps, and what it costs");
  const std::size_t fixed = 2 + kResults + kCost;
  const std::size_t titles = page_.width() > fixed + 20 ? page_.width() - fixed : 20;
  const auto row = [&](const std::string& title, const std::string& results, const std::string& cost) {
    return "  " + Fit(title, titles - 1) + " " + Fit(results, kResults - 1) + " " + cost;
  };
  page_.Line(page_.style().Faint(row("", "results", "cost")));
  for (const RemedyEntry& entry : explanation_.remedies) {
    const std::vector<std::string> lines = Wrap(Printable(entry.remedy->title), titles - 1);
    page_.Line(row(lines[0], ResultsWord(*entry.remedy), CostWord(*entry.remedy)));
    for (std::size_t i = 1; i < lines.size(); ++i) page_.Line("    " + lines[i]);
  }
}

// Those of which the list above does not say all.
void ExplainPage::PrintScenarios() {
  bool first = true;
  for (const Scenario* scenario : explanation_.scenarios) {
    if (!scenario->retry && FirstSentence(scenario->about) == scenario->about) continue;
    if (std::exchange(first, false)) {
      page_.Heading("Each scenario");
    } else {
      page_.Blank();
    }
    PrintScenario(*scenario);
  }
}

void ExplainPage::PrintScenario(const Scenario& scenario) {
  page_.Item(Printable(scenario.id), 0, Printable(scenario.title));
  page_.Paragraph(Printable(scenario.about), kExplainIndent);
  Again(scenario.retry, kExplainIndent);
}

void ExplainPage::PrintRemedies(bool whole) {
  if (explanation_.remedies.empty()) return;
  page_.Heading(whole ? "Each remedy" : "How");
  if (const std::string text = FrameworksText(rules_, explanation_.remedies, frameworks_); !text.empty())
    page_.Paragraph(Printable(text));
  page_.Paragraph("`whyoom explain` with the id of a remedy says more of it.");
  for (const auto& [remedy, section, scenarios] : explanation_.remedies) {
    page_.Blank();
    page_.Item(Printable(remedy->id), 0,
               Printable("— " + remedy->title + (section.empty() ? "" : " [" + section + "]")));
    if (whole) {
      PrintWhole(*remedy);
    } else {
      PrintSteps(*remedy);
    }
  }
}

void ExplainPage::PrintWhole(const Remedy& remedy) {
  Field("safe?", SafeText(remedy.safety, remedy.safe_why));
  for (const OtherSafety& other : remedy.safety_when) Field("or", SafeText(other.safety, other.safe_why));
  if (explanation_.kind == Explanation::Kind::kRemedy) Field("cost", CostWord(remedy));  // else the table says it
  Field("gain", remedy.gain);
  Field("telltale", remedy.telltale);
  Field("note", remedy.note);
  PrintSteps(remedy);
}

void ExplainPage::PrintSteps(const Remedy& remedy) {
  const bool several = frameworks_.size() != 1;
  const std::vector<Steps> all = StepsIn(rules_, remedy, frameworks_);
  for (const Steps& steps : all) {
    const std::string name = steps.framework == nullptr ? "" : steps.framework->name;
    std::string label = several || steps.stand_in ? name : "how";
    for (const std::string& step : steps.plain) Field(std::exchange(label, ""), step);
  }
  std::string label = "needs";
  for (const NameVersions* versions : VersionsIn(rules_, all, SnippetsIn(rules_, remedy, frameworks_)))
    Field(std::exchange(label, ""), VersionsText(*versions));
  PrintSnippets(remedy);
}

void ExplainPage::PrintSnippets(const Remedy& remedy) {
  for (const ShownSnippet& one : SnippetsIn(rules_, remedy, frameworks_)) {
    const CodeChange change = ChangeIn(*one.snippet);
    if (frameworks_.size() != 1) Field("code", "in " + one.framework->name);
    PrintCode("before", change.before, &Style::Warning);
    PrintCode("after", change.after, &Style::Good);
  }
}

// As it is, so that it can be copied; what differs is coloured.
void ExplainPage::PrintCode(const std::string& label, const std::vector<CodeLine>& lines, TextPage::Look look) {
  std::string begin = std::string(kExplainIndent, ' ') + label;
  for (const CodeLine& line : lines) {
    const std::string text = Printable(line.text);
    begin.resize(kColumn, ' ');
    page_.Line(text.empty() ? "" : begin + (line.changed ? (page_.style().*look)(text) : text));
    begin.clear();
  }
}

void ExplainPage::PrintLinks(const Failure& failure) {
  if (failure.links.empty()) return;
  page_.Heading("Official pages");
  for (const Link& link : failure.links) page_.Paragraph(Printable(link.title + ": " + link.url));
}

}  // namespace

std::string PrintExplanation(const RuleSet& rules, const Explanation& explanation, const Frameworks& frameworks,
                             const TextOptions& options) {
  return ExplainPage(rules, explanation, frameworks, options).Print();
}

std::string ListTopics(const RuleSet& rules, const TextOptions& options) {
  TextPage page(options);
  page.Heading("Codes");
  for (const Failure& failure : rules.failures()) {
    page.Item(Printable(failure.code), 12, Printable(failure.title));
    for (const Scenario& scenario : failure.scenarios)
      page.Item("  ." + Printable(scenario.id), 18, Printable(scenario.title));
  }
  page.Heading("Remedies");
  for (const auto& [id, remedy] : rules.remedies()) page.Item(Printable(id), 24, Printable(remedy.title));
  return WithoutCommands(page.Take());
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

}  // namespace whyoom
