#include "rules/names.h"

#include <sstream>
#include <string>
#include <utility>

namespace whyoom {

const std::vector<NamedField>& RowFieldTable() {
  static const std::vector<NamedField> fields = {
      {"rank", "1 is the largest row, as printed"},
      {"size_bytes", "with padding, as printed"},
      {"unpadded_bytes", "as printed"},
      {"padding_bytes", "as printed; 0 if not printed"},
      {"padding_factor", "`32.0x expansion` is 32"},
      {"shape", "`f32[16,128]`, without layout; for a tuple, all of its shapes"},
      {"dtype", "`f32`; unknown for a tuple, like all fields from the Shape line"},
      {"elements", "the number of elements"},
      {"dims", "the number of dimensions"},
      {"minor_dim", "the length of the dimension that varies fastest, by the layout"},
      {"second_minor_dim", "the length of the next one"},
      {"tile_minor", "the layout pads `minor_dim` to a multiple of this"},
      {"tile_second_minor", "likewise for `second_minor_dim`"},
      {"op_name", "the name that JAX or another framework gave the operation"},
      {"source",
       "`file.py:19`, the user's line; if a library created the array, the user's line of another array in the same "
       "scope of the program"},
      {"library_source", "`flax/linen/linear.py:251`, if a library created the array"},
      {"source_file", "as printed"},
      {"xla_label", "the compiler's instruction"},
      {"kind", "`HLO temp`, `parameter`, `global`, `scoped`, …"},
      {"name",
       "the shortest name that a user recognises (`pts`, `attention/dot_general at attention.py:88`); the shape "
       "if it has only the compiler's name"},
      {"called", "name and shape (`pts f32[64,2]`), or the shape alone"},
      {"from", "`, from NAME`, or empty if it has no name"},
      {"is_named", "it has a name from the user's program"},
      {"element_bits", "32 for f32"},
      {"longest_axis", "the first of the longest dimensions in the user's order; 0 is the first"},
      {"longest_dim", "the length of that dimension"},
      {"same_size_count", "the number of rows of this size and shape, including this one"},
      {"best_layout_bytes", "size_bytes with the order of dimensions that needs the least padding"},
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

const std::vector<std::string>& BuiltInNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"code",        "scenario", "framework", "chip",          "listed",
                                    "user_source", "dump",     "no_dump",   "call_compiles", "impossible_figure"};
    for (const std::string axis : {"batch.", "sequence.", "made."}) {
      for (const std::string field : {"array", "axis", "length", "name"}) all.push_back(axis + field);
    }
    all.insert(all.end(), {"made.parts", "made.of_state", "made.split.mesh_axis", "made.split.array",
                           "made.split.is_argument", "made.split.spec"});
    for (const std::string field : {"name", "package", "since", "until", "version"}) all.push_back("need." + field);
    return all;
  }();
  return names;
}

const std::vector<std::string>& ComparisonNames() {
  static const std::vector<std::string> names = {"lists_compared", "same_job", "verdict", "change"};
  return names;
}

const std::vector<std::string>& RunNames() {
  static const std::vector<std::string> names = {"failed",         "measured",   "ran",        "compiles",
                                                 "code",           "title",      "path",       "listed",
                                                 "other_failures", "over_bytes", "is_at_least"};
  return names;
}

const std::vector<std::string>& ReaderNames() {
  static const std::vector<std::string> names = {"memory_report"};
  return names;
}

namespace {

// Adds the facts about signs of mistakes in the program of a dump, see program/estimates.h.
std::vector<std::string> WithSigns(std::vector<std::string> names) {
  std::istringstream signs(
      "whole_state replicated_state kept_state kept_arguments frozen float64 float32_cache evaluation_logits "
      "dequantized example_gradients repeated_gradients whole_result fetched host_transfer stacked_again "
      "gathered_layers dispatch interacting halves long_cache");
  for (std::string sign; signs >> sign;) names.insert(names.end(), {sign + "_bytes", sign + "_array"});
  return names;
}

}  // namespace

const std::vector<std::string>& ReaderFacts(std::string_view reader) {
  static const std::vector<std::string> none;
  static const std::vector<std::string> memory_report = WithSigns({
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
      "listed",     // number of rows
      "main_kind",  // that takes most memory at the peak: "attention scores"
      "main_kind_bytes",
      "list_seen",    // true if the list's heading was printed
      "lines_mixed",  // true if lines of another report are interleaved
  });
  return reader == "memory_report" ? memory_report : none;
}

}  // namespace whyoom
