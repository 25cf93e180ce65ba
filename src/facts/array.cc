#include "facts/array.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "text/numbers.h"
#include "text/regex_options.h"
#include "text/secrets.h"
#include "text/utf8.h"

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

// The numbers between `begin` and `end`, or to the end of the text; empty if there are none.
std::vector<std::int64_t> NumbersIn(std::string_view text, std::string_view begin, char end) {
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + begin.size());
  return ParseNumbers(text.substr(0, text.find(end))).value_or(std::vector<std::int64_t>());
}

// Sets the fields that the layout "{2,1,0:T(8,128)(2,1)S(5)}" determines. Ignores an order that omits a dimension or
// names one twice.
void ReadLayout(ArrayShape* shape) {
  const std::string_view layout = std::string_view(shape->layout).substr(0, shape->layout.size() - 1);
  const std::vector<std::int64_t> order = NumbersIn(layout, "{", ':');
  std::vector<std::int64_t> all(shape->dims.size());
  std::iota(all.begin(), all.end(), 0);
  if (std::is_permutation(order.begin(), order.end(), all.begin(), all.end()))
    shape->minor_to_major.assign(order.begin(), order.end());
  const std::string_view properties = layout.substr(std::min(layout.find(':'), layout.size()));
  shape->tile = NumbersIn(properties, "T(", ')');
  if (std::find(shape->tile.begin(), shape->tile.end(), 0) != shape->tile.end()) shape->tile.clear();
  if (const std::vector<std::int64_t> space = NumbersIn(properties, "S(", ')'); !space.empty())
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

// "copy.22", "fusion.82", "broadcast.36.clone.21", "output of custom-call.400@{}".
bool IsCompilersName(const std::string& name) {
  static const Regex made(
      R"(%?(?:wide\.|(?:arg_)?tuple|[\w-]*fusion|(?:copy|custom-call|broadcast|convert|bitcast|slice|dynamic-slice|)"
      R"(dynamic-update-slice|transpose|reshape|pad|concatenate|reduce|reduce-window|select|gather|scatter|sort|dot|)"
      R"(convolution|add|subtract|multiply|divide|maximum|minimum|exponential|iota|constant|while|conditional|call|)"
      R"(get-tuple-element|param(?:eter)?|all-gather|all-reduce|all-to-all|reduce-scatter|collective-permute|)"
      R"(copy-start|copy-done)[._]?(?:\d|remat|clone))[\w.]*|output of .*|.*@\{[\d,]*\})");
  return re2::RE2::FullMatch(name, made);
}

// "flax/linen/linear.py:251", relative to the folder of installed packages; empty if the line is the user's.
std::string LibrarySource(const Allocation& row) {
  static const Regex package(
      R"(.*[/\\](?:site-packages|dist-packages|python\d[\d.]*|workspace/vllm|workspace/tpu_inference)[/\\](.+))");
  if (!IsLibraryPath(row.source_file)) return "";
  std::string file;
  if (!re2::RE2::FullMatch(row.source_file, package, &file)) file = BaseName(row.source_file);
  return row.source_line ? fmt::format("{}:{}", file, *row.source_line) : file;
}

// "jit(step)/jit(main)/transpose(jvp(loss))/mul" becomes "loss/mul": the last two parts identify it. Skips the
// equations of einsums. Appends the source line for an operation; an argument has none.
std::string OperationName(const Allocation& row) {
  constexpr std::size_t kLongName = 60;
  std::string name;
  const bool is_argument = row.op_name.find('/') == std::string::npos && row.op_name.find("->") == std::string::npos;
  if (is_argument) return row.op_name;
  std::string rest = row.op_name.substr(0, row.op_name.find('['));
  for (int parts = 0; parts < 2 && !rest.empty();) {
    const std::size_t slash = rest.rfind('/');
    const std::string part = WithoutWrappers(rest.substr(slash + 1));  // npos + 1 is 0
    rest = slash == std::string::npos ? "" : rest.substr(0, slash);
    const bool function = part.starts_with("jit(") && !name.empty();
    if (part.empty() || part.find("->") != std::string::npos || function) continue;
    if (!name.empty() && name.size() + part.size() > kLongName) break;
    name = name.empty() ? part : part + "/" + name;
    ++parts;
  }
  if (name == "while") name = "the loop";  // a bare "while" would read as a conjunction
  const std::string source = SourceOf(row);
  return name.empty() || source.empty() ? name : name + " at " + source;
}

std::string NameWithShape(const Allocation& row) {
  const std::string name = UsersName(row);
  const std::string shape = ShapeOf(row);
  return name.empty() || shape.empty() ? name + shape : name + " " + shape;
}

constexpr std::size_t kBrief = 200;  // bytes of a long text, such as that of a tuple

std::string FromName(const std::string& name) { return name.empty() ? "" : ", from " + CutBytes(name, kBrief); }

// The compiler prints the line only if there is padding.
std::optional<std::int64_t> Padding(const Allocation& row) {
  return row.padding_bytes || (!row.unpadded_bytes && !row.size_bytes) ? row.padding_bytes
                                                                       : std::optional<std::int64_t>(0);
}

// The length of a dimension, counted from the one that varies fastest.
std::optional<std::int64_t> DimFromMinor(const ArrayShape& array, std::size_t nth) {
  if (array.minor_to_major.size() <= nth) return std::nullopt;
  return array.dims[static_cast<std::size_t>(array.minor_to_major[nth])];
}

std::int64_t TileFromMinor(const ArrayShape& array, std::size_t nth) {
  return nth < array.tile.size() ? array.tile[array.tile.size() - 1 - nth] : 1;
}

// The longest dimension; if several are equally long, the first in the user's order.
std::optional<std::int64_t> LongestAxis(const ArrayShape& array) {
  if (array.dims.empty()) return std::nullopt;
  return std::max_element(array.dims.begin(), array.dims.end()) - array.dims.begin();
}

template <typename Number>
Value ToValue(const std::optional<Number>& number) {
  return number ? Value(static_cast<double>(*number)) : Value{Unknown{}};
}
Value ToValue(std::int64_t number) { return static_cast<double>(number); }
Value ToValue(const std::string& text) { return text.empty() ? Value{Unknown{}} : Value(text); }

using Row = Allocation;
using Array = ArrayShape;

// A field of a row, or of its array: then unknown if the row is not an array.
struct Field {
  std::string_view name;
  Value (*of_row)(const Row&);
  Value (*of_array)(const Array&) = nullptr;
};
constexpr Field kFields[] = {
    {"rank", [](const Row& row) { return ToValue(row.rank); }},
    {"size_bytes", [](const Row& row) { return ToValue(row.size_bytes); }},
    {"unpadded_bytes", [](const Row& row) { return ToValue(row.unpadded_bytes); }},
    {"padding_bytes", [](const Row& row) { return ToValue(Padding(row)); }},
    {"padding_factor", [](const Row& row) { return ToValue(row.padding_factor); }},
    {"shape", [](const Row& row) { return ToValue(row.array ? ShapeOf(row) : CutBytes(ShapeOf(row), kBrief)); }},
    {"op_name", [](const Row& row) { return ToValue(row.op_name); }},
    {"source", [](const Row& row) { return ToValue(SourceOf(row)); }},
    {"library_source", [](const Row& row) { return ToValue(LibrarySource(row)); }},
    {"source_file", [](const Row& row) { return ToValue(row.source_file); }},
    {"xla_label", [](const Row& row) { return ToValue(row.xla_label); }},
    {"kind", [](const Row& row) { return ToValue(row.kind); }},
    {"name", [](const Row& row) { return ToValue(ShortName(row)); }},
    {"called", [](const Row& row) { return ToValue(NameWithShape(row)); }},
    {"from", [](const Row& row) { return Value(FromName(UsersName(row))); }},
    {"is_named", [](const Row& row) { return Value(!UsersName(row).empty()); }},
    {"dtype", nullptr, [](const Array& array) { return Value(array.dtype); }},
    {"element_bits", nullptr, [](const Array& array) { return ToValue(ElementBits(array.dtype)); }},
    {"elements", nullptr, [](const Array& array) { return ToValue(ElementCount(array)); }},
    {"dims", nullptr, [](const Array& array) { return Value(static_cast<double>(array.dims.size())); }},
    {"minor_dim", nullptr, [](const Array& array) { return ToValue(DimFromMinor(array, 0)); }},
    {"second_minor_dim", nullptr, [](const Array& array) { return ToValue(DimFromMinor(array, 1)); }},
    {"tile_minor", nullptr, [](const Array& array) { return ToValue(TileFromMinor(array, 0)); }},
    {"tile_second_minor", nullptr, [](const Array& array) { return ToValue(TileFromMinor(array, 1)); }},
    {"longest_axis", nullptr, [](const Array& array) { return ToValue(LongestAxis(array)); }},
    {"longest_dim", nullptr,
     [](const Array& array) { return array.dims.empty() ? Unknown{} : ToValue(array.dims[*LongestAxis(array)]); }},
    {"best_layout_bytes", nullptr, [](const Array& array) { return ToValue(BestLayoutBytes(array)); }},
};

}  // namespace

