#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "program/estimates.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostArguments = 8;
constexpr std::int64_t kLeastShare = 1000;  // of the need: smaller arrays are left out

MeshArray Describe(const Program& program, const ProgramParameter& parameter) {
  MeshArray array{.array = program.NameOf(parameter), .bytes = parameter.size};
  std::set<std::string> used;
  for (const auto& of_dim : parameter.axes) used.insert(of_dim.begin(), of_dim.end());
  if (used.contains("")) return array;
  array.spec = SpecText(parameter.axes);
  for (const auto& [axis, devices] : program.mesh()) {
    if (devices > 1 && !used.contains(axis)) array.whole_over.push_back(axis);
  }
  return array;
}

}  // namespace

std::optional<MeshSummary> SummarizeMesh(const Program& program) {
  if (!program.is_for_a_mesh() || program.mesh().empty()) return std::nullopt;
  if (program.partitions() > 1 && DeviceCount(program.mesh()) > program.partitions()) return std::nullopt;
  MeshSummary summary;
  for (const auto& [axis, devices] : program.mesh()) summary.axes.push_back({axis, devices});
  std::vector<const ProgramParameter*> large;
  for (const ProgramParameter& parameter : program.parameters()) {
    if (!parameter.shards.empty() && parameter.size > program.memory().need_bytes / kLeastShare)
      large.push_back(&parameter);
  }
  std::stable_sort(large.begin(), large.end(),
                   [](const ProgramParameter* a, const ProgramParameter* b) { return a->size > b->size; });
  large.resize(std::min(large.size(), kMostArguments));
  for (const ProgramParameter* parameter : large) summary.arrays.push_back(Describe(program, *parameter));
  return summary;
}

}  // namespace whyoom
