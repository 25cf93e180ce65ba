#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>

#include "report/command_documents.h"
#include "report/formatting.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;
using Kind = doc::Span::Kind;

constexpr std::size_t kRows = 8;  // allocations shown; the JSON lists all

doc::Verdict DiffVerdictBlock(const Diff& diff) {
  const Comparison& comparison = diff.comparison;
  const bool fits = VerdictOf(comparison.change) == DiffVerdict::kFits;
  doc::Verdict verdict;
  verdict.title = doc::Sentence(comparison.verdict_text, fits ? Kind::kGood : Kind::kBad);
  verdict.facts.push_back(Words(Printable(diff.before.path) + " → " + Printable(diff.after.path)));
  const std::string& module = comparison.before.module.empty() ? comparison.after.module : comparison.before.module;
  if (comparison.same_job) verdict.facts.push_back(doc::Name(module, 40));
  const Evidence& facts = (diff.after.facts.Find("limit_bytes") != nullptr ? diff.after : diff.before).facts;
  const std::string chip = facts.Text("chip");
  if (const auto limit = facts.Number("limit_bytes"))
    verdict.facts.push_back(Words(FormatSize(static_cast<std::int64_t>(*limit)) + " limit" +
                                  (chip.empty() ? "" : " (" + Printable(chip) + ")")));
  return verdict;
}

// Logs round figures to hundredths of a unit ("20.77G"). A smaller difference to such a figure is no change.
std::string ChangeText(std::int64_t before, std::int64_t after) {
  const auto change = static_cast<double>(after - before);
  double step = 0.01;
  while (step * 100 * 1024 <= static_cast<double>(std::max(before, after))) step *= 1024;
  const auto is_rounded = [&](auto figure) { return std::abs(std::remainder(figure, step)) < 1; };
  if (change == 0) return "same";
  if (std::abs(change) < step && (is_rounded(before) || is_rounded(after))) return "about the same";
  return (change > 0 ? "+" : "") + FormatSize(after - before);
}

void AddTotals(const Comparison& comparison, doc::Blocks* blocks) {
  doc::Table table;
  table.columns = {{"memory"}, {"before", true}, {"after", true}, {"change", true}};
  for (const TotalChange& total : comparison.totals) {
    const bool is_need = total.id == "need_bytes";
    if (!is_need && (!total.before || !total.after)) continue;
    const auto size = [&](const std::optional<std::int64_t>& bytes, const RunFigures& run) {
      return Words(bytes ? (is_need && run.at_least ? "≥ " : "") + FormatSize(*bytes) : "unknown");
    };
    table.rows.push_back(
        {Words(total.title), size(total.before, comparison.before), size(total.after, comparison.after),
         Words(is_need ? "" : ChangeText(*total.before, *total.after))});  // the verdict has the need's
  }
  doc::AddSection({"", {std::move(table)}}, blocks);
}

// "f32[8,4]", "f32[8,4] → f32[4,4]", "f32[8,4] → bf16".
std::string Shapes(const RowChange& row) {
  const auto& [before, after] = std::tie(row.shape_before, row.shape_after);
  if (before.empty() || after.empty() || before == after) return before.empty() ? after : before;
  const std::string dims = before.substr(std::min(before.find('['), before.size()));
  return before + " → " + after.substr(0, after.size() - (after.ends_with(dims) ? dims.size() : 0));
}

std::string Sizes(const RowChange& row) {
  if (row.kind == RowChangeKind::kNew) return FormatSize(row.size_after);
  if (row.kind == RowChangeKind::kGone) return FormatSize(row.size_before);
  return FormatSize(row.size_before) + " → " + FormatSize(row.size_after);
}

void AddRows(const Comparison& comparison, doc::Blocks* blocks) {
  if (!comparison.rows_compared) return;
  doc::Table table{{{"size", true}, {"change"}, {"shape"}, {"name"}}, {}, 0};
  for (const RowChange& row : std::span(comparison.rows).first(std::min(kRows, comparison.rows.size()))) {
    const bool is_named_by_shape = row.source.empty() && (row.name == row.shape_before || row.name == row.shape_after);
    const std::string shapes = (row.count > 1 ? fmt::format("{} × ", row.count) : "") + Shapes(row);
    table.rows.push_back({Words(Sizes(row)), Words(ChangeId(row.kind)), Words(Printable(shapes), Kind::kCode),
                          is_named_by_shape ? doc::Spans() : doc::Name(row.source.empty() ? row.name : row.source)});
  }
  table.left_out = comparison.rows.size() - table.rows.size();
  const std::string rest = table.rows.empty()              ? "none of the listed allocations changed"
                           : comparison.unchanged_rows > 0 ? fmt::format("{} unchanged", comparison.unchanged_rows)
                                                           : "";
  doc::AddSection({"Allocations that changed most", {std::move(table), doc::Paragraph{Words(rest)}}}, blocks);
}

}  // namespace

doc::Blocks DiffBlocks(const Diff& diff) {
  const Comparison& comparison = diff.comparison;
  doc::Blocks blocks = {DiffVerdictBlock(diff)};
  // Figures of different kinds of failures are not comparable.
  if (comparison.change != RunChange::kOtherFailure) AddTotals(comparison, &blocks);
  AddRows(comparison, &blocks);
  doc::List notes;
  for (const std::string& note : comparison.notes) notes.items.push_back({doc::Sentence(note)});
  doc::AddSection({"note", {std::move(notes)}}, &blocks);
  doc::List problems;
  for (const Problem& problem : diff.problems)
    problems.items.push_back(doc::Warning(doc::Sentence(problem.path + ": " + problem.what)));
  if (!problems.items.empty()) blocks.emplace_back(std::move(problems));
  return blocks;
}

}  // namespace whyoom
