// Array shapes as XLA prints them, and the memory that an array needs.
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

namespace whyoom {

inline constexpr std::size_t kMaxRank = 32;  // limits the work on hostile text; XLA's arrays have far fewer dimensions

inline constexpr std::string_view kBfloat16 = "bf16";  // the element type
inline constexpr std::string_view kFloat64 = "f64";
inline constexpr int kHostMemorySpace = 5;  // S(5) in a layout; XLA's Layout::kHostMemorySpace

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

// The dimensions other than 1, in ascending order: equal for arrays that differ only in the order of dimensions.
std::vector<std::int64_t> SortedDims(std::vector<std::int64_t> dims);

std::int64_t ElementCount(const ArrayShape& shape);  // saturates at INT64_MAX

// Bytes with the padding of the printed layout and tile, or without padding if none is printed. Both functions return
// nullopt if the element type is unknown.
std::optional<std::int64_t> PaddedBytes(const ArrayShape& shape);
std::optional<std::int64_t> UnpaddedBytes(const ArrayShape& shape);

// Estimates the bytes of an array of `size` bytes after its dimensions change to `dims`. Keeps the ratio between `size`
// and the computed size, since the compiler may round. Assumes that the compiler chooses another layout if a dimension
// becomes too short for its tile. Returns `size` if the shape is not understood.
std::int64_t BytesWithDims(const ArrayShape& shape, std::int64_t size, const std::vector<std::int64_t>& dims);

// Bytes if each element had `bits` bits. Assumes that the tile keeps its lanes and its rows, but has at least the rows
// that fill a 32-bit word.
std::optional<std::int64_t> BytesWithElementBits(const ArrayShape& shape, int bits);

// Bytes with the dimension order that needs the least padding; at most PaddedBytes. Assumes tiles of 128 lanes and 8
// rows. A smaller second-minor dimension has the next power of two of rows, but at least those of a 32-bit word.
std::optional<std::int64_t> BestLayoutBytes(const ArrayShape& shape);

}  // namespace whyoom
