#include "facts/array_shape.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "text/numbers.h"

namespace whyoom {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLanes = 128;
constexpr std::int64_t kRows = 8;

std::int64_t Multiply(std::int64_t a, std::int64_t b) {
  if (a <= 0 || b <= 0) return 0;
  return a > kMax / b ? kMax : a * b;
}

std::int64_t RoundUp(std::int64_t value, std::int64_t to) {
  if (to <= 1 || value <= 0) return value;
  return value > kMax - to ? kMax : (value + to - 1) / to * to;
}

std::int64_t BitsToBytes(std::int64_t elements, int bits) {
  return bits >= 8 ? Multiply(elements, bits / 8) : elements / (8 / bits) + (elements % (8 / bits) != 0 ? 1 : 0);
}

// Parses comma-separated numbers. Skips the "<=" of a bounded dynamic dimension. A "*" is a tile that spans the whole
// dimension.
std::optional<std::vector<std::int64_t>> ParseNumbers(std::string_view list) {
  std::vector<std::int64_t> numbers;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    std::string_view item = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    if (item.starts_with("<=")) item.remove_prefix(2);
    std::int64_t number = 1;
    const auto [end, error] = std::from_chars(item.data(), item.data() + item.size(), number);
    const bool is_number = error == std::errc() && end == item.data() + item.size() && number >= 0;
    if ((!is_number && item != "*") || numbers.size() >= kMaxRank) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

// The numbers after `name` in what follows the colon of a layout, "T(8,128)(2,1)S(5)"; empty if there are none.
std::vector<std::int64_t> NumbersOf(std::string_view name, std::string_view properties) {
  const std::size_t at = properties.find(name);
  if (at == std::string_view::npos) return {};
  properties.remove_prefix(at + name.size());
  return ParseNumbers(properties.substr(0, properties.find(')'))).value_or(std::vector<std::int64_t>());
}

// Sets the fields that the layout "{2,1,0:T(8,128)}" determines. Ignores an order that omits a dimension or names one
// twice.
void ReadLayout(std::string_view layout, ArrayShape* shape) {
  layout = layout.substr(1, layout.size() - 2);
  const std::size_t colon = std::min(layout.find(':'), layout.size());
  const std::vector<std::int64_t> order = ParseNumbers(layout.substr(0, colon)).value_or(std::vector<std::int64_t>());
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool is_complete = sorted.size() == shape->dims.size();
  for (std::size_t i = 0; i < sorted.size(); ++i) is_complete = is_complete && sorted[i] == static_cast<int>(i);
  if (is_complete) shape->minor_to_major.assign(order.begin(), order.end());
  shape->tile = NumbersOf("T(", layout.substr(colon));
  if (std::find(shape->tile.begin(), shape->tile.end(), 0) != shape->tile.end()) shape->tile.clear();
  if (const std::vector<std::int64_t> space = NumbersOf("S(", layout.substr(colon)); !space.empty())
    shape->memory_space = static_cast<int>(std::min<std::int64_t>(space[0], 1 << 20));
}

// The number of elements after rounding the dimensions up to `tile`. The last number of `tile` is the minor one.
std::int64_t TiledElements(const std::vector<std::int64_t>& minor_first, const std::vector<std::int64_t>& tile) {
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < std::max(minor_first.size(), tile.size()); ++i) {
    const std::int64_t dim = i < minor_first.size() ? minor_first[i] : 1;
    elements = Multiply(elements, i < tile.size() ? RoundUp(dim, tile[tile.size() - 1 - i]) : dim);
  }
  return elements;
}

std::int64_t BytesWithTile(const ArrayShape& shape, int bits, const std::vector<std::int64_t>& tile) {
  if (tile.empty() || shape.minor_to_major.empty()) return BitsToBytes(ElementCount(shape), bits);
  std::vector<std::int64_t> dims;
  for (const int dim : shape.minor_to_major) dims.push_back(shape.dims[static_cast<std::size_t>(dim)]);
  return BitsToBytes(TiledElements(dims, tile), bits);
}

std::int64_t RowsFor(std::int64_t second_minor) {
  std::int64_t rows = 1;
  while (rows < kRows && rows < second_minor) rows *= 2;
  return rows;
}

}  // namespace

