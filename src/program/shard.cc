// Simulates splitting arrays over more devices.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "program/remedies.h"

namespace whyoom {
namespace {

// Shards weights, optimizer state and gradients. Arrays that are already split do not change.
Sizes StateSharded(const Simulator& simulator, std::int64_t devices) {
  const Program& program = simulator.program();
  std::set<std::string_view> whole;  // shapes
  std::set<std::string_view> split;
  for (const ProgramParameter& parameter : program.parameters()) {
    if (simulator.semantics().IsState(parameter))
      (parameter.IsSplit() ? split : whole).insert(program.ShapeOf(parameter.array).shape);
  }
  return simulator.Resized([&](const ProgramValue& value) {
    const std::string_view shape = program.ShapeOf(value.array).shape;
    return whole.contains(shape) && !split.contains(shape) ? value.size / devices : value.size;
  });
}

// The dimension groups that a mesh axis splits, with their length on one device.
struct MeshAxis {
  std::set<std::pair<GroupId, std::int64_t>> splits;
  bool of_state = false;  // whether it splits weights
};

std::map<std::string, MeshAxis> MeshAxes(const Simulator& simulator) {
  std::map<std::string, MeshAxis> axes;  // by name
  const Dimensions& dimensions = simulator.program().dimensions();
  for (const ProgramParameter& parameter : simulator.program().parameters()) {
    const std::vector<FactorIds> dims = dimensions.FactorsOf(parameter.array);
    for (std::size_t dim = 0; dim < std::min(dims.size(), parameter.axes.size()); ++dim) {
      if (dims[dim].empty()) continue;
      const FactorId factor = dims[dim].front();
      for (const std::string& name : parameter.axes[dim]) {
        MeshAxis& axis = axes[name];
        axis.splits.emplace(dimensions.GroupOf(factor), dimensions.factors().size(factor));
        axis.of_state = axis.of_state || simulator.semantics().RoleOf(parameter) == Role::kWeights;
      }
    }
  }
  return axes;
}

// The arguments that are already split over devices.
struct SplitArguments {
  bool inputs = false;
  bool weights = false;
  std::set<GroupId> groups;  // of the split dimensions
};

SplitArguments FindSplit(const Simulator& simulator) {
  SplitArguments split;
  for (const ProgramParameter& parameter : simulator.program().parameters()) {
    const ArrayGroups groups = simulator.semantics().GroupsOf(parameter);
    for (std::size_t dim = 0; dim < std::min(groups.size(), parameter.shards.size()); ++dim) {
      if (parameter.shards[dim] <= 1) continue;
      (simulator.semantics().IsState(parameter) ? split.weights : split.inputs) = true;
      split.groups.insert(groups[dim].begin(), groups[dim].end());
    }
  }
  return split;
}

// Splits needlessly gathered arrays: those with `devices` times one device's batch. Returns nullopt if there are none.
std::optional<Sizes> GatheredSplit(const Simulator& simulator, std::int64_t devices) {
  const Program& program = simulator.program();
  const Axis batch = simulator.semantics().batch();
  const auto is_of_batch = [&](const Groups& groups) {
    return batch && !groups.empty() && groups.front() == batch.groups.front();
  };
  std::int64_t local = 0;
  for (const ProgramParameter& parameter : program.parameters()) {
    const ArrayGroups groups = simulator.semantics().GroupsOf(parameter);
    if (!groups.empty() && is_of_batch(groups[0])) local = std::max(local, program.ShapeOf(parameter.array).dims[0]);
  }
  if (local == 0) return std::nullopt;
  bool any = false;
  Sizes sizes = simulator.Resized([&](const ProgramValue& value) {
    const ArrayGroups& groups = simulator.semantics().GroupsOf(value.id);
    const ArrayDims& dims = program.ShapeOf(value.array).dims;
    for (std::size_t dim = 0; dim < dims.size(); ++dim) {
      if (!is_of_batch(groups[dim]) || dims[dim] != local * devices) continue;
      any = true;
      return value.size / devices;
    }
    return value.size;
  });
  return any ? std::optional(std::move(sizes)) : std::nullopt;
}

// The dimensions of the largest arrays that `devices` divides.
std::set<Groups> LongAxes(const Simulator& simulator, std::int64_t devices) {
  std::set<Groups> axes;
  for (const Buffer* buffer : simulator.compiled().LiveAtPeak()) {
    if (buffer->size < simulator.need_bytes() / 20) continue;
    for (const Groups& groups : simulator.semantics().GroupsOf(buffer->values.front())) {
      std::int64_t size = 1;
      for (const GroupId group : groups) size *= simulator.program().dimensions().factors().size(group);
      if (size % devices == 0 && !groups.empty()) axes.insert(groups);
    }
  }
  return axes;
}

// If weights are split: also splits the activations that are still whole, along the sequence or else the batch.
Sizes BetweenWeights(const Simulator& simulator, const std::set<GroupId>& split, std::int64_t devices) {
  const Semantics& semantics = simulator.semantics();
  const Axis axis = semantics.sequence() ? semantics.sequence() : semantics.batch();
  const auto is_split = [&](const Groups& groups) {
    return std::any_of(groups.begin(), groups.end(), [&](GroupId group) { return split.contains(group); });
  };
  return simulator.Resized([&](const ProgramValue& value) {
    const ArrayGroups& groups = semantics.GroupsOf(value.id);
    if (!axis || std::any_of(groups.begin(), groups.end(), is_split)) return value.size;
    return ScaledSize(simulator, value, axis, {.of = devices, .once = true});
  });
}

// Restores the size of arrays that are sent to the host, since such arrays are gathered first.
Sizes WholeIfSent(const Program& program, Sizes sizes) {
  for (const ArrayDims& dims : SentToHost(program)) {
    for (const ProgramValue& value : program.values()) {
      if (value.array && program.ShapeOf(value.array).dims == dims) sizes[value.id] = value.size;
    }
  }
  return sizes;
}

std::optional<ModifiedProgram> SplitOver(const Simulator& simulator, std::int64_t devices) {
  const SplitArguments split = FindSplit(simulator);
  std::optional<ModifiedProgram> best;
  std::int64_t least = 0;
  const auto consider = [&](Sizes sizes, const Axis& axis, bool of_state = false) {
    ModifiedProgram modified{.sizes = WholeIfSent(simulator.program(), std::move(sizes)),
                             .parts = devices,
                             .axis = axis,
                             .of_state = of_state};
    const std::int64_t left = simulator.EstimateOf(modified).left_bytes;
    if (best && left >= least) return;
    least = left;
    best = std::move(modified);
  };
  const auto consider_axis = [&](const Axis& axis) {
    consider(simulator.Resized([&](const ProgramValue& value) {
      return ScaledSize(simulator, value, axis, {.of = devices, .once = true});
    }),
             axis);
  };
  if (!split.weights || split.inputs) consider(StateSharded(simulator, devices), {}, true);
  if (split.inputs) {
    if (std::optional<Sizes> sizes = GatheredSplit(simulator, devices)) consider(std::move(*sizes), {});
  } else if (split.weights) {
    consider(BetweenWeights(simulator, split.groups, devices), {});
  } else {
    const Axis batch = simulator.semantics().batch();
    const bool by_batch = batch && batch.size % devices == 0;
    if (by_batch) consider_axis(batch);
    // If splitting the batch saves little, try other axes and choose the one that leaves least.
    if (!by_batch || simulator.need_bytes() - least < simulator.need_bytes() / 4) {
      for (const Groups& groups : LongAxes(simulator, devices)) consider_axis({groups, 0});
    }
  }
  return best;
}

}  // namespace

std::optional<ModifiedProgram> MoreDevices(const Simulator& simulator, std::int64_t times) {
  const std::map<std::string, MeshAxis> axes = MeshAxes(simulator);
  if (axes.empty() && simulator.program().partitions() <= 1) return SplitOver(simulator, times);
  // Enlarge one axis of the mesh: arrays that it splits are split further, unless they are gathered.
  std::optional<ModifiedProgram> best;
  const Dimensions& dimensions = simulator.program().dimensions();
  for (const auto& named : axes) {
    const MeshAxis& axis = named.second;
    const auto is_split = [&](const FactorIds& factors) {
      return std::any_of(factors.begin(), factors.end(), [&](FactorId factor) {
        return axis.splits.contains({dimensions.GroupOf(factor), dimensions.factors().size(factor)});
      });
    };
    ModifiedProgram modified{.sizes = simulator.Resized([&](const ProgramValue& value) {
                               const std::vector<FactorIds> dims = dimensions.FactorsOf(value.array);
                               return std::any_of(dims.begin(), dims.end(), is_split) ? value.size / times : value.size;
                             }),
                             .parts = times,
                             .of_state = axis.of_state};
    if (!best || simulator.EstimateOf(modified).left_bytes < simulator.EstimateOf(*best).left_bytes)
      best = std::move(modified);
  }
  return best;
}

std::optional<ModifiedProgram> Shard(const Simulator& simulator, std::int64_t devices) {
  if (!simulator.program().is_for_a_mesh()) return std::nullopt;  // the user may have only one device
  return SplitOver(simulator, devices);
}

}  // namespace whyoom
