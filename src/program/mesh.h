// Reads the device mesh of a program and how its arrays are split over it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// The number of devices along each named axis.
using Mesh = std::map<std::string, std::int64_t, std::less<>>;

constexpr std::int64_t kMostDevices = std::int64_t{1} << 20;  // limits numbers in damaged or hostile text

// The product of the axes, at most kMostDevices.
std::int64_t DeviceCount(const Mesh& mesh);

struct Sharding {
  std::vector<std::int64_t> shards;            // by dimension: number of devices that share it; empty: unknown
  std::vector<std::vector<std::string>> axes;  // by dimension: mesh axes that split it; "" if unnamed
};

// Adds the axes of every mesh in `text` to `mesh`. Formats: mesh['data'=4,'model'=1] of JAX in shardings, and
// #sdy.mesh<["data"=4, "model"=1]> in the frontend attributes of a module.
void AddMeshAxes(std::string_view text, Mesh* mesh);

// Reads the sharding of an array with `rank` dimensions and adds the axes that it names to `mesh`. `sharding` is the
// HLO attribute of that name:
//   {mesh['data'=4,'model'=1], [{'data'}, {}]}     axes
//   {devices=[4,1,2]<=[8] last_tile_dim_replicate} counts
//   {replicated}
// `frontend` are the frontend attributes, which can name the axes of counts:
//   xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {}]>"
// or, for the results of an instruction, xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{\"data\"}, {}]>]>".
// Returns an empty result if both are empty, or only axes are named and the mesh lacks one. If it is that of an array
// with more dimensions, uses the first ones.
Sharding ReadSharding(std::string_view sharding, std::string_view frontend, std::size_t rank, Mesh* mesh);

// The PartitionSpec of an array with these axes by dimension: "P('data', None, ('fsdp', 'model'))". Empty if an axis
// has a name that would need escapes in the user's code.
std::string SpecText(const std::vector<std::vector<std::string>>& dims);

}  // namespace whyoom
