#include "facts/allocation.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>

#include "facts/where.h"
#include "text/regex_options.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

bool ContainsText(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// "copy.22", "fusion.82", "broadcast.36.clone.21", "output of custom-call.400@{}".
bool IsCompilersName(const std::string& name) {
  static const Regex numbered(
      R"(%?(?:wide\.|(?:arg_)?tuple|[\w-]*fusion|(?:copy|custom-call|broadcast|convert|bitcast|slice|dynamic-slice|)"
      R"(dynamic-update-slice|transpose|reshape|pad|concatenate|reduce|reduce-window|select|gather|scatter|sort|dot|)"
      R"(convolution|add|subtract|multiply|divide|maximum|minimum|exponential|iota|constant|while|conditional|call|)"
      R"(get-tuple-element|param(?:eter)?|all-gather|all-reduce|all-to-all|reduce-scatter|collective-permute|)"
      R"(copy-start|copy-done)[._]?(?:\d|remat|clone))[\w.]*)");
  static const Regex output(R"((?:output of ).*|.*@\{[\d,]*\})");
  return re2::RE2::FullMatch(name, numbered) || re2::RE2::FullMatch(name, output);
}

// Stores the parameter's name. Returns false if the row is not a parameter, or if the compiler numbered its name.
bool NamesParameter(const Allocation& row, std::string* name) {
  static const Regex parameter(R"(%?([\w.-]+) = .*\bparameter\(\d+\).*)");
  static const Regex numbered(R"((?:[Aa]rg|p|param|parameter)[_.]?\d.*)");
  return re2::RE2::FullMatch(row.xla_label, parameter, name) && !re2::RE2::FullMatch(*name, numbered) &&
         !IsCompilersName(*name);
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
  if (!ContainsText(row.op_name, "/") && !ContainsText(row.op_name, "->")) return row.op_name;  // an argument
  std::string rest = row.op_name.substr(0, row.op_name.find('['));
  for (int parts = 0; parts < 2 && !rest.empty();) {
    const std::size_t slash = rest.rfind('/');
    const std::string part(WithoutWrappers(std::string_view(rest).substr(slash == std::string::npos ? 0 : slash + 1)));
    rest = slash == std::string::npos ? std::string() : rest.substr(0, slash);
    const bool function = part.rfind("jit(", 0) == 0 && !name.empty();
    if (part.empty() || ContainsText(part, "->") || function) continue;
    if (!name.empty() && name.size() + part.size() > kLongName) break;
    name = name.empty() ? part : part + "/" + name;
    ++parts;
  }
  if (name == "while") name = "the loop";  // a bare "while" would read as a conjunction
  const std::string source = SourceOf(row);
  return name.empty() || source.empty() ? name : name + " at " + source;
}

// Empty if the row has none.
std::string UsersName(const Allocation& row) {
  std::string name = UnescapedPath(OperationName(row));
  if (!name.empty() && !IsCompilersName(name)) return name;
  return NamesParameter(row, &name) ? name : std::string();
}

std::string NameWithShape(const Allocation& row) {
  const std::string name = UsersName(row);
  const std::string shape = ShapeOf(row);
  return name.empty() || shape.empty() ? name + shape : name + " " + shape;
}

// Cuts a long text, such as that of a tuple.
std::string Brief(const std::string& text) { return CutBytes(text, 200); }

std::optional<std::int64_t> Padding(const Allocation& row) {
  if (row.padding_bytes) return row.padding_bytes;
  if (row.unpadded_bytes || row.size_bytes) return 0;  // the compiler prints the line only if there is padding
  return std::nullopt;
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

std::optional<std::int64_t> LongestDim(const ArrayShape& array) {
  if (array.dims.empty()) return std::nullopt;
  return *std::max_element(array.dims.begin(), array.dims.end());
}

template <typename Number>
Value ToValue(const std::optional<Number>& number) {
  return number ? Value(static_cast<double>(*number)) : Value{Unknown{}};
}
Value ToValue(std::int64_t number) { return static_cast<double>(number); }
Value ToValue(const std::string& text) { return text.empty() ? Value{Unknown{}} : Value(text); }

template <typename Of>
struct Field {
  std::string_view name;
  Value (*get)(const Of& of);
};

template <typename Of, std::size_t kCount>
Value FieldOf(const Field<Of> (&fields)[kCount], const Of& of, std::string_view name) {
  for (const Field<Of>& field : fields) {
    if (field.name == name) return field.get(of);
  }
  return Unknown{};
}

using Row = Allocation;
constexpr Field<Row> kRowFields[] = {
    {"rank", [](const Row& row) { return ToValue(row.rank); }},
    {"size_bytes", [](const Row& row) { return ToValue(row.size_bytes); }},
    {"unpadded_bytes", [](const Row& row) { return ToValue(row.unpadded_bytes); }},
    {"padding_bytes", [](const Row& row) { return ToValue(Padding(row)); }},
    {"padding_factor", [](const Row& row) { return ToValue(row.padding_factor); }},
    {"shape", [](const Row& row) { return ToValue(row.array ? ShapeOf(row) : Brief(ShapeOf(row))); }},
    {"op_name", [](const Row& row) { return ToValue(row.op_name); }},
    {"source", [](const Row& row) { return ToValue(SourceOf(row)); }},
    {"library_source", [](const Row& row) { return ToValue(LibrarySource(row)); }},
    {"source_file", [](const Row& row) { return ToValue(row.source_file); }},
    {"source_line", [](const Row& row) { return ToValue(row.source_line); }},
    {"xla_label", [](const Row& row) { return ToValue(row.xla_label); }},
    {"kind", [](const Row& row) { return ToValue(row.kind); }},
    {"name", [](const Row& row) { return ToValue(ShortName(row)); }},
    {"called", [](const Row& row) { return ToValue(NameWithShape(row)); }},
    {"from", [](const Row& row) { return Value(IsNamed(row) ? ", from " + Brief(ShortName(row)) : std::string()); }},
    {"is_named", [](const Row& row) { return Value(IsNamed(row)); }},
};

// Unknown if the row is not an array.
using Array = ArrayShape;
constexpr Field<Array> kArrayFields[] = {
    {"layout", [](const Array& array) { return Value(array.layout); }},
    {"dtype", [](const Array& array) { return Value(array.dtype); }},
    {"element_bits", [](const Array& array) { return ToValue(ElementBits(array.dtype)); }},
    {"elements", [](const Array& array) { return ToValue(ElementCount(array)); }},
    {"dims", [](const Array& array) { return Value(static_cast<double>(array.dims.size())); }},
    {"minor_dim", [](const Array& array) { return ToValue(DimFromMinor(array, 0)); }},
    {"second_minor_dim", [](const Array& array) { return ToValue(DimFromMinor(array, 1)); }},
    {"tile_minor", [](const Array& array) { return ToValue(TileFromMinor(array, 0)); }},
    {"tile_second_minor", [](const Array& array) { return ToValue(TileFromMinor(array, 1)); }},
    {"longest_axis", [](const Array& array) { return ToValue(LongestAxis(array)); }},
    {"longest_dim", [](const Array& array) { return ToValue(LongestDim(array)); }},
    {"best_layout_bytes", [](const Array& array) { return ToValue(BestLayoutBytes(array)); }},
};

}  // namespace

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
  for (std::string* text :
       {&row->shape_text, &row->op_name, &row->source_file, &row->xla_label, &row->kind, &row->tag}) {
    if (text->size() > kMaxTextBytes) *text = CutBytes(*text, kMaxTextBytes);
  }
}

