#include "diagnose/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "facts/allocation.h"
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

std::optional<std::int64_t> Over(const Run& run, std::optional<std::int64_t> limit) {
  if (const auto excess = Bytes(run, "excess_bytes")) return excess;
  const auto need = Bytes(run, "need_bytes");
  if (!need || !limit) return std::nullopt;
  return *need - *limit;
}

// Compares the figures of two runs that both need too much.
RunChange CompareFigures(const Run& before, const Run& after, const Comparison& comparison) {
  auto one = comparison.over_before;
  auto other = comparison.over_after;
  if (!one || !other) {
    one = Bytes(before, "need_bytes");
    other = Bytes(after, "need_bytes");
  }
  if (!one || !other) return RunChange::kCannotTell;
  // A lower bound cannot show that the other figure is larger.
  if (comparison.at_least_before != comparison.at_least_after &&
      (comparison.at_least_before ? *one : *other) <= (comparison.at_least_before ? *other : *one) + kRounding)
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
  const bool runs =
      after.success->kind == SuccessSign::Kind::kProgress || after.success->kind == SuccessSign::Kind::kExitStatus;
  if (!runs && before.failed && comparison.over_after.value_or(0) > kRounding)
    return Bytes(after, "limit_bytes") ? CompareFigures(before, after, comparison) : RunChange::kNoEvidence;
  return before.failed ? RunChange::kFitsNow : RunChange::kNeitherFails;
}

// --- Changes of allocations.

RowChange MakeChange(RowChangeKind kind, const Allocation* before, const Allocation* after) {
  const Allocation& named = before != nullptr ? *before : *after;
  RowChange change;
  change.kind = kind;
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
  return change;
}

// Joins rows that changed in the same way: a deep model has dozens.
void AddChange(RowChange change, std::vector<RowChange>* rows) {
  if (std::max(change.size_before, change.size_after) < kSmallestRow) return;
  const auto same = std::find_if(rows->begin(), rows->end(), [&](const RowChange& row) {
    return row.kind == change.kind && row.shape_before == change.shape_before &&
           row.shape_after == change.shape_after && row.size_before == change.size_before &&
           row.size_after == change.size_after;
  });
  if (same == rows->end()) {
    rows->push_back(std::move(change));
  } else {
    ++same->count;
  }
}

void SetRows(const MatchedRows& matched, Comparison* comparison) {
  for (const RowPair& pair : matched.pairs) {
    const std::int64_t difference = *pair.after->size_bytes - *pair.before->size_bytes;
    const double rounding = ShapeOf(*pair.before) == ShapeOf(*pair.after)
                                ? kRowRounding * static_cast<double>(*pair.before->size_bytes)
                                : 0;
    if (static_cast<double>(std::abs(difference)) <= rounding || difference == 0) {
      ++comparison->unchanged_rows;
    } else {
      AddChange(MakeChange(difference < 0 ? RowChangeKind::kSmaller : RowChangeKind::kLarger, pair.before, pair.after),
                &comparison->rows);
    }
  }
  for (const Allocation* row : matched.gone)
    AddChange(MakeChange(RowChangeKind::kGone, row, nullptr), &comparison->rows);
  for (const Allocation* row : matched.added)
    AddChange(MakeChange(RowChangeKind::kNew, nullptr, row), &comparison->rows);
  std::stable_sort(comparison->rows.begin(), comparison->rows.end(), [](const RowChange& a, const RowChange& b) {
    return std::abs(a.difference()) > std::abs(b.difference());
  });
}

void SetTotals(const Run& before, const Run& after, Comparison* comparison) {
  const auto add = [&](const char* id, const char* fact) {
    TotalChange total{id, "", Bytes(before, fact), Bytes(after, fact)};
    if (total.before.value_or(0) != 0 || total.after.value_or(0) != 0) comparison->totals.push_back(std::move(total));
  };
  add("need_bytes", "need_bytes");
  if (Bytes(before, "limit_bytes") != Bytes(after, "limit_bytes"))
    add("limit_bytes", "limit_bytes");  // else in the heading
  for (const char* fact : {"free_bytes", "largest_free_block_bytes", "arguments_bytes", "output_bytes",
                           "shared_output_bytes", "hlo_temp_bytes", "host_bytes"})
    add(fact, fact);
  add("padding_bytes", "hlo_temp_padding_bytes");
}

bool IsTrue(const std::optional<Expression>& condition, const Scope& scope) {
  return !condition || AsBool(condition->Evaluate(scope)) == true;
}

void SetWords(const RuleSet& rules, const Scope& scope, Comparison* comparison) {
  comparison->verdict_text = rules.Say(std::string("diff.change.") + ChangeId(comparison->change), scope);
  for (TotalChange& total : comparison->totals) total.title = rules.Say("diff.total." + total.id, scope);
  for (const Note& note : rules.notes()) {
    if (IsTrue(note.when, scope)) comparison->notes.push_back(JoinSentences(note.why, scope));
  }
}

constexpr std::string_view kBefore = "before.";
constexpr std::string_view kAfter = "after.";

Value FromNumber(const std::optional<std::int64_t>& number) {
  return number ? Value(static_cast<double>(*number)) : Value{Unknown{}};
}

using SizedRows = std::vector<const Allocation*>;  // largest first

SizedRows Sized(const std::vector<Allocation>& rows) {
  SizedRows sized;
  for (const Allocation& row : rows) {
    if (row.size_bytes) sized.push_back(&row);
  }
  std::stable_sort(sized.begin(), sized.end(),
                   [](const Allocation* a, const Allocation* b) { return *a->size_bytes > *b->size_bytes; });
  return sized;
}

std::string Dims(const Allocation& row) {
  return row.array ? fmt::format("{}", fmt::join(row.array->dims, ",")) : WithoutLayouts(row.shape_text);
}

