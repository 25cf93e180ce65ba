#include "report/text/diff_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "report/layout.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kRows = 8;  // allocations shown; the JSON has all
constexpr std::size_t kDiffBar = 40;

const char* Name(RowChangeKind kind) {
  switch (kind) {
    case RowChangeKind::kSmaller:
      return "smaller";
    case RowChangeKind::kLarger:
      return "larger";
    case RowChangeKind::kGone:
      return "gone";
    default:
      return "new";
  }
}

std::optional<TotalChange> Find(const Comparison& comparison, std::string_view id) {
  for (const TotalChange& total : comparison.totals) {
    if (total.id == id) return total;
  }
  return std::nullopt;
}

// "+1.50 GiB", "-3.00 GiB", "0 B".
std::string Signed(std::int64_t bytes) { return (bytes > 0 ? "+" : "") + FormatSize(bytes); }

class DiffPage {
 public:
  DiffPage(const Diff& diff, const RuleSet& rules, const TextOptions& options)
      : diff_(diff), comparison_(diff.comparison), rules_(rules), page_(options) {}

  std::string Print() {
    PrintVerdict();
    // Figures of two failures of different kinds are not of one thing.
    if (comparison_.change != RunChange::kOtherFailure) {
      PrintBars();
      PrintTotals();
    }
    PrintRows();
    PrintSeems();
    bool first = true;
    for (const std::string& note : comparison_.notes) {
      if (first) page_.Blank();
      page_.Beside(first ? "note" : "", Printable(note));
      first = false;
    }
    for (const Problem& problem : diff_.problems)
      page_.Warning(Printable(problem.path) + ": " + Printable(problem.what));
    return page_.Take();
  }

 private:
  void PrintVerdict();
  void PrintBars();
  void PrintTotals();
  void PrintRows();
  void PrintSeems();

  const Diff& diff_;
  const Comparison& comparison_;
  const RuleSet& rules_;
  TextPage page_;
};

void DiffPage::PrintVerdict() {
  const bool good = VerdictOf(comparison_.change) == DiffVerdict::kFits;
  page_.Paragraph(Printable(comparison_.verdict_text), 0, good ? &Style::Good : &Style::Error);
  std::string facts = Printable(diff_.before.path) + " → " + Printable(diff_.after.path);
  const std::string& module = comparison_.module_before.empty() ? comparison_.module_after : comparison_.module_before;
  if (!module.empty() && comparison_.same_job) facts += " · " + Shorten(Printable(module), 40);
  for (const Run* run : {&diff_.after, &diff_.before}) {
    const auto limit = run->facts.Number("limit_bytes");
    if (!limit) continue;
    const std::string chip = run->facts.Text("chip");
    facts += " · " + FormatSize(static_cast<std::int64_t>(*limit)) + " limit" +
             (chip.empty() ? "" : " (" + Printable(chip) + ")");
    break;
  }
  page_.Paragraph(facts);
}

void DiffPage::PrintBars() {
  const auto need = Find(comparison_, "need_bytes");
  if (!need) return;
  page_.Blank();
  const double whole = static_cast<double>(std::max(need->before.value_or(0), need->after.value_or(0)));
  const auto line = [&](const char* label, std::optional<std::int64_t> bytes, std::optional<std::int64_t> over,
                        bool at_least) {
    std::string lead = fmt::format("  {:<8}{:>10}  ", label, bytes ? FormatSize(*bytes) : "not known");
    std::string verdict;
    if (over) verdict = *over > 0 ? (at_least ? "≥ " : "") + FormatSize(*over) + " over" : FormatSize(-*over) + " free";
    const std::size_t others = lead.size() + 19;  // with "  ≥ 999.99 MiB over"
    const std::size_t room = page_.width() > others ? page_.width() - others : 4;
    const std::string bar = bytes ? Bar(static_cast<double>(*bytes), whole, std::min(kDiffBar, room)) : "";
    const Style& style = page_.style();
    std::string shown = style.Strong(lead) + style.Good(bar);
    if (!verdict.empty()) shown += "  " + (*over > 0 ? style.Error(verdict) : style.Good(verdict));
    while (shown.ends_with(' ')) shown.pop_back();
    page_.Line(shown);
  };
  line("before", need->before, comparison_.over_before, comparison_.at_least_before);
  line("after", need->after, comparison_.over_after, comparison_.at_least_after);
}

