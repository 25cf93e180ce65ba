#include "facts/row_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "facts/op_name.h"
#include "facts/row_names.h"
#include "facts/where.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Cuts a long text, such as that of a tuple.
std::string Brief(const std::string& text) { return CutBytes(text, 200); }

template <typename Number>
Value FromNumber(const std::optional<Number>& number) {
  return number ? Value(static_cast<double>(*number)) : Value{Unknown{}};
}

Value FromText(const std::string& text) { return text.empty() ? Value{Unknown{}} : Value(text); }

template <typename Function>
Value FromArray(const Allocation& row, Function function) {
  return row.array ? Value(function(*row.array)) : Value{Unknown{}};
}

std::optional<std::int64_t> Padding(const Allocation& row) {
  if (row.padding_bytes) return row.padding_bytes;
  if (row.unpadded_bytes || row.size_bytes) return 0;  // the compiler prints the line only if there is padding
  return std::nullopt;
}

Value WithLine(const std::string& file, const Allocation& row) {
  return row.source_line ? fmt::format("{}:{}", file, *row.source_line) : file;
}

// The source line, unless it is in a library.
Value Source(const Allocation& row) {
  if (row.source_file.empty() || IsLibraryPath(row.source_file)) return Unknown{};
  return SourceLineText(row.source_file, row.source_line);
}

Value LibrarySource(const Allocation& row) {
  if (!IsLibraryPath(row.source_file)) return Unknown{};
  return WithLine(PathInLibrary(row.source_file), row);
}

std::int64_t TileNumber(const ArrayShape& array, std::size_t from_end) {
  if (array.tiles.empty() || array.tiles[0].size() < from_end) return 1;
  return array.tiles[0][array.tiles[0].size() - from_end];
}

// The longest dimension; if several are equally long, the first in the user's order.
std::optional<std::size_t> LongestAxis(const Allocation& row) {
  if (!row.array || row.array->dims.empty()) return std::nullopt;
  const std::vector<std::int64_t>& dims = row.array->dims;
  return static_cast<std::size_t>(std::max_element(dims.begin(), dims.end()) - dims.begin());
}

Value LongestDim(const Allocation& row) {
  const std::optional<std::size_t> axis = LongestAxis(row);
  return axis ? Value(static_cast<double>(row.array->dims[*axis])) : Value{Unknown{}};
}

using Field = std::function<Value(const Allocation&)>;

template <class Member>
Field Number(Member member) {
  return [member](const Allocation& row) { return FromNumber(row.*member); };
}
Field Text(std::string Allocation::*member) {
  return [member](const Allocation& row) { return FromText(row.*member); };
}
// Unknown if the row is not an array.
template <class Of>
Field OfArray(Of of) {
  return [of](const Allocation& row) { return FromArray(row, of); };
}

const std::map<std::string_view, Field>& Fields() {
  static const std::map<std::string_view, Field> fields = {
      {"rank", [](const Allocation& row) { return Value(static_cast<double>(row.rank)); }},
      {"size_bytes", Number(&Allocation::size_bytes)},
      {"unpadded_bytes", Number(&Allocation::unpadded_bytes)},
      {"padding_bytes", [](const Allocation& row) { return FromNumber(Padding(row)); }},
      {"padding_factor", Number(&Allocation::padding_factor)},
      {"shape",
       [](const Allocation& row) {
         return row.array ? Value(row.array->shape) : FromText(Brief(WithoutLayouts(row.shape_text)));
       }},
      {"layout", OfArray([](const ArrayShape& a) { return a.layout; })},
      {"dtype", OfArray([](const ArrayShape& a) { return a.dtype; })},
      {"elements", OfArray([](const ArrayShape& a) { return static_cast<double>(ElementCount(a)); })},
      {"dims", OfArray([](const ArrayShape& a) { return static_cast<double>(a.dims.size()); })},
      {"minor_dim", OfArray([](const ArrayShape& a) { return FromNumber(MinorDim(a)); })},
      {"second_minor_dim", OfArray([](const ArrayShape& a) { return FromNumber(SecondMinorDim(a)); })},
      {"tile_minor", OfArray([](const ArrayShape& a) { return static_cast<double>(TileNumber(a, 1)); })},
      {"tile_second_minor", OfArray([](const ArrayShape& a) { return static_cast<double>(TileNumber(a, 2)); })},
      {"op_name", Text(&Allocation::op_name)},
      {"source", Source},
      {"library_source", LibrarySource},
      {"source_file", Text(&Allocation::source_file)},
      {"source_line", Number(&Allocation::source_line)},
      {"xla_label", Text(&Allocation::xla_label)},
      {"kind", Text(&Allocation::kind)},
      {"name", [](const Allocation& row) { return FromText(ShortName(row)); }},
      {"called", [](const Allocation& row) { return FromText(NameWithShape(row)); }},
      {"from",
       [](const Allocation& row) { return Value(IsNamed(row) ? ", from " + Brief(ShortName(row)) : std::string()); }},
      {"is_named", [](const Allocation& row) { return Value(IsNamed(row)); }},
      {"longest_axis", [](const Allocation& row) { return FromNumber(LongestAxis(row)); }},
      {"longest_dim", LongestDim},
      {"element_bits",
       [](const Allocation& row) { return row.array ? FromNumber(ElementBits(row.array->dtype)) : Value{Unknown{}}; }},
      {"is_float32", OfArray([](const ArrayShape& a) { return a.dtype == "f32"; })},
      {"is_bf16", OfArray([](const ArrayShape& a) { return a.dtype == kBfloat16; })},
      {"in_backward", [](const Allocation& row) { return Value(IsTransposed(row.op_name)); }},
      {"in_gradient", [](const Allocation& row) { return Value(IsInGradient(row.op_name)); }},
      {"in_host_memory", OfArray([](const ArrayShape& a) { return a.memory_space == kHostMemorySpace; })},
      {"is_rematted", [](const Allocation& row) { return Value(IsInCheckpoint(row.op_name)); }},
      {"bf16_bytes",
       [](const Allocation& row) {
         return row.array ? FromNumber(BytesWithElementBits(*row.array, 16)) : Value{Unknown{}};
       }},
      {"best_layout_bytes", OfArray([](const ArrayShape& a) { return FromNumber(BestLayoutBytes(a)); })},
  };
  return fields;
}

}  // namespace

Value RowField(const Allocation& row, std::string_view name) {
  const auto field = Fields().find(name);
  return field == Fields().end() ? Value{Unknown{}} : field->second(row);
}

Value RowScope::Get(std::string_view name) const { return RowField(row_, name); }

Value RowField(const RuleSet& rules, const Allocation& row, std::string_view name) {
  const DerivedRowField* test = rules.FindDerivedRowField(name);
  return test == nullptr ? RowField(row, name) : test->when.Evaluate(RowScope(row));
}

std::vector<std::string_view> RowFieldNames() {
  std::vector<std::string_view> names;
  for (const auto& [name, field] : Fields()) names.push_back(name);
  return names;
}

void TruncateTexts(Allocation* row) {
  for (std::string* text :
       {&row->shape_text, &row->op_name, &row->source_file, &row->xla_label, &row->kind, &row->tag}) {
    if (text->size() > kMaxTextBytes) *text = CutBytes(*text, kMaxTextBytes);
  }
}

}  // namespace whyoom
