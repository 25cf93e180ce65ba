#include "report/markdown/markdown_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "facts/row_names.h"
#include "report/finding_view.h"
#include "report/layout.h"
#include "report/markdown/markdown_memory.h"
#include "report/markdown/markdown_text.h"
#include "report/summary.h"
#include "report/unknown_errors.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kRows = 5;       // of the allocations that all see
constexpr std::size_t kAllRows = 100;  // folded
constexpr std::size_t kWholeRemedies = 3;
constexpr std::size_t kStepsOfFirst = 4;
constexpr std::size_t kReasons = 8;
constexpr std::size_t kPlaces = 20;
constexpr std::size_t kProblems = 30;
constexpr std::size_t kLongUnknown = 400;  // columns
constexpr std::size_t kShares = 10;        // of a table of the overview
constexpr std::size_t kNames = 100;        // failures that are named in the overview
constexpr std::size_t kLongName = 160;     // columns
constexpr std::size_t kShortName = 64;     // the same in a table
constexpr std::size_t kSentence = 800;     // bytes
constexpr std::size_t kMessage = 4000;     // bytes

std::string Code(const std::string& name, std::size_t columns = kLongName) {
  return MarkdownCode(Shorten(Printable(name), columns));
}

std::string Sentence(const std::string& text) { return MarkdownSentence(CutBytes(Printable(text), kSentence)); }

std::string SentenceWithLine(const Reason& reason) {
  return Sentence(reason.text) + (reason.line > 0 ? fmt::format(" (line {})", reason.line) : "");
}

// `summary` is HTML.
std::string Folded(const std::string& summary, const std::string& content) {
  return "<details>\n<summary>" + summary + "</summary>\n\n" + content + "\n</details>\n";
}

// The verdict, and what is known of where it happened.
std::string Head(const Diagnosis& finding) {
  const FindingView view = ViewOf(finding);
  std::string text = "### " + Code(view.code) + " " + Sentence(view.title);
  if (finding.scenario != nullptr) text += " — " + Sentence(view.scenario);
  text += "\n\n" + Code(view.place);
  for (const std::string& name : view.names) text += " · " + Code(name);
  if (!view.chip.empty()) text += " · " + Code(view.chip);
  if (!view.framework.empty()) text += " · " + Sentence(view.framework);
  if (!view.reporters.empty()) text += " · " + view.reporters;
  text += "\n";
  if (finding.scenario == nullptr && !view.scenario.empty()) text += "\n" + Sentence(view.scenario) + "\n";
  return text + (view.caution.empty() ? "" : "\n" + view.caution + "\n");
}

std::string Numbers(const Diagnosis& finding) {
  const std::optional<Need> need = NeedOf(finding);
  if (!need) return {};
  const bool over = need->excess > 0;
  return fmt::format("\n| {} | {} |{}\n|---:|---:|{}\n| {} | {} |{}\n", need->need_word, need->have_word,
                     over ? " too much |" : "", over ? "---:|" : "", SizeText(need->need), SizeText(need->have),
                     over ? fmt::format(" **{}{}** |", need->at_most ? "less than " : "", SizeText(need->excess)) : "");
}

std::string Why(const Diagnosis& finding) {
  if (finding.why.empty()) {
    if (finding.message.empty()) return {};
    return "\n**The log says**\n\n" + MarkdownBlock(CutBytes(Printable(finding.message), kMessage));
  }
  std::string text = "\n**Why**\n\n";
  for (std::size_t i = 0; i < std::min(finding.why.size(), kReasons); ++i)
    text += "- " + SentenceWithLine(finding.why[i]) + "\n";
  return text;
}

std::string Padding(const Allocation& row) {
  if (!row.padding_bytes || *row.padding_bytes <= 0) return "–";
  std::string text = FormatSize(*row.padding_bytes);
  if (row.padding_factor) text += fmt::format(" ({:.3g} ×)", *row.padding_factor);
  return text;
}

// `what`: the program's name for it, or, for who looks at all of them, the compiler's.
std::string AllocationRow(const Allocation& row, const std::string& shape, std::size_t count, const std::string& what) {
  return fmt::format("| {}{} | {} | {} | {} | {} |", count > 1 ? fmt::format("{} × ", count) : "",
                     row.size_bytes ? FormatSize(*row.size_bytes) : "?", Padding(row), Code(shape, kShortName),
                     Code(PlainPath(what), kShortName), Code(SourceText(row), kShortName));
}

constexpr const char* kAllocationHead = "| size | padding | shape | what | source |";
constexpr const char* kAllocationRule = "|---:|---:|---|---|---|";

