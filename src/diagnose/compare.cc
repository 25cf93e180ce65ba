#include "diagnose/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "diagnose/failure_scope.h"
#include "facts/array.h"
#include "text/numbers.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

// Logs print sizes in GiB with two decimals, so two figures of one size may differ by this much.
constexpr std::int64_t kRounding = (std::int64_t{1} << 30) / 100;
// The rounding of a single allocation ("1.01G"), relative; dumps are exact.
constexpr double kRowRounding = 0.01;
// Smaller rows are irrelevant for a chip's HBM.
constexpr std::int64_t kSmallestRow = std::int64_t{1} << 20;

// A fact in bytes, or another whole number.
std::optional<std::int64_t> Bytes(const Run& run, std::string_view name) {
  const bool is_not_counted = name == "arguments_bytes" || name == "output_bytes" || name == "shared_output_bytes";
  if (is_not_counted && run.failed && CountsTemporariesOnly(run.facts)) return std::nullopt;
  const std::optional<double> number = run.facts.Number(name);
  if (!number || !(std::abs(*number) < kMaxBytes)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

// `other` states the limit if `run` is a dump, which does not contain it: both runs are assumed to use the same chips.
RunFigures FiguresOf(const Run& run, const Run& other) {
  RunFigures figures;
  figures.module = run.facts.Text("module");
  figures.at_least = run.failed && CountsTemporariesOnly(run.facts);
  const auto limit = Bytes(run.facts.Number("limit_bytes") ? run : other, "limit_bytes");
  const auto need = Bytes(run, "need_bytes");
  figures.over = Bytes(run, "excess_bytes");
  if (!figures.over && need && limit) figures.over = *need - *limit;
  return figures;
}

// Compares the figures of two runs that both need too much.
RunChange CompareFigures(const Run& before, const Run& after, const Comparison& comparison) {
  auto one = comparison.before.over;
  auto other = comparison.after.over;
  if (!one || !other) {
    one = Bytes(before, "need_bytes");
    other = Bytes(after, "need_bytes");
  }
  if (!one || !other) return RunChange::kCannotTell;
  // A lower bound cannot show that the other figure is larger.
  const auto [bound, figure] = comparison.before.at_least ? std::pair(*one, *other) : std::pair(*other, *one);
  if (comparison.before.at_least != comparison.after.at_least && bound <= figure + kRounding)
    return RunChange::kCannotTell;
  if (std::abs(*one - *other) <= kRounding) return RunChange::kUnchanged;
  return *other < *one ? RunChange::kLess : RunChange::kWorse;
}

RunChange ClassifyChange(const Run& before, const Run& after, const Comparison& comparison) {
  if (after.failed && !before.failed) return RunChange::kFailsNow;
  if (after.failed && !before.code.empty() && !after.code.empty() && before.code != after.code)
    return RunChange::kOtherFailure;
  if (after.failed) return CompareFigures(before, after, comparison);
  if (!after.success || (before.failed && !comparison.same_job)) return RunChange::kNoEvidence;
  // A program that compiled for another device, or on the host, may need more than the limit of the failed one.
  if (after.success->kind != SuccessSign::Kind::kProgress && before.failed &&
      comparison.after.over.value_or(0) > kRounding)
    return Bytes(after, "limit_bytes") ? CompareFigures(before, after, comparison) : RunChange::kNoEvidence;
  return before.failed ? RunChange::kFitsNow : RunChange::kNeitherFails;
}

// --- Changes of allocations.

using SizedRows = std::vector<const Allocation*>;  // largest first

// A row of the first report and the same one in the second; null if one of the reports lacks it.
using RowPair = std::pair<const Allocation*, const Allocation*>;

SizedRows Sized(const std::vector<Allocation>& rows) {
  SizedRows sized;
  for (const Allocation& row : rows) {
    if (row.size_bytes) sized.push_back(&row);
  }
  std::stable_sort(sized.begin(), sized.end(),
                   [](const Allocation* a, const Allocation* b) { return *a->size_bytes > *b->size_bytes; });
  return sized;
}

// Criteria for the same allocation in two reports, the most reliable one first. An empty key matches nothing.
std::vector<std::function<std::string(const Allocation&)>> RowKeys() {
  const auto sized_shape = [](const Allocation& row) {
    return ShapeOf(row).empty() ? "" : fmt::format("{} {}", ShapeOf(row), *row.size_bytes);
  };
  const auto with_op = [](const Allocation& row, const std::string& more) {
    static const Regex checkpoint("(?:rematted_computation|checkpoint)/");
    std::string op = row.op_name;
    re2::RE2::GlobalReplace(&op, checkpoint, "");
    return op.empty() || more.empty() ? std::string() : op + "\n" + more;
  };
  return {[=](const Allocation& row) { return with_op(row, sized_shape(row)); },
          [=](const Allocation& row) { return with_op(row, ShapeOf(row)); },
          [=](const Allocation& row) { return with_op(row, "any"); },
          sized_shape,
          ShapeOf,  // logs round sizes, dumps do not
          [](const Allocation& row) {
            return row.array ? fmt::format("{}", fmt::join(row.array->dims, ",")) : WithoutLayouts(row.shape_text);
          }};
}

// Whether the run would list such a row. Some logs list only temporaries, or only parameters.
bool Lists(const Run& run, const Allocation& row) {
  const auto alike = std::ranges::find(run.allocations, row.kind, &Allocation::kind);
  return run.code.empty() || row.kind.empty() || alike != run.allocations.end();
}

// Finds the allocations of the first run in the second one. Borrows the rows.
std::vector<RowPair> MatchRows(const Run& before, const Run& after) {
  std::vector<RowPair> pairs;
  SizedRows gone = Sized(before.allocations);
  SizedRows added = Sized(after.allocations);
  for (const auto& key_of : RowKeys()) {
    std::map<std::string, std::deque<const Allocation*>> by_key;
    for (const Allocation* row : added) by_key[key_of(*row)].push_back(row);
    by_key.erase("");
    std::set<const Allocation*> paired;
    for (const Allocation* row : gone) {
      const auto same = by_key.find(key_of(*row));
      if (same == by_key.end() || same->second.empty()) continue;
      pairs.emplace_back(row, same->second.front());
      paired.insert({row, same->second.front()});
      same->second.pop_front();
    }
    for (SizedRows* left : {&gone, &added})
      std::erase_if(*left, [&](const Allocation* row) { return paired.contains(row); });
  }
  std::erase_if(gone, [&](const Allocation* row) { return !Lists(after, *row); });
  std::erase_if(added, [&](const Allocation* row) { return !Lists(before, *row); });
  for (const Allocation* row : gone) pairs.emplace_back(row, nullptr);
  for (const Allocation* row : added) pairs.emplace_back(nullptr, row);
  return pairs;
}

// Returns nullopt if the row did not change, except for the rounding of its size.
std::optional<RowChange> ChangeOf(const RowPair& pair) {
  const auto [before, after] = pair;
  const Allocation& named = before != nullptr ? *before : *after;
  RowChange change;
  change.name = ShortName(named);
  change.op_name = named.op_name;
  change.source = SourceOf(named);
  if (before != nullptr) {
    change.shape_before = ShapeOf(*before);
    change.size_before = *before->size_bytes;
  }
  if (after != nullptr) {
    change.shape_after = ShapeOf(*after);
    change.size_after = *after->size_bytes;
  }
  const std::int64_t difference = change.size_after - change.size_before;
  change.kind = before == nullptr  ? RowChangeKind::kNew
                : after == nullptr ? RowChangeKind::kGone
                : difference < 0   ? RowChangeKind::kSmaller
                                   : RowChangeKind::kLarger;
  if (before == nullptr || after == nullptr) return change;
  const double rounding =
      change.shape_before == change.shape_after ? kRowRounding * static_cast<double>(change.size_before) : 0;
  if (static_cast<double>(std::abs(difference)) <= rounding || difference == 0) return std::nullopt;
  return change;
}

// Joins rows that changed in the same way: a deep model has dozens.
void SetRows(const std::vector<RowPair>& pairs, Comparison* comparison) {
  std::vector<RowChange>& rows = comparison->rows;
  for (const RowPair& pair : pairs) {
    std::optional<RowChange> change = ChangeOf(pair);
    if (!change) ++comparison->unchanged_rows;
    if (!change || std::max(change->size_before, change->size_after) < kSmallestRow) continue;
    const auto key = [](const RowChange& row) {
      return std::tie(row.kind, row.shape_before, row.shape_after, row.size_before, row.size_after);
    };
    const auto same =
        std::find_if(rows.begin(), rows.end(), [&](const RowChange& row) { return key(row) == key(*change); });
    if (same == rows.end()) {
      rows.push_back(*std::move(change));
    } else {
      ++same->count;
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const RowChange& a, const RowChange& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
}

// --- Totals and sentences.

void SetTotals(const Run& before, const Run& after, Comparison* comparison) {
  for (const std::string id :
       {"need_bytes", "limit_bytes", "free_bytes", "largest_free_block_bytes", "arguments_bytes", "output_bytes",
        "shared_output_bytes", "hlo_temp_bytes", "host_bytes", "padding_bytes"}) {
    const std::string fact = id == "padding_bytes" ? "hlo_temp_padding_bytes" : id;
    TotalChange total{id, "", Bytes(before, fact), Bytes(after, fact)};
    const bool is_in_heading = total.id == "limit_bytes" && total.before == total.after;
    if ((total.before.value_or(0) != 0 || total.after.value_or(0) != 0) && !is_in_heading)
      comparison->totals.push_back(std::move(total));
  }
}

// Adds the names that sentences can use for a run.
void AddNames(const std::string& prefix, const Run& run, const RunFigures& figures, ExtendedScope::Names* names) {
  const auto number = [](const std::optional<std::int64_t>& of) {
    return of ? Value(static_cast<double>(*of)) : Value(Unknown{});
  };
  const auto add = [&](const std::string& name, Value value) { (*names)[prefix + name] = std::move(value); };
  for (const auto& [name, fact] : run.facts.all())
    add(name, AsNumber(fact.value) ? number(Bytes(run, name)) : fact.value);
  add("failed", run.failed);
  add("measured", run.success && run.success->kind == SuccessSign::Kind::kDump);
  add("ran", run.success.has_value());
  add("compiles", run.compiles);
  add("code", run.code);
  add("title", run.title);
  add("path", run.path);
  add("listed", static_cast<double>(run.allocations.size()));
  add("other_failures", static_cast<double>(run.other_failures));
  add("over_bytes", number(figures.over));
  add("is_at_least", figures.at_least);
}

void SetWords(const Run& before, const Run& after, const RuleSet& rules, Comparison* comparison) {
  ExtendedScope::Names names = {{"lists_compared", comparison->rows_compared},
                                {"same_job", comparison->same_job},
                                {"verdict", std::string(VerdictId(VerdictOf(comparison->change)))},
                                {"change", std::string(ChangeId(comparison->change))}};
  AddNames("before.", before, comparison->before, &names);
  AddNames("after.", after, comparison->after, &names);
  const ExtendedScope scope(nullptr, std::move(names));
  comparison->verdict_text = rules.Say(std::string("diff.change.") + ChangeId(comparison->change), scope);
  for (TotalChange& total : comparison->totals) total.title = rules.Say("diff.total." + total.id, scope);
  for (const Wording& wording : rules.wording) {
    if (!wording.id.starts_with("diff.note.")) continue;
    if (std::string note = rules.Say(wording.id, scope); !note.empty()) comparison->notes.push_back(std::move(note));
  }
}

}  // namespace

DiffVerdict VerdictOf(RunChange change) {
  if (change == RunChange::kFitsNow || change == RunChange::kNeitherFails) return DiffVerdict::kFits;
  return change == RunChange::kNoEvidence ? DiffVerdict::kUnknown : DiffVerdict::kStillOver;
}

const char* VerdictId(DiffVerdict verdict) {
  static constexpr const char* kIds[] = {"fits", "still_over", "unknown"};
  return kIds[static_cast<std::size_t>(verdict)];
}

const char* ChangeId(RunChange change) {
  static constexpr const char* kIds[] = {"fits_now", "neither_fails", "no_evidence", "fails_now",  "other_failure",
                                         "less",     "unchanged",     "worse",       "cannot_tell"};
  return kIds[static_cast<std::size_t>(change)];
}

const char* ChangeId(RowChangeKind change) {
  static constexpr const char* kIds[] = {"smaller", "larger", "gone", "new"};
  return kIds[static_cast<std::size_t>(change)];
}

Comparison Compare(const Run& before, const Run& after, const RuleSet& rules) {
  Comparison comparison;
  comparison.before = FiguresOf(before, after);
  comparison.after = FiguresOf(after, before);
  comparison.same_job = comparison.before.module.empty() || comparison.after.module.empty() ||
                        comparison.before.module == comparison.after.module;
  comparison.change = ClassifyChange(before, after, comparison);
  SetTotals(before, after, &comparison);
  comparison.rows_compared = !before.allocations.empty() && !after.allocations.empty();
  if (comparison.rows_compared) SetRows(MatchRows(before, after), &comparison);
  SetWords(before, after, rules, &comparison);
  return comparison;
}

FailurePair MatchFailures(const std::vector<Failure>& before, const std::vector<Failure>& after) {
  FailurePair best(before.empty() ? nullptr : before.data(), after.empty() ? nullptr : after.data());
  int best_score = 0;
  for (const Failure& one : before) {
    for (const Failure& other : after) {
      const Value module = one.facts.Get("module");
      const bool same_module = IsKnown(module) && module == other.facts.Get("module");
      const int score = one.rule->code != other.rule->code ? 0 : same_module ? 2 : 1;
      if (score > best_score) best = {&one, &other};
      best_score = std::max(best_score, score);
    }
  }
  return best;
}

}  // namespace whyoom
