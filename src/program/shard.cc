// Arrays split over more devices.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "program/change.h"

namespace whyoom {

// Weights, their optimizer state and gradients. Arrays that are split already stay as they are.
Sizes Changes::StateSharded(std::int64_t devices) const {
  std::set<std::string> whole;
  std::set<std::string> split;
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (!meaning_.IsState(parameter.place)) continue;
    const bool is_split =
        std::any_of(parameter.shards.begin(), parameter.shards.end(), [](std::int64_t n) { return n > 1; });
    (is_split ? split : whole).insert(program_.ShapeOf(parameter).shape);
  }
  Sizes sizes = compiled_.CompiledSizes();
  for (const ProgramValue& value : program_.values()) {
    if (value.leaf < 0) continue;
    const std::string& shape = program_.ShapeOf(value).shape;
    if (whole.contains(shape) && !split.contains(shape)) sizes[value.number] /= devices;
  }
  return sizes;
}

std::map<std::string, Changes::MeshAxis> Changes::MeshAxes() const {
  std::map<std::string, MeshAxis> axes;
  const Dimensions& dimensions = program_.dimensions();
  for (const ProgramParameter& parameter : program_.parameters()) {
    const std::vector<std::vector<int>> dims = dimensions.Of(parameter.instruction, parameter.leaf);
    for (std::size_t dim = 0; dim < std::min(dims.size(), parameter.axes.size()); ++dim) {
      if (dims[dim].empty()) continue;
      for (const std::string& name : parameter.axes[dim]) {
        MeshAxis& axis = axes[name];
        axis.splits.emplace(dimensions.Family(dims[dim].front()), dimensions.factors().size(dims[dim].front()));
        axis.of_state = axis.of_state || meaning_.RoleOf(parameter.place) == Role::kWeights;
      }
    }
  }
  return axes;
}

std::optional<ModifiedProgram> Changes::MoreDevices(std::int64_t times) const {
  const std::map<std::string, MeshAxis> axes = MeshAxes();
  if (axes.empty() && program_.partitions() <= 1) return SplitOver(times);
  // One axis of the mesh grows: what is split along it is split further, unless it is put together again.
  std::optional<ModifiedProgram> best;
  const Dimensions& dimensions = program_.dimensions();
  for (const auto& named : axes) {
    const MeshAxis& axis = named.second;
    const auto is_split = [&](int factor) {
      return axis.splits.contains({dimensions.Family(factor), dimensions.factors().size(factor)});
    };
    ModifiedProgram modified = AsItIs();
    modified.parts = times;
    modified.of_state = axis.of_state;
    for (const ProgramValue& value : program_.values()) {
      if (value.leaf < 0) continue;
      const std::vector<std::vector<int>> dims = dimensions.Of(value.instruction, value.leaf);
      const bool split = std::any_of(dims.begin(), dims.end(), [&](const std::vector<int>& factors) {
        return std::any_of(factors.begin(), factors.end(), is_split);
      });
      if (split) modified.sizes[value.number] /= times;
    }
    if (!best || Judge(modified).left_bytes < Judge(*best).left_bytes) best = std::move(modified);
  }
  return best;
}

std::optional<ModifiedProgram> Changes::Shard(std::int64_t devices) const {
  if (!program_.is_for_a_mesh()) return std::nullopt;  // there may be one device only
  return SplitOver(devices);
}

bool Changes::LeadsWithBatch(const std::vector<int>& dimension) const {
  return meaning_.batch() && !dimension.empty() && dimension.front() == meaning_.batch().families.front();
}

Changes::Split Changes::FindSplit() const {
  Split split;
  for (const ProgramParameter& parameter : program_.parameters()) {
    const Rows rows = meaning_.RowsOf(parameter.instruction, parameter.leaf);
    for (std::size_t dim = 0; dim < std::min(rows.size(), parameter.shards.size()); ++dim) {
      if (parameter.shards[dim] <= 1) continue;
      (meaning_.IsState(parameter.place) ? split.weights : split.inputs) = true;
      split.groups.insert(rows[dim].begin(), rows[dim].end());
    }
  }
  return split;
}