std::string Largest(const Diagnosis& finding) {
  const std::vector<AllocationGroup> groups = GroupsOf(finding);
  if (groups.empty()) return {};
  std::string text = fmt::format("\n**Largest allocations**\n\n{}\n{}\n", kAllocationHead, kAllocationRule);
  for (std::size_t i = 0; i < std::min(groups.size(), kRows); ++i)
    text += AllocationRow(*groups[i].first, groups[i].shape, groups[i].count, groups[i].first->op_name) + "\n";
  return text;
}

std::string Steps(const RankedRemedy& ranked, std::size_t from, std::size_t to) {
  std::string text;
  for (std::size_t i = from; i < std::min(ranked.how.size(), to); ++i)
    text += "    - " + Sentence(ranked.how[i]) + "\n";
  return text;
}

std::string RemedyLine(const RankedRemedy& ranked, const Diagnosis& finding) {
  return fmt::format("{}. **{}** — {}\n", ranked.rank, Sentence(ranked.remedy->title),
                     Sentence(EffectText(ranked, finding)));
}

std::string Remedies(const Diagnosis& finding) {
  if (finding.remedies.empty()) return {};
  std::string text = "\n**What to do**\n\n";
  if (const std::string steps_for = StepsForText(finding); !steps_for.empty()) text += Sentence(steps_for) + "\n\n";
  for (std::size_t i = 0; i < finding.remedies.size(); ++i) {
    const RankedRemedy& ranked = finding.remedies[i];
    if (i == RankedCount(finding)) text += fmt::format("\n**{}**\n\n", kFreeHeading);
    text += RemedyLine(ranked, finding);
    if (i >= kWholeRemedies) continue;
    if (!ranked.why.empty()) text += "    - " + SentenceWithLine(ranked.why[0]) + "\n";
    text += Steps(ranked, 0, i == 0 ? kStepsOfFirst : 1);
  }
  if (const std::string sum = SumText(finding); !sum.empty()) text += "\n" + Sentence(sum) + "\n";
  return text;
}

std::string Again(const Diagnosis& finding) {
  const std::string text = RetryText(finding.retry);
  return text.empty() ? "" : "\n" + Sentence(text) + "\n";
}

std::string OtherSteps(const Diagnosis& finding) {
  std::string text;
  for (std::size_t i = 0; i < finding.remedies.size(); ++i) {
    const RankedRemedy& ranked = finding.remedies[i];
    const std::size_t shown = i == 0 ? kStepsOfFirst : i < kWholeRemedies ? 1 : 0;
    if (ranked.how.size() <= shown && ranked.remedy->note.empty()) continue;
    text += fmt::format("- **{} {}**\n", ranked.rank, Sentence(ranked.remedy->title));
    text += Steps(ranked, shown, ranked.how.size());
    if (!ranked.remedy->note.empty()) text += "    - " + Sentence(ranked.remedy->note) + "\n";
  }
  return text;
}

std::string Origin(const Diagnosis& finding) {
  std::string text;
  if (!finding.message.empty()) text = MarkdownBlock(CutBytes(Printable(finding.message), kMessage)) + "\n";
  const bool one_line = finding.where.last_line <= finding.where.line;
  text += "- " + Code(ArtifactText(finding.where.artifact)) +
          (one_line ? fmt::format(", line {}\n", finding.where.line)
                    : fmt::format(", lines {} to {}\n", finding.where.line, finding.where.last_line));
  const std::vector<std::string> also = AlsoTexts(finding);
  for (std::size_t i = 0; i < std::min(also.size(), kPlaces); ++i) text += "- also " + Code(also[i]) + "\n";
  if (also.size() > kPlaces) text += fmt::format("- and {} more\n", also.size() - kPlaces);
  text += "- " + MarkdownCode(ExplainCommand(finding)) + " says what it means, offline\n";
  for (const Link& link : finding.failure->links)
    text += "- " + Sentence(link.title) + ": " + MarkdownUrl(link.url) + "\n";
  return text;
}

std::string RuledOutRemedies(const Diagnosis& finding) {
  std::string text;
  for (const RuledOut& out : finding.ruled_out)
    text += "- " + Sentence(out.remedy->title) + ": " + Sentence(out.why) + "\n";
  return text;
}

std::string AllAllocations(const Diagnosis& finding) {
  std::string text = fmt::format("{} log line |\n{}---:|\n", kAllocationHead, kAllocationRule);
  const std::size_t shown = std::min(finding.allocations.size(), kAllRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const Allocation& row = finding.allocations[i];
    const std::string shape = row.array ? row.array->shape + row.array->layout : WithoutLayouts(row.shape_text);
    const std::string& what = row.op_name.empty() ? row.xla_label : row.op_name;
    text += AllocationRow(row, shape, 1, what) + (row.place.line > 0 ? fmt::format(" {} |\n", row.place.line) : " |\n");
  }
  const std::uint64_t more = finding.allocations.size() - shown + finding.allocations_left_out;
  if (more > 0) text += fmt::format("\nand {} more\n", more);
  return text;
}

