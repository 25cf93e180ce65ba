#include "facts/array_shape.h"

#include <algorithm>
#include <array>
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

// A cursor over text. A failed Accept or Number does not move it.
class ShapeReader {
 public:
  explicit ShapeReader(std::string_view text) : text_(text) {}

  bool Accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<std::int64_t> Number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  // Reads comma-separated numbers up to and including `close`. Skips "<=" (a bounded dynamic dimension).
  bool Numbers(char close, std::vector<std::int64_t>* numbers) {
    while (!Accept(close)) {
      if (numbers->size() >= kMaxRank) return false;
      if (Accept('<') && !Accept('=')) return false;
      if (Accept('*')) {  // a tile that spans the whole dimension
        numbers->push_back(1);
      } else {
        const std::optional<std::int64_t> number = Number();
        if (!number || *number < 0) return false;
        numbers->push_back(*number);
      }
      if (Accept(',')) continue;
      if (Accept(close)) return true;
      return false;
    }
    return true;
  }

  std::string_view Word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  std::size_t at() const { return at_; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void Skip() { ++at_; }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// Reads what follows the colon of a layout: tiles "T(8,128)(2,1)", "S(5)", "L(1024)", "E(4)" in any order.
bool ReadLayoutProperties(ShapeReader& reader, ArrayShape* shape) {
  while (!reader.Accept('}')) {
    const char kind = reader.peek();
    if (kind == '\0') return false;
    reader.Skip();
    while (reader.Accept('(')) {
      std::vector<std::int64_t> numbers;
      if (!reader.Numbers(')', &numbers)) return false;
      if (kind == 'T' && std::find(numbers.begin(), numbers.end(), 0) != numbers.end()) return false;
      if (kind == 'T' && shape->tiles.size() < kMaxRank) shape->tiles.push_back(std::move(numbers));
      if (kind == 'S' && !numbers.empty())
        shape->memory_space = static_cast<int>(std::min<std::int64_t>(numbers[0], 1 << 20));
    }
  }
  return true;
}

bool ReadLayout(ShapeReader& reader, ArrayShape* shape) {
  std::vector<std::int64_t> order;
  while (reader.peek() != ':' && reader.peek() != '}') {
    const std::optional<std::int64_t> number = reader.Number();
    if (!number || *number < 0 || order.size() >= kMaxRank) return false;
    order.push_back(*number);
    reader.Accept(',');
  }
  for (const std::int64_t dim : order) {
    if (dim >= static_cast<std::int64_t>(shape->dims.size())) return false;
    shape->minor_to_major.push_back(static_cast<int>(dim));
  }
  // Ignore a layout that omits a dimension or names one twice.
  std::vector<int> sorted = shape->minor_to_major;
  std::sort(sorted.begin(), sorted.end());
  const bool repeats = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (repeats || sorted.size() != shape->dims.size()) shape->minor_to_major.clear();
  return reader.Accept('}') || (reader.Accept(':') && ReadLayoutProperties(reader, shape));
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
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return std::nullopt;
  text.remove_prefix(begin);
  ShapeReader reader(text);
  ArrayShape shape;
  shape.dtype = reader.Word();
  if (shape.dtype.empty() || !reader.Accept('[') || !reader.Numbers(']', &shape.dims)) return std::nullopt;
  shape.shape = text.substr(0, reader.at());
  const std::size_t layout_begin = reader.at();
  if (reader.Accept('{')) {
    if (ReadLayout(reader, &shape)) {
      shape.layout = text.substr(layout_begin, reader.at() - layout_begin);
    } else {
      shape.minor_to_major.clear();
      shape.tiles.clear();
    }
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
  if (dtype == kBfloat16) return 16;
  if (dtype.substr(0, 2) == "f8") return 8;
  if (dtype.substr(0, 2) == "f4") return 4;
  static constexpr std::array<std::pair<std::string_view, int>, 16> kTypes = {{
      {"f16", 16},
      {"f32", 32},
      {"f64", 64},
      {"s2", 2},
      {"s4", 4},
      {"s8", 8},
      {"s16", 16},
      {"s32", 32},
      {"s64", 64},
      {"u2", 2},
      {"u4", 4},
      {"u8", 8},
      {"u16", 16},
      {"u32", 32},
      {"u64", 64},
      {"c64", 64},
  }};
  for (const auto& [name, bits] : kTypes) {
    if (dtype == name) return bits;
  }
  if (dtype == "c128") return 128;
  return std::nullopt;
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
