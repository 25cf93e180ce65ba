// Simulates splitting arrays over more devices.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "program/remedies.h"

namespace whyoom {
namespace {

using AxisNames = std::set<std::string>;

constexpr std::size_t kMostAxesTried = 8;  // each costs a simulation of the program

// Finds the mesh axes that split values: those that split the same dimensions of arguments.
struct MeshUse {
  explicit MeshUse(const Simulator& simulator)
      : program(simulator.program), dimensions(program.dimensions), mesh(program.mesh) {
    std::erase_if(mesh, [](const auto& axis) { return axis.second <= 1; });
    // If the axes do not agree with the number of devices, one axis without a name represents all.
    const bool is_named = !mesh.empty() && (program.partitions <= 1 || DeviceCount(mesh) <= program.partitions);
    if (!is_named) mesh.clear();
    for (const ProgramParameter& parameter : program.parameters) {
      const std::vector<FactorIds> dims = dimensions.FactorsOf(parameter.array);
      if (!simulator.semantics.IsState(parameter) && dims.size() > 1 && parameter.IsSplit())
        inputs[program.ShapeOf(parameter.array).dims] = &parameter;
      for (std::size_t dim = 0; dim < std::min(dims.size(), parameter.axes.size()); ++dim) {
        for (const std::string& name : parameter.axes[dim]) {
          const std::string axis = is_named ? name : "";
          if (!is_named) mesh[""] = std::max(mesh[""], parameter.shards[dim]);
          if (!dims[dim].empty()) splits[KeyOf(dims[dim].front())].insert(axis);
          if (simulator.semantics.RoleOf(parameter) == Role::kWeights) of_weights.insert(axis);
          any_split = true;
        }
      }
    }
    while (mesh.size() > kMostAxesTried) mesh.erase(std::prev(mesh.end()));
  }

  // By dimension.
  std::vector<AxisNames> AxesOf(ArrayId array) const {
    std::vector<AxisNames> axes;
    for (const FactorIds& factors : dimensions.FactorsOf(array)) {
      AxisNames& of_dim = axes.emplace_back();
      for (const FactorId factor : factors) {
        if (const auto found = splits.find(KeyOf(factor)); found != splits.end())
          of_dim.insert(found->second.begin(), found->second.end());
      }
    }
    // If propagation lost track of the dimensions, assume those of an input that has the same first ones.
    ArrayDims first = program.ShapeOf(array).dims;
    for (; first.size() > 1; first.pop_back()) {
      const auto input = inputs.find(first);
      if (input == inputs.end()) continue;
      for (std::size_t dim = 0; dim < std::min(first.size(), input->second->axes.size()); ++dim)
        axes[dim].insert(input->second->axes[dim].begin(), input->second->axes[dim].end());
    }
    return axes;
  }
  bool Splits(const std::string& axis, ArrayId array) const {
    const std::vector<AxisNames> axes = AxesOf(array);
    return std::ranges::any_of(axes, [&](const AxisNames& of_dim) { return of_dim.contains(axis); });
  }

  // A dimension of that length on one device. If the array is gathered, it is longer.
  using Key = std::pair<GroupId, std::int64_t>;
  Key KeyOf(FactorId factor) const { return {dimensions.GroupOf(factor), dimensions.factors.size(factor)}; }

  const Program& program;
  const Dimensions& dimensions;
  Mesh mesh;  // axes of several devices
  std::map<Key, AxisNames> splits;
  std::map<ArrayDims, const ProgramParameter*> inputs;  // that are split
  AxisNames of_weights;
  bool any_split = false;  // whether any argument is split
};

std::string AxisText(const std::string& axis) { return fmt::format("mesh axis '{}'", axis); }

// Tries ways to split arrays over a mesh axis that does not split them yet, and keeps the one that leaves least.
struct Splitter {
  const Simulator& simulator;
  std::int64_t devices;  // along the mesh axis that is tried, or by what it grows
  const Program& program = simulator.program;
  const Semantics& semantics = simulator.semantics;
  const MeshUse use = MeshUse(simulator);
  std::string axis = {};  // the mesh axis that is tried; empty if it has no name
  std::optional<ModifiedProgram> best = {};
  std::string best_over = {};  // the mesh axis that `best` splits over
  std::int64_t least = 0;

  std::optional<ModifiedProgram> Best() {
    const Axis batch = semantics.batch;
    for (const auto& one : use.mesh.empty() ? Mesh{{"", devices}} : use.mesh) {
      std::tie(axis, devices) = one;
      TryState();
      const bool by_batch = !use.any_split && batch && batch.size % devices == 0;
      if (by_batch) TryDimension(batch);
      // If splitting the batch saves much, that is the usual way.
      if (!by_batch || simulator.need_bytes - least < simulator.need_bytes / 4) TryLongDimensions();
    }
    if (best) best->split = SplitOf(*best);
    return std::move(best);
  }

  // Lengthens one axis of the mesh: arrays that it splits are split further, unless they are gathered.
  std::optional<ModifiedProgram> Lengthen() {
    if (use.mesh.empty() && program.partitions <= 1) return Best();
    for (const auto& [name, length] : use.mesh) {
      axis = name;
      const auto size_of = [&](const ProgramValue& value) {
        return use.Splits(axis, value.array) ? value.size / devices : value.size;
      };
      Consider({.sizes = simulator.Resized(size_of), .of_state = use.of_weights.contains(axis)});
    }
    if (best && !SpecText({{best_over}}).empty()) best->split = {.mesh_axis = AxisText(best_over)};
    return std::move(best);
  }

