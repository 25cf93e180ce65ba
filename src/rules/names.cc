#include "rules/names.h"

namespace whyoom {

const std::vector<NamedField>& RowFieldTable() {
  static const std::vector<NamedField> fields = {
      {"rank", ValueType::kNumber, "1 is the largest row, as printed"},
      {"size_bytes", ValueType::kNumber, "with padding, as printed"},
      {"unpadded_bytes", ValueType::kNumber, "as printed"},
      {"padding_bytes", ValueType::kNumber, "as printed; 0 where none is printed"},
      {"padding_factor", ValueType::kNumber, "32 of `32.0x expansion`"},
      {"shape", ValueType::kText, "`f32[16,128]`, of a tuple all of them; without layout"},
      {"layout", ValueType::kText, "`{1,0:T(8,128)}`"},
      {"dtype", ValueType::kText, "`f32`; like all that comes from the Shape line, unknown for a tuple"},
      {"elements", ValueType::kNumber, "their number"},
      {"dims", ValueType::kNumber, "the number of dimensions"},
      {"minor_dim", ValueType::kNumber, "the length of the dimension that varies fastest, by the layout"},
      {"second_minor_dim", ValueType::kNumber, "of the next"},
      {"tile_minor", ValueType::kNumber, "what the layout pads `minor_dim` to a multiple of"},
      {"tile_second_minor", ValueType::kNumber, "the same of `second_minor_dim`"},
      {"op_name", ValueType::kText, "of the operation, as JAX or another framework named it"},
      {"source", ValueType::kText,
       "`file.py:19`, the user's line; where a library made the array, the user's line of another array in the same "
       "scope of the program"},
      {"library_source", ValueType::kText, "`flax/linen/linear.py:251` where a library made the array"},
      {"source_file", ValueType::kText, "as printed"},
      {"source_line", ValueType::kNumber, "as printed"},
      {"xla_label", ValueType::kText, "the compiler's instruction"},
      {"kind", ValueType::kText, "`HLO temp`, `parameter`, `global`, `scoped`, …"},
      {"name", ValueType::kText,
       "the shortest name that a reader knows it by (`pts`, `attention/dot_general at attention.py:88`); its shape "
       "where only the compiler has named it"},
      {"called", ValueType::kText, "name and shape (`pts f32[64,2]`), or the shape alone"},
      {"from", ValueType::kText, "`, from NAME`, or nothing where it has none"},
      {"is_named", ValueType::kTruth, "it has a name of its user's"},
      {"element_bits", ValueType::kNumber, "32 for f32"},
      {"longest_axis", ValueType::kNumber, "the first of the longest dimensions in the user's order; 0 is the first"},
      {"longest_dim", ValueType::kNumber, "how long that is"},
      {"is_float32", ValueType::kTruth, "of the dtype"},
      {"is_bf16", ValueType::kTruth, "of the dtype"},
      {"in_gradient", ValueType::kTruth,
       "op_name holds `jvp(`, `transpose(`, `rematted`, `checkpoint` as a whole word, `gradients/` or `backward`"},
      {"in_backward", ValueType::kTruth, "op_name holds `transpose(`"},
      {"is_rematted", ValueType::kTruth,
       "the program recomputes it already: op_name says `checkpoint`, as a whole word, or `rematted`"},
      {"in_host_memory", ValueType::kTruth, "the layout says that it is in the host's memory, `S(5)`"},
      {"same_size_count", ValueType::kNumber, "rows of this size and shape, this one included"},
      {"bf16_bytes", ValueType::kNumber,
       "size_bytes if the elements took two bytes each, tile and padding taken into account"},
      {"best_layout_bytes", ValueType::kNumber, "size_bytes if the dimensions were ordered so that padding is least"},
  };
  return fields;
}

const std::vector<std::string>& RowFields() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const NamedField& field : RowFieldTable()) all.emplace_back(field.name);
    return all;
  }();
  return names;
}

ValueType TypeOfBuiltIn(std::string_view name) {
  constexpr std::string_view kLargest = "largest.";
  if (name.starts_with(kLargest)) name.remove_prefix(kLargest.size());
  for (const NamedField& field : RowFieldTable()) {
    if (field.name == name) return field.type;
  }
  if (name.starts_with("need.")) return ValueType::kText;
  for (const char* text : {"code", "scenario", "framework", "chip", "user_source", "dump"}) {
    if (text == name) return ValueType::kText;
  }
  if (name == "no_dump" || name == "lines_mixed") return ValueType::kTruth;
  return name == "listed" ? ValueType::kNumber : ValueType::kAny;
}

const std::vector<std::string>& BuiltInNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"code",   "scenario",    "framework", "chip",
                                    "listed", "user_source", "dump",      "no_dump"};
    for (const std::string axis : {"batch.", "sequence.", "made."}) {
      for (const std::string field : {"array", "axis", "length", "name"}) all.push_back(axis + field);
    }
    all.insert(all.end(), {"made.parts", "made.of_state"});
    for (const std::string field : {"name", "package", "since", "until", "version"}) all.push_back("need." + field);
    return all;
  }();
  return names;
}

const std::vector<std::string>& ComparisonNames() {
  static const std::vector<std::string> names = {"lists_compared", "same_job", "verdict", "change", "divided_most_by"};
  return names;
}

const std::vector<std::string>& RunNames() {
  static const std::vector<std::string> names = {
      "failed", "measured",       "ran",        "compiles",          "code",       "title", "path",
      "listed", "other_failures", "over_bytes", "all_padding_bytes", "is_at_least"};
  return names;
}

const std::vector<std::string>& PairNames() {
  static const std::vector<std::string> names = {"divided_by", "divided_axes", "divided_axis"};
  return names;
}

const std::vector<std::string>& ReaderNames() {
  static const std::vector<std::string> names = {"memory_report"};
  return names;
}

const std::vector<std::string>& ReaderFacts(std::string_view reader) {
  static const std::vector<std::string> none;
  static const std::vector<std::string> memory_report = {
      "total_bytes",
      "system_reserved_bytes",
      "program_bytes",
      "arguments_bytes",
      "output_bytes",
      "shared_output_bytes",
      "program_hbm_bytes",
      "program_space_bytes",
      "hlo_temp_bytes",
      "program_need_bytes",
      "dump",
      "hlo_temp_unpadded_bytes",
      "hlo_temp_padded_bytes",
      "utilization_percent",
      "fragmentation_bytes",
      "fragmentation_percent",
      "global_bytes",
      "scoped_bytes",
      "overlays_bytes",
      "heap_bytes",
      "module",
      "listed",       // rows of the list
      "list_seen",    // true where the list's heading was printed
      "lines_mixed",  // true where lines of another report stand between those of this one
  };
  return reader == "memory_report" ? memory_report : none;
}

}  // namespace whyoom