void MaskSecretsOf(Allocation* row) {
  for (std::string* text : {&row->op_name, &row->source_file, &row->xla_label, &row->kind, &row->tag}) {
    if (!text->empty()) *text = MaskSecrets(*text);
  }
}

std::string UnescapedPath(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\'' || text[i + 1] == '"')) ++i;
    plain += text[i];
  }
  return plain;
}

std::string_view WithoutWrappers(std::string_view part) {
  for (bool inside = true; inside;) {
    inside = false;
    for (const std::string_view wrapper : {"jvp(", "transpose(", "vmap("}) {
      if (!part.starts_with(wrapper) || !part.ends_with(')')) continue;
      part = part.substr(wrapper.size(), part.size() - wrapper.size() - 1);
      inside = true;
    }
  }
  return part;
}

bool IsNamed(const Allocation& row) { return !UsersName(row).empty(); }

std::string ShortName(const Allocation& row) {
  std::string name = UsersName(row);
  return name.empty() ? ShapeOf(row) : name;
}

Value RowField(const Allocation& row, std::string_view name) {
  if (Value value = FieldOf(kRowFields, row, name); IsKnown(value)) return value;
  return row.array ? FieldOf(kArrayFields, *row.array, name) : Value{Unknown{}};
}

std::vector<std::string_view> RowFieldNames() {
  std::vector<std::string_view> names;
  for (const auto& field : kRowFields) names.push_back(field.name);
  for (const auto& field : kArrayFields) names.push_back(field.name);
  return names;
}

}  // namespace whyoom