std::optional<ArrayShape> ParseArrayShape(std::string_view text) {
  static const Regex pattern(R"(^[ \t]*((\w+)\[([^\]]*)\])(\{[^} ]*\})?)");
  ArrayShape shape;
  std::string list;
  if (!re2::RE2::PartialMatch(text, pattern, &shape.shape, &shape.dtype, &list, &shape.layout)) return std::nullopt;
  std::optional<std::vector<std::int64_t>> dims = ParseNumbers(list);
  if (!dims) return std::nullopt;
  shape.dims = *std::move(dims);
  if (!shape.layout.empty()) ReadLayout(&shape);
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
  return bits >= 2 && bits <= 128 && (bits & (bits - 1)) == 0 ? std::optional(bits) : std::nullopt;
}

std::int64_t ElementCount(const ArrayShape& shape) { return TiledElements(shape.dims, {}); }

std::optional<std::int64_t> BytesWithTile(const ArrayShape& shape, std::optional<int> bits,
                                          const std::vector<std::int64_t>& tile) {
  if (!bits) return std::nullopt;
  if (tile.empty() || shape.minor_to_major.empty()) return BitsToBytes(ElementCount(shape), *bits);
  std::vector<std::int64_t> dims;
  for (const int dim : shape.minor_to_major) dims.push_back(shape.dims[static_cast<std::size_t>(dim)]);
  return BitsToBytes(TiledElements(dims, tile), *bits);
}

