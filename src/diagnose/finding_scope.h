// What the names in rule data mean for one finding: its facts, the report's rows, and what follows from each row alone.
// The names are listed in rules/README.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "diagnose/diagnosis.h"
#include "rules/expression.h"

namespace whyoom {

class FindingScope : public Scope {
 public:
  // Borrows the finding, whose rows must not change while the scope is in use. Of a finding alone no scenario is known.
  explicit FindingScope(const Finding& finding);
  explicit FindingScope(const Diagnosis& diagnosis);

  Value Get(std::string_view name) const override;
  std::size_t row_count() const override { return order_.size(); }
  Value GetInRow(std::size_t row, std::string_view name) const override;

  // The allocation behind a row; rows come largest first.
  const Allocation& RowAt(std::size_t row) const { return finding_.allocations[order_[row]]; }

 private:
  Value SourceInScopeOf(std::size_t row) const;

  const Finding& finding_;
  const Scenario* scenario_ = nullptr;
  std::vector<std::size_t> order_;
  std::vector<int> same_size_count_;  // by place in order_
};

// A field of a dimension's place: array, axis, length, name; unknown where it has none.
Value AxisField(const std::optional<AxisPlace>& axis, std::string_view name);

}  // namespace whyoom
