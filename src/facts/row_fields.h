// The fields of a row that rule data may name. Each is computed from the row alone; rules/names.cc describes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "facts/allocation.h"
#include "rules/expression.h"
#include "rules/rule_set.h"
#include "rules/value.h"

namespace whyoom {

// The names of the fields. rules/names.h also has the fields that need all rows (same_size_count).
std::vector<std::string_view> RowFieldNames();

// Returns Unknown if there is no such field, or if the row lacks its value.
Value RowField(const Allocation& row, std::string_view name);

// As above, but also evaluates the fields that the rule data defines (`row_fields`).
Value RowField(const RuleSet& rules, const Allocation& row, std::string_view name);

// Resolves the names of a row's fields in conditions of the rule data.
class RowScope : public Scope {
 public:
  explicit RowScope(const Allocation& row) : row_(row) {}
  Value Get(std::string_view name) const override;

 private:
  const Allocation& row_;
};

// Maximum length of a text in a report, in bytes: a label, a message, a fact. Longer texts are cut when they are read,
// so every output format shows the same text.
inline constexpr std::size_t kMaxTextBytes = 2000;

// Cuts the texts of a row to this length.
void TruncateTexts(Allocation* row);

}  // namespace whyoom
