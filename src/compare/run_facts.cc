#include "compare/run_facts.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "facts/row_fields.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

std::optional<std::int64_t> RowPadding(const Run& run) {
  if (run.allocations.empty()) return std::nullopt;
  std::int64_t sum = 0;
  for (const Allocation& row : run.allocations) sum += row.padding_bytes.value_or(0);
  return sum;
}

}  // namespace

std::optional<std::int64_t> Bytes(const Run& run, std::string_view name) {
  static constexpr std::string_view kNotCounted[] = {"arguments_bytes", "output_bytes", "shared_output_bytes"};
  if (std::find(std::begin(kNotCounted), std::end(kNotCounted), name) != std::end(kNotCounted) &&
      CountsTemporariesOnly(run))
    return std::nullopt;
  const std::optional<double> number = run.facts.Number(name);
  if (!number || !(std::abs(*number) < kMostBytes)) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

bool CountsTemporariesOnly(const Run& run) { return run.failed && CountsTemporariesOnly(run.facts); }

TotalChange Padding(const Run& before, const Run& after) {
  TotalChange total{"padding_bytes", "", Bytes(before, "hlo_temp_padding_bytes"),
                    Bytes(after, "hlo_temp_padding_bytes")};
  if (total.before && total.after) return total;
  const auto rows_before = RowPadding(before);
  const auto rows_after = RowPadding(after);
  if (rows_before && rows_after) return {total.id, total.title, rows_before, rows_after};
  if (!total.before && !total.after) return {total.id, total.title, rows_before, rows_after};
  return total;
}

std::string ShapeOf(const Allocation& row) { return row.array ? row.array->shape : WithoutLayouts(row.shape_text); }

std::string SourceOf(const Allocation& row) {
  const Value value = RowField(row, "source");
  const std::string* text = AsText(value);
  return text == nullptr ? std::string() : *text;
}

}  // namespace whyoom