std::optional<ArrayShape> ParseArrayShape(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']');
  if (open == 0 || close >= text.size() || close < open) return std::nullopt;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  std::optional<std::vector<std::int64_t>> dims = ParseNumbers(text.substr(open + 1, close - open - 1));
  if (!dims || !std::all_of(text.begin(), text.begin() + open, is_word)) return std::nullopt;
  ArrayShape shape;
  shape.dtype = text.substr(0, open);
  shape.dims = *std::move(dims);
  shape.shape = text.substr(0, close + 1);
  text.remove_prefix(close + 1);
  const std::size_t end = text.find_first_of("} ");
  if (text.starts_with('{') && end != std::string_view::npos && text[end] == '}') {
    shape.layout = text.substr(0, end + 1);
    ReadLayout(shape.layout, &shape);
  }
  return shape;
}

std::string WithoutLayouts(std::string_view text) {
  std::string result;
  int depth = 0;
  for (const char c : text) {
    if (c == '{') ++depth;
    if (depth == 0) result += c;
    if (c == '}' && depth > 0) --depth;
  }
  return result;
}

std::optional<int> ElementBits(std::string_view dtype) {
  if (dtype == "pred") return 8;
  const std::size_t digits = std::min(dtype.find_first_of("0123456789"), dtype.size());
  const std::string_view kind = dtype.substr(0, digits);
  if (kind != "f" && kind != "bf" && kind != "s" && kind != "u" && kind != "c") return std::nullopt;
  int bits = 0;
  std::from_chars(dtype.data() + digits, dtype.data() + dtype.size(), bits);  // "8" of "f8e4m3fn"
  const bool is_width = bits >= 2 && bits <= 128 && (bits & (bits - 1)) == 0;
  return is_width ? std::optional(bits) : std::nullopt;
}

std::vector<std::int64_t> SortedDims(std::vector<std::int64_t> dims) {
  std::erase(dims, 1);
  std::sort(dims.begin(), dims.end());
  return dims;
}

std::int64_t ElementCount(const ArrayShape& shape) { return TiledElements(shape.dims, {}); }

std::optional<std::int64_t> UnpaddedBytes(const ArrayShape& shape) {
  const std::optional<int> bits = ElementBits(shape.dtype);
  return bits ? std::optional(BytesWithTile(shape, *bits, {})) : std::nullopt;
}

std::optional<std::int64_t> PaddedBytes(const ArrayShape& shape) {
  const std::optional<int> bits = ElementBits(shape.dtype);
  return bits ? std::optional(BytesWithTile(shape, *bits, shape.tile)) : std::nullopt;
}

std::int64_t BytesWithDims(const ArrayShape& shape, std::int64_t size, const std::vector<std::int64_t>& dims) {
  ArrayShape changed = shape;
  changed.dims = dims;
  const std::optional<std::int64_t> before = PaddedBytes(shape);
  if (!before || *before <= 0) return size;
  const double share =
      static_cast<double>(ElementCount(changed)) / std::max(1.0, static_cast<double>(ElementCount(shape)));
  const double proportional = static_cast<double>(*before) * share;
  const std::int64_t tiled =
      std::min(*PaddedBytes(changed), std::max(*BestLayoutBytes(changed), ClampToBytes(proportional)));
  const double after = std::max(proportional, static_cast<double>(tiled));
  return ClampToBytes(static_cast<double>(size) * after / static_cast<double>(*before));
}

std::optional<std::int64_t> BytesWithElementBits(const ArrayShape& shape, int bits) {
  if (!ElementBits(shape.dtype)) return std::nullopt;
  std::vector<std::int64_t> tile = shape.tile;
  // Elements narrower than 32 bits are packed along the rows, so a tile has at least enough rows to fill a word.
  if (tile.size() >= 2) tile[tile.size() - 2] = std::max<std::int64_t>(tile[tile.size() - 2], std::max(1, 32 / bits));
  return BytesWithTile(shape, bits, tile);
}

std::optional<std::int64_t> BestLayoutBytes(const ArrayShape& shape) {
  const std::optional<int> bits = ElementBits(shape.dtype);
  if (!bits) return std::nullopt;
  std::int64_t best = BytesWithTile(shape, *bits, shape.tile);
  if (shape.tile.empty()) return best;
  const std::vector<std::int64_t>& dims = shape.dims;
  for (std::size_t minor = 0; minor < dims.size(); ++minor) {
    for (std::size_t second = 0; second < dims.size(); ++second) {
      if (minor == second) continue;
      const std::int64_t rows = std::max<std::int64_t>(std::max(1, 32 / *bits), RowsFor(dims[second]));
      std::vector<std::int64_t> order = {dims[minor], dims[second]};
      for (std::size_t i = 0; i < dims.size(); ++i) {
        if (i != minor && i != second) order.push_back(dims[i]);
      }
      best = std::min(best, BitsToBytes(TiledElements(order, {rows, kLanes}), *bits));
    }
  }
  return best;
}

}  // namespace whyoom
