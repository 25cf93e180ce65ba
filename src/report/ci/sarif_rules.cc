#include "report/ci/sarif_rules.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "report/ci/brief.h"
#include "report/ci/sarif_text.h"
#include "report/finding_view.h"
#include "report/layout.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestName = 255;  // GitHub's code scanning cuts these
constexpr std::size_t kLongestDescription = 1000;

Json Message(const std::string& text) { return {{"text", SarifText(Printable(text))}}; }

// A text for help, plain or as Markdown.
class HelpText {
 public:
  explicit HelpText(bool markdown) : markdown_(markdown) {}

  void Heading(const std::string& text) { Block(markdown_ ? "## " + Inline(text) : Inline(text)); }
  void Paragraph(const std::string& text) {
    if (!text.empty()) Block(Inline(text));
  }
  void Item(const std::string& title, const std::string& text) {
    Block((markdown_ ? "- **" + Inline(title) + "**" : "- " + Inline(title)) + (text.empty() ? "" : ": ") +
          Inline(text));
  }
  void Address(const Link& link) {
    Block("- " + Inline(link.title) + ": " + (markdown_ ? "<" + SarifText(link.url) + ">" : SarifText(link.url)));
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string Inline(const std::string& text) const {
    return markdown_ ? SarifMarkdown(Printable(text)) : SarifText(Printable(text));
  }
  void Block(const std::string& block) { text_ += (text_.empty() ? "" : "\n\n") + block; }

  bool markdown_;
  std::string text_;
};

const std::vector<RemedyUse>& UsesOf(const Finding& finding) {
  const bool own = finding.scenario != nullptr && !finding.scenario->remedies.empty();
  return own ? finding.scenario->remedies : finding.failure->remedies;
}

}  // namespace

SarifRules::SarifRules(const Report& report) {
  for (const Finding& finding : report.findings) {
    for (const RankedRemedy& ranked : finding.remedies) remedies_.emplace(ranked.remedy->id, ranked.remedy);
    for (const RuledOut& ruled_out : finding.ruled_out) remedies_.emplace(ruled_out.remedy->id, ruled_out.remedy);
  }
}

std::size_t SarifRules::IndexOf(const Finding& finding) {
  const auto [entry, is_new] = index_.emplace(RuleId(finding), index_.size());
  if (is_new) rules_.push_back(Describe(finding));
  return entry->second;
}

std::string SarifRules::Help(const Finding& finding, bool markdown) const {
  HelpText help(markdown);
  for (const std::string& paragraph : finding.failure->about) help.Paragraph(paragraph);
  if (finding.scenario != nullptr) {
    help.Heading(finding.scenario->title);
    help.Paragraph(finding.scenario->about);
  }
  std::vector<RemedyUse> uses = UsesOf(finding);
  std::stable_sort(uses.begin(), uses.end(), [](const RemedyUse& a, const RemedyUse& b) { return a.prior < b.prior; });
  if (!uses.empty()) help.Heading("What helps");
  for (const RemedyUse& use : uses) {
    const auto remedy = remedies_.find(use.remedy);
    if (remedy != remedies_.end()) help.Item(remedy->second->title, remedy->second->gain);
  }
  help.Heading("More");
  for (const Link& link : finding.failure->links) help.Address(link);
  help.Paragraph("`" + ExplainCommand(finding) + "`");
  return help.Take();
}

// Of two findings under one rule either gives the same: nothing here depends on their logs.
Json SarifRules::Describe(const Finding& finding) const {
  const Failure& failure = *finding.failure;
  const bool has_scenario = finding.scenario != nullptr;
  std::string what = has_scenario ? finding.scenario->about : "";
  if (what.empty()) what = failure.about.empty() ? failure.title : failure.about.front();
  const std::string title = failure.title + (has_scenario ? " – " + finding.scenario->title : "");
  Json rule = {{"id", RuleId(finding)},
               {"name", CutBytes(Printable(failure.title), kLongestName)},
               {"shortDescription", Message(CutBytes(title, kLongestDescription))},
               {"fullDescription", Message(CutBytes(what, kLongestDescription))}};
  if (!failure.links.empty() && failure.links.front().url.starts_with("http"))
    rule["helpUri"] = failure.links.front().url;
  rule["help"] = {{"text", Help(finding, false)}, {"markdown", Help(finding, true)}};
  rule["defaultConfiguration"] = {{"level", "error"}};
  const char* phase = failure.phase == "compile" ? "compile-time" : "run-time";
  rule["properties"] = {{"tags", {"xla", phase}}, {"problem.severity", "error"}};
  return rule;
}

}  // namespace whyoom
