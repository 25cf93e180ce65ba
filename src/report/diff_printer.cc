#include "report/diff_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "report/layout.h"
#include "report/style.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kIndent = 6;  // of everything beside a label, as in the report
constexpr std::size_t kRows = 8;    // allocations shown; the JSON has all
constexpr std::size_t kBar = 40;

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
      : diff_(diff),
        comparison_(diff.comparison),
        rules_(rules),
        width_(std::max<std::size_t>(options.width, 40)),
        style_(options.colour) {}

  std::string Print() {
    PrintVerdict();
    PrintChanges();
    // Figures of two failures of different kinds are not of one thing.
    if (comparison_.verdict != DiffVerdict::kOtherFailure) {
      PrintBars();
      PrintTotals();
    }
    PrintRows();
    PrintSeems();
    bool first = true;
    for (const std::string& note : comparison_.notes) {
      if (first) out_ += '\n';
      Beside(first ? "note" : "", Printable(note));
      first = false;
    }
    for (const Problem& problem : diff_.problems)
      out_ += Hanging(style_.Warning("warning: "), 9, Printable(problem.path) + ": " + Printable(problem.what), width_);
    return std::move(out_);
  }

 private:
  void Beside(std::string_view label, std::string_view text) {
    const std::string lead = style_.Label(label) + std::string(kIndent - std::min(kIndent, DisplayWidth(label)), ' ');
    out_ += Hanging(lead, kIndent, text, width_);
  }
  void PrintVerdict();
  void PrintChanges();
  void PrintBars();
  void PrintTotals();
  void PrintRows();
  void PrintSeems();

  const Diff& diff_;
  const Comparison& comparison_;
  const RuleSet& rules_;
  std::size_t width_;
  Style style_;
  std::string out_;
};

void DiffPage::PrintVerdict() {
  const bool good = comparison_.verdict == DiffVerdict::kFitsNow || comparison_.verdict == DiffVerdict::kNeitherFails;
  for (const std::string& line : Wrap(Printable(comparison_.verdict_text), width_))
    out_ += (good ? style_.Good(line) : style_.Error(line)) + "\n";
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
  out_ += Hanging("", 0, facts, width_);
}

// "the batch: 24 → 12", of a change without lengths its title.
std::string Headline(const AppliedChange& change) {
  const Difference& difference = change.difference;
  const std::string title = change.remedies.size() == 1 ? change.remedies[0]->title : "";
  const bool back = difference.undone;
  std::string text;
  if (difference.from && difference.to) {
    text = fmt::format("{}: {} → {}", difference.what, *difference.from, *difference.to);
    if (difference.arrays > 1)
      text += fmt::format(" in {} {}", difference.arrays, difference.change.empty() ? "arrays" : "arguments");
    if (!title.empty()) text += back ? " (the reverse of: " + title + ")" : " (" + title + ")";
    return text;
  }
  return back ? "No more: " + title : title;
}

void DiffPage::PrintChanges() {
  bool first = true;
  for (const AppliedChange& change : comparison_.changes) {
    if (first) out_ += '\n';
    Beside(first ? "made" : "", Printable(Headline(change)));
    first = false;
    if (!change.difference.evidence.empty())
      out_ += Hanging(std::string(kIndent + 3, ' '), kIndent + 3,
                      Printable((change.difference.undone ? "before: " : "") + change.difference.evidence), width_);
  }
}

void DiffPage::PrintBars() {
  const auto need = Find(comparison_, "need_bytes");
  if (!need) return;
  out_ += '\n';
  const double whole = static_cast<double>(std::max(need->before.value_or(0), need->after.value_or(0)));
  const auto line = [&](const char* label, std::optional<std::int64_t> bytes, std::optional<std::int64_t> over,
                        bool at_least) {
    std::string lead = fmt::format("  {:<8}{:>10}  ", label, bytes ? FormatSize(*bytes) : "not known");
    std::string verdict;
    if (over) verdict = *over > 0 ? (at_least ? "≥ " : "") + FormatSize(*over) + " over" : FormatSize(-*over) + " free";
    const std::size_t room = width_ > lead.size() + 19 ? width_ - lead.size() - 19 : 4;  // "  ≥ 999.99 MiB over"
    const std::string bar = bytes ? Bar(static_cast<double>(*bytes), whole, std::min(kBar, room)) : "";
    std::string shown = style_.Strong(lead) + style_.Good(bar);
    if (!verdict.empty()) shown += "  " + (*over > 0 ? style_.Error(verdict) : style_.Good(verdict));
    while (shown.ends_with(' ')) shown.pop_back();
    out_ += shown + "\n";
  };
  line("before", need->before, comparison_.over_before, comparison_.at_least_before);
  line("after", need->after, comparison_.over_after, comparison_.at_least_after);
}

