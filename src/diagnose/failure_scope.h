// Resolves the names of rule conditions for one failure: its facts, the rows of its report, and built-in names such as
// `scenario`. docs/rules-language.md lists the names.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/failure.h"
#include "rules/expression.h"
#include "rules/rule_set.h"

namespace whyoom {

class FailureScope : public Scope {
 public:
  // Borrows all. The failure's rows must not change while the scope is in use.
  FailureScope(const RuleSet& rules, const Failure& failure, Recorder* recorder = nullptr);

  Value Get(std::string_view name) const override;
  std::size_t row_count() const override { return order_.size(); }
  Value GetInRow(std::size_t row, std::string_view name) const override;
  Value TermInRow(std::size_t row, const Expression& term) const override;

  const Failure& failure() const { return failure_; }
  Recorder* recorder() const override { return recorder_; }
  // The allocation of a row; rows are sorted by descending size.
  const Allocation& RowAt(std::size_t row) const { return failure_.allocations[order_[row]]; }

 private:
  const RuleSet& rules_;
  const Failure& failure_;
  Recorder* const recorder_;
  std::vector<std::size_t> order_;
  std::vector<int> same_size_count_;  // by index in order_
  // Values of terms, by index in order_: they match patterns on long texts, and many conditions use them.
  mutable std::map<const Expression*, std::vector<std::optional<Value>>> in_rows_;
};

// Adds names, or replaces names, of another scope. Records nothing.
class ExtendedScope : public Scope {
 public:
  using Names = std::map<std::string, Value, std::less<>>;

  // Borrows `outer`; null: there are only the added names.
  ExtendedScope(const Scope* outer, Names names) : outer_(outer), names_(std::move(names)) {}

  Value Get(std::string_view name) const override;
  std::size_t row_count() const override { return outer_ == nullptr ? 0 : outer_->row_count(); }
  Value GetInRow(std::size_t row, std::string_view name) const override { return outer_->GetInRow(row, name); }

 private:
  const Scope* outer_;
  Names names_;
};

// Returns a field of an axis: array, axis, length or name; unknown if there is no axis.
Value AxisField(const std::optional<AxisLocation>& axis, std::string_view name);

}  // namespace whyoom
