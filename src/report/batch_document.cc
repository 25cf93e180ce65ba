// Builds the document of a batch: an overview of the failures, the remedies that help most often, recurring failures,
// and a table of all failures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/layout.h"
#include "report/report_document.h"
#include "report/summary.h"
#include "report/unknown_errors.h"
#include "rules/sha256.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Column;
using doc::Words;

constexpr std::size_t kLargeBatch = 20;  // failures; with more, only a few are shown in full
constexpr std::size_t kWholeOfLarge = 3;
constexpr std::size_t kShares = 12;
constexpr std::size_t kRecurring = 8;
constexpr std::size_t kFailures = 2000;
constexpr std::size_t kShortProgram = 30;   // columns
constexpr std::size_t kLongProgram = 80;    // columns
constexpr std::size_t kLongestName = 24;    // columns; of a scenario
constexpr std::size_t kShortestFolder = 4;  // bytes

// The width of the longest scenario name, plus a gap.
std::size_t ScenarioColumn(const Report& report) {
  std::size_t column = 0;
  for (const Failure& failure : report.failures) column = std::max(column, ScenarioName(failure).size());
  return std::min(column, kLongestName) + 2;
}

// The short text of a row: the scenario padded to `column`, then "jit_step", " · 5.02 GiB too much".
std::vector<std::string> BriefOf(const FailureRow& row, std::size_t column) {
  std::vector<std::string> brief = {Fit(row.name, column)};
  const auto add = [&](const std::string& text) { brief.push_back((brief.size() > 1 ? " · " : "") + text); };
  if (!row.program.empty()) add(Shorten(row.program, kShortProgram));
  if (!row.excess.empty()) add(row.excess + " too much");
  return brief;
}

using SortedShares = std::vector<std::pair<std::string, Share>>;

// Adds the first of the shares, labelled by title, else by name; by both if `column` is set.
void AddShares(const std::string& label, const SortedShares& sorted, std::size_t column, doc::Blocks* blocks) {
  if (sorted.empty()) return;
  doc::Table table;
  table.style = "shares";
  table.columns = {{"name"}, {"failures", Column::Kind::kNumber, 10}, {"processes", Column::Kind::kNumber, 10}};
  for (const auto& [name, share] : sorted)
    table.scale.whole = std::max(table.scale.whole, static_cast<double>(share.occurrences));
  for (std::size_t i = 0; i < std::min(sorted.size(), kShares); ++i) {
    const auto& [name, share] = sorted[i];
    const bool both = column > 0 && !share.title.empty();
    table.rows.push_back({{{doc::Joined({both || share.title.empty() ? doc::Name(name, kLongProgram) : doc::Spans(),
                                         Words(both ? " " : ""), doc::Sentence(share.title)}),
                            {{static_cast<double>(share.occurrences), "count", "", false}}},
                           {Words(fmt::format("{}", share.failures))},
                           {Words(fmt::format("{}", share.occurrences))}},
                          {(both ? Fit(name, column) : "") + (share.title.empty() ? name : Printable(share.title))}});
  }
  table.left_out = sorted.size() - table.rows.size();
  std::string title = label;
  title[0] = static_cast<char>(title[0] - 'a' + 'A');
  blocks->emplace_back(doc::Section{label, title, {std::move(table)}});
}

void AddRecurring(const Summary& summary, std::size_t column, doc::Blocks* blocks) {
  if (summary.recurring.empty()) return;
  doc::Table table;
  table.style = "recurring";
  table.columns = {{"failure"},
                   {"program"},
                   {"too much"},
                   {"where"},
                   {"when"},
                   {"inputs", Column::Kind::kNumber, 10},
                   {"processes", Column::Kind::kNumber, 10}};
  for (std::size_t i = 0; i < std::min(summary.recurring.size(), kRecurring); ++i) {
    const Failure& failure = *summary.recurring[i];
    const Tally& tally = failure.tally;
    const FailureRow row = RowOf(failure);
    const std::string period = PeriodText(tally.first_time, tally.last_time);
    std::vector<std::string> brief = BriefOf(row, column);
    if (brief.size() == 1) brief.push_back(Printable(failure.rule->title));
    const std::string blanks(column, ' ');
    table.rows.push_back({{{doc::Joined({doc::Name(row.name), Words(" "), doc::Sentence(row.title)})},
                           {doc::Name(row.program, kLongProgram)},
                           {Words(row.excess)},
                           {doc::Name(row.place)},
                           {Words(period)},
                           {Words(fmt::format("{}", tally.artifacts))},
                           {Words(row.processes)}},
                          std::move(brief),
                          {blanks + row.place, period.empty() ? "" : blanks + period}});
  }
  table.left_out = summary.recurring.size() - table.rows.size();
  blocks->emplace_back(doc::Section{"recurring in more than one input or process",
                                    "Recurring in more than one input or process",
                                    {std::move(table)}});
}

