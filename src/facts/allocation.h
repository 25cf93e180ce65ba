// A row of the allocation list in a compiler's memory report, its names, and its fields for the rule data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/array_shape.h"
#include "facts/evidence.h"
#include "rules/value.h"

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

// Returns a row with the sizes of an array. Rounds the factor to one decimal, as the compiler does.
Allocation RowOfArray(std::int64_t size, const std::string& shape);

// The shape without layouts; of a tuple, all of its shapes.
std::string ShapeOf(const Allocation& row);

// The user's line that created it, "train.py:17"; empty if it is unknown or in a library.
std::string SourceOf(const Allocation& row);

// Maximum length of a text in a report, in bytes: a label, a message, a fact. Longer texts are cut when they are read,
// so every output format shows the same text.
inline constexpr std::size_t kMaxTextBytes = 2000;

// Cuts the texts of a row to this length.
void TruncateTexts(Allocation* row);

void MaskSecretsOf(Allocation* row);

// Removes the backslashes before quotes in metadata: "b['x']" for "b[\\'x\\']".
std::string UnescapedPath(std::string_view text);

// Removes the wrappers that JAX's transformations add to a part of an op name: "decoder" for
// "transpose(jvp(decoder))".
std::string_view WithoutWrappers(std::string_view part);

// Whether the row has a name that the user chose: the path of an operation, or an argument.
bool IsNamed(const Allocation& row);

// The shortest name that a user recognizes: the last parts of the op name, else the argument's name, else the shape.
// Never a name that the compiler made up.
std::string ShortName(const Allocation& row);

// A field of the row that rule data may name; rules/names.cc describes them. Returns Unknown if there is no such field,
// or if the row lacks its value.
Value RowField(const Allocation& row, std::string_view name);

// The names of the fields. rules/names.h also has the fields that need all rows (same_size_count).
std::vector<std::string_view> RowFieldNames();

}  // namespace whyoom
