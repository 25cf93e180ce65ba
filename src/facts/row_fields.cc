#include "facts/row_fields.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <functional>
#include <map>

#include "facts/row_names.h"
#include "facts/source_path.h"

namespace whyoom {
namespace {

bool Holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A tuple may be as long as the log's author likes.
std::string Brief(std::string text) {
  constexpr std::size_t kMost = 200;
  if (text.size() <= kMost) return text;
  std::size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "…";
}

using Parts = std::vector<std::string_view>;

bool HoldsAny(const std::string& text, const Parts& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) { return Holds(text, part); });
}

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
  if (row.unpadded_bytes || row.size_bytes) return 0;  // the compiler prints the line only where there is padding
  return std::nullopt;
}

bool IsCallback(const Allocation& row) {
  static const Parts kNames = {"debug_callback", "debug_print",  "io_callback",
                               "pure_callback",  "outside_call", "host_callback"};
  return HoldsAny(row.op_name, kNames) || HoldsAny(row.xla_label, kNames) ||
         Holds(row.xla_label, "is_host_transfer=true") || Holds(row.xla_label, "xla_ffi_python") ||
         Holds(row.xla_label, "_xla_host_transfer");
}

// The gradient part of a program, forward residuals included, by what JAX's transformations put into op names.
bool InGradient(const Allocation& row) {
  return HoldsAny(row.op_name, {"jvp(", "transpose(", "rematted", "checkpoint", "gradients/", "backward"});
}

bool IsArgument(const Allocation& row) {
  static const re2::RE2 parameter(R"(^\S+ = (?:\S+ )?(?:copy|bitcast|parameter)[\w-]*\((?:\S+ )?%?param)");
  if (row.kind == "parameter") return true;
  const bool bare_name =
      !row.op_name.empty() && !Holds(row.op_name, "/") && !Holds(row.op_name, "(") && !Holds(row.op_name, ".");
  return bare_name || re2::RE2::PartialMatch(row.xla_label, parameter);
}

// What a loop fills step by step begins as memory without a value, or as zeros of the compiler's; a user's own array of
// zeros has a line of the source, and is no part of a gradient.
bool IsStacked(const Allocation& row) {
  if (!row.source_file.empty() && !InGradient(row)) return false;
  const bool of_compiler = row.op_name.empty() || (row.op_name.rfind("broadcast", 0) == 0 && !Holds(row.op_name, "/"));
  return Holds(row.xla_label, "AllocateBuffer") ||
         (of_compiler && (!row.op_name.empty() || Holds(row.xla_label, "= broadcast(constant")));
}

bool IsConstant(const Allocation& row) {
  static const re2::RE2 constant(R"((?:^|[ %])constant[\w.]* = |\bconstant\()");
  return row.kind == "global" || row.kind == "constant" || re2::RE2::PartialMatch(row.xla_label, constant);
}

Value WithLine(const std::string& file, const Allocation& row) {
  return row.source_line ? fmt::format("{}:{}", file, *row.source_line) : file;
}

// The user's own line, not a library's.
Value Source(const Allocation& row) {
  if (row.source_file.empty() || IsLibraryPath(row.source_file)) return Unknown{};
  return WithLine(BaseName(row.source_file), row);
}

Value LibrarySource(const Allocation& row) {
  if (!IsLibraryPath(row.source_file)) return Unknown{};
  return WithLine(PathInLibrary(row.source_file), row);
}

std::int64_t TileNumber(const ArrayShape& array, std::size_t from_end) {
  if (array.tiles.empty() || array.tiles[0].size() < from_end) return 1;
  return array.tiles[0][array.tiles[0].size() - from_end];
}

bool InBackward(const Allocation& row) { return Holds(row.op_name, "transpose("); }

// Made in the forward pass of a gradient: what the backward pass may still wait for.
bool IsForward(const Allocation& row) { return InGradient(row) && !InBackward(row); }

// What a loop keeps of each of its steps for the backward pass.
bool IsLoopResidual(const Allocation& row) {
  return IsStacked(row) || (IsForward(row) && Holds(row.xla_label, "dynamic-update-slice"));
}

bool IsCollective(const Allocation& row) {
  return HoldsAny(row.xla_label, {"all-gather", "all-reduce", "reduce-scatter", "all-to-all", "collective-permute"});
}

// The first of the longest dimensions in the user's order.
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

