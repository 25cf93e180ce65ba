// Rows of a report's list of allocations, made by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "facts/allocation.h"
#include "facts/array_shape.h"

// A row of this shape, which need not be one array; its op name and its label as the report prints them.
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
