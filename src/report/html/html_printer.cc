#include "report/html/html_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "report/encodings.h"
#include "report/finding_view.h"
#include "report/html/html_page.h"
#include "report/html/html_parts.h"
#include "report/html/html_writer.h"
#include "report/layout.h"
#include "report/summary.h"
#include "report/unknown_errors.h"
#include "rules/sha256.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostDetails = 4 << 20;  // bytes of the failures of a batch
constexpr std::size_t kProblems = 200;
constexpr std::size_t kLargeBatch = 50;  // failures; beyond, each gets less room

void AddProblems(const Report& report, HtmlWriter* html) {
  const std::vector<const Problem*> problems = UnreadInputs(report);
  if (problems.empty()) return;
  html->Heading(2, Counted(problems.size() + UnreadInputsLeftOut(report), "problem", "problems") + " with the input");
  const auto list = html->In("ul");
  const std::size_t shown = std::min(problems.size(), kProblems);
  for (std::size_t i = 0; i < shown; ++i) {
    const Problem& problem = *problems[i];
    const auto item = html->Block("li");
    html->Element("code", Shorten(ArtifactText({problem.path, problem.member}), 240));
    html->Text(": ");
    html->Sentence(CutBytes(Printable(problem.what), 2000));
  }
  const std::uint64_t more = problems.size() - shown + UnreadInputsLeftOut(report);
  if (more > 0) html->Element("li", fmt::format("and {} more (--format json has them)", more));
}

void AddUnknownErrors(const Report& report, HtmlWriter* html) {
  const std::vector<const Problem*> unknown = UnknownErrors(report);
  if (unknown.empty()) return;
  html->Heading(2, kUnknownErrors);
  {
    const auto list = html->In("ul");
    const std::vector<UnknownLine> lines = JoinedUnknownErrors(report);
    const std::size_t shown = std::min(lines.size(), kProblems);
    for (std::size_t i = 0; i < shown; ++i) {
      const auto item = html->Block("li");
      html->Element("code", Shorten(lines[i].place, 240));
      html->Text(": ");
      html->Element("code", lines[i].text);
    }
    const std::uint64_t more = lines.size() - shown + UnknownErrorsLeftOut(report);
    if (more > 0) html->Element("li", fmt::format("and {} more (--format json has them)", more));
  }
  html->Element("p", kMakeARule);
  const auto block = html->In("p");
  html->Element("code", FirstRuleCommand(unknown));
}

void AddFooter(const Report& report, HtmlWriter* html) {
  const auto footer = html->In("footer");
  const auto in = html->In("p");
  html->Text("whyoom " + report.version);
  if (!report.rules_fingerprint.empty()) {
    html->Text(" · rules ");
    html->Element("code", report.rules_fingerprint.substr(0, 12), {{"title", report.rules_fingerprint}});
    if (!report.rule_files.empty()) {
      html->Text(" with ");
      html->Element("code", RuleFilesPhrase(report.rule_files));
    }
  }
  html->Text(" · estimates come from the compiler's own figures and are never more than estimates · 1 GiB is 2");
  html->Element("sup", "30");
  html->Text(" bytes");
  if (const std::string passed_over = PassedOverText(report); !passed_over.empty()) html->Text(" · " + passed_over);
}

// In the page's address, so nothing but letters and digits; an id that was read back may be anything.
std::string AnchorOf(const Diagnosis& finding) {
  const bool plain = !finding.id.empty() && finding.id.size() <= 64 &&
                     finding.id.find_first_not_of("0123456789abcdef") == std::string::npos;
  return "f-" + (plain ? finding.id : Sha256Hex(finding.id).substr(0, 16));
}

std::string SummaryOf(const Diagnosis& finding, const std::string& folder) {
  std::string text = ScenarioName(finding);
  const std::string program = ProgramOf(finding);
  text += " · " + (program.empty() ? finding.failure->title : Shorten(program, 60));
  if (const auto need = NeedOf(finding); need && need->excess > 0) text += " · " + ExcessText(*need);
  return text + " · " + Shorten(BelowFolder(PlaceText(finding.where), folder), 100);
}