void DiffPage::PrintTotals() {
  bool first = true;
  for (const TotalChange& total : comparison_.totals) {
    if (total.id == "need_bytes" || !total.before || !total.after) continue;
    if (first) {
      page_.Blank();
      page_.Line(page_.style().Label("sums") + std::string(21, ' ') + "before       after");
      first = false;
    }
    page_.Line(fmt::format("{:<20}{:>11} {:>11}  {}", "  " + total.title, FormatSize(*total.before),
                           FormatSize(*total.after),
                           *total.before == *total.after ? "as before" : Signed(*total.after - *total.before)));
  }
}

// "f32[8,4]", "f32[8,4] → f32[4,4]", "f32[8,4] → bf16".
std::string Shapes(const RowChange& row) {
  if (row.shape_before.empty() || row.shape_after.empty() || row.shape_before == row.shape_after)
    return row.shape_before.empty() ? row.shape_after : row.shape_before;
  const std::size_t dims = row.shape_before.find('[');
  const std::size_t dims_after = row.shape_after.find('[');
  const bool same_dims = dims != std::string::npos && dims_after != std::string::npos &&
                         row.shape_before.substr(dims) == row.shape_after.substr(dims_after);
  return row.shape_before + " → " + (same_dims ? row.shape_after.substr(0, dims_after) : row.shape_after);
}

// With the name where there is room for it.
std::string Describe(const RowChange& row, std::size_t columns) {
  const std::string shapes = Printable((row.count > 1 ? fmt::format("{} × ", row.count) : "") + Shapes(row));
  const std::string name = Printable(row.source.empty() ? row.name : row.source);
  const std::size_t taken = DisplayWidth(shapes) + 2;
  constexpr std::size_t kLeastName = 8;
  const bool is_shape = row.source.empty() && (row.name == row.shape_before || row.name == row.shape_after);
  if (is_shape || taken + std::min(kLeastName, DisplayWidth(name)) > columns) return Shorten(shapes, columns);
  return shapes + "  " + Shorten(name, columns - taken);
}

void DiffPage::PrintRows() {
  if (!comparison_.rows_compared) return;
  page_.Blank();
  if (comparison_.rows.empty()) {
    page_.Beside("takes", fmt::format("nothing that both list has changed ({} {})", comparison_.unchanged_rows,
                                      comparison_.unchanged_rows == 1 ? "allocation" : "allocations"));
    return;
  }
  page_.Beside("takes", "what changed most of the listed allocations");
  for (std::size_t i = 0; i < std::min(kRows, comparison_.rows.size()); ++i) {
    const RowChange& row = comparison_.rows[i];
    const std::string sizes = row.kind == RowChangeKind::kNew ? FormatSize(row.size_after)
                              : row.kind == RowChangeKind::kGone
                                  ? FormatSize(row.size_before)
                                  : FormatSize(row.size_before) + " → " + FormatSize(row.size_after);
    // "1023.99 MiB → 1023.99 MiB" is the longest there is in sizes that matter.
    std::string padded = sizes;
    for (std::size_t width = DisplayWidth(sizes); width < 23; ++width) padded += ' ';
    const std::string lead = fmt::format("{}{:<8}{} ", std::string(TextPage::kIndent, ' '), Name(row.kind), padded);
    const std::size_t column = DisplayWidth(lead);
    page_.Line(lead + Describe(row, page_.width() > column + 10 ? page_.width() - column : 10));
  }
  std::size_t left_out = comparison_.rows.size() - std::min(kRows, comparison_.rows.size());
  std::string rest;
  if (left_out > 0) rest += fmt::format("and {} more (--format json has all)", left_out);
  if (comparison_.unchanged_rows > 0)
    rest += fmt::format("{}{} unchanged", rest.empty() ? "" : "; ", comparison_.unchanged_rows);
  if (!rest.empty()) page_.Paragraph(rest, TextPage::kIndent);
}

void DiffPage::PrintSeems() {
  page_.Blank();
  if (comparison_.seems.empty()) {
    page_.Beside("seems", "Which remedy was applied, if any, does not show.");
    return;
  }
  bool first = true;
  for (const SeemingRemedy& seeming : comparison_.seems) {
    std::string titles;
    for (std::size_t i = 0; i < seeming.ids.size(); ++i) {
      const Remedy* remedy = rules_.FindRemedy(seeming.ids[i]);
      titles += (i == 0 ? "" : " — or — ") + (remedy == nullptr ? seeming.ids[i] : remedy->title);
    }
    page_.Beside(first ? "seems" : "", titles);
    page_.Paragraph(Printable(seeming.why), TextPage::kIndent + 3);
    first = false;
  }
}

}  // namespace

std::string PrintDiffText(const Diff& diff, const RuleSet& rules, const TextOptions& options) {
  return WithoutCommands(DiffPage(diff, rules, options).Print());
}

}  // namespace whyoom
