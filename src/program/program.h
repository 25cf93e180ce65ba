// A compiled module: its HLO, its memory and live ranges, and its groups of dimensions. Built once from the files of a
// dump and never changed: remedies (program/remedies.h) are applied to copies of its sizes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "program/dimensions.h"
#include "program/hlo.h"
#include "program/memory.h"

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

// A value of the buffer assignment and its array in the module.
struct ProgramValue : Extent {
  ValueId id;
  AllocationId allocation;
  ArrayId array;  // without an instruction if the module lacks the value's name
};

// An array of a parameter of the entry computation: an argument, or a leaf of one.
struct ProgramParameter : Sharding {
  std::size_t place = 0;  // index in Program::parameters()
  ArrayId array;
  int number = 0;              // number of the entry computation's parameter
  std::string path;            // "params['blocks']['wq']"; or the instruction's name
  std::int64_t size = 0;       // bytes on one device, with padding
  bool shares_output = false;  // donated: an output aliases it

  // The dimensions over all devices, if `dims` are those on one. A dimension that is too large stays as it is.
  ArrayDims WholeDims(ArrayDims dims) const {
    for (std::size_t d = 0; d < std::min(dims.size(), shards.size()); ++d)
      dims[d] *= dims[d] > INT64_MAX / shards[d] ? 1 : shards[d];
    return dims;
  }
  // The name of the user's argument: "state" of "state.params['embed']".
  std::string Argument() const { return path.substr(0, path.find_first_of(".[")); }
  bool IsSplit() const {
    return std::ranges::any_of(shards, [](std::int64_t devices) { return devices > 1; });
  }
};

struct ProgramOutput {
  ArrayId array;  // of the instruction that computes it
  ValueId value;  // empty if it aliases an argument, or is not a value
};

struct Program {
  // `compiled` is optimized and scheduled. `unoptimized` is the module before optimization and may be empty.
  Program(HloModule compiled, HloModule unoptimized, ModuleMemory assigned);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const ArrayShape& ShapeOf(ArrayId array) const { return dimensions.ShapeOf(array); }
  const MemoryAllocation& AllocationOf(const ProgramValue& value) const { return memory.allocations[value.allocation]; }
  const HloInstruction& At(InstructionId instruction) const { return module.instructions[instruction]; }
  const HloInstruction& InstructionOf(const ProgramValue& value) const { return At(value.array.instruction); }
  // "params['w'] f32[4096,4096]" for an argument, "f32[8,512] at step.py:7" for a computed array.
  std::string NameOf(ArrayId array) const;
  std::string NameOf(const ProgramParameter& parameter) const {
    return parameter.path + " " + ShapeOf(parameter.array).shape;
  }
  // The root of a fused computation; an empty id if `is` is not a fusion.
  InstructionId FusedRoot(const HloInstruction& is) const {
    return is.opcode == "fusion" && !is.calls.empty() ? module.computations[is.calls[0]].root : InstructionId();
  }
  // Whether each step of a loop returns the part `place` of its carried tuple unchanged.
  bool PassesOn(const HloInstruction& loop, std::size_t place) const;
  // Whether the program was written for several devices: the module is partitioned, or an argument's dimension is
  // annotated with a mesh axis, even if that axis currently has one device.
  bool IsForMesh() const { return partitions > 1 || names_axis; }

  HloModule module;
  HloModule before;
  ModuleMemory memory;
  Dimensions dimensions;
  int partitions = 1;  // number of devices that the module is partitioned over; 1: not partitioned
  Mesh mesh;           // the named axes; those that split no argument may be missing
  bool names_axis = false;
  Indexed<ValueId, ProgramValue> values;
  std::vector<ProgramParameter> parameters;
  std::vector<ProgramOutput> outputs;
  Indexed<InstructionId, int> positions;  // in the schedule, as in live ranges; -1 for one that defines no value
  Indexed<InstructionId, std::vector<InstructionId>> users;  // those of the same computation, without duplicates
  Indexed<AllocationId, std::vector<ValueId>> values_in;     // in the order of `values`
  Indexed<InstructionId, std::vector<ValueId>> values_of;

 private:
  void FindValues();
  void FindSchedule();
  void FindParameters();
  void AddParameters(ProgramParameter parameter, const HloInstruction& written);
  void FindOutputs();
};

}  // namespace whyoom
