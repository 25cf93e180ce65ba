// Applies remedies to a program: shrinks, removes or adds values, and computes the memory that the program then needs.
//
// A dump does not show how the compiler would fuse and schedule the modified program, so each estimate has a spread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/compiled_program.h"
#include "input/limits.h"
#include "program/buffer_assignment.h"
#include "program/program.h"
#include "program/semantics.h"

namespace whyoom {

// A program with one remedy applied.
struct ModifiedProgram {
  Sizes sizes;                 // of the program's values, after the remedy
  std::int64_t more = 0;       // additional bytes throughout the program
  std::vector<Buffer> added;   // temporary additional buffers; their `values` are those that they replace, if any
  std::string_view ruled_out;  // why the remedy cannot help here, see Effect; else empty
  std::int64_t tried = 0;      // number of buffers that the remedy applies to without changing their size
  // Details for the user.
  std::int64_t parts = 0;  // devices, steps or pieces; 0: none
  Axis axis;               // the axis that is cut into the parts
  bool of_state = false;   // splits weights and optimizer state
  std::optional<ArraySplit> split;

  void Remove(const std::vector<ValueId>& values) {
    for (const ValueId id : values) sizes[id] = 0;
  }
  // Adds a buffer that is live from `first` to `last` and replaces `values`.
  void Add(std::int64_t size, std::int64_t first, std::int64_t last, std::vector<ValueId> values) {
    added.push_back({{.size = size, .first = first, .last = last}, AllocationId(0), std::move(values)});
  }
};

// The new length of an axis: multiplied by `length`, divided by `of`, rounded up.
struct Ratio {
  std::int64_t length = 1;
  std::int64_t of = 1;
  bool once = false;  // if two dimensions are the axis, resizes only the first
};

struct Simulator {
  // Borrows its arguments. `limit_bytes` is the memory of a device; 0: unknown. Results are meaningless once `stop`
  // (may be null) requests a stop.
  Simulator(const Program& of, const Semantics& its_semantics, std::int64_t limit_bytes, const Stop* stop_at = nullptr);

  bool IsStopped() const { return stop != nullptr && stop->IsRequested(); }

  ModifiedProgram Unmodified() const { return {.sizes = compiled.CompiledSizes()}; }
  // The unmodified program, with a reason.
  ModifiedProgram RuledOut(std::string_view why) const { return {.sizes = compiled.CompiledSizes(), .ruled_out = why}; }
  // The sizes of all values, with size_of(value) for arrays.
  template <class SizeOf>
  Sizes Resized(const SizeOf& size_of) const {
    Sizes sizes = compiled.CompiledSizes();
    for (const ProgramValue& value : program.values) {
      if (value.array) sizes[value.id] = size_of(value);
    }
    return sizes;
  }

  // The sizes of all values after resizing an axis.
  Sizes Scaled(const Axis& axis, Ratio ratio) const;

  // Leaves the remedy's name and the axis open.
  Effect EstimateOf(const ModifiedProgram& modified) const;
  // Counts the values and added buffers that the remedy applies to, including those that keep their size (`tried`).
  std::int64_t CountModified(const ModifiedProgram& modified) const;
  // False if the limit is unknown.
  bool Fits(const Effect& effect) const { return limit > 0 && effect.left_bytes <= limit; }

  const Program& program;
  const Semantics& semantics;
  std::int64_t limit = 0;
  const Stop* stop = nullptr;
  BufferAssignment compiled;
  BufferAssignment without_remat;  // without rematerialization
  std::int64_t need_bytes = 0;
  bool whole = false;  // false: the program is too large to simulate, so all estimates are meaningless
};

// A remedy and its name in rule data. `apply` returns nullopt if it finds no array to apply the remedy to. The remedy
// may still help, since some arrays are not recognized.
struct ProgramRemedy {
  std::string_view name;
  std::optional<ModifiedProgram> (*apply)(const Simulator&);
};
extern const std::array<ProgramRemedy, 14> kRemedies;

inline constexpr std::int64_t kMicroBatches = 4;

// Makes the axis `parts` times shorter in all values.
std::optional<ModifiedProgram> Shorten(const Simulator& simulator, const Axis& axis, std::int64_t parts);
// Makes the axis `size` long, shorter or longer, in all values.
std::optional<ModifiedProgram> Resize(const Simulator& simulator, const Axis& axis, std::int64_t size);
// Splits a training step into `parts` micro-batches that run one after another. Arguments and results stay whole, and
// the summed gradients are live throughout.
std::optional<ModifiedProgram> Accumulate(const Simulator& simulator, const Axis& axis, std::int64_t parts);
// As Accumulate, for a program that computes independent pieces. If an array has the axis twice, cuts one dimension.
std::optional<ModifiedProgram> InPieces(const Simulator& simulator, const Axis& axis, std::int64_t parts);
std::optional<ModifiedProgram> BlockAttention(const Simulator& simulator);
std::optional<ModifiedProgram> ChunkLoss(const Simulator& simulator, std::int64_t chunks);
std::optional<ModifiedProgram> Narrow(const Simulator& simulator);  // f32 to bf16
std::optional<ModifiedProgram> WithoutHostTransfer(const Simulator& simulator);
std::optional<ModifiedProgram> MergeTinyDimensions(const Simulator& simulator);
std::optional<ModifiedProgram> Donate(const Simulator& simulator);  // arguments to outputs
// Keeps optimizer state, and without training also weights, on the host.
std::optional<ModifiedProgram> StateOnHost(const Simulator& simulator);

// shard.cc: splits arrays over more devices.
std::optional<ModifiedProgram> Shard(const Simulator& simulator, std::int64_t devices);
std::optional<ModifiedProgram> MoreDevices(const Simulator& simulator, std::int64_t times);

// recompute.cc: rematerializes layers in the backward pass.
std::optional<ModifiedProgram> Recompute(const Simulator& simulator);

// Shared by several remedies.

// Estimates the bytes of an array of `size` bytes after its dimensions change to `dims`. Keeps the ratio between `size`
// and the computed size, since the compiler may round. Assumes that the compiler chooses another layout if a dimension
// becomes too short for its tile. Returns `size` if the shape is not understood.
std::int64_t BytesWithDims(const ArrayShape& shape, std::int64_t size, const ArrayDims& dims);
// Bytes if each element had `bits` bits. Assumes that the tile keeps its lanes and its rows, but has at least the rows
// that fill a 32-bit word. Returns nullopt if the element type is unknown.
std::optional<std::int64_t> BytesWithElementBits(const ArrayShape& shape, int bits);

// The dimensions of the arrays that are sent to the host.
std::vector<ArrayDims> SentToHost(const Program& program);

}  // namespace whyoom