void DiffPage::PrintTotals() {
  std::string table;
  for (const TotalChange& total : comparison_.totals) {
    if (total.id == "need_bytes" || !total.before || !total.after) continue;
    table += fmt::format("{:<20}{:>11} {:>11}  {}\n", "  " + total.title, FormatSize(*total.before),
                         FormatSize(*total.after),
                         *total.before == *total.after ? "as before" : Signed(*total.after - *total.before));
  }
  if (table.empty()) return;
  out_ += '\n' + style_.Label("sums") + std::string(21, ' ') + "before       after\n" + table;
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
  out_ += '\n';
  if (comparison_.rows.empty()) {
    Beside("takes", fmt::format("nothing that both list has changed ({} {})", comparison_.unchanged_rows,
                                comparison_.unchanged_rows == 1 ? "allocation" : "allocations"));
    return;
  }
  Beside("takes", "what changed most of the listed allocations");
  for (std::size_t i = 0; i < std::min(kRows, comparison_.rows.size()); ++i) {
    const RowChange& row = comparison_.rows[i];
    const std::string sizes = row.kind == RowChangeKind::kNew ? FormatSize(row.size_after)
                              : row.kind == RowChangeKind::kGone
                                  ? FormatSize(row.size_before)
                                  : FormatSize(row.size_before) + " → " + FormatSize(row.size_after);
    // "1023.99 MiB → 1023.99 MiB" is the longest there is in sizes that matter.
    std::string padded = sizes;
    for (std::size_t width = DisplayWidth(sizes); width < 23; ++width) padded += ' ';
    const std::string lead = fmt::format("{}{:<8}{} ", std::string(kIndent, ' '), Name(row.kind), padded);
    const std::size_t column = DisplayWidth(lead);
    out_ += lead + Describe(row, width_ > column + 10 ? width_ - column : 10) + "\n";
  }
  std::size_t left_out = comparison_.rows.size() - std::min(kRows, comparison_.rows.size());
  std::string rest;
  if (left_out > 0) rest += fmt::format("and {} more (--format json has all)", left_out);
  if (comparison_.unchanged_rows > 0)
    rest += fmt::format("{}{} unchanged", rest.empty() ? "" : "; ", comparison_.unchanged_rows);
  if (!rest.empty()) out_ += Hanging(std::string(kIndent, ' '), kIndent, rest, width_);
}

void DiffPage::PrintSeems() {
  // What the programs prove need not be guessed from what is listed.
  const bool told = !comparison_.changes.empty();
  if (told && (comparison_.seems.empty() || !comparison_.changes.front().difference.change.empty())) return;
  out_ += '\n';
  if (comparison_.seems.empty()) {
    Beside("seems", "Which remedy was applied, if any, does not show." +
                        std::string(comparison_.programs_compared
                                        ? ""
                                        : " The XLA dumps of both tell more (XLA_FLAGS=--xla_dump_to=DIR): "
                                          "--xla-dump-before DIR --xla-dump-after DIR."));
    return;
  }
  bool first = true;
  for (const SeemingRemedy& seeming : comparison_.seems) {
    std::string titles;
    for (std::size_t i = 0; i < seeming.ids.size(); ++i) {
      const Remedy* remedy = rules_.FindRemedy(seeming.ids[i]);
      titles += (i == 0 ? "" : " — or — ") + (remedy == nullptr ? seeming.ids[i] : remedy->title);
    }
    Beside(first ? "seems" : "", titles);
    out_ += Hanging(std::string(kIndent + 3, ' '), kIndent + 3, Printable(seeming.why), width_);
    first = false;
  }
}