// "2 problems and 14 unknown errors, listed at the end"; empty if there is neither.
std::string ProblemsText(const Report& report) {
  const std::uint64_t unread = SaturatingAdd<std::uint64_t>(UnreadInputs(report).size(), UnreadInputsLeftOut(report));
  const std::uint64_t unknown =
      SaturatingAdd<std::uint64_t>(UnknownErrors(report).size(), UnknownErrorsLeftOut(report));
  std::vector<std::string> parts;
  if (unread > 0) parts.push_back(Counted(unread, "problem", "problems"));
  if (unknown > 0) parts.push_back(Counted(unknown, "unknown error", "unknown errors"));
  return parts.empty() ? "" : fmt::format("{}, listed at the end.", fmt::join(parts, " and "));
}

void AddOverview(const Report& report, const std::string& folder, doc::Blocks* head) {
  const Summary summary = Summarize(report);
  doc::Verdict verdict{1, "", Words(BatchTitle(report))};
  verdict.facts = {Words(SizeText(static_cast<double>(report.bytes)) + " read"),
                   Words("reported by " + Counted(summary.occurrences, "process", "processes")),
                   Words(PeriodText(summary.first_time, summary.last_time))};
  if (const std::string text = ProblemsText(report); !text.empty()) verdict.notes.push_back(Words(text));
  if (summary.useless_restarts > 0) {
    const std::string hours =
        summary.useless_seconds >= 3600 ? fmt::format(", over {} h", summary.useless_seconds / 3600) : "";
    verdict.notes.push_back(Words("At least " + Counted(summary.useless_restarts, "restart", "restarts") +
                                  " could not succeed: the job failed the same way again" + hours + "."));
  }
  if (!folder.empty())
    verdict.notes.push_back(doc::Joined({Words("Paths in tables are relative to "), doc::Name(folder), Words(".")}));
  head->emplace_back(std::move(verdict));
  const std::size_t column = ScenarioColumn(report);
  AddShares("by scenario", MostFrequent(summary.by_scenario), column, head);
  AddShares("by first remedy", MostFrequent(summary.by_remedy), 0, head);
  if (summary.by_program.size() > 1) AddShares("by program", MostFrequent(summary.by_program), 0, head);
  for (const ShareGroup& group : summary.groups) {
    if (group.shares.size() > 1) AddShares("by " + group.name, MostFrequent(group.shares), 0, head);
  }
  AddRecurring(summary, column, head);
  doc::TimesChart chart;
  for (const Failure& failure : report.failures) {
    if (failure.tally.first_time) chart.times.push_back(*failure.tally.first_time);
  }
  if (chart.times.size() > 1)
    head->emplace_back(doc::Section{"", "When the failures were first reported", {std::move(chart)}});
}

doc::Row FailureTableRow(const Failure& failure, const std::string& folder, std::size_t column) {
  FailureRow row = RowOf(failure);
  row.place = BelowFolder(row.place, folder);
  const auto& time = failure.tally.first_time;
  std::vector<std::string> brief = BriefOf(row, column);
  brief.push_back((brief.size() > 1 ? " · " : "") + row.place);
  const auto seen = time ? std::optional(static_cast<double>(time->microseconds)) : std::nullopt;
  return {{{doc::Joined({doc::Name(row.name), Words(" "),
                         doc::Sentence(Shorten(row.title, kLongProgram), doc::Span::Kind::kFaint)})},
           {doc::Name(row.program, kLongProgram)},
           {Words(row.excess), {}, row.excess_bytes},
           {doc::Sentence(Shorten(row.remedy, kLongProgram))},
           {Words(row.processes), {}, static_cast<double>(failure.tally.occurrences())},
           {Words(PeriodText(time, time)), {}, seen},
           {doc::Name(row.place, kLongProgram)}},
          std::move(brief)};
}

