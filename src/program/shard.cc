// Arrays split over more devices.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "program/change.h"

namespace whyoom {

std::set<std::string> Changes::StateShapes(bool split) const {
  std::set<std::string> shapes;
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    const ProgramParameter& parameter = program_.parameters()[p];
    if (meaning_.RoleOf(p) != Role::kWeights && meaning_.RoleOf(p) != Role::kOptimizerState) continue;
    const bool is_split =
        std::any_of(parameter.shards.begin(), parameter.shards.end(), [](std::int64_t n) { return n > 1; });
    if (is_split == split) shapes.insert(program_.ShapeOf(parameter).shape);
  }
  return shapes;
}

Sizes Changes::Divided(const std::set<std::string>& shapes, std::int64_t parts) const {
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf >= 0 && shapes.contains(program_.ShapeOf(value).shape)) sizes[i] /= parts;
  }
  return sizes;
}

Sizes Changes::StateSharded(std::int64_t devices) const {
  // Weights, what the optimizer keeps of them and their gradients; arrays that are split already stay as they are.
  std::set<std::string> whole = StateShapes(false);
  for (const std::string& split : StateShapes(true)) whole.erase(split);
  return Divided(whole, devices);
}

std::map<std::string, Changes::MeshAxis> Changes::MeshAxes() const {
  std::map<std::string, MeshAxis> axes;
  const Dimensions& dimensions = program_.dimensions();
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    const ProgramParameter& parameter = program_.parameters()[p];
    const std::vector<std::vector<int>> dims = dimensions.Of(parameter.instruction, parameter.leaf);
    for (std::size_t dim = 0; dim < std::min(dims.size(), parameter.axes.size()); ++dim) {
      if (dims[dim].empty()) continue;
      for (const std::string& name : parameter.axes[dim]) {
        MeshAxis& axis = axes[name];
        axis.splits.emplace(dimensions.Family(dims[dim].front()), dimensions.factors().size(dims[dim].front()));
        axis.of_state = axis.of_state || meaning_.RoleOf(p) == Role::kWeights;
      }
    }
  }
  return axes;
}

std::optional<Variant> Changes::MoreDevices(std::int64_t times) const {
  const std::map<std::string, MeshAxis> axes = MeshAxes();
  if (axes.empty() && program_.partitions() <= 1) return SplitOver(times);
  // One axis of the mesh grows: all that is split along it is split further, wherever it is not put together again.
  std::optional<Variant> best;
  for (const auto& named : axes) {
    const MeshAxis& axis = named.second;
    Variant variant = AsItIs();
    for (std::size_t i = 0; i < variant.sizes.size(); ++i) {
      const ProgramValue& value = program_.values()[i];
      if (value.leaf < 0) continue;
      const std::vector<std::vector<int>> dims = program_.dimensions().Of(value.instruction, value.leaf);
      const bool split = std::any_of(dims.begin(), dims.end(), [&](const std::vector<int>& factors) {
        return std::any_of(factors.begin(), factors.end(), [&](int factor) {
          return axis.splits.contains(
              {program_.dimensions().Family(factor), program_.dimensions().factors().size(factor)});
        });
      });
      if (split) variant.sizes[i] /= times;
    }
    variant.parts = times;
    variant.of_state = axis.of_state;
    if (!best || Judge(variant).left_bytes < Judge(*best).left_bytes) best = std::move(variant);
  }
  return best;
}

std::optional<Variant> Changes::Shard(std::int64_t devices) const {
  if (!program_.is_for_a_mesh()) return std::nullopt;  // there may be one device only
  return SplitOver(devices);
}

bool Changes::LeadsWithBatch(const std::vector<int>& dimension) const {
  return meaning_.batch() && !dimension.empty() && dimension.front() == meaning_.batch().families.front();
}