std::string FoldedFinding(const Diagnosis& finding, const std::string& anchor, const std::string& folder,
                          bool in_short) {
  FindingLayout layout = {.level = 3, .remedies_elsewhere = true};
  if (in_short) {
    layout.allocations = 5;
    layout.whole_remedies = 3;
  }
  HtmlWriter html;
  {
    const auto details = html.Block("details", {{"class", "case"}});
    html.Element("summary", SummaryOf(finding, folder));
    const auto article = html.In("article", {{"id", anchor}, {"tabindex", "-1"}});
    AddFinding(finding, layout, &html);
    const auto back = html.In("p");
    html.Element("a", "Back to all failures", {{"href", "#failures-title"}});
  }
  return html.Take();
}

void AddBatch(const Report& report, HtmlWriter* html) {
  const std::vector<const Diagnosis*> findings = MostFrequentFirst(report);
  Anchors anchors;
  std::set<std::string> taken;
  std::set<const Remedy*> remedies;
  std::string details;
  const std::string folder = CommonFolder(report);
  for (const Diagnosis* finding : findings) {
    std::string anchor = AnchorOf(*finding);
    while (!taken.insert(anchor).second) anchor += 'x';  // what was read back may say one id twice
    const std::string folded = FoldedFinding(*finding, anchor, folder, findings.size() > kLargeBatch);
    if (details.size() + folded.size() > kMostDetails) break;
    details += folded;
    anchors[finding] = anchor;
    for (const RankedRemedy& ranked : finding->remedies) remedies.insert(ranked.remedy);
  }
  AddOverview(report, folder, html);
  AddFailureTable(findings, anchors, folder, html);
  AddUnknownErrors(report, html);
  AddProblems(report, html);
  html->Heading(2, "Each failure", {{"id", "details"}});
  if (anchors.size() < findings.size())
    html->Element("p",
                  fmt::format("The {} most frequent ones; for another one whole: whyoom and the name of its input.",
                              anchors.size()),
                  {{"class", "faint"}});
  html->Verbatim(details);
  html->Heading(2, "The remedies in general");
  AddRemedyNotes(remedies, html);
  AddPrograms(report, html);
}

std::string TitleOf(const Report& report) {
  if (report.findings.empty()) return NothingFoundText(report);
  if (report.findings.size() > 1) return BatchTitle(report);
  return report.findings[0].failure->code + " " + report.findings[0].failure->title;
}

void AddFew(const Report& report, HtmlWriter* html) {
  const bool one = report.findings.size() == 1;
  if (!one) html->Heading(1, TitleOf(report));
  if (report.findings.empty()) {
    html->Element("p", "In " + Counted(report.artifacts, "input", "inputs") + " (" +
                           SizeText(static_cast<double>(report.bytes)) + ").");
  }
  for (const Diagnosis& finding : report.findings) {
    const auto article = html->In("article");
    AddFinding(finding, {.level = one ? 1 : 2}, html);
  }
  AddPrograms(report, html);
  AddUnknownErrors(report, html);
  AddProblems(report, html);
}

}  // namespace

std::string PrintHtml(const Report& report) {
  const bool batch = IsBatch(report);
  HtmlWriter html;
  html.Verbatim("<!DOCTYPE html>\n");
  {
    const auto root = html.Block("html", {{"lang", "en"}, {"xmlns", "http://www.w3.org/1999/xhtml"}});
    AddHead(TitleOf(report), batch, &html);
    const auto body = html.In("body");
    AddPatterns(&html);
    if (batch) html.Element("a", "Skip to the table of failures", {{"class", "skip"}, {"href", "#failures-title"}});
    {
      const auto main = html.In("main");
      batch ? AddBatch(report, &html) : AddFew(report, &html);
    }
    AddFooter(report, &html);
  }
  return html.Take();
}

}  // namespace whyoom
