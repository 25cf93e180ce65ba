// Array shapes as XLA prints them, the memory that an array needs, and the rows of allocation lists: their names, and
// their fields for the rule data.
//
// "f32[11999232,4,2]{1,2,0:T(2,128)}" consists of the element type, the dimensions and the layout. The layout lists the
// dimensions from the fastest-varying ("minor") to the slowest, then the tile: the minor dimensions are padded to
// multiples of it. A second tile, as in T(8,128)(2,1), packs small elements inside the first; it adds no padding.
// Format: https://openxla.org/xla/shapes and https://openxla.org/xla/tiled_layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/evidence.h"
#include "rules/value.h"

namespace whyoom {

inline constexpr std::size_t kMaxRank = 32;  // limits the work on hostile text; XLA's arrays have far fewer dimensions

struct ArrayShape {
  std::string dtype;                // "f32"
  std::vector<std::int64_t> dims;   // as printed: the user's order
  std::vector<int> minor_to_major;  // empty if no layout is printed or it is invalid
  std::vector<std::int64_t> tile;   // {8,128}; never contains 0; empty if none is printed
  int memory_space = 0;             // 5 for "S(5)"; 0 is HBM
  std::string shape;                // "f32[11999232,4,2]"
  std::string layout;               // "{1,2,0:T(2,128)}"; empty if none is printed
};

// Parses the array shape at the beginning of `text`, after blanks. Returns nullopt for tuples and other text.
std::optional<ArrayShape> ParseArrayShape(std::string_view text);

// Removes the layouts from the text of a tuple: "(f32[16,16], u32[])".
std::string WithoutLayouts(std::string_view text);

// Bits per element; nullopt for an unknown type (token, opaque).
std::optional<int> ElementBits(std::string_view dtype);

std::int64_t ElementCount(const ArrayShape& shape);  // saturates at INT64_MAX

// Bytes with elements of `bits` bits and this tile in the printed layout. No padding without a layout or a tile.
// Returns nullopt if the size of elements is unknown.
std::optional<std::int64_t> BytesWithTile(const ArrayShape& shape, std::optional<int> bits,
                                          const std::vector<std::int64_t>& tile);

// Bytes with and without the padding of the printed tile; nullopt if the element type is unknown.
inline auto PaddedBytes(const ArrayShape& shape) { return BytesWithTile(shape, ElementBits(shape.dtype), shape.tile); }
inline auto UnpaddedBytes(const ArrayShape& shape) { return BytesWithTile(shape, ElementBits(shape.dtype), {}); }

// Bytes with the dimension order that needs the least padding; at most PaddedBytes. Assumes tiles of 128 lanes and 8
// rows. A smaller second-minor dimension has the next power of two of rows, but at least those of a 32-bit word.
std::optional<std::int64_t> BestLayoutBytes(const ArrayShape& shape);

// Estimates the bytes of an array of `size` bytes after its dimensions change to `dims`. Keeps the ratio between `size`
// and the computed size, since the compiler may round. Assumes that the compiler chooses another layout if a dimension
// becomes too short for its tile. Returns `size` if the shape is not understood.
std::int64_t BytesWithDims(const ArrayShape& shape, std::int64_t size, const std::vector<std::int64_t>& dims);
// Bytes if each element had `bits` bits. Assumes that the tile keeps its lanes and its rows, but has at least the rows
// that fill a 32-bit word. Returns nullopt if the element type is unknown.
std::optional<std::int64_t> BytesWithElementBits(const ArrayShape& shape, int bits);

// A row of the allocation list in a compiler's memory report, or a value in a dump.
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

inline constexpr const char* kParameter = "parameter";  // the kind of a row that is an argument of the program
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
std::string UnescapedPath(std::string text);

// Removes the wrappers that JAX's transformations add to a part of an op name: "decoder" for
// "transpose(jvp(decoder))".
std::string WithoutWrappers(std::string part);

// The shortest name that the user chose: the last parts of the op name, else the argument's name. Empty if there is
// none: never a name that the compiler made up.
std::string UsersName(const Allocation& row);

// The user's name or, if there is none, the shape.
std::string ShortName(const Allocation& row);

// A field of the row that rule data may name; rules/names.cc describes them. Returns Unknown if there is no such field
// (same_size_count needs all rows), or if the row lacks its value.
Value RowField(const Allocation& row, std::string_view name);

}  // namespace whyoom
