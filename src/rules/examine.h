// An expression evaluated in sight: each of its parts with what it came to. For who asks why a condition does not hold;
// Expression::Evaluate gives the same and is much faster.
//
//   is_large and known(limit_bytes)                  unknown
//     is_large                                       unknown
//       largest.size_bytes > 0.5 * limit_bytes       unknown   12884901888 > unknown
//     known(limit_bytes)                             false
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules/expression.h"
#include "rules/value.h"

namespace whyoom {

// How many rows met the condition of a function over the rows.
struct RowCount {
  std::uint64_t met = 0;
  std::uint64_t failed = 0;
  std::uint64_t unknown = 0;
};

struct ExaminedPart {
  int depth = 0;                 // the whole is 0, what it is made of one deeper
  std::string source;            // of the part, with single blanks and the brackets that it needs
  Value value;                   // what it came to
  std::string with_values;       // of a comparison or a formula: what stands on its sides, or in place of its names
  std::optional<RowCount> rows;  // of a function over the rows
  std::uint64_t row = 0;         // the row, 1 is the largest, that a part of such a function was looked at in; else 0
};

struct NamedValue {
  std::string name;
  Value value;
};

struct Examination {
  Value value;                      // as Evaluate gives it
  std::vector<ExaminedPart> parts;  // the whole first, each before what it is made of
  std::vector<NamedValue> names;    // facts and the like that it asks for, each once, in order

  // Names that have no value here; where the value is unknown, one of them is why.
  std::vector<std::string> UnknownNames() const;
};

Examination Examine(const Expression& expression, const Scope& scope);

// Of a condition on rows: the value is whether one meets it, unknown without rows. Its parts are shown for the first
// row that does, else for the largest.
Examination ExamineRows(const Expression& expression, const Scope& scope);

// "12884901888", "0.25", "'jit_step'", "true", "unknown".
std::string ValueText(const Value& value);

}  // namespace whyoom