std::optional<std::int64_t> BestLayoutBytes(const ArrayShape& shape) {
  std::optional<std::int64_t> best = PaddedBytes(shape);
  if (!best || shape.tile.empty()) return best;
  const int bits = *ElementBits(shape.dtype);
  for (std::size_t minor = 0; minor < shape.dims.size(); ++minor) {
    for (std::size_t second = 0; second < shape.dims.size(); ++second) {
      if (minor == second) continue;
      std::vector<std::int64_t> dims = shape.dims;
      const auto rows = std::bit_ceil(static_cast<std::uint64_t>(std::clamp<std::int64_t>(dims[second], 1, kRows)));
      dims[second] = RoundUp(dims[second], std::max<std::int64_t>(32 / bits, static_cast<std::int64_t>(rows)));
      dims[minor] = RoundUp(dims[minor], kLanes);
      best = std::min(*best, BitsToBytes(TiledElements(dims, {}), bits));
    }
  }
  return best;
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

Allocation RowOfArray(std::int64_t size, const std::string& shape) {
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

std::string ShapeOf(const Allocation& row) { return row.array ? row.array->shape : WithoutLayouts(row.shape_text); }

std::string SourceOf(const Allocation& row) {
  if (row.source_file.empty() || IsLibraryPath(row.source_file)) return "";
  return SourceLineText(row.source_file, row.source_line);
}

void TruncateTexts(Allocation* row) {
  for (std::string* text : {&row->shape_text, &row->op_name, &row->source_file, &row->xla_label, &row->kind, &row->tag})
    *text = CutBytes(*text, kMaxTextBytes);
}

void MaskSecretsOf(Allocation* row) {
  for (std::string* text : {&row->shape_text, &row->op_name, &row->source_file, &row->xla_label, &row->kind, &row->tag})
    *text = MaskSecrets(*text);
}

std::string UnescapedPath(std::string text) {
  static const Regex escaped(R"(\\(['"]))");
  re2::RE2::GlobalReplace(&text, escaped, R"(\1)");
  return text;
}

std::string WithoutWrappers(std::string part) {
  static const Regex wrapped(R"((?s)(?:jvp|transpose|vmap)\((.*)\))");
  for (std::string inner; re2::RE2::FullMatch(part, wrapped, &inner);) part = inner;
  return part;
}

std::string UsersName(const Allocation& row) {
  static const Regex parameter(R"(%?([\w.-]+) = .*\bparameter\(\d+\).*)");
  static const Regex numbered(R"((?:[Aa]rg|p|param|parameter)[_.]?\d.*)");
  std::string name = UnescapedPath(OperationName(row));
  if (!name.empty() && !IsCompilersName(name)) return name;
  const bool is_parameter = re2::RE2::FullMatch(row.xla_label, parameter, &name);
  return is_parameter && !re2::RE2::FullMatch(name, numbered) && !IsCompilersName(name) ? name : "";
}

std::string ShortName(const Allocation& row) {
  std::string name = UsersName(row);
  return name.empty() ? ShapeOf(row) : name;
}

Value RowField(const Allocation& row, std::string_view name) {
  const auto field =
      std::find_if(std::begin(kFields), std::end(kFields), [&](const Field& f) { return f.name == name; });
  if (field == std::end(kFields)) return Unknown{};
  if (field->of_row != nullptr) return field->of_row(row);
  return row.array ? field->of_array(*row.array) : Unknown{};
}

}  // namespace whyoom