// Moves rows with equal keys, in order of size, to the pairs. An empty key matches nothing.
void Pair(const std::function<std::string(const Allocation&)>& key_of, MatchedRows* rows) {
  std::map<std::string, SizedRows> by_key;
  for (const Allocation* row : rows->added) by_key[key_of(*row)].push_back(row);
  by_key.erase("");
  std::map<std::string, std::size_t> used;
  std::set<const Allocation*> paired;
  for (const Allocation* row : rows->gone) {
    const std::string key = key_of(*row);
    const auto same = by_key.find(key);
    if (same == by_key.end() || used[key] == same->second.size()) continue;
    rows->pairs.push_back({row, same->second[used[key]++]});
    paired.insert({row, rows->pairs.back().after});
  }
  for (SizedRows* left : {&rows->gone, &rows->added})
    std::erase_if(*left, [&](const Allocation* row) { return paired.contains(row); });
}

}  // namespace

DiffVerdict VerdictOf(RunChange change) {
  switch (change) {
    case RunChange::kFitsNow:
    case RunChange::kNeitherFails:
      return DiffVerdict::kFits;
    case RunChange::kNoEvidence:
      return DiffVerdict::kUnknown;
    default:
      return DiffVerdict::kStillOver;
  }
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

Comparison Compare(const Run& before, const Run& after, const RuleSet& rules) {
  Comparison comparison;
  comparison.module_before = before.facts.Text("module");
  comparison.module_after = after.facts.Text("module");
  comparison.same_job = comparison.module_before.empty() || comparison.module_after.empty() ||
                        comparison.module_before == comparison.module_after;
  // A dump does not contain the limit; assume that both runs used the same chips.
  const auto limit_before = Bytes(before, "limit_bytes");
  const auto limit_after = Bytes(after, "limit_bytes");
  comparison.over_before = Over(before, limit_before ? limit_before : limit_after);
  comparison.over_after = Over(after, limit_after ? limit_after : limit_before);
  comparison.at_least_before = CountsTemporariesOnly(before);
  comparison.at_least_after = CountsTemporariesOnly(after);
  comparison.change = ClassifyChange(before, after, comparison);
  SetTotals(before, after, &comparison);
  comparison.rows_compared = !before.allocations.empty() && !after.allocations.empty();
  if (comparison.rows_compared) SetRows(MatchRows(before.allocations, after.allocations), &comparison);
  SetWords(rules, ComparisonScope(before, after, comparison), &comparison);
  return comparison;
}

Value ComparisonScope::Get(std::string_view name) const {
  if (name.starts_with(kBefore)) return OfRun(before_, true, name.substr(kBefore.size()));
  if (name.starts_with(kAfter)) return OfRun(after_, false, name.substr(kAfter.size()));
  if (name == "lists_compared") return comparison_.rows_compared;
  if (name == "same_job") return comparison_.same_job;
  if (name == "verdict") return std::string(VerdictId(VerdictOf(comparison_.change)));
  if (name == "change") return std::string(ChangeId(comparison_.change));
  return Unknown{};
}

Value ComparisonScope::OfRun(const Run& run, bool is_before, std::string_view name) const {
  if (name == "failed") return run.failed;
  if (name == "measured") return run.measured;
  if (name == "ran") return run.success.has_value();
  if (name == "compiles") return run.compiles;
  if (name == "code") return run.code;
  if (name == "title") return run.title;
  if (name == "path") return run.path;
  if (name == "listed") return static_cast<double>(run.allocations.size());
  if (name == "other_failures") return static_cast<double>(run.other_failures);
  if (name == "over_bytes") return FromNumber(is_before ? comparison_.over_before : comparison_.over_after);
  if (name == "is_at_least") return is_before ? comparison_.at_least_before : comparison_.at_least_after;
  Value value = run.facts.Get(name);
  return AsNumber(value) ? FromNumber(Bytes(run, name)) : value;
}

std::optional<std::int64_t> Bytes(const Run& run, std::string_view name) {
  static constexpr std::string_view kNotCounted[] = {"arguments_bytes", "output_bytes", "shared_output_bytes"};
  if (std::find(std::begin(kNotCounted), std::end(kNotCounted), name) != std::end(kNotCounted) &&
      CountsTemporariesOnly(run))
    return std::nullopt;
  const std::optional<double> number = run.facts.Number(name);
  if (!number || !(std::abs(*number) < kMaxBytes)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

bool CountsTemporariesOnly(const Run& run) { return run.failed && CountsTemporariesOnly(run.facts); }

MatchedRows MatchRows(const std::vector<Allocation>& before, const std::vector<Allocation>& after) {
  MatchedRows rows{{}, Sized(before), Sized(after)};
  const auto sized_shape = [](const Allocation& row) {
    return ShapeOf(row).empty() ? "" : fmt::format("{} {}", ShapeOf(row), *row.size_bytes);
  };
  const auto with_op = [](const Allocation& row, const std::string& more) {
    static const Regex checkpoint("(?:rematted_computation|checkpoint)/");
    std::string op = row.op_name;
    re2::RE2::GlobalReplace(&op, checkpoint, "");
    return op.empty() || more.empty() ? std::string() : op + "\n" + more;
  };
  Pair([&](const Allocation& row) { return with_op(row, sized_shape(row)); }, &rows);
  Pair([&](const Allocation& row) { return with_op(row, ShapeOf(row)); }, &rows);
  Pair([&](const Allocation& row) { return with_op(row, "any"); }, &rows);
  Pair(sized_shape, &rows);
  Pair(ShapeOf, &rows);  // logs round sizes, dumps do not
  Pair(Dims, &rows);
  return rows;
}

}  // namespace whyoom
