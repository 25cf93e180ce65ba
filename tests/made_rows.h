// Rows of an allocation list, for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "diagnose/failure_scope.h"
#include "facts/array.h"

// A row with this shape (not necessarily one array), op name and label, as a report prints them.
inline whyoom::Allocation MakeRow(const std::string& shape, std::optional<std::int64_t> size = std::nullopt,
                                  const std::string& op_name = "", const std::string& label = "") {
  whyoom::Allocation row;
  row.shape_text = shape;
  row.array = whyoom::ParseArrayShape(shape);
  row.size_bytes = size;
  row.op_name = op_name;
  row.xla_label = label;
  return row;
}

// A field of a row; also one that the rule data defines.
inline whyoom::Value FieldOf(const whyoom::RuleSet& rules, const whyoom::Allocation& row, const std::string& name) {
  whyoom::Failure failure;
  failure.allocations = {row};
  return whyoom::FailureScope(rules, failure).GetInRow(0, name);
}
