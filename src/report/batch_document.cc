// Builds the document of a batch: what matters most, overviews, and a table of all failures.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/report_document.h"
#include "report/summary.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;

constexpr std::size_t kLargeBatch = 20;  // failures; with more, text shows only a few in full
constexpr std::size_t kWholeOfLarge = 3;
constexpr std::size_t kShares = 4;
constexpr std::size_t kFailures = 2000;     // in the table
constexpr std::size_t kLongProgram = 80;    // columns
constexpr std::size_t kShortestFolder = 4;  // bytes

using SortedShares = std::vector<std::pair<std::string, Share>>;

// Adds the most frequent shares, unless there is only one.
void AddShares(const std::string& title, const SortedShares& sorted, doc::Blocks* blocks) {
  if (sorted.size() < 2) return;
  doc::Table table{{{"processes", true}, {"failures", true}, {title}}, {}, 0};
  for (std::size_t i = 0; i < std::min(sorted.size(), kShares); ++i) {
    const auto& [name, share] = sorted[i];
    table.rows.push_back({Words(fmt::format("{}", share.occurrences)), Words(fmt::format("{}", share.failures)),
                          doc::Joined({doc::Name(name, kLongProgram), doc::Sentence(share.title)}, "  ")});
  }
  table.left_out = sorted.size() - table.rows.size();
  doc::AddSection({"", {std::move(table)}}, blocks);
}

// "Most frequent: E1000.2 of jit_step, by 200 processes since 2026-11-20T01:00:00Z. First: Shard the large arrays."
// Empty if each failure occurred once.
std::string MostFrequentText(const Failure& failure) {
  if (failure.tally.occurrences() < 2) return {};
  const FailureRow row = RowOf(failure);
  std::string text = "Most frequent: " + row.name + (row.program.empty() ? "" : " of " + row.program) + ", by " +
                     (row.processes == "1" ? "1 process" : row.processes + " processes");
  if (const auto& time = failure.tally.first_time) text += " since " + PeriodText(time, time);
  text += row.excess.empty() ? "." : "; " + row.excess + " too much.";
  return text + (row.remedy.empty() ? "" : " First: " + row.remedy + ".");
}

// "2 problems and 14 unknown errors, listed at the end."; empty if there is neither.
std::string ProblemsText(const Report& report) {
  const ProblemsByKind all(report);
  const auto unread = SaturatingAdd<std::uint64_t>(all.unread.size(), all.unread_left_out);
  const auto unknown = SaturatingAdd<std::uint64_t>(all.unknown.size(), all.unknown_left_out);
  const std::string problems = unread == 0 ? "" : Counted(unread, "problem", "problems");
  const std::string errors = unknown == 0 ? "" : Counted(unknown, "unknown error", "unknown errors");
  const std::string both = problems + (unread > 0 && unknown > 0 ? " and " : "") + errors;
  return both.empty() ? "" : both + ", listed at the end.";
}

doc::Blocks Overview(const Report& report, const Failure& most, const std::string& folder) {
  const Summary summary = Summarize(report);
  doc::Verdict verdict{1, "", Words(BatchTitle(report))};
  verdict.facts = {Words("reported by " + Counted(summary.occurrences, "process", "processes")),
                   Words(PeriodText(summary.first_time, summary.last_time)),
                   Words(SizeText(static_cast<double>(report.bytes)) + " read")};
  for (const std::string& text : {MostFrequentText(most), ProblemsText(report)}) {
    if (!text.empty()) verdict.notes.push_back(doc::Sentence(text));
  }
  if (!folder.empty())
    verdict.notes.push_back(doc::Joined({Words("Paths in the table are relative to "), doc::Name(folder), Words(".")}));
  doc::Blocks blocks = {std::move(verdict)};
  AddShares("scenario", MostFrequent(summary.by_scenario), &blocks);
  AddShares("first remedy", MostFrequent(summary.by_remedy), &blocks);
  return blocks;
}

doc::Table TableOf(const std::vector<const Failure*>& failures, const std::string& folder) {
  doc::Table table{{{"failure"}, {"program"}, {"too much", true}, {"processes", true}, {"where"}}, {}, 0};
  for (std::size_t i = 0; i < std::min(failures.size(), kFailures); ++i) {
    const FailureRow row = RowOf(*failures[i]);
    table.rows.push_back({doc::Name(row.name), doc::Name(row.program, kLongProgram), Words(row.excess),
                          Words(row.processes), doc::Name(BelowFolder(row.place, folder))});
  }
  table.left_out = failures.size() - table.rows.size();
  return table;
}

}  // namespace

std::string CommonFolder(const Report& report) {
  if (report.failures.size() < 2) return {};
  std::string folder = report.failures.front().where.artifact.path;
  folder.erase(folder.rfind('/') + 1);  // the whole path if there is no slash
  for (const Failure& failure : report.failures) {
    while (!folder.empty() && !failure.where.artifact.path.starts_with(folder))
      folder.erase(folder.size() < 2 ? 0 : folder.rfind('/', folder.size() - 2) + 1);
  }
  return folder.size() < kShortestFolder ? "" : folder;
}

std::string BelowFolder(const std::string& place, const std::string& folder) {
  const std::string printable = Printable(folder);
  return place.starts_with(printable) ? place.substr(printable.size()) : place;
}

doc::Spans SummaryOf(const Failure& failure, const std::string& folder) {
  const FailureRow row = RowOf(failure);
  return doc::Joined(
      {doc::Joined({doc::Name(row.name), Words(" "),
                    row.program.empty() ? doc::Sentence(failure.rule->title) : doc::Name(row.program, kLongProgram)}),
       Words(row.excess.empty() ? "" : row.excess + " too much"),
       doc::Name(BelowFolder(row.place, folder), kLongProgram)},
      " · ");
}

std::string BatchTitle(const Report& report) {
  return Counted(report.failures.size(), "different failure", "different failures") + " in " +
         Counted(report.artifacts, "input", "inputs");
}

void AddBatch(const Report& report, ReportDocument* document) {
  document->failures = MostFrequentFirst(report);
  document->folder = CommonFolder(report);
  document->head = Overview(report, *document->failures.front(), document->folder);
  if (document->failures.size() > kLargeBatch) document->whole = kWholeOfLarge;
  doc::AddSection({"All failures", {TableOf(document->failures, document->folder)}}, &document->table);
}

}  // namespace whyoom