std::vector<std::string> FoldedSections(const Diagnosis& finding) {
  std::vector<std::string> sections;
  if (const std::string steps = OtherSteps(finding); !steps.empty())
    sections.push_back(Folded("More on each remedy", steps));
  sections.push_back(Folded("The message and where it stands", Origin(finding)));
  if (!finding.ruled_out.empty()) sections.push_back(Folded("Not worth trying here", RuledOutRemedies(finding)));
  if (!finding.allocations.empty())
    sections.push_back(Folded(finding.allocations.size() == 1
                                  ? "The listed allocation"
                                  : fmt::format("All {} listed allocations", finding.allocations.size()),
                              AllAllocations(finding)));
  return sections;
}

MarkdownPart WholeDiagnosis(const Diagnosis& finding) {
  const std::string memory = finding.prospects ? MarkdownMemory(*finding.prospects) : "";
  return {
      Head(finding) + Numbers(finding) + Why(finding) + Largest(finding) + memory + Remedies(finding) + Again(finding),
      FoldedSections(finding), ""};
}

// The same folded, under a line that tells it from the others.
MarkdownPart FoldedDiagnosis(const Diagnosis& finding) {
  MarkdownPart part = WholeDiagnosis(finding);
  const FailureRow row = RowOf(finding);
  std::string summary = HtmlCode(row.name) + " ";
  summary += row.program.empty() ? HtmlSentence(finding.failure->title) : HtmlCode(Shorten(row.program, kShortName));
  if (const auto need = NeedOf(finding); need && need->excess > 0) summary += " · " + ExcessText(*need);
  summary += " · " + HtmlCode(Shorten(row.place, kShortName));
  part.text = "<details>\n<summary>" + summary + "</summary>\n\n" + part.text;
  part.end = "\n</details>\n";
  return part;
}

// The most frequent: by title, else by name; with `named`, by both.
std::string SharesTable(const std::string& head, const std::map<std::string, Share>& shares, bool named) {
  if (shares.empty()) return {};
  std::string text = fmt::format("\n| {} | failures | processes |\n|---|---:|---:|\n", head);
  const auto sorted = MostFrequent(shares);
  for (std::size_t i = 0; i < std::min(sorted.size(), kShares); ++i) {
    const auto& [name, share] = sorted[i];
    const std::string label = share.title.empty() ? Code(name, kShortName)
                              : named             ? Code(name) + " " + Sentence(share.title)
                                                  : Sentence(share.title);
    text += fmt::format("| {} | {} | {} |\n", label, share.diagnoses, share.occurrences);
  }
  if (sorted.size() > kShares) text += fmt::format("\nand {} more\n", sorted.size() - kShares);
  return text;
}

// One line each, so that everybody finds his own; in at most `most_bytes` or so.
std::string Names(const std::vector<const Diagnosis*>& findings, std::size_t most_bytes) {
  std::string text = "| failure | program | too much | processes | where |\n|---|---|---:|---:|---|\n";
  std::size_t named = 0;
  while (named < std::min(findings.size(), kNames) && text.size() < most_bytes) {
    const FailureRow row = RowOf(*findings[named]);
    text += fmt::format("| {} | {} | {} | {} | {} |\n", Code(row.name), Code(row.program, kShortName), row.excess,
                        findings[named]->tally.occurrences(), Code(row.place, kShortName));
    ++named;
  }
  if (findings.size() > named) text += fmt::format("\nand {} more\n", findings.size() - named);
  return Folded("The failures by name", text);
}

std::string Overview(const Report& report, const std::vector<const Diagnosis*>& findings, std::size_t most_bytes) {
  const Summary summary = Summarize(report);
  std::string text = fmt::format(
      "### {} in {}\n\nReported by {}", Counted(summary.diagnoses, "different failure", "different failures"),
      Counted(report.artifacts, "input", "inputs"), Counted(summary.occurrences, "process", "processes"));
  if (const std::string period = PeriodText(summary.first_time, summary.last_time); !period.empty())
    text += ", " + period;
  text += ".\n" + SharesTable("what", summary.by_scenario, true) +
          SharesTable("first find out more", summary.by_inquiry, false) +
          SharesTable("first cure", summary.by_remedy, false);
  if (summary.by_program.size() > 1) text += SharesTable("program", summary.by_program, false);
  return text + "\n" + Names(findings, most_bytes / 4);
}

