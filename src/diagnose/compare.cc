#include "diagnose/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "diagnose/compare_rows.h"
#include "diagnose/row_fields.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

// Logs print sizes with two decimals of a GiB, so two figures of one size may differ by this much.
constexpr std::int64_t kRounding = (std::int64_t{1} << 30) / 100;
// A total that changed by less of what is needed has not been worked on: compilers differ by as much from run to run.
constexpr double kNoticeable = 0.01;
// Of the listed bytes; a remedy that touched less of them did not do it for its bytes.
constexpr double kTouched = 0.2;
// "Most" of the temporaries: batch and sharding divide nearly all of them, anything else only some.
constexpr double kMost = 0.5;
// An allocation that holds this many times its data is padded in earnest, not rounded up to a tile.
constexpr double kPadded = 1.5;
// Arguments shrink by the factor to within this much where they are divided with the rest: some scalars never are.
constexpr double kSameRatio = 0.1;
// A row smaller than this explains nothing of a chip's HBM.
constexpr std::int64_t kSmallestRow = std::int64_t{1} << 20;

std::optional<std::int64_t> Bytes(const Run& run, std::string_view name) {
  const std::optional<double> number = AsNumber(run.facts.Get(name));
  constexpr double kExact = 9.0e18;
  if (!number || !(std::abs(*number) < kExact)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::string TextFact(const Run& run, std::string_view name) {
  const Value value = run.facts.Get(name);
  const std::string* text = AsText(value);
  return text == nullptr ? std::string() : *text;
}

bool Is(const Allocation& row, std::string_view field) { return AsBool(RowField(row, field)) == true; }

std::string Shape(const Allocation& row) { return row.array ? row.array->shape : WithoutLayouts(row.shape_text); }

std::string SourceOf(const Allocation& row) {
  const Value value = RowField(row, "source");
  const std::string* text = AsText(value);
  return text == nullptr ? std::string() : *text;
}

std::int64_t ListedBytes(const Run& run) {
  std::int64_t sum = 0;
  for (const Allocation& row : run.allocations) sum += row.size_bytes.value_or(0);
  return sum;
}

std::optional<std::int64_t> RowPadding(const Run& run) {
  if (run.allocations.empty()) return std::nullopt;
  std::int64_t sum = 0;
  for (const Allocation& row : run.allocations) sum += row.padding_bytes.value_or(0);
  return sum;
}

// Both from the same kind of figure, where there is one that both have.
TotalChange Padding(const Run& before, const Run& after) {
  TotalChange total{"padding_bytes", "padding", Bytes(before, "hlo_temp_padding_bytes"),
                    Bytes(after, "hlo_temp_padding_bytes")};
  if (total.before && total.after) return total;
  const auto rows_before = RowPadding(before);
  const auto rows_after = RowPadding(after);
  if (rows_before && rows_after) return {total.id, total.title, rows_before, rows_after};
  if (!total.before && !total.after) return {total.id, total.title, rows_before, rows_after};
  return total;
}

std::optional<std::int64_t> Over(const Run& run, std::optional<std::int64_t> limit) {
  if (const auto excess = Bytes(run, "excess_bytes")) return excess;
  const auto need = Bytes(run, "need_bytes");
  if (!need || !limit) return std::nullopt;
  return *need - *limit;
}

DiffVerdict Judge(const Run& before, const Run& after, const Comparison& comparison) {
  if (!after.failed) return before.failed ? DiffVerdict::kFitsNow : DiffVerdict::kNeitherFails;
  if (!before.failed) return DiffVerdict::kFailsNow;
  if (!before.code.empty() && !after.code.empty() && before.code != after.code) return DiffVerdict::kOtherFailure;
  auto one = comparison.over_before;
  auto other = comparison.over_after;
  if (!one || !other) {
    one = Bytes(before, "need_bytes");
    other = Bytes(after, "need_bytes");
  }
  if (!one || !other) return DiffVerdict::kCannotTell;
  if (std::abs(*one - *other) <= kRounding) return DiffVerdict::kUnchanged;
  return *other < *one ? DiffVerdict::kStillOver : DiffVerdict::kWorse;
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
    change.shape_before = Shape(*before);
    change.size_before = *before->size_bytes;
  }
  if (after != nullptr) {
    change.shape_after = Shape(*after);
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
    if (difference == 0) {
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

// --- Which remedies leave such a trace.

std::string Example(const RowPair& pair) { return Shape(*pair.before) + " → " + Shape(*pair.after); }

std::string Rows(std::size_t count) { return count == 1 ? "1 allocation" : fmt::format("{} allocations", count); }

class Detective {
 public:
  Detective(const Run& before, const Run& after, const MatchedRows& matched, Comparison* comparison)
      : before_(before), after_(after), matched_(matched), comparison_(comparison) {
    scale_ = static_cast<double>(
        Bytes(before, "need_bytes")
            .value_or(
                Bytes(before, "limit_bytes").value_or(Bytes(after, "limit_bytes").value_or(ListedBytes(before)))));
  }

  void Look() {
    if (comparison_->rows_compared) {
      Callbacks();
      Narrower();
      Aligned();
      Divided();
      Rematted();
    }
    Donated();
    OnHost();
    MoreFree();
    OtherChips();
    if (comparison_->seems.empty()) LessPadding();
  }

 private:
  void Seems(std::vector<std::string> ids, std::string why) {
    comparison_->seems.push_back({std::move(ids), std::move(why)});
  }
  bool Noticeable(std::int64_t bytes) const { return static_cast<double>(bytes) >= kNoticeable * scale_ && bytes > 0; }

  // The pairs that `holds` is true of, if they take enough of what BEFORE lists; else none.
  std::vector<const RowPair*> Touched(const std::function<bool(const RowPair&)>& holds, std::int64_t* bytes) const {
    std::vector<const RowPair*> touched;
    *bytes = 0;
    for (const RowPair& pair : matched_.pairs) {
      if (!holds(pair)) continue;
      touched.push_back(&pair);
      *bytes += *pair.before->size_bytes;
    }
    if (static_cast<double>(*bytes) < kTouched * static_cast<double>(ListedBytes(before_))) touched.clear();
    return touched;
  }

  void Callbacks() {
    const auto is_callback = [](const Allocation& row) { return Is(row, "is_callback"); };
    const auto gone = std::find_if(before_.allocations.begin(), before_.allocations.end(), is_callback);
    if (gone == before_.allocations.end() ||
        std::any_of(after_.allocations.begin(), after_.allocations.end(), is_callback))
      return;
    const std::string source = SourceOf(*gone);
    Seems({"remove_debug_print"}, "the transfer to the host" + (source.empty() ? "" : " at " + source) + " is gone.");
  }

  void Narrower() {
    std::int64_t bytes = 0;
    const auto narrower = Touched(
        [](const RowPair& pair) {
          if (!pair.before->array || !pair.after->array) return false;
          const std::string& dtype = pair.before->array->dtype;
          const auto bits = ElementBits(dtype);
          const auto bits_after = ElementBits(pair.after->array->dtype);
          return (dtype == "f32" || dtype == "f64" || dtype == "bf16" || dtype == "f16") && bits && bits_after &&
                 *bits_after < *bits;
        },
        &bytes);
    if (narrower.empty()) return;
    Seems({"bf16"}, fmt::format("{} of {} have a smaller element type: {}.", Rows(narrower.size()), FormatSize(bytes),
                                Example(*narrower[0])));
  }

  void Aligned() {
    std::int64_t bytes = 0;
    const auto aligned = Touched(
        [](const RowPair& pair) {
          if (!pair.before->array || !pair.after->array) return false;
          const auto data = UnpaddedBytes(*pair.before->array);
          if (!data || *data <= 0 || UnpaddedBytes(*pair.after->array) != data) return false;
          return static_cast<double>(*pair.before->size_bytes) >= kPadded * static_cast<double>(*data) &&
                 static_cast<double>(*pair.before->size_bytes) >=
                     kPadded * static_cast<double>(*pair.after->size_bytes);
        },
        &bytes);
    if (aligned.empty()) return;
    const RowPair& first = *aligned[0];
    Seems({"align_dims"},
          fmt::format("{} hold the same data with less padding: {}, {} → {}.", Rows(aligned.size()), Example(first),
                      FormatSize(*first.before->size_bytes), FormatSize(*first.after->size_bytes)));
  }

  void Divided();
  std::vector<std::string> WhoDivides(std::int64_t factor, const std::vector<const RowPair*>& divided,
                                      std::string* hint) const;

  void Rematted() {
    const auto is_rematted = [](const Allocation& row) { return Is(row, "is_rematted"); };
    if (std::any_of(before_.allocations.begin(), before_.allocations.end(), is_rematted)) return;
    const auto now = std::find_if(after_.allocations.begin(), after_.allocations.end(), is_rematted);
    if (now == after_.allocations.end()) return;
    Seems({"jax_checkpoint"}, "operations are computed again now: " + ShortName(*now) + ".");
  }

  void Donated() {
    const auto shared_before = Bytes(before_, "shared_output_bytes");
    const auto shared_after = Bytes(after_, "shared_output_bytes");
    if (!shared_before || !shared_after || !Noticeable(*shared_after - *shared_before)) return;
    Seems({"donate_buffers"}, fmt::format("the outputs share {} with the arguments, {} before.",
                                          FormatSize(*shared_after), FormatSize(*shared_before)));
  }

  void OnHost() {
    const auto host_before = Bytes(before_, "host_bytes").value_or(0);
    const auto host_after = Bytes(after_, "host_bytes");
    if (host_after && Noticeable(*host_after - host_before)) {
      Seems({"host_offload"}, fmt::format("{} are in the host's memory.", FormatSize(*host_after)));
      return;
    }
    constexpr int kHostSpace = 5;  // S(5) of a layout
    const auto on_host = [](const Allocation& row) { return row.array && row.array->memory_space == kHostSpace; };
    const auto now = std::find_if(after_.allocations.begin(), after_.allocations.end(), on_host);
    if (now == after_.allocations.end() || std::any_of(before_.allocations.begin(), before_.allocations.end(), on_host))
      return;
    Seems({"host_offload"}, ShortName(*now) + " is in the host's memory now.");
  }

  void MoreFree() {
    const auto free_before = Bytes(before_, "free_bytes");
    const auto free_after = Bytes(after_, "free_bytes");
    const auto asked = Bytes(before_, "request_bytes");
    if (!free_before || !free_after || !asked || asked != Bytes(after_, "request_bytes") ||
        *free_after - *free_before <= static_cast<std::int64_t>(kNoticeable * static_cast<double>(*asked)))
      return;
    Seems({"free_references", "donate_buffers", "fewer_programs"},
          fmt::format("{} are free when {} are asked for, {} before.", FormatSize(*free_after), FormatSize(*asked),
                      FormatSize(*free_before)));
  }

  void OtherChips() {
    const auto limit_before = Bytes(before_, "limit_bytes");
    const auto limit_after = Bytes(after_, "limit_bytes");
    const bool compile = before_.facts.Find("used_bytes") != nullptr && after_.facts.Find("used_bytes") != nullptr;
    const bool larger = compile && limit_before && limit_after && Noticeable(*limit_after - *limit_before);
    if (larger)
      Seems({"newer_tpu", "xla_flags_memory"},
            fmt::format("the limit is {}, {} before.", FormatSize(*limit_after), FormatSize(*limit_before)));
    const auto devices_before = Bytes(before_, "devices");
    const auto devices_after = Bytes(after_, "devices");
    if (devices_before && devices_after && *devices_after > *devices_before)
      Seems({"larger_topology", "shard_tensor"},
            fmt::format("the log names {} devices, {} before.", *devices_after, *devices_before));
  }

  // Where no allocation could be found again, the totals may still tell.
  void LessPadding() {
    const TotalChange padding = Padding(before_, after_);
    const auto need = Bytes(after_, "need_bytes");
    if (!padding.before || !padding.after || !need || *need <= 0 || !(scale_ > 0)) return;
    const double share_before = static_cast<double>(*padding.before) / scale_;
    const double share_after = static_cast<double>(*padding.after) / static_cast<double>(*need);
    if (share_before < kTouched || share_after > 0.5 * share_before) return;
    Seems({"align_dims"}, fmt::format("{} of what is needed is padding, {} before.", FormatSize(*padding.after),
                                      FormatSize(*padding.before)));
  }

  const Run& before_;
  const Run& after_;
  const MatchedRows& matched_;
  Comparison* comparison_;
  double scale_ = 0;  // of what is noticeable
};

void Detective::Divided() {
  std::map<std::int64_t, std::vector<const RowPair*>> by_factor;
  std::map<std::int64_t, std::int64_t> bytes;
  std::int64_t all = 0;
  std::size_t count = 0;
  for (const RowPair& pair : matched_.pairs) {
    // A batch leaves weights alone, and they may be most of what is listed.
    if (Is(*pair.before, "is_plain_argument") && pair.factor == 1) continue;
    if (*pair.before->size_bytes < kSmallestRow) continue;
    all += *pair.before->size_bytes;
    ++count;
    if (pair.factor == 1) continue;
    by_factor[pair.factor].push_back(&pair);
    bytes[pair.factor] += *pair.before->size_bytes;
  }
  for (const auto& [factor, divided] : by_factor) {
    if (static_cast<double>(bytes[factor]) <= kMost * static_cast<double>(all)) continue;
    std::string hint;
    std::vector<std::string> ids = WhoDivides(factor, divided, &hint);
    Seems(std::move(ids), fmt::format("{} of {} that both list have a dimension divided by {}: {}.{}", divided.size(),
                                      count, factor, Example(*divided[0]), hint));
  }
}

std::vector<std::string> Detective::WhoDivides(std::int64_t factor, const std::vector<const RowPair*>& divided,
                                               std::string* hint) const {
  const bool several_axes =
      std::any_of(divided.begin(), divided.end(), [](const RowPair* pair) { return pair->divided.size() > 1; });
  const bool leading = std::all_of(divided.begin(), divided.end(),
                                   [](const RowPair* pair) { return pair->divided == std::vector<std::size_t>{0}; });
  const auto devices = Bytes(after_, "devices") ? Bytes(after_, "devices") : Bytes(before_, "devices");
  const auto arguments_before = Bytes(before_, "arguments_bytes");
  const auto arguments_after = Bytes(after_, "arguments_bytes");
  const bool arguments_known =
      arguments_before && arguments_after && Noticeable(*arguments_before) && *arguments_after > 0;
  const double ratio =
      arguments_known ? static_cast<double>(*arguments_before) / static_cast<double>(*arguments_after) : 0;
  const bool arguments_too = arguments_known && std::abs(ratio / static_cast<double>(factor) - 1) <= kSameRatio;
  const bool arguments_whole = arguments_known && std::abs(ratio - 1) <= kSameRatio;

  std::vector<std::string> ids;
  // Tensors that are split twice: the width, or both sides of the attention scores.
  if (several_axes) return {"reduce_model_dim", "shorten_sequence"};
  if (devices != 1) ids.push_back("shard_tensor");
  if (devices && *devices > 1) {
    *hint = *devices == factor ? fmt::format(" The log names {} devices.", *devices)
                               : fmt::format(" The log names {} devices, which speaks less for sharding.", *devices);
  }
  if (arguments_too) *hint += " The arguments are divided too, which speaks for sharding.";
  if (leading || ids.empty()) ids.push_back("reduce_batch");
  if (leading && arguments_whole) ids.push_back("micro_batch");
  if (!leading) ids.push_back("shorten_sequence");
  if (arguments_whole) *hint += " The arguments are as they were, which speaks for less data a step.";
  // What the log speaks for comes first.
  const bool not_sharded = arguments_whole || (devices && *devices != factor);
  if (not_sharded && !arguments_too && ids.front() == "shard_tensor")
    std::rotate(ids.begin(), ids.begin() + 1, ids.end());
  return ids;
}

void SetTotals(const Run& before, const Run& after, Comparison* comparison) {
  static const std::pair<const char*, const char*> kTotals[] = {
      {"need_bytes", "needed"},
      {"limit_bytes", "limit"},
      {"free_bytes", "free"},
      {"largest_free_block_bytes", "largest free block"},
      {"arguments_bytes", "arguments"},
      {"output_bytes", "outputs"},
      {"shared_output_bytes", "shared by the two"},
      {"hlo_temp_bytes", "temporaries"},
      {"host_bytes", "in host memory"},
  };
  for (const auto& [id, title] : kTotals) {
    TotalChange total{id, title, Bytes(before, id), Bytes(after, id)};
    if (total.id == "limit_bytes" && total.before == total.after) continue;  // said at the head
    if (total.id == "host_bytes" && total.before.value_or(0) == 0 && total.after.value_or(0) == 0) continue;
    if (total.before || total.after) comparison->totals.push_back(total);
  }
  const TotalChange padding = Padding(before, after);
  if (padding.before || padding.after) comparison->totals.push_back(padding);
}

void SetNotes(const Run& before, const Run& after, Comparison* comparison) {
  const auto note = [&](std::string text) { comparison->notes.push_back(std::move(text)); };
  if (!comparison->same_job)
    note(fmt::format("These are two modules, {} and {}: what is said of the change may be of two programs.",
                     comparison->module_before, comparison->module_after));
  if (!comparison->rows_compared && (before.failed || after.failed)) {
    const bool one = !before.allocations.empty();
    const bool other = !after.allocations.empty();
    const char* which = one ? "AFTER does" : other ? "BEFORE does" : "The two do";
    note(
        fmt::format("{} not list its allocations, so what became of each cannot be told. An XLA dump lists them: "
                    "XLA_FLAGS=--xla_dump_to=DIR, then --xla-dump-{} DIR.",
                    which, one ? "after" : "before"));
  }
  if (!after.failed && !after.measured) note("AFTER holds no failure; a log that ends early would look the same.");
  if (after.other_failures > 0)
    note(fmt::format("AFTER holds {} more {}: whyoom {}", after.other_failures,
                     after.other_failures == 1 ? "failure" : "failures", after.path));
}

}  // namespace

Run MakeRun(const std::string& path, const Finding& finding) {
  Run run;
  run.path = path;
  run.failed = true;
  run.code = finding.failure->code;
  run.title = finding.failure->title;
  run.facts = finding.facts;
  run.allocations = finding.allocations;
  return run;
}

FindingPair MatchFindings(const std::vector<Finding>& before, const std::vector<Finding>& after) {
  FindingPair best;
  if (!before.empty()) best.before = 0;
  if (!after.empty()) best.after = 0;
  int best_score = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    for (std::size_t j = 0; j < after.size(); ++j) {
      if (before[i].failure->code != after[j].failure->code) continue;
      const Value module = before[i].facts.Get("module");
      const int score = IsKnown(module) && module == after[j].facts.Get("module") ? 2 : 1;
      if (score <= best_score) continue;
      best_score = score;
      best = {i, j};
    }
  }
  return best;
}

Comparison Compare(const Run& before, const Run& after) {
  Comparison comparison;
  comparison.module_before = TextFact(before, "module");
  comparison.module_after = TextFact(after, "module");
  comparison.same_job = comparison.module_before.empty() || comparison.module_after.empty() ||
                        comparison.module_before == comparison.module_after;
  // A dump does not tell the limit; the job ran on the same chips as far as anyone knows.
  const auto limit_before = Bytes(before, "limit_bytes");
  const auto limit_after = Bytes(after, "limit_bytes");
  comparison.over_before = Over(before, limit_before ? limit_before : limit_after);
  comparison.over_after = Over(after, limit_after ? limit_after : limit_before);
  comparison.verdict = Judge(before, after, comparison);
  SetTotals(before, after, &comparison);
  comparison.rows_compared = !before.allocations.empty() && !after.allocations.empty();
  MatchedRows matched;
  if (comparison.rows_compared) {
    matched = MatchRows(before.allocations, after.allocations);
    SetRows(matched, &comparison);
  }
  Detective(before, after, matched, &comparison).Look();
  SetNotes(before, after, &comparison);
  return comparison;
}

}  // namespace whyoom
