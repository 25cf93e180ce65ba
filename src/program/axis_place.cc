#include "program/axis_place.h"

#include <algorithm>
#include <tuple>

namespace whyoom {
namespace {

std::string NameOf(const Meaning& meaning, const Axis& axis) {
  if (axis.families == meaning.vocabulary().families) return "vocabulary";
  if (!meaning.has_examples()) return {};
  if (axis.families == meaning.batch().families) return "batch";
  return axis.families == meaning.sequence().families ? "sequence" : "";
}

std::optional<std::size_t> DimensionOf(const Rows& rows, const Axis& axis) {
  for (std::size_t dim = 0; dim < rows.size(); ++dim) {
    if (HoldsWhole(rows[dim], axis.families)) return dim;
  }
  return std::nullopt;
}

}  // namespace

std::optional<AxisPlace> FindPlace(const Program& program, const Meaning& meaning, const Axis& axis) {
  if (!axis) return std::nullopt;
  std::optional<AxisPlace> place;
  std::tuple<bool, std::int64_t> best;
  for (std::size_t p = 0; p < program.parameters().size(); ++p) {
    const ProgramParameter& parameter = program.parameters()[p];
    const HloInstruction& is = program.module().instructions[static_cast<std::size_t>(parameter.instruction)];
    const std::optional<std::size_t> dim = DimensionOf(meaning.RowsOf(parameter.instruction, parameter.leaf), axis);
    if (!dim || is.op_name.empty()) continue;  // named by the compiler alone
    const Role role = meaning.RoleOf(p);
    const std::tuple rank(role != Role::kWeights && role != Role::kOptimizerState, parameter.size);
    if (place && rank <= best) continue;
    best = rank;
    const std::int64_t shards = *dim < parameter.shards.size() ? parameter.shards[*dim] : 1;
    const std::int64_t here = program.ShapeOf(parameter).dims[*dim];
    place = AxisPlace{parameter.path, static_cast<std::int64_t>(*dim), here, NameOf(meaning, axis)};
    if (shards > 1 && here <= INT64_MAX / shards) place->length = here * shards;
  }
  return place;
}

}  // namespace whyoom
