// Shapes as XLA prints them, and what an array takes in memory.
//
// "f32[11999232,4,2]{1,2,0:T(2,128)}": element type, dimensions, and the layout: the dimensions from the
// fastest-varying ("minor") to the slowest, then the tile that the minor ones are padded to. A second tile, as in
// T(8,128)(2,1), packs small elements inside the first; it pads no further than the first where it divides it.
// Format: https://openxla.org/xla/shapes and https://openxla.org/xla/tiled_layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

inline constexpr std::size_t kMaxRank = 32;  // XLA's arrays have far fewer; bounds what hostile text can ask for

inline constexpr std::string_view kBfloat16 = "bf16";  // the element type
inline constexpr std::string_view kFloat64 = "f64";
inline constexpr int kHostMemorySpace = 5;  // the S(5) of a layout: Layout::kHostMemorySpace of XLA

struct ArrayShape {
  std::string dtype;                             // "f32"
  std::vector<std::int64_t> dims;                // as printed, major to minor in the user's order
  std::vector<int> minor_to_major;               // empty where no layout is printed
  std::vector<std::vector<std::int64_t>> tiles;  // {{8,128},{2,1}}; none of the numbers is 0
  int memory_space = 0;                          // of "S(5)"; 0 is HBM
  std::string shape;                             // "f32[11999232,4,2]"
  std::string layout;                            // "{1,2,0:T(2,128)}", empty where none is printed
};

// The first array shape that `text` begins with (after blanks). nullopt for tuples and anything else.
std::optional<ArrayShape> ParseArrayShape(std::string_view text);

// The shapes of a tuple's text with their layouts taken out: "(f32[16,16], u32[])".
std::string WithoutLayouts(std::string_view text);

// Bits of one element; nullopt for a type that is not known (token, opaque).
std::optional<int> ElementBits(std::string_view dtype);

// Without those of 1, in order of size: equal for arrays of the same elements, however they lie.
std::vector<std::int64_t> SortedDims(std::vector<std::int64_t> dims);

std::int64_t ElementCount(const ArrayShape& shape);  // saturates at the range of int64

// Bytes with padding by the printed layout and tile; where none is printed, without padding.
std::optional<std::int64_t> PaddedBytes(const ArrayShape& shape);
std::optional<std::int64_t> UnpaddedBytes(const ArrayShape& shape);

// What the `size` bytes of an array come to if its dimensions were others; what the compiler rounds stays in
// proportion. Where a dimension gets too short for its tile, the compiler chooses another layout. `size` itself where
// the shape does not tell.
std::int64_t BytesWithDims(const ArrayShape& shape, std::int64_t size, const std::vector<std::int64_t>& dims);

// Bytes if the elements took `bits` each, in the tile the compiler uses for that width: same lanes, and rows as before
// (at least as many as fit one 32-bit word).
std::optional<std::int64_t> BytesWithElementBits(const ArrayShape& shape, int bits);

// Bytes if the dimensions were ordered so that padding is least, the compiler choosing the tile for that order as it
// does: 128 lanes, and 8 rows, or the next power of two that holds a smaller second-minor dimension.
std::optional<std::int64_t> BestLayoutBytes(const ArrayShape& shape);

// The sizes of the minor-most and the next dimension by the layout; nullopt where there is none.
std::optional<std::int64_t> MinorDim(const ArrayShape& shape);
std::optional<std::int64_t> SecondMinorDim(const ArrayShape& shape);

}  // namespace whyoom
