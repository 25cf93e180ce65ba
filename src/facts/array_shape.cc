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

// A cursor over text. A failed Accept does not move it.
struct ShapeReader {
  std::string_view text;
  std::size_t at = 0;

  bool Accept(char c) {
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }

  // Reads comma-separated numbers up to and including `close`. Skips the "<=" of a bounded dynamic dimension. A "*" is
  // a tile that spans the whole dimension.
  bool Numbers(char close, std::vector<std::int64_t>* numbers) {
    while (!Accept(close)) {
      if (numbers->size() >= kMaxRank || (!numbers->empty() && !Accept(','))) return false;
      if (Accept('<') && !Accept('=')) return false;
      std::int64_t number = 1;
      if (!Accept('*')) {
        const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
        if (error != std::errc() || number < 0) return false;
        at = static_cast<std::size_t>(end - text.data());
      }
      numbers->push_back(number);
    }
    return true;
  }
};

// Reads what follows the colon of a layout: tiles "T(8,128)(2,1)", "S(5)", "L(1024)", "E(4)" in any order.
bool ReadLayoutProperties(ShapeReader& reader, ArrayShape* shape) {
  while (!reader.Accept('}')) {
    if (reader.at >= reader.text.size()) return false;
    const char kind = reader.text[reader.at++];
    while (reader.Accept('(')) {
      std::vector<std::int64_t> numbers;
      if (!reader.Numbers(')', &numbers)) return false;
      if (kind == 'T' && std::find(numbers.begin(), numbers.end(), 0) != numbers.end()) return false;
      if (kind == 'S' && !numbers.empty())
        shape->memory_space = static_cast<int>(std::min<std::int64_t>(numbers[0], 1 << 20));
      if (kind == 'T' && shape->tiles.size() < kMaxRank) shape->tiles.push_back(std::move(numbers));
    }
  }
  return true;
}

// Reads "2,1,0:T(8,128)}". Ignores an order that omits a dimension or names one twice.
bool ReadLayout(ShapeReader& reader, ArrayShape* shape) {
  const std::size_t end = reader.text.find_first_of(":}", reader.at);
  if (end == std::string_view::npos) return false;
  std::vector<std::int64_t> order;
  if (end > reader.at && !reader.Numbers(reader.text[end], &order)) return false;
  if (end == reader.at) ++reader.at;
  std::vector<std::int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.back() >= static_cast<std::int64_t>(shape->dims.size())) return false;
  const bool is_complete =
      sorted.size() == shape->dims.size() && std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  if (is_complete) shape->minor_to_major.assign(order.begin(), order.end());
  return reader.text[end] == '}' || ReadLayoutProperties(reader, shape);
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

std::vector<std::int64_t> MinorFirst(const ArrayShape& shape) {
  std::vector<std::int64_t> dims;
  for (const int dim : shape.minor_to_major) dims.push_back(shape.dims[static_cast<std::size_t>(dim)]);
  return dims;
}

std::int64_t RowsFor(std::int64_t second_minor) {
  std::int64_t rows = 1;
  while (rows < kRows && rows < second_minor) rows *= 2;
  return rows;
}

}  // namespace

std::optional<ArrayShape> ParseArrayShape(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  ShapeReader reader{text};
  ArrayShape shape;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  while (reader.at < text.size() && is_word(text[reader.at])) shape.dtype += text[reader.at++];
  if (shape.dtype.empty() || !reader.Accept('[') || !reader.Numbers(']', &shape.dims)) return std::nullopt;
  const std::size_t end = reader.at;
  shape.shape = text.substr(0, end);
  if (!reader.Accept('{')) return shape;
  ArrayShape whole = shape;
  if (!ReadLayout(reader, &whole)) {
    shape.memory_space = whole.memory_space;
    return shape;
  }
  whole.layout = text.substr(end, reader.at - end);
  return whole;
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

std::int64_t ElementCount(const ArrayShape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t dim : shape.dims) elements = Multiply(elements, dim);
  return elements;
}