const std::map<std::string_view, Field>& Fields() {
  static const std::map<std::string_view, Field> fields = {
      {"rank", [](const Allocation& row) { return Value(static_cast<double>(row.rank)); }},
      {"size_bytes", [](const Allocation& row) { return FromNumber(row.size_bytes); }},
      {"unpadded_bytes", [](const Allocation& row) { return FromNumber(row.unpadded_bytes); }},
      {"padding_bytes", [](const Allocation& row) { return FromNumber(Padding(row)); }},
      {"padding_factor", [](const Allocation& row) { return FromNumber(row.padding_factor); }},
      {"shape",
       [](const Allocation& row) {
         return row.array ? Value(row.array->shape) : FromText(Brief(WithoutLayouts(row.shape_text)));
       }},
      {"layout", [](const Allocation& row) { return FromArray(row, [](const ArrayShape& a) { return a.layout; }); }},
      {"dtype", [](const Allocation& row) { return FromArray(row, [](const ArrayShape& a) { return a.dtype; }); }},
      {"elements",
       [](const Allocation& row) {
         return FromArray(row, [](const ArrayShape& a) { return static_cast<double>(ElementCount(a)); });
       }},
      {"dims",
       [](const Allocation& row) {
         return FromArray(row, [](const ArrayShape& a) { return static_cast<double>(a.dims.size()); });
       }},
      {"minor_dim",
       [](const Allocation& row) { return row.array ? FromNumber(MinorDim(*row.array)) : Value{Unknown{}}; }},
      {"second_minor_dim",
       [](const Allocation& row) { return row.array ? FromNumber(SecondMinorDim(*row.array)) : Value{Unknown{}}; }},
      {"tile_minor",
       [](const Allocation& row) {
         return FromArray(row, [](const ArrayShape& a) { return static_cast<double>(TileNumber(a, 1)); });
       }},
      {"tile_second_minor",
       [](const Allocation& row) {
         return FromArray(row, [](const ArrayShape& a) { return static_cast<double>(TileNumber(a, 2)); });
       }},
      {"op_name", [](const Allocation& row) { return FromText(row.op_name); }},
      {"source", Source},
      {"library_source", LibrarySource},
      {"source_file", [](const Allocation& row) { return FromText(row.source_file); }},
      {"source_line", [](const Allocation& row) { return FromNumber(row.source_line); }},
      {"xla_label", [](const Allocation& row) { return FromText(row.xla_label); }},
      {"kind", [](const Allocation& row) { return FromText(row.kind); }},
      {"name", [](const Allocation& row) { return FromText(ShortName(row)); }},
      {"called", [](const Allocation& row) { return FromText(CalledName(row)); }},
      {"from",
       [](const Allocation& row) { return Value(IsNamed(row) ? ", from " + Brief(ShortName(row)) : std::string()); }},
      {"is_named", [](const Allocation& row) { return Value(IsNamed(row)); }},
      {"longest_axis", [](const Allocation& row) { return FromNumber(LongestAxis(row)); }},
      {"longest_dim", LongestDim},
      {"element_bits",
       [](const Allocation& row) { return row.array ? FromNumber(ElementBits(row.array->dtype)) : Value{Unknown{}}; }},
      {"is_float32",
       [](const Allocation& row) { return FromArray(row, [](const ArrayShape& a) { return a.dtype == "f32"; }); }},
      {"is_bf16",
       [](const Allocation& row) { return FromArray(row, [](const ArrayShape& a) { return a.dtype == "bf16"; }); }},
      {"in_backward", [](const Allocation& row) { return Value(InBackward(row)); }},
      {"in_gradient", [](const Allocation& row) { return Value(InGradient(row)); }},
      {"is_argument", [](const Allocation& row) { return Value(IsArgument(row)); }},
      {"is_callback", [](const Allocation& row) { return Value(IsCallback(row)); }},
      {"is_stacked", [](const Allocation& row) { return Value(IsStacked(row)); }},
      {"is_constant", [](const Allocation& row) { return Value(IsConstant(row)); }},
      {"replicated",
       [](const Allocation& row) {
         return Value(HoldsAny(row.xla_label, {"sharding={replicated}", "maximal device"}));
       }},
      {"in_host_memory",
       [](const Allocation& row) {
         return FromArray(row, [](const ArrayShape& a) { return a.memory_space == kHostMemorySpace; });
       }},
      {"is_forward", [](const Allocation& row) { return Value(IsForward(row)); }},
      {"is_saved", [](const Allocation& row) { return Value(IsStacked(row) || IsForward(row)); }},
      {"is_loop_residual", [](const Allocation& row) { return Value(IsLoopResidual(row)); }},
      {"is_rematted",
       [](const Allocation& row) {
         return Value(HoldsAny(row.op_name, {"checkpoint", "rematted"}));
       }},
      {"is_collective", [](const Allocation& row) { return Value(IsCollective(row)); }},
      {"is_all_gather", [](const Allocation& row) { return Value(Holds(row.xla_label, "= all-gather")); }},
      {"is_convert", [](const Allocation& row) { return Value(Holds(row.xla_label, "= convert(")); }},
      {"is_plain_argument",
       [](const Allocation& row) { return Value(IsArgument(row) && !Holds(row.xla_label, "copy(")); }},
      {"bf16_bytes",
       [](const Allocation& row) {
         return row.array ? FromNumber(BytesWithElementBits(*row.array, 16)) : Value{Unknown{}};
       }},
      {"best_layout_bytes",
       [](const Allocation& row) { return row.array ? FromNumber(BestLayoutBytes(*row.array)) : Value{Unknown{}}; }},
  };
  return fields;
}

}  // namespace

Value RowField(const Allocation& row, std::string_view name) {
  const auto field = Fields().find(name);
  return field == Fields().end() ? Value{Unknown{}} : field->second(row);
}

std::vector<std::string_view> RowFieldsOfOneRow() {
  std::vector<std::string_view> names;
  for (const auto& [name, field] : Fields()) names.push_back(name);
  return names;
}

}  // namespace whyoom
