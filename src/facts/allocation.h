// A row of the allocation list in a compiler's memory report.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "facts/array_shape.h"
#include "facts/evidence.h"

namespace whyoom {

struct Allocation {
  int rank = 0;                            // 1 is the largest
  std::optional<std::int64_t> size_bytes;  // with padding
  std::optional<std::int64_t> unpadded_bytes;
  std::optional<std::int64_t> padding_bytes;  // as printed; nullopt if not printed
  std::optional<double> padding_factor;       // 32 for "32.0x expansion"
  std::string shape_text;                     // the whole Shape line, including tuples
  std::optional<ArrayShape> array;            // if the row is a single array
  std::string op_name;
  std::string source_file;
  std::optional<std::int64_t> source_line;
  std::string xla_label;
  std::string kind;  // "HLO temp", "global", "scoped", …
  std::string tag;   // of a scoped row: "pointer pack"
  Place place;       // of the row's first line
};

// Returns a row with the sizes of an array. Rounds the factor to one decimal, as the compiler does.
inline Allocation RowOfArray(std::int64_t size, const std::string& shape) {
  Allocation row;
  row.size_bytes = size;
  row.shape_text = shape;
  row.array = ParseArrayShape(shape);
  if (row.array) row.unpadded_bytes = UnpaddedBytes(*row.array);
  const std::int64_t plain = row.unpadded_bytes.value_or(0);
  if (plain > 0 && plain < size) {
    row.padding_bytes = size - plain;
    row.padding_factor = std::round(10.0 * static_cast<double>(size) / static_cast<double>(plain)) / 10.0;
  }
  return row;
}

// The kind of a row that is an argument of the program.
inline constexpr const char* kParameter = "parameter";
// The kind of a row that is made from an error message that names one allocation and has no report.
inline constexpr const char* kRequestedAllocation = "requested";

}  // namespace whyoom
