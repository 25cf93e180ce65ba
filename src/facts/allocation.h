// A row of the allocation list in a compiler's memory report.
#pragma once

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

// The kind of a row that is an argument of the program.
inline constexpr const char* kParameter = "parameter";
// The kind of a row that is made from an error message that names one allocation and has no report.
inline constexpr const char* kRequestedAllocation = "requested";

}  // namespace whyoom
