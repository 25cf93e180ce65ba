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

// Borrows the program, its semantics and `stop`. Results are meaningless once `stop` (may be null) requests a stop.
struct Simulator {
  const Program& program;
  const Semantics& semantics;
  std::int64_t limit = 0;  // the memory of a device; 0: unknown
  const Stop* stop = nullptr;
  BufferAssignment compiled = {program, false};
  BufferAssignment without_remat = {program, true};  // without rematerialization
  std::int64_t need_bytes = compiled.Need(compiled.compiled_sizes);
  // False if the program is too large to simulate, so all estimates are meaningless.
  bool whole = compiled.whole && without_remat.whole;

  bool IsStopped() const { return stop != nullptr && stop->IsRequested(); }

  // `ruled_out`: why a remedy cannot help.
  ModifiedProgram Unmodified(std::string_view ruled_out = {}) const {
    return {.sizes = compiled.compiled_sizes, .ruled_out = ruled_out};
  }
  // The sizes of all values, with size_of(value) for arrays.
  template <class SizeOf>
  Sizes Resized(const SizeOf& size_of) const {
    Sizes sizes = compiled.compiled_sizes;
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
};

// A remedy and its name in rule data. `apply` returns nullopt if it finds no array to apply the remedy to. The remedy
// may still help, since some arrays are not recognized.
struct ProgramRemedy {
  std::string_view name;
  std::optional<ModifiedProgram> (*apply)(const Simulator&);
};
extern const std::array<ProgramRemedy, 14> kRemedies;

inline constexpr std::int64_t kMicroBatches = 4;

// Makes the axis `size` long, shorter or longer, in all values.
std::optional<ModifiedProgram> Resize(const Simulator& simulator, const Axis& axis, std::int64_t size);
// Splits a training step into `parts` micro-batches that run one after another. Arguments and results stay whole, and
// the summed gradients are live throughout.
std::optional<ModifiedProgram> Accumulate(const Simulator& simulator, const Axis& axis, std::int64_t parts);

// shard.cc: splits arrays over more devices.
std::optional<ModifiedProgram> Shard(const Simulator& simulator, std::int64_t devices);
std::optional<ModifiedProgram> MoreDevices(const Simulator& simulator, std::int64_t times);

// recompute.cc: rematerializes layers in the backward pass.
std::optional<ModifiedProgram> Recompute(const Simulator& simulator);

// Shared by several remedies.

// The arrays that are sent to the host.
std::vector<InstructionId> SentToHost(const Program& program);

// estimates.cc: the memory by kind, the sizes that would fit, and the effect of each remedy.

enum class WithRemedies { kNo, kYes };

// `role_words` are words in argument names that identify roles. `limit_bytes` is the memory of a device; if it is 0
// (unknown), `room` stays empty. For a program that fits, the largest sizes are those that would still fit. Returns an
// empty result if the program takes too long to simulate, and an incomplete one if `stop` requests a stop.
ProgramEstimates EstimateProgram(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes,
                                 WithRemedies with_remedies, const Stop& stop = {});

// Finds an argument that has the axis: the largest input or, if no input has it, the largest weight or optimizer state.
// Returns nullopt if no argument with a user's name has it.
std::optional<AxisLocation> LocateAxis(const Program& program, const Semantics& semantics, const Axis& axis);

// signs.cc: finds signs of typical mistakes; README.md lists them. Rule data decides which of them are mistakes, and
// names them (`mistake`). Returns two facts for each sign: NAME_bytes, on one device unless defined otherwise, and
// NAME_array, the largest array ("opt_state.mu['w'] f32[4096,4096]", or with its source line); and program_trains, if
// it is known whether the program computes gradients.
Evidence FindSigns(const Simulator& simulator);

}  // namespace whyoom
