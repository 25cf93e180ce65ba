#include "report/text/text_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "facts/row_names.h"
#include "report/finding_view.h"
#include "report/layout.h"
#include "report/phrases.h"
#include "report/summary.h"
#include "report/text/brief_lines.h"
#include "report/text/text_parts.h"
#include "report/unknown_errors.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kFullRemedies = 3;   // explained; the others are named
constexpr std::size_t kStepsOfFirst = 3;   // of the first remedy; the others explained show one
constexpr std::size_t kNamedRemedies = 6;  // beyond those explained
constexpr std::size_t kNamedRuledOut = 3;
constexpr std::size_t kBarRows = 5;
constexpr std::size_t kPlaces = 5;
constexpr std::size_t kShownProblems = 30;
constexpr std::size_t kShownUnknown = 10;
constexpr std::size_t kUnknownColumn = 2;

std::string Repeat(std::string_view text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

class ReportPage {
 public:
  explicit ReportPage(const TextOptions& options)
      : page_(options), all_(options.detail == Detail::kAll), notes_(options.notes) {}

  void PrintFinding(const Diagnosis& finding);
  void PrintReport(const Report& report);
  std::string Take() { return page_.Take(); }

 private:
  void PrintVerdict(const Diagnosis& finding);
  void PrintBudget(const Diagnosis& finding);
  void PrintWhy(const Diagnosis& finding);
  void PrintAllocations(const Diagnosis& finding);
  void PrintMemory(const Diagnosis& finding);
  void PrintRemedies(const Diagnosis& finding);
  void PrintRemedy(const RankedRemedy& ranked, const Diagnosis& finding);
  void PrintSum(const Diagnosis& finding);
  void PrintRetry(const Diagnosis& finding);
  void PrintMore(const Diagnosis& finding);
  void PrintPrograms(const Report& report);
  void PrintClosing(const Report& report);
  void PrintUnknownErrors(const Report& report);
  void PrintLeftOut(std::uint64_t left_out, const Report& report);

  // How many of a list are shown where a page has room for `usual`.
  std::size_t Most(std::size_t usual) const { return all_ ? std::numeric_limits<std::size_t>::max() : usual; }

  TextPage page_;
  const bool all_;
  const bool notes_;
};

void ReportPage::PrintVerdict(const Diagnosis& finding) {
  const FindingView view = ViewOf(finding);
  page_.Title(view.code, view.title);
  for (const std::string* text : {&view.scenario, &view.caution}) {
    if (!text->empty()) page_.Paragraph(*text, DisplayWidth(view.code) + 2);
  }
  std::vector<std::string> facts = {view.place};
  for (const std::string& name : view.names) facts.push_back(Shorten(name, 40));
  if (const auto limit = finding.facts.Number("limit_bytes"))
    facts.push_back(SizeText(*limit) + (view.chip.empty() ? " limit" : " usable (" + view.chip + ")"));
  for (const std::string* text : {&view.framework, &view.reporters}) {
    if (!text->empty()) facts.push_back(*text);
  }
  page_.Paragraph(Joined(facts));
}

void ReportPage::PrintBudget(const Diagnosis& finding) {
  const std::optional<Need> known = NeedOf(finding);
  if (!known) return;
  const auto& [need, have, excess, at_most, need_word, have_word] = *known;
  const std::string needed = SizeText(need) + " " + need_word;
  const std::string over = ExcessText(*known);
  const std::size_t used = 2 + DisplayWidth(needed) + 2 + 2 + DisplayWidth(over);
  const std::size_t width = page_.width();
  const std::size_t columns = width > used + 10 ? std::min<std::size_t>(44, width - used) : 10;
  const double whole = std::max(need, have);
  const auto fits = static_cast<std::size_t>(static_cast<double>(columns) * std::min(need, have) / whole);
  const auto beyond = static_cast<std::size_t>(static_cast<double>(columns) * need / whole) - std::min(fits, columns);
  const Style& style = page_.style();
  page_.Blank();
  page_.Line("  " + style.Strong(needed) + "  " + style.Good(Repeat("█", fits)) + style.Error(Repeat("▒", beyond)) +
             std::string(columns - std::min(columns, fits + beyond), ' ') + "  " + style.Error(over));
  const std::string mark = "▲ " + SizeText(have) + " " + have_word;
  const std::size_t start = 2 + DisplayWidth(needed) + 2 + (fits > 0 ? fits - 1 : 0);
  page_.Line(std::string(std::min(start, width - std::min(width, DisplayWidth(mark))), ' ') + style.Faint(mark));
}

std::string ReasonText(const Reason& reason) {
  return WithoutMarks(Printable(reason.text)) + (reason.line > 0 ? fmt::format(" (line {})", reason.line) : "");
}

// Up to the end of the last sentence that fits, or of the first one where that is not much longer, else of a word.
std::string WholeSentences(const std::string& text, std::size_t columns) {
  if (DisplayWidth(text) <= columns) return text;
  std::size_t end = text.rfind(". ", columns);
  if (end == std::string::npos || end < columns / 4) end = text.find(". ", columns);
  if (end <= 2 * columns) return text.substr(0, end + 1) + " …";
  const std::size_t word = text.rfind(' ', columns);
  return word == std::string::npos ? Shorten(text, columns) : text.substr(0, word) + " …";
}

void ReportPage::PrintWhy(const Diagnosis& finding) {
  if (finding.why.empty() && !finding.message.empty()) {
    page_.Blank();
    page_.Beside("says", WholeSentences(Printable(finding.message), 240));
    return;
  }
  bool first = true;
  for (const Reason& reason : finding.why) {
    if (first) page_.Blank();
    page_.Beside(first ? "why" : "", ReasonText(reason));
    first = false;
  }
}

// The shape, and what it is from where there is room for that.
std::string Describe(const AllocationGroup& group, std::size_t columns) {
  const Allocation& row = *group.first;
  std::string from = SourceText(row);
  if (!from.empty() && group.of_more) from += " and others";
  if (from.empty() && IsNamed(row)) from = Printable(ShortName(row));
  std::string shape = Printable(group.shape);
  if (shape.empty()) shape = from.empty() ? "the log does not say of what shape" : std::exchange(from, "");
  if (group.count > 1) shape = fmt::format("{} × ", group.count) + shape;
  const std::size_t taken = DisplayWidth(shape) + 2;
  constexpr std::size_t kLeastName = 8;
  if (from.empty() || taken + std::min(kLeastName, DisplayWidth(from)) > columns) return Shorten(shape, columns);
  return shape + "  " + Shorten(from, columns - taken);
}

void ReportPage::PrintAllocations(const Diagnosis& finding) {
  const std::vector<AllocationGroup> groups = GroupsOf(finding, all_);
  if (groups.empty()) return;
  page_.Blank();
  const std::optional<double> limit = finding.facts.Number("limit_bytes");
  const double whole = std::max(static_cast<double>(*groups[0].first->size_bytes), limit.value_or(0));
  page_.Beside("takes", fmt::format("the largest allocations{}", limit ? ", each beside the limit" : ""));
  constexpr std::size_t kBar = 12;
  constexpr std::size_t kColumn = TextPage::kIndent + 10 + 2 + kBar + 2;
  const std::size_t width = page_.width();
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i >= Most(kBarRows)) {
      left_out += groups[i].count;
      continue;
    }
    const auto size = static_cast<double>(*groups[i].first->size_bytes);
    page_.IndentedLine(fmt::format("{:>10}  ", SizeText(size)) + page_.style().Good(Bar(size, whole, kBar)) + "  " +
                       Describe(groups[i], width - std::min(width - 10, kColumn)));
  }
  if (left_out > 0) page_.Paragraph(fmt::format("and {} smaller (--all shows them)", left_out), TextPage::kIndent + 12);
}