std::optional<std::int64_t> UnpaddedBytes(const ArrayShape& shape) {
  const std::optional<int> bits = ElementBits(shape.dtype);
  if (!bits) return std::nullopt;
  return BitsToBytes(ElementCount(shape), *bits);
}

std::optional<std::int64_t> PaddedBytes(const ArrayShape& shape) {
  const std::optional<int> bits = ElementBits(shape.dtype);
  if (!bits) return std::nullopt;
  if (shape.tiles.empty() || shape.minor_to_major.empty()) return UnpaddedBytes(shape);
  return BitsToBytes(TiledElements(MinorFirst(shape), shape.tiles[0]), *bits);
}

std::int64_t BytesWithDims(const ArrayShape& shape, std::int64_t size, const std::vector<std::int64_t>& dims) {
  ArrayShape changed = shape;
  changed.dims = dims;
  const std::optional<std::int64_t> before = PaddedBytes(shape);
  const std::optional<std::int64_t> same_layout = PaddedBytes(changed);
  const std::optional<std::int64_t> best = BestLayoutBytes(changed);
  if (!before || !same_layout || !best || *before <= 0) return size;
  const double share =
      static_cast<double>(ElementCount(changed)) / std::max(1.0, static_cast<double>(ElementCount(shape)));
  const double proportional = static_cast<double>(*before) * share;
  const double after =
      std::max(proportional, static_cast<double>(std::min(*same_layout, std::max(*best, ClampToBytes(proportional)))));
  return ClampToBytes(static_cast<double>(size) * after / static_cast<double>(*before));
}

std::optional<std::int64_t> BytesWithElementBits(const ArrayShape& shape, int bits) {
  if (!ElementBits(shape.dtype)) return std::nullopt;
  if (shape.tiles.empty() || shape.minor_to_major.empty()) return BitsToBytes(ElementCount(shape), bits);
  std::vector<std::int64_t> tile = shape.tiles[0];
  // Elements narrower than 32 bits are packed along the rows, so a tile has at least enough rows to fill a word.
  if (tile.size() >= 2) tile[tile.size() - 2] = std::max<std::int64_t>(tile[tile.size() - 2], std::max(1, 32 / bits));
  return BitsToBytes(TiledElements(MinorFirst(shape), tile), bits);
}

std::optional<std::int64_t> BestLayoutBytes(const ArrayShape& shape) {
  const std::optional<int> bits = ElementBits(shape.dtype);
  if (!bits) return std::nullopt;
  if (shape.dims.size() < 2 || shape.tiles.empty()) return PaddedBytes(shape);
  const std::int64_t word = std::max(1, 32 / *bits);
  std::int64_t best = kMax;
  for (std::size_t minor = 0; minor < shape.dims.size(); ++minor) {
    for (std::size_t second = 0; second < shape.dims.size(); ++second) {
      if (minor == second) continue;
      std::vector<std::int64_t> order = {shape.dims[minor], shape.dims[second]};
      for (std::size_t i = 0; i < shape.dims.size(); ++i) {
        if (i != minor && i != second) order.push_back(shape.dims[i]);
      }
      const std::int64_t rows = std::max(word, RowsFor(shape.dims[second]));
      best = std::min(best, TiledElements(order, {rows, kLanes}));
    }
  }
  const std::optional<std::int64_t> now = PaddedBytes(shape);
  return std::min(BitsToBytes(best, *bits), *now);
}

std::optional<std::int64_t> MinorDim(const ArrayShape& shape) {
  if (shape.minor_to_major.empty()) return std::nullopt;
  return shape.dims[static_cast<std::size_t>(shape.minor_to_major[0])];
}

std::optional<std::int64_t> SecondMinorDim(const ArrayShape& shape) {
  if (shape.minor_to_major.size() < 2) return std::nullopt;
  return shape.dims[static_cast<std::size_t>(shape.minor_to_major[1])];
}

}  // namespace whyoom