  void Consider(ModifiedProgram modified) {
    if (simulator.IsStopped()) return;
    modified.parts = devices;
    // Arrays that are sent to the host are gathered first.
    for (const InstructionId sent : SentToHost(program)) {
      const ArrayDims& dims = program.module.ShapeOf(sent).array.dims;
      for (const ProgramValue& value : program.values) {
        if (value.array && program.ShapeOf(value.array).dims == dims) modified.sizes[value.id] = value.size;
      }
    }
    const std::int64_t left = simulator.EstimateOf(modified).left_bytes;
    if (best && left >= least) return;
    least = left;
    best_over = axis;
    best = std::move(modified);
  }

  // Shards weights, optimizer state and gradients over the axis.
  void TryState() {
    std::set<std::pair<std::string_view, ArrayGroups>> split;
    for (const ProgramParameter& parameter : program.parameters) {
      if (semantics.IsState(parameter) && CanSplit(parameter))
        split.insert({program.ShapeOf(parameter.array).shape, semantics.GroupsOf(parameter)});
    }
    const auto size_of = [&](const ProgramValue& value) {
      const bool is_split = split.contains({program.ShapeOf(value.array).shape, semantics.GroupsOf(value.id)});
      return is_split ? value.size / devices : value.size;
    };
    if (!split.empty()) Consider({.sizes = simulator.Resized(size_of), .of_state = true});
  }

  bool CanSplit(const ProgramParameter& parameter) const {
    const ArrayDims& dims = program.ShapeOf(parameter.array).dims;
    return std::ranges::none_of(parameter.axes, [&](const auto& axes) { return std::ranges::count(axes, axis) > 0; }) &&
           std::ranges::any_of(dims, [&](std::int64_t dim) { return dim > 0 && dim % devices == 0; });
  }

  // Splits the dimensions of the largest arrays.
  void TryLongDimensions() {
    std::set<Groups> found;
    for (const Buffer* buffer : simulator.compiled.LiveAtPeak()) {
      if (buffer->size < simulator.need_bytes / 20) continue;
      for (const Groups& groups : semantics.GroupsOf(buffer->values.front())) {
        std::int64_t size = 1;
        for (const GroupId group : groups) size *= program.dimensions.factors.size(group);
        if (size % devices == 0 && !groups.empty()) found.insert(groups);
      }
    }
    for (const Groups& dimension : found) TryDimension({dimension, 0});
  }

  // Splits values along a dimension, unless the mesh axis already splits them.
  void TryDimension(const Axis& dimension) {
    const Sizes split = simulator.Scaled(dimension, {.of = devices, .once = true});
    const auto size_of = [&](const ProgramValue& value) {
      return use.Splits(axis, value.array) ? value.size : split[value.id];
    };
    Consider({.sizes = simulator.Resized(size_of), .axis = dimension});
  }

  // How the largest value is split: of state an argument, otherwise a value at the peak. Nothing without a mesh.
  std::optional<ArraySplit> SplitOf(const ModifiedProgram& modified) const {
    if (best_over.empty()) return std::nullopt;
    const ProgramValue* largest = nullptr;
    const auto consider = [&](const std::vector<ValueId>& ids) {
      for (const ValueId id : ids) {
        const ProgramValue& value = program.values[id];
        const bool is_split = value.array && modified.sizes[id] < value.size;
        if (is_split && (largest == nullptr || value.size > largest->size)) largest = &value;
      }
    };
    if (modified.of_state) {
      for (const ProgramParameter& one : program.parameters) consider(program.values_of[one.array.instruction]);
    } else {
      for (const Buffer* buffer : simulator.compiled.LiveAtPeak()) consider(buffer->values);
    }
    return largest == nullptr ? std::nullopt : SplitOf(*largest, modified);
  }

  // Splits the dimension that is the axis or, if there is no such axis, the longest one that no mesh axis splits.
  std::optional<ArraySplit> SplitOf(const ProgramValue& value, const ModifiedProgram& modified) const {
    std::vector<AxisNames> axes = use.AxesOf(value.array);
    const std::uint32_t along = modified.axis ? semantics.DimensionsOf(value.id, modified.axis) : 0;
    const ArrayDims& dims = program.ShapeOf(value.array).dims;
    std::optional<std::size_t> chosen;
    for (std::size_t dim = 0; dim < dims.size(); ++dim) {
      const bool is_axis = (along >> dim & 1) != 0 && !chosen;
      const bool can = along == 0 && axes[dim].empty() && dims[dim] % modified.parts == 0;
      if (is_axis || (can && (!chosen || dims[dim] > dims[*chosen]))) chosen = dim;
    }
    if (!chosen) return std::nullopt;
    axes[*chosen].insert(best_over);
    std::vector<std::vector<std::string>> names;
    for (const AxisNames& of_dim : axes) names.emplace_back(of_dim.begin(), of_dim.end());
    ArraySplit split{.mesh_axis = AxisText(best_over),
                     .array = program.NameOf(value.array),
                     .is_argument = program.InstructionOf(value).opcode == "parameter",
                     .spec = SpecText(names)};
    return split.spec.empty() ? std::nullopt : std::optional(std::move(split));
  }
};

}  // namespace

std::optional<ModifiedProgram> MoreDevices(const Simulator& simulator, std::int64_t times) {
  return Splitter{simulator, times}.Lengthen();
}

std::optional<ModifiedProgram> Shard(const Simulator& simulator, std::int64_t devices) {
  if (!simulator.program.IsForMesh()) return std::nullopt;  // the user may have only one device
  return Splitter{simulator, devices}.Best();
}

}  // namespace whyoom