void ReportPage::PrintMemory(const Diagnosis& finding) {
  if (finding.prospects) PrintProspects(*finding.prospects, true, &page_);
}

void ReportPage::PrintRemedy(const RankedRemedy& ranked, const Diagnosis& finding) {
  constexpr std::size_t kColumn = TextPage::kIndent + 3;
  const std::string number = fmt::format("{}", ranked.rank);
  const std::string& id = ranked.remedy->id;
  const std::size_t taken = kColumn + DisplayWidth(ranked.remedy->title) + 2 + DisplayWidth(id);
  const std::string shown_id = page_.style().Faint(id);  // `whyoom explain` takes it
  page_.IndentedLine(page_.style().Strong(number) + std::string(number.size() < 2 ? 2 : 1, ' ') +
                     page_.style().Strong(ranked.remedy->title) + (taken <= page_.width() ? "  " + shown_id : ""));
  if (taken > page_.width()) page_.Line(std::string(kColumn, ' ') + shown_id);
  page_.Paragraph(EffectText(ranked, finding), kColumn, &Style::Good);
  for (std::size_t i = 0; i < std::min(ranked.why.size(), Most(1)); ++i)
    page_.Paragraph(ReasonText(ranked.why[i]), kColumn);
  const std::size_t steps = std::min(ranked.how.size(), Most(ranked.rank == 1 ? kStepsOfFirst : 1));
  for (std::size_t i = 0; i < steps; ++i) page_.Step(kColumn, WithoutMarks(Printable(ranked.how[i])));
}

