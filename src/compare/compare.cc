#include "compare/compare.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "compare/compare_rows.h"
#include "compare/comparison_scope.h"
#include "compare/run_facts.h"
#include "facts/row_fields.h"
#include "facts/row_names.h"

namespace whyoom {
namespace {

// Logs print sizes with two decimals of a GiB, so two figures of one size may differ by this much.
constexpr std::int64_t kRounding = (std::int64_t{1} << 30) / 100;
// And one allocation of the same shape, by this much of itself ("1.01G"); dumps are exact.
constexpr double kRowRounding = 0.01;
// A row smaller than this explains nothing of a chip's HBM.
constexpr std::int64_t kSmallestRow = std::int64_t{1} << 20;

std::optional<std::int64_t> Over(const Run& run, std::optional<std::int64_t> limit) {
  if (const auto excess = Bytes(run, "excess_bytes")) return excess;
  const auto need = Bytes(run, "need_bytes");
  if (!need || !limit) return std::nullopt;
  return *need - *limit;
}

// What the figures of two runs that need too much show.
RunChange JudgeFigures(const Run& before, const Run& after, const Comparison& comparison) {
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

RunChange Judge(const Run& before, const Run& after, const Comparison& comparison) {
  if (after.failed && !before.failed) return RunChange::kFailsNow;
  if (after.failed && !before.code.empty() && !after.code.empty() && before.code != after.code)
    return RunChange::kOtherFailure;
  if (after.failed) return JudgeFigures(before, after, comparison);
  if (!after.success || (before.failed && !comparison.same_job)) return RunChange::kNoEvidence;
  // A program that compiled for another device, or on the host, may need more than the failed one could have.
  const bool runs =
      after.success->kind == SuccessSign::Kind::kProgress || after.success->kind == SuccessSign::Kind::kExitStatus;
  if (!runs && before.failed && comparison.over_after.value_or(0) > kRounding)
    return Bytes(after, "limit_bytes") ? JudgeFigures(before, after, comparison) : RunChange::kNoEvidence;
  return before.failed ? RunChange::kFitsNow : RunChange::kNeitherFails;
}

// --- What happened to each allocation.

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

// Rows that changed alike are one: a deep model has dozens.
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
  static constexpr const char* kTotals[] = {
      "need_bytes",      "limit_bytes",  "free_bytes",          "largest_free_block_bytes",
      "arguments_bytes", "output_bytes", "shared_output_bytes", "hlo_temp_bytes",
      "host_bytes"};
  for (const char* id : kTotals) {
    TotalChange total{id, "", Bytes(before, id), Bytes(after, id)};
    if (total.id == "limit_bytes" && total.before == total.after) continue;  // said at the head
    if (total.before.value_or(0) == 0 && total.after.value_or(0) == 0) continue;
    if (total.before || total.after) comparison->totals.push_back(total);
  }
  const TotalChange padding = Padding(before, after);
  if (padding.before.value_or(0) != 0 || padding.after.value_or(0) != 0) comparison->totals.push_back(padding);
}

bool Holds(const std::optional<Expression>& condition, const Scope& scope) {
  return !condition || AsBool(condition->Evaluate(scope)) == true;
}

// Those that hold, each once.
std::vector<std::string> RemediesOf(const Trace& trace, const Scope& scope) {
  std::vector<std::string> ids;
  for (const TraceRemedy& remedy : trace.remedies) {
    const bool told = std::find(ids.begin(), ids.end(), remedy.id) != ids.end();
    if (!told && Holds(remedy.when, scope)) ids.push_back(remedy.id);
  }
  return ids;
}

// Which remedies leave such traces as the two runs differ by.
std::vector<SeemingRemedy> Guessed(const RuleSet& rules, const Scope& scope) {
  std::vector<SeemingRemedy> seems;
  for (const Trace& trace : rules.traces()) {
    if ((trace.otherwise && !seems.empty()) || !Holds(trace.when, scope)) continue;
    SeemingRemedy seeming{RemediesOf(trace, scope), SayAll(trace.why, scope)};
    if (!seeming.ids.empty()) seems.push_back(std::move(seeming));
  }
  return seems;
}

void SetWords(const RuleSet& rules, const Scope& scope, Comparison* comparison) {
  comparison->verdict_text = rules.Say(std::string("diff.change.") + ChangeId(comparison->change), scope);
  for (TotalChange& total : comparison->totals) total.title = rules.Say("diff.total." + total.id, scope);
  for (const Trace& note : rules.notes()) {
    if (Holds(note.when, scope)) comparison->notes.push_back(SayAll(note.why, scope));
  }
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
  // A dump does not tell the limit; the job ran on the same chips as far as anyone knows.
  const auto limit_before = Bytes(before, "limit_bytes");
  const auto limit_after = Bytes(after, "limit_bytes");
  comparison.over_before = Over(before, limit_before ? limit_before : limit_after);
  comparison.over_after = Over(after, limit_after ? limit_after : limit_before);
  comparison.at_least_before = CountsTemporariesOnly(before);
  comparison.at_least_after = CountsTemporariesOnly(after);
  comparison.change = Judge(before, after, comparison);
  SetTotals(before, after, &comparison);
  comparison.rows_compared = !before.allocations.empty() && !after.allocations.empty();
  MatchedRows matched;
  if (comparison.rows_compared) {
    matched = MatchRows(before.allocations, after.allocations);
    SetRows(matched, &comparison);
  }
  const ComparisonScope scope(rules, before, after, comparison, matched);
  comparison.seems = Guessed(rules, scope);
  SetWords(rules, scope, &comparison);
  return comparison;
}

}  // namespace whyoom