// An anchor is part of the page's URL, so it must be plain; an id that was read from a file may contain anything.
std::string AnchorOf(const Failure& failure) {
  const bool plain = !failure.id.empty() && failure.id.size() <= 64 &&
                     failure.id.find_first_not_of("0123456789abcdef") == std::string::npos;
  return "f-" + (plain ? failure.id : Sha256Hex(failure.id).substr(0, 16));
}

doc::Spans SummaryOf(const Failure& failure, const std::string& folder) {
  const FailureRow row = RowOf(failure);
  const std::optional<Need> need = NeedOf(failure);
  const std::vector<doc::Spans> facts = {
      doc::Joined({doc::Name(row.name), Words(" "),
                   row.program.empty() ? doc::Sentence(failure.rule->title) : doc::Name(row.program, kLongProgram)}),
      Words(need ? ExcessText(*need) : ""), doc::Name(BelowFolder(row.place, folder), kLongProgram)};
  return doc::Joined(facts, " · ");
}

void AddFailures(const std::vector<const Failure*>& failures, const std::string& folder, doc::Document* document) {
  std::set<std::string> taken;
  for (const Failure* failure : failures) {
    doc::Part& part = document->failures.emplace_back();
    part.anchor = AnchorOf(*failure);
    while (!taken.insert(part.anchor).second) part.anchor += 'x';  // ids read from files may repeat
    part.summary = SummaryOf(*failure, folder);
    part.failure = failure;
    const bool is_whole = failures.size() <= kLargeBatch || document->failures.size() <= kWholeOfLarge;
    part.depth = is_whole ? doc::Depth::kAlways : doc::Depth::kMore;
    part.make = [failure](doc::Pass pass) { return FailureBlocks(*failure, true, pass); };
  }
}

// Notes on the remedies that do not depend on the log, sorted by title.
doc::Blocks RemedyBlocks(const Report& report) {
  std::set<const Remedy*> remedies;
  for (const Failure& failure : report.failures) {
    for (const RankedRemedy& ranked : failure.remedies) remedies.insert(ranked.remedy);
  }
  std::vector<const Remedy*> sorted(remedies.begin(), remedies.end());
  std::sort(sorted.begin(), sorted.end(),
            [](const Remedy* a, const Remedy* b) { return std::tie(a->title, a->id) < std::tie(b->title, b->id); });
  doc::List list;
  for (const Remedy* remedy : sorted) {
    doc::Item item{doc::Sentence(remedy->title)};
    item.id = remedy->id;
    item.blocks = RemedyNotes(*remedy, remedy->safe_why);
    item.details = "remedy-" + remedy->id;
    list.items.push_back(std::move(item));
  }
  if (list.items.empty()) return {};
  return {{doc::Section{"", "Notes on the remedies", {std::move(list)}, false, true}, doc::Depth::kMore}};
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

std::string BatchTitle(const Report& report) {
  return Counted(report.failures.size(), "different failure", "different failures") + " in " +
         Counted(report.artifacts, "input", "inputs");
}

void AddBatch(const Report& report, doc::Document* document) {
  const std::vector<const Failure*> failures = MostFrequentFirst(report);
  const std::string folder = CommonFolder(report);
  AddOverview(report, folder, &document->head);
  AddFailures(failures, folder, document);
  const std::size_t column = ScenarioColumn(report);
  doc::Table table;
  table.style = "failures";
  table.columns = {{"failure"},
                   {"program"},
                   {"too much", Column::Kind::kNumber, 0, doc::Depth::kMore},
                   {"first remedy"},
                   {"processes", Column::Kind::kNumber, 0, doc::Depth::kMore},
                   {"first seen"},
                   {"where"}};
  for (std::size_t i = 0; i < std::min(failures.size(), kFailures); ++i) {
    table.rows.push_back(FailureTableRow(*failures[i], folder, column));
    table.rows.back().anchor = document->failures[i].anchor;
  }
  table.left_out = failures.size() - table.rows.size();
  table.elsewhere = " (--format json lists all)";
  table.caption = "run whyoom on one input for its full report; --brief lists whole names";
  document->table = {doc::Section{"all failures", "All failures", {std::move(table)}, true, false, "failures-title"}};
  document->remedies = RemedyBlocks(report);
}

}  // namespace whyoom