void ReportPage::PrintRemedies(const Diagnosis& finding) {
  if (finding.remedies.empty()) return;
  page_.Blank();
  const std::string steps_for = StepsForText(finding);
  if (steps_for.empty()) page_.Line(page_.style().Label("do"));
  if (!steps_for.empty()) page_.Beside("do", steps_for);
  const std::size_t ranked = RankedCount(finding);
  for (std::size_t i = 0; i < std::min(ranked, Most(kFullRemedies)); ++i) {
    if (i > 0) page_.Blank();
    PrintRemedy(finding.remedies[i], finding);
  }
  std::vector<std::string> others;
  for (std::size_t i = Most(kFullRemedies); i < ranked; ++i) {
    const RankedRemedy& other = finding.remedies[i];
    const bool too_little = other.enough == false && other.enough_with.empty();
    others.push_back(
        fmt::format("{} {}{}", other.rank, other.remedy->title, too_little ? " (" + EnoughText(other) + ")" : ""));
  }
  if (!others.empty()) page_.Blank();
  page_.List("then", "", others, kNamedRemedies);
  page_.List("free", "but not enough alone: ", FreeTexts(finding), kNamedRemedies);
  page_.List("not", "worth trying here: ", RuledOutTexts(finding), Most(kNamedRuledOut));
}

// What is over, and which remedies together are estimated to cover it.
void ReportPage::PrintSum(const Diagnosis& finding) {
  const std::string text = SumText(finding);
  if (!text.empty()) page_.Beside("sum", text);
}

void ReportPage::PrintRetry(const Diagnosis& finding) {
  const std::string text = RetryText(finding.retry);
  if (text.empty()) return;
  page_.Blank();
  page_.Beside("again", text);
}

void ReportPage::PrintMore(const Diagnosis& finding) {
  page_.Blank();
  // A command that is broken into lines cannot be copied: what is too long for a line is left to the terminal.
  const std::string command = ExplainCommand(finding);
  const std::string url = finding.failure->links.empty() ? "" : finding.failure->links.front().url;
  const std::string both = command + (url.empty() ? "" : " · " + url);
  const bool fit = TextPage::kIndent + DisplayWidth(both) <= page_.width();
  page_.Line(page_.style().Label("more") + "  " + (fit ? both : command));
  if (!fit && !url.empty()) page_.IndentedLine(url);
  const std::vector<std::string> places = AlsoTexts(finding);
  const std::uint64_t known = places.size() + 1;
  page_.List("also", "", places, Most(kPlaces), finding.tally.reports - std::min(finding.tally.reports, known));
}

void ReportPage::PrintFinding(const Diagnosis& finding) {
  PrintVerdict(finding);
  PrintBudget(finding);
  PrintWhy(finding);
  PrintAllocations(finding);
  PrintMemory(finding);
  PrintRemedies(finding);
  PrintSum(finding);
  PrintRetry(finding);
  PrintMore(finding);
}