std::string Problems(const Report& report) {
  std::string text;
  const std::vector<const Problem*> problems = UnreadInputs(report);
  const std::size_t shown = std::min(problems.size(), kProblems);
  for (std::size_t i = 0; i < shown; ++i) {
    const Problem& problem = *problems[i];
    text += "- " + Code(ArtifactText({problem.path, problem.member})) + ": " + Sentence(problem.what) + "\n";
  }
  const std::uint64_t more = problems.size() - shown + UnreadInputsLeftOut(report);
  if (more > 0) text += fmt::format("- and {} more\n", more);
  return Folded(Counted(problems.size() + UnreadInputsLeftOut(report), "problem", "problems") + " with the input",
                text);
}

// Empty where there are none.
std::string UnknownErrorsText(const Report& report) {
  const std::vector<const Problem*> unknown = UnknownErrors(report);
  if (unknown.empty()) return {};
  std::string text;
  const std::vector<UnknownLine> lines = JoinedUnknownErrors(report);
  const std::size_t shown = std::min(lines.size(), kProblems);
  for (std::size_t i = 0; i < shown; ++i)
    text += "- " + Code(lines[i].place) + ": " + Code(lines[i].text, kLongUnknown) + "\n";
  const std::uint64_t more = lines.size() - shown + UnknownErrorsLeftOut(report);
  if (more > 0) text += fmt::format("- and {} more\n", more);
  text += "\n" + Sentence(kMakeARule) + "\n";
  const std::string command = FirstRuleCommand(unknown);
  return command.empty() ? text : text + "\n" + MarkdownBlock(command);
}

std::string NothingFound(const Report& report) {
  const bool none_read = NothingRead(report);
  const std::size_t unread = UnreadInputs(report).size();
  const std::string verdict = NothingFoundText(report) + (none_read || unread == 0 ? "" : " in what could be read");
  std::string text = fmt::format("### {}\n\nIn {} ({}).\n", verdict, Counted(report.artifacts, "input", "inputs"),
                                 SizeText(static_cast<double>(report.bytes)));
  if (const std::string passed_over = PassedOverText(report); !passed_over.empty())
    text += "\n" + Sentence(passed_over) + "\n";
  if (unread > 0) text += "\nFor " + Counted(unread, "problem", "problems") + " see below.\n";
  if (const std::string unknown = UnknownErrorsText(report); !unknown.empty())
    text += fmt::format("\n{}:\n\n{}", kUnknownErrors, unknown);
  return text;
}

std::string Footer(const Report& report) {
  constexpr std::size_t kFingerprint = 12;  // enough to tell any two
  std::string text = "\n<sub>whyoom " + HtmlSentence(report.version);
  if (!report.rules_fingerprint.empty())
    text += " · rules " + HtmlCode(report.rules_fingerprint.substr(0, kFingerprint));
  if (!report.rule_files.empty()) text += " with " + HtmlCode(RuleFilesPhrase(report.rule_files));
  if (report.findings.size() == 1 && !report.findings[0].framework.empty())
    text += " · " + HtmlSentence(report.findings[0].framework);
  if (const std::string passed_over = PassedOverText(report); !passed_over.empty() && !report.findings.empty())
    text += " · " + HtmlSentence(passed_over);
  return text + "</sub>\n";
}

}  // namespace

std::string PrintMarkdown(const Report& report, std::size_t most_bytes) {
  std::vector<MarkdownPart> parts;
  if (IsBatch(report)) {
    const std::vector<const Diagnosis*> findings = MostFrequentFirst(report);
    parts.push_back({Overview(report, findings, most_bytes), {}, ""});
    for (const Diagnosis* finding : findings) parts.push_back(FoldedDiagnosis(*finding));
  } else {
    for (const Diagnosis& finding : report.findings) parts.push_back(WholeDiagnosis(finding));
  }
  if (parts.empty()) parts.push_back({NothingFound(report), {}, ""});
  for (MarkdownPart& program : MarkdownPrograms(report)) parts.push_back(std::move(program));
  const std::string unknown = report.findings.empty() ? "" : UnknownErrorsText(report);
  if (!unknown.empty()) parts.front().folded.push_back(Folded(kUnknownErrors, unknown));
  if (!UnreadInputs(report).empty()) parts.front().folded.push_back(Problems(report));
  for (MarkdownPart& part : parts) {
    part.text = WithoutCommands(std::move(part.text));
    for (std::string& section : part.folded) section = WithoutCommands(std::move(section));
  }
  return JoinWithin(parts, Footer(report), most_bytes);
}

}  // namespace whyoom