Changes::Split Changes::FindSplit() const {
  Split split;
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    const ProgramParameter& parameter = program_.parameters()[p];
    const bool of_state = meaning_.RoleOf(p) == Role::kWeights || meaning_.RoleOf(p) == Role::kOptimizerState;
    const Rows rows = meaning_.RowsOf(parameter.instruction, parameter.leaf);
    for (std::size_t dim = 0; dim < std::min(rows.size(), parameter.shards.size()); ++dim) {
      if (parameter.shards[dim] <= 1) continue;
      (of_state ? split.weights : split.inputs) = true;
      split.families.insert(rows[dim].begin(), rows[dim].end());
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
  Sizes sizes = compiled_.SizesAsTheyAre();
  bool any = false;
  for (std::size_t i = 0; i < sizes.size() && local > 0; ++i) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf < 0) continue;
    const Rows& rows = meaning_.RowsOf(i);
    for (std::size_t dim = 0; dim < rows.size(); ++dim) {
      if (!LeadsWithBatch(rows[dim]) || program_.ShapeOf(value).dims[dim] != local * devices) continue;
      sizes[i] /= devices;
      any = true;
      break;
    }
  }
  return any ? std::optional(sizes) : std::nullopt;
}

// The long axes of the largest arrays that so many devices can share.
std::set<std::vector<int>> Changes::LongAxes(std::int64_t devices) const {
  std::set<std::vector<int>> axes;
  std::vector<int> live;
  compiled_.Need(compiled_.SizesAsTheyAre(), {}, &live);
  for (const int b : live) {
    const Buffer& buffer = compiled_.buffers()[static_cast<std::size_t>(b)];
    if (buffer.size < need_ / 20) continue;
    for (const std::vector<int>& row : meaning_.RowsOf(static_cast<std::size_t>(buffer.values.front()))) {
      std::int64_t size = 1;
      for (const int family : row) size *= program_.dimensions().factors().size(family);
      if (size % devices == 0 && !row.empty()) axes.insert(row);
    }
  }
  return axes;
}

// Where the weights are split, the activations between them are whole on each device: split along the sequence.
Sizes Changes::BetweenWeights(const std::set<int>& split, std::int64_t devices) const {
  const Axis& axis = meaning_.sequence() ? meaning_.sequence() : meaning_.batch();
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    bool is_split = false;
    for (const std::vector<int>& row : meaning_.RowsOf(i)) {
      for (const int family : row) is_split = is_split || split.contains(family);
    }
    if (!is_split && axis) sizes[i] = Scaled(i, axis, {1, devices}, true);
  }
  return sizes;
}

// What is sent to the host is put together in one place first.
Sizes Changes::WholeWhereSent(Sizes sizes) const {
  const std::vector<std::vector<std::int64_t>> sent = SentToHost();
  for (std::size_t i = 0; i < sizes.size() && !sent.empty(); ++i) {
    const ProgramValue& value = program_.values()[i];
    for (const std::vector<std::int64_t>& dims : sent) {
      if (value.leaf >= 0 && program_.ShapeOf(value).dims == dims) sizes[i] = value.size;
    }
  }
  return sizes;
}

std::optional<Variant> Changes::SplitOver(std::int64_t devices) const {
  const Split split = FindSplit();
  std::optional<Variant> best;
  std::int64_t least = 0;
  const auto consider = [&](Sizes sizes, const Axis& axis, bool of_state = false) {
    Variant variant{WholeWhereSent(std::move(sizes)), 0, {}};
    variant.parts = devices;
    variant.axis = axis;
    variant.of_state = of_state;
    const std::int64_t left = Judge(variant).left_bytes;
    if (best && left >= least) return;
    least = left;
    best = std::move(variant);
  };
  if (!split.weights || split.inputs) consider(StateSharded(devices), {}, true);
  if (split.inputs) {
    if (std::optional<Sizes> sizes = GatheredSplit(devices)) consider(std::move(*sizes), {});
  } else if (split.weights) {
    consider(BetweenWeights(split.families, devices), {});
  } else {
    const bool by_batch = meaning_.batch() && meaning_.batch().size % devices == 0;
    if (by_batch) consider(Scaled(meaning_.batch(), {1, devices}, true, true), meaning_.batch());
    // Where the batch is not what fills the memory, something else is split: whichever axis leaves least.
    if (!by_batch || need_ - least < need_ / 4) {
      for (const std::vector<int>& axis : LongAxes(devices))
        consider(Scaled({axis, 0}, {1, devices}, true, true), {axis, 0});
    }
  }
  return best;
}

}  // namespace whyoom
