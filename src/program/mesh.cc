#include "program/mesh.h"

#include <algorithm>
#include <charconv>
#include <numeric>

#include "program/hlo.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostAxes = 64;     // this and the next two limit work on hostile input
constexpr std::size_t kMostMeshes = 256;  // occurrences of the word
constexpr std::size_t kLongestMesh = 4096;

// Returns the next name in single or double quotes and moves `*at` past it; empty if there is none. Quotes may have
// backslashes.
std::string_view NextQuoted(std::string_view text, std::size_t* at) {
  const std::size_t open = text.find_first_of("'\"", *at);
  const std::size_t close = open == std::string_view::npos ? open : text.find(text[open], open + 1);
  *at = close == std::string_view::npos ? text.size() : close + 1;
  if (close == std::string_view::npos) return {};
  const std::string_view name = text.substr(open + 1, close - open - 1);
  return name.substr(0, name.find('\\'));
}

// Reads [{'data'}, {}]: the axes of each dimension. Returns the first `rank` dimensions; an empty list if there are
// fewer.
std::vector<std::vector<std::string>> ReadAxes(std::string_view text, std::size_t rank) {
  std::vector<std::vector<std::string>> axes;
  for (std::size_t open = text.find('{'); open < text.size() && axes.size() < rank; open = text.find('{', open)) {
    const std::size_t close = std::min(text.find('}', open), text.size());
    const std::string_view names = text.substr(open, close - open);
    std::vector<std::string>& of_dim = axes.emplace_back();
    for (std::size_t at = 0; at < names.size() && of_dim.size() < kMostAxes;) {
      if (const std::string_view name = NextQuoted(names, &at); !name.empty()) of_dim.emplace_back(name);
    }
    open = close;
  }
  return axes.size() == rank ? axes : std::vector<std::vector<std::string>>();
}

std::int64_t DevicesAlong(const std::vector<std::string>& axes, const Mesh& mesh) {
  return std::accumulate(axes.begin(), axes.end(), std::int64_t{1}, [&](std::int64_t devices, const std::string& axis) {
    const auto found = mesh.find(axis);
    return found == mesh.end() ? devices : std::min(devices * found->second, kMostDevices);
  });
}

}  // namespace

void AddMeshAxes(std::string_view text, Mesh* mesh) {
  std::size_t meshes = 0;
  for (std::size_t begin = text.find("mesh"); begin != std::string_view::npos; begin = text.find("mesh", begin + 1)) {
    if (++meshes > kMostMeshes) return;
    std::string_view axes = text.substr(begin + 4, kLongestMesh);
    if (!axes.starts_with("[") && !axes.starts_with("<[")) continue;
    axes = axes.substr(0, axes.find(']'));
    for (std::size_t at = 0; at < axes.size() && mesh->size() < kMostAxes;) {
      const std::string_view name = NextQuoted(axes, &at);
      std::int64_t devices = 1;
      if (at + 1 < axes.size()) std::from_chars(axes.data() + at + 1, axes.data() + axes.size(), devices);
      if (!name.empty()) (*mesh)[std::string(name)] = std::clamp<std::int64_t>(devices, 1, kMostDevices);
    }
  }
}

Sharding ReadSharding(std::string_view sharding, std::string_view frontend, std::size_t rank, Mesh* mesh) {
  Sharding read;
  if (sharding.empty()) return read;
  AddMeshAxes(sharding, mesh);
  read.shards.assign(rank, 1);
  read.axes.resize(rank);
  constexpr std::string_view kCounts = "devices=[";
  constexpr std::string_view kShardy = "sdy.sharding<";
  const std::size_t counts_at = sharding.find(kCounts);
  const bool has_counts = counts_at != std::string_view::npos;
  if (has_counts) {
    const std::string_view list = sharding.substr(counts_at + kCounts.size());
    const std::vector<std::int64_t> counts = Integers(list.substr(0, list.find(']')));
    for (std::size_t dim = 0; dim < std::min(rank, counts.size()); ++dim)
      read.shards[dim] = std::clamp<std::int64_t>(counts[dim], 1, kMostDevices);
  }
  const std::string_view named = has_counts ? frontend.substr(std::min(frontend.find(kShardy), frontend.size()))
                                            : sharding.substr(std::min(sharding.find("], ["), sharding.size()));
  const std::vector<std::vector<std::string>> axes = ReadAxes(named, rank);
  for (std::size_t dim = 0; dim < axes.size(); ++dim) {
    if (has_counts && axes[dim].size() == 1 && mesh->size() < kMostAxes) mesh->insert({axes[dim][0], read.shards[dim]});
    if (!has_counts) read.shards[dim] = DevicesAlong(axes[dim], *mesh);
    for (const std::string& axis : axes[dim]) {
      if (read.shards[dim] > 1 && DevicesAlong({axis}, *mesh) > 1) read.axes[dim].push_back(axis);
    }
  }
  for (std::size_t dim = 0; dim < rank; ++dim) {
    if (read.shards[dim] > 1 && read.axes[dim].empty()) read.axes[dim].emplace_back();
  }
  return read;
}

bool NamesMeshAxis(std::string_view sharding, std::string_view frontend) {
  return sharding.find("{'") != std::string_view::npos || frontend.find("{\\\"") != std::string_view::npos;
}

}  // namespace whyoom