// What is no failure stands apart from the failures.
void ReportPage::PrintPrograms(const Report& report) {
  if (report.programs.empty()) return;
  if (!report.findings.empty()) {
    page_.Rule();
    page_.Line(page_.style().Strong("Programs that fit"));
    page_.Blank();
  }
  PrintProgramsThatFit(report, &page_);
  if (report.findings.empty()) page_.Blank();
}

void ReportPage::PrintClosing(const Report& report) {
  if (!notes_) return;
  const std::string inputs = Counted(report.artifacts, "input", "inputs");
  if (NothingRead(report)) {
    page_.Line(NothingFoundText(report) + ".");
  } else if (report.findings.empty()) {
    page_.Line(
        fmt::format("{} in {} ({}).", NothingFoundText(report), inputs, SizeText(static_cast<double>(report.bytes))));
  }
  if (const std::string text = PassedOverText(report); !text.empty()) {
    if (!report.findings.empty()) page_.Blank();
    page_.Line(text);
  }
  PrintUnknownErrors(report);
  std::uint64_t left_out = UnreadInputsLeftOut(report);
  std::size_t shown = 0;
  for (const Problem* problem : UnreadInputs(report)) {
    if (!problem->of_report && shown++ >= kShownProblems) {
      ++left_out;
      continue;
    }
    page_.Warning(ArtifactText({problem->path, problem->member}) + ": " + Printable(problem->what));
  }
  PrintLeftOut(left_out, report);
}

// How many problems of a kind are not shown.
void ReportPage::PrintLeftOut(std::uint64_t left_out, const Report& report) {
  if (left_out == 0) return;
  const bool all = report.problems_left_out == 0;
  page_.Line(fmt::format("and {} more (--format json has {})", left_out,
                         all ? "them" : fmt::format("the first {}", report.problems.size())));
}

void ReportPage::PrintUnknownErrors(const Report& report) {
  const std::vector<const Problem*> unknown = UnknownErrors(report);
  if (unknown.empty()) return;
  if (!report.findings.empty()) page_.Rule();
  if (report.findings.empty()) page_.Blank();
  page_.Line(page_.style().Strong(kUnknownErrors));
  page_.Blank();
  const std::vector<UnknownLine> lines = JoinedUnknownErrors(report);
  const std::size_t shown = std::min(lines.size(), kShownUnknown);
  for (std::size_t i = 0; i < shown; ++i) {
    page_.Line(lines[i].place);
    page_.Paragraph(lines[i].text, kUnknownColumn);
  }
  PrintLeftOut(lines.size() - shown + UnknownErrorsLeftOut(report), report);
  page_.Blank();
  page_.Paragraph(kMakeARule);
  page_.Line("→ " + FirstRuleCommand(unknown));  // not folded: it is to be copied
}

void ReportPage::PrintReport(const Report& report) {
  const std::vector<const Diagnosis*> whole = ShownWhole(report, all_);
  if (IsBatch(report)) PrintOverview(report, whole.size(), &page_);
  for (const Diagnosis* finding : whole) {
    page_.Rule();
    PrintFinding(*finding);
  }
  if (whole.size() < report.findings.size()) PrintOthers(report, whole, &page_);
  PrintPrograms(report);
  PrintClosing(report);
  if (notes_ && !report.rule_files.empty())
    page_.Line("rules: the built-in ones with " + RuleFilesPhrase(report.rule_files));
}

}  // namespace

std::string PrintText(const Report& report, const TextOptions& options) {
  if (options.detail == Detail::kBrief) return WithoutCommands(PrintBriefLines(report, options));
  ReportPage page(options);
  page.PrintReport(report);
  return WithoutCommands(page.Take());
}

std::string PrintFinding(const Diagnosis& finding, const TextOptions& options) {
  ReportPage page(options);
  page.PrintFinding(finding);
  return WithoutCommands(page.Take());
}

}  // namespace whyoom
