#include "compare/seeming_remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>

#include "compare/run_facts.h"
#include "facts/row_fields.h"
#include "facts/row_names.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

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
bool Is(const Allocation& row, std::string_view field) { return AsBool(RowField(row, field)) == true; }

std::int64_t ListedBytes(const Run& run) {
  std::int64_t sum = 0;
  for (const Allocation& row : run.allocations) sum += row.size_bytes.value_or(0);
  return sum;
}

std::string Example(const RowPair& pair) { return ShapeOf(*pair.before) + " → " + ShapeOf(*pair.after); }

std::string Rows(std::size_t count) { return count == 1 ? "1 allocation" : fmt::format("{} allocations", count); }

class Detective {
 public:
  Detective(const Run& before, const Run& after, const MatchedRows& matched)
      : before_(before), after_(after), matched_(matched) {
    scale_ = static_cast<double>(
        Bytes(before, "need_bytes")
            .value_or(
                Bytes(before, "limit_bytes").value_or(Bytes(after, "limit_bytes").value_or(ListedBytes(before)))));
  }

  std::vector<SeemingRemedy> Look(bool rows_compared) {
    if (rows_compared) {
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
    if (seems_.empty()) LessPadding();
    return std::move(seems_);
  }

 private:
  void Seems(std::vector<std::string> ids, std::string why) { seems_.push_back({std::move(ids), std::move(why)}); }
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
    Seems({"bf16"}, fmt::format("a smaller element type in {} of {}: {}.", Rows(narrower.size()), FormatSize(bytes),
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
          fmt::format("the same data with less padding in {}: {}, {} → {}.", Rows(aligned.size()), Example(first),
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
  std::vector<SeemingRemedy> seems_;
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
    Seems(std::move(ids),
          fmt::format("a dimension is divided by {2} in {0} of the {1} allocations that both list: {3}.{4}",
                      divided.size(), count, factor, Example(*divided[0]), hint));
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

}  // namespace

std::vector<SeemingRemedy> SeemingRemedies(const Run& before, const Run& after, const MatchedRows* matched) {
  const MatchedRows none;
  return Detective(before, after, matched == nullptr ? none : *matched).Look(matched != nullptr);
}

}  // namespace whyoom
