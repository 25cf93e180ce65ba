#include "diagnose/failure_scope.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "facts/array.h"

namespace whyoom {
FailureScope::FailureScope(const RuleSet& rules, const Failure& failure, Recorder* recorder)
    : rules_(rules), failure_(failure), recorder_(recorder), order_(failure.allocations.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return failure.allocations[a].size_bytes.value_or(-1) > failure.allocations[b].size_bytes.value_or(-1);
  });
  std::map<std::pair<std::int64_t, std::string>, int> counts;
  std::vector<std::pair<std::int64_t, std::string>> keys;
  for (const std::size_t row : order_) {
    const Allocation& allocation = failure.allocations[row];
    keys.emplace_back(allocation.size_bytes.value_or(-1), WithoutLayouts(allocation.shape_text));
    ++counts[keys.back()];
  }
  for (const auto& key : keys) same_size_count_.push_back(counts[key]);
}

Value FailureScope::Get(std::string_view name) const {
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos) {
    const std::string_view object = name.substr(0, dot);
    const std::string_view field = name.substr(dot + 1);
    // Rows of unknown size come last; any of them may be the largest.
    const bool all_sized = !order_.empty() && RowAt(order_.size() - 1).size_bytes.has_value();
    if (object == "largest" && all_sized) return GetInRow(0, field);
    if (object == "batch" && failure_.estimates) return AxisField(failure_.estimates->room.batch_axis, field);
    if (object == "sequence" && failure_.estimates) return AxisField(failure_.estimates->room.sequence_axis, field);
  }
  if (name == "code") return failure_.rule->code;
  if (name == "scenario") return failure_.scenario != nullptr ? Value(failure_.scenario->id) : Value{Unknown{}};
  if (name == "framework") return failure_.framework.empty() ? Value{Unknown{}} : Value(failure_.framework);
  return failure_.facts.Get(name);
}

Value ExtendedScope::Get(std::string_view name) const {
  if (const auto added = names_.find(name); added != names_.end()) return added->second;
  return outer_ == nullptr ? Value(Unknown{}) : outer_->Get(name);
}

Value AxisField(const std::optional<AxisLocation>& axis, std::string_view name) {
  if (!axis) return Unknown{};
  if (name == "array") return axis->array;
  if (name == "axis") return static_cast<double>(axis->number);
  if (name == "length") return static_cast<double>(axis->length);
  return axis->name.empty() ? Value{Unknown{}} : Value(axis->name);
}

Value FailureScope::GetInRow(std::size_t row, std::string_view name) const {
  if (name == "same_size_count") return static_cast<double>(same_size_count_[row]);
  const auto term = rules_.term_table->find(name);
  return term == rules_.term_table->end() ? RowField(RowAt(row), name) : TermInRow(row, term->second);
}

Value FailureScope::TermInRow(std::size_t row, const Expression& term) const {
  std::vector<std::optional<Value>>& values = in_rows_[&term];
  values.resize(order_.size());
  if (!values[row]) values[row] = term.EvaluateInRow(*this, row);
  return *values[row];
}

}  // namespace whyoom
