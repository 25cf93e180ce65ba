// What follows from one row of a report alone: the fields of a row that rule data may name. Each is a small function of
// the row; what each means stands in rules/names.cc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/allocation.h"
#include "rules/expression.h"
#include "rules/rule_set.h"
#include "rules/value.h"

namespace whyoom {

// Those that a row gives by itself; with what needs all rows (same_size_count) they are those of rules/names.h.
std::vector<std::string_view> RowFieldsOfOneRow();

// Unknown for a name that is no field, and for a field that this row does not give.
Value RowField(const Allocation& row, std::string_view name);

// The same, and what the rule data says of a row (`row_fields`).
Value RowField(const RuleSet& rules, const Allocation& row, std::string_view name);

// A row's own fields, as what conditions of the rule data are about.
class RowScope : public Scope {
 public:
  explicit RowScope(const Allocation& row) : row_(row) {}
  Value Get(std::string_view name) const override;

 private:
  const Allocation& row_;
};

// How long a text of a report is at most, in bytes: a label, a message, a fact. Longer ones are cut as they are read,
// so that every format shows the same.
inline constexpr std::size_t kLongestText = 2000;

// Cuts the texts of a row to that.
void BoundTexts(Allocation* row);

}  // namespace whyoom