// What is put together again from all devices, and need not be: `devices` times as long as the batch of one.
std::optional<Sizes> Changes::GatheredSplit(std::int64_t devices) const {
  std::int64_t local = 0;
  for (const ProgramParameter& parameter : program_.parameters()) {
    const Rows rows = meaning_.RowsOf(parameter.instruction, parameter.leaf);
    if (!rows.empty() && LeadsWithBatch(rows[0])) local = std::max(local, program_.ShapeOf(parameter).dims[0]);
  }
  if (local == 0) return std::nullopt;
  Sizes sizes = compiled_.CompiledSizes();
  bool any = false;
  for (const ProgramValue& value : program_.values()) {
    const Rows& rows = meaning_.RowsOf(value.number);
    for (std::size_t dim = 0; dim < rows.size(); ++dim) {
      if (!LeadsWithBatch(rows[dim]) || program_.ShapeOf(value).dims[dim] != local * devices) continue;
      sizes[value.number] /= devices;
      any = true;
      break;
    }
  }
  return any ? std::optional(sizes) : std::nullopt;
}

// The long axes of the largest arrays that so many devices can share.
std::set<std::vector<int>> Changes::LongAxes(std::int64_t devices) const {
  std::set<std::vector<int>> axes;
  for (const int b : compiled_.LiveAtPeak()) {
    const Buffer& buffer = compiled_.buffers()[b];
    if (buffer.size < need_ / 20) continue;
    for (const std::vector<int>& row : meaning_.RowsOf(buffer.values.front())) {
      std::int64_t size = 1;
      for (const int group : row) size *= program_.dimensions().factors().size(group);
      if (size % devices == 0 && !row.empty()) axes.insert(row);
    }
  }
  return axes;
}

// If the weights are split, the activations between them are whole on each device: split along the sequence.
Sizes Changes::BetweenWeights(const std::set<int>& split, std::int64_t devices) const {
  const Axis& axis = meaning_.sequence() ? meaning_.sequence() : meaning_.batch();
  Sizes sizes = compiled_.CompiledSizes();
  for (const ProgramValue& value : program_.values()) {
    const Rows& rows = meaning_.RowsOf(value.number);
    const bool is_split = std::any_of(rows.begin(), rows.end(), [&](const std::vector<int>& row) {
      return std::any_of(row.begin(), row.end(), [&](int group) { return split.contains(group); });
    });
    if (!is_split && axis) sizes[value.number] = Scaled(value, axis, {.of = devices, .once = true});
  }
  return sizes;
}

// What is sent to the host is put together in one place first.
Sizes Changes::WholeWhereSent(Sizes sizes) const {
  for (const ArrayDims& dims : SentToHost()) {
    for (const ProgramValue& value : program_.values()) {
      if (value.leaf >= 0 && program_.ShapeOf(value).dims == dims) sizes[value.number] = value.size;
    }
  }
  return sizes;
}

std::optional<ModifiedProgram> Changes::SplitOver(std::int64_t devices) const {
  const Split split = FindSplit();
  std::optional<ModifiedProgram> best;
  std::int64_t least = 0;
  const auto consider = [&](Sizes sizes, const Axis& axis, bool of_state = false) {
    ModifiedProgram modified{
        .sizes = WholeWhereSent(std::move(sizes)), .parts = devices, .axis = axis, .of_state = of_state};
    const std::int64_t left = Judge(modified).left_bytes;
    if (best && left >= least) return;
    least = left;
    best = std::move(modified);
  };
  const auto consider_axis = [&](const Axis& axis) { consider(Scaled(axis, {.of = devices, .once = true}), axis); };
  if (!split.weights || split.inputs) consider(StateSharded(devices), {}, true);
  if (split.inputs) {
    if (std::optional<Sizes> sizes = GatheredSplit(devices)) consider(std::move(*sizes), {});
  } else if (split.weights) {
    consider(BetweenWeights(split.groups, devices), {});
  } else {
    const bool by_batch = meaning_.batch() && meaning_.batch().size % devices == 0;
    if (by_batch) consider_axis(meaning_.batch());
    // If the batch does not fill the memory, something else is split: the axis that leaves least.
    if (!by_batch || need_ - least < need_ / 4) {
      for (const std::vector<int>& axis : LongAxes(devices)) consider_axis({axis, 0});
    }
  }
  return best;
}

}  // namespace whyoom