void SetNumber(Json& object, const char* key, const std::optional<std::int64_t>& number) {
  if (number) object[key] = *number;
}

Json RunJson(const Run& run, const std::string& module, const std::optional<std::int64_t>& over, bool at_least) {
  Json json = {{"path", Printable(run.path)}, {"failed", run.failed}};
  if (!run.code.empty()) json["code"] = run.code;
  if (!module.empty()) json["module"] = Printable(module);
  SetNumber(json, "over_bytes", over);
  if (at_least) json["at_least"] = true;
  return json;
}

Json ChangeJson(const AppliedChange& change) {
  const Difference& difference = change.difference;
  Json json = Json::object();
  if (!difference.change.empty() && change.remedies.size() == 1) json["change"] = change.remedies[0]->id;
  if (!difference.what.empty()) json["what"] = difference.what;
  SetNumber(json, "from", difference.from);
  SetNumber(json, "to", difference.to);
  if (difference.arrays > 0) json["arrays"] = difference.arrays;
  if (difference.undone) json["undone"] = true;
  if (!json.contains("change")) {
    json["candidates"] = Json::array();
    for (const Remedy* remedy : change.remedies) json["candidates"].push_back(remedy->id);
  }
  json["evidence"] = Printable(difference.evidence);
  return json;
}

Json RowJson(const RowChange& row) {
  Json json = {{"change", Name(row.kind)}, {"count", row.count}, {"name", Printable(row.name)}};
  if (!row.op_name.empty()) json["op_name"] = Printable(row.op_name);
  if (!row.source.empty()) json["source"] = Printable(row.source);
  if (row.kind != RowChangeKind::kNew) {
    json["shape_before"] = Printable(row.shape_before);
    json["size_before"] = row.size_before;
  }
  if (row.kind != RowChangeKind::kGone) {
    json["shape_after"] = Printable(row.shape_after);
    json["size_after"] = row.size_after;
  }
  return json;
}

}  // namespace

std::string PrintDiffText(const Diff& diff, const RuleSet& rules, const TextOptions& options) {
  return WithoutCommands(DiffPage(diff, rules, options).Print());
}

std::string PrintDiffJson(const Diff& diff, const std::string& version, const std::string& rules_fingerprint) {
  const Comparison& comparison = diff.comparison;
  Json json = {
      {"schema", "whyoom.diff/1"},
      {"tool", {{"version", version}, {"rules", rules_fingerprint}}},
      {"verdict", VerdictId(comparison.verdict)},
      {"before", RunJson(diff.before, comparison.module_before, comparison.over_before, comparison.at_least_before)},
      {"after", RunJson(diff.after, comparison.module_after, comparison.over_after, comparison.at_least_after)},
      {"same_job", comparison.same_job}};
  json["totals"] = Json::array();
  for (const TotalChange& total : comparison.totals) {
    Json entry = {{"id", total.id}};
    SetNumber(entry, "before", total.before);
    SetNumber(entry, "after", total.after);
    if (total.before && total.after) entry["difference"] = *total.after - *total.before;
    json["totals"].push_back(std::move(entry));
  }
  if (comparison.rows_compared) {
    Json changed = Json::array();
    for (const RowChange& row : comparison.rows) changed.push_back(RowJson(row));
    json["allocations"] = {{"unchanged", comparison.unchanged_rows}, {"changed", std::move(changed)}};
  }
  json["changes"] = Json::array();
  for (const AppliedChange& change : comparison.changes) json["changes"].push_back(ChangeJson(change));
  json["seems"] = Json::array();
  for (const SeemingRemedy& seeming : comparison.seems)
    json["seems"].push_back({{"ids", seeming.ids}, {"why", Printable(seeming.why)}});
  json["notes"] = Json::array();
  for (const std::string& note : comparison.notes) json["notes"].push_back(Printable(note));
  json["problems"] = Json::array();
  for (const Problem& problem : diff.problems)
    json["problems"].push_back({{"path", Printable(problem.path)}, {"what", Printable(problem.what)}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
