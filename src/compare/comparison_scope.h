// What the rule data may name where it speaks of two runs of one job: before.FACT and after.FACT, and in a function
// over the rows before.FIELD and after.FIELD of each listed allocation. One that both list is one row, with what became
// of it; one that only one of them lists has fields of that one alone. See "traces and notes" in
// rules/README.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compare/compare.h"
#include "compare/compare_rows.h"
#include "rules/expression.h"

namespace whyoom {

class ComparisonScope : public Scope {
 public:
  // Borrows all. `matched` is empty where not both list their allocations.
  ComparisonScope(const RuleSet& rules, const Run& before, const Run& after, const Comparison& comparison,
                  const MatchedRows& matched);

  Value Get(std::string_view name) const override;
  std::size_t row_count() const override { return rows_.size(); }
  Value GetInRow(std::size_t row, std::string_view name) const override;

 private:
  Value OfRun(const Run& run, bool is_before, std::string_view name) const;

  const RuleSet& rules_;
  const Run& before_;
  const Run& after_;
  const Comparison& comparison_;
  TotalChange padding_;
  std::vector<RowPair> rows_;  // those that both list first; of the others one half is null
  std::int64_t divided_most_by_ = 1;
};

}  // namespace whyoom
