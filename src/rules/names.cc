#include "rules/names.h"

namespace whyoom {

const std::vector<std::string>& RowFields() {
  static const std::vector<std::string> fields = {
      "rank",
      "size_bytes",
      "unpadded_bytes",
      "padding_bytes",
      "padding_factor",
      "shape",
      "layout",
      "dtype",
      "elements",
      "dims",
      "minor_dim",
      "second_minor_dim",
      "tile_minor",
      "tile_second_minor",
      "op_name",
      "source",
      "library_source",
      "source_file",
      "source_line",
      "xla_label",
      "kind",
      "name",
      "element_bits",
      "longest_axis",
      "longest_dim",
      "is_float32",
      "is_bf16",
      "in_backward",
      "in_gradient",
      "is_argument",
      "is_callback",
      "is_stacked",
      "is_constant",
      "replicated",
      "same_size_count",
      "bf16_bytes",
      "best_layout_bytes",
      "is_forward",
      "is_saved",
      "is_loop_residual",
      "is_rematted",
      "is_collective",
      "is_all_gather",
      "is_convert",
      "is_plain_argument",
      "called",
      "from",
      "is_named",
  };
  return fields;
}

const std::vector<std::string>& BuiltInNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"code", "scenario", "framework", "chip", "listed", "user_source", "dump"};
    for (const std::string& field : RowFields()) all.push_back("largest." + field);
    for (const std::string axis : {"batch.", "sequence.", "made."}) {
      for (const std::string field : {"array", "axis", "length", "name"}) all.push_back(axis + field);
    }
    all.insert(all.end(), {"made.parts", "made.of_state"});
    return all;
  }();
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
      "listed",     // rows of the list
      "list_seen",  // true where the list's heading was printed
  };
  return reader == "memory_report" ? memory_report : none;
}

}  // namespace whyoom
