#include "rules/names.h"

#include "rules/suggest.h"

namespace whyoom {

const std::vector<std::string>& RowFields() {
  static const std::vector<std::string> names = WordsOf(
      "rank size_bytes unpadded_bytes padding_bytes padding_factor shape dtype elements dims minor_dim "
      "second_minor_dim tile_minor tile_second_minor op_name source library_source source_file xla_label kind name "
      "called from is_named element_bits longest_axis longest_dim same_size_count best_layout_bytes");
  return names;
}

const std::vector<std::string>& BuiltInNames() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = WordsOf(
        "code scenario framework chip listed user_source dump no_dump call_compiles impossible_figure made.parts "
        "made.of_state made.split.mesh_axis made.split.array made.split.is_argument made.split.spec need.name "
        "need.package need.since need.until need.version "
        // Of a memory report: read/memory_report.h, program/remedies.h.
        "total_bytes system_reserved_bytes program_bytes arguments_bytes output_bytes shared_output_bytes "
        "program_hbm_bytes program_space_bytes hlo_temp_bytes program_need_bytes hlo_temp_unpadded_bytes "
        "hlo_temp_padded_bytes utilization_percent fragmentation_bytes fragmentation_percent global_bytes "
        "scoped_bytes overlays_bytes heap_bytes module main_kind main_kind_bytes list_seen lines_mixed "
        // Of two runs: diagnose/compare.h.
        "lists_compared same_job verdict change");
    for (const std::string object : {"batch.", "sequence.", "made."})
      for (const std::string field : {"array", "axis", "length", "name"}) all.push_back(object + field);
    for (const std::string& mistake :
         WordsOf("whole_state kept_state kept_arguments float64 evaluation_logits example_gradients "
                 "copied_carry dense_labels stacked_output frozen_gradients whole_jacobian whole_input_copy "
                 "widened_weights replicated_activations "
                 "repeated_gradients fetched host_transfer"))
      all.insert(all.end(), {mistake + "_bytes", mistake + "_array"});
    all.push_back("program_trains");
    for (const std::string run : {"before.", "after."})
      for (const std::string& name :
           WordsOf("failed measured ran compiles title path other_failures over_bytes is_at_least"))
        all.push_back(run + name);
    return all;
  }();
  return names;
}

}  // namespace whyoom
