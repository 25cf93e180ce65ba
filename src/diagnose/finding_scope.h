// What the names in rule data mean for one finding: its facts, the report's rows, and what follows from each row alone.
// The names are listed in rules/README.md.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "diagnose/diagnosis.h"
#include "rules/expression.h"
#include "rules/rule_set.h"

namespace whyoom {

class FindingScope : public Scope {
 public:
  // Borrows both; the rows of the finding must not change while the scope is in use. Of a finding alone no scenario is
  // known.
  FindingScope(const RuleSet& rules, const Finding& finding);
  FindingScope(const RuleSet& rules, const Diagnosis& diagnosis, Recorder* recorder = nullptr);

  Value Get(std::string_view name) const override;
  std::size_t row_count() const override { return order_.size(); }
  Value GetInRow(std::size_t row, std::string_view name) const override;

  const Finding& finding() const { return finding_; }
  Recorder* recorder() const override { return recorder_; }
  // The allocation behind a row; rows come largest first.
  const Allocation& RowAt(std::size_t row) const { return finding_.allocations[order_[row]]; }

 private:
  Value Tested(const RowTest& test, std::size_t row) const;
  Value SourceInScopeOf(std::size_t row) const;

  const RuleSet& rules_;
  const Finding& finding_;
  const Diagnosis* diagnosis_ = nullptr;  // which the finding is part of, if it is
  Recorder* recorder_ = nullptr;
  std::vector<std::size_t> order_;
  std::vector<int> same_size_count_;  // by place in order_
  // What the rule data says of a row takes patterns over long texts, and many conditions ask for it: by name, then by
  // place in order_, once it was asked for.
  mutable std::map<const RowTest*, std::vector<std::optional<Value>>> tested_;
};

// A field of a dimension's place: array, axis, length, name; unknown where it has none.
Value AxisField(const std::optional<AxisPlace>& axis, std::string_view name);

}  // namespace whyoom
