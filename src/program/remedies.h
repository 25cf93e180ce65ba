// Remedies applied to a program: which values get smaller, go away or are added, and what the whole program then needs.
//
// How the compiler would fuse and schedule a modified program is not in the dump, so each estimate has a spread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/prospects.h"
#include "input/stop.h"
#include "program/buffer_assignment.h"
#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

struct Estimate {
  std::int64_t left_bytes = 0;    // what the modified program needs
  std::int64_t spread_bytes = 0;  // how far off that may be, up or down
};

// A program with one remedy applied.
struct ModifiedProgram {
  Sizes sizes;                 // of the program's values
  std::int64_t more = 0;       // bytes that the program needs throughout, in addition
  std::vector<Buffer> added;   // in addition for a time; `values` of each: what it is made again from, if anything
  std::string_view ruled_out;  // why the program proves that the remedy cannot help, see Prospect; else empty
  std::int64_t tried = 0;      // buffers that the remedy was applied to, and that need as much as before
  Sizes at_best;               // if the remedy also shrank values that may have the axis; else empty
  // What the remedy was applied to, so that the user can find it.
  std::int64_t parts = 0;  // devices, steps or pieces; 0: none
  Axis axis;               // that is cut into them
  bool of_state = false;   // weights and optimizer state are

  void Remove(const std::vector<ValueId>& values) {
    for (const ValueId id : values) sizes[id] = 0;
  }
  // A buffer that lives from `first` to `last`, made again from `values`.
  void Add(std::int64_t size, std::int64_t first, std::int64_t last, std::vector<ValueId> values) {
    added.push_back({.size = size, .first = first, .last = last, .values = std::move(values)});
  }
};

class Simulator {
 public:
  // Borrows all. `limit_bytes` is what a device has; 0: not known. Results mean nothing once `stop` (may be null)
  // requests a stop.
  Simulator(const Program& program, const Meaning& meaning, std::int64_t limit_bytes, const Stop* stop = nullptr);

  const Program& program() const { return program_; }
  const Meaning& meaning() const { return meaning_; }
  const BufferAssignment& compiled() const { return compiled_; }
  std::int64_t need_bytes() const { return need_; }
  // False if the program is too large to simulate: then no estimate counts.
  bool whole() const { return compiled_.whole() && roomy_.whole(); }
  bool IsStopped() const { return stop_ != nullptr && stop_->IsAsked(); }

  ModifiedProgram Unmodified() const { return {.sizes = compiled_.CompiledSizes()}; }
  ModifiedProgram RuledOut(std::string_view why) const;  // unmodified: the program proves that the remedy cannot help
  // The sizes of all values if arrays have the size that `size_of(value)` returns.
  template <class SizeOf>
  Sizes Resized(const SizeOf& size_of) const {
    Sizes sizes = compiled_.CompiledSizes();
    for (const ProgramValue& value : program_.values()) {
      if (value.array) sizes[value.id] = size_of(value);
    }
    return sizes;
  }
  // Two remedies applied together: each shrinks what the other leaves.
  ModifiedProgram Combined(const ModifiedProgram& one, const ModifiedProgram& other) const;

  Estimate EstimateOf(const ModifiedProgram& modified) const;
  // How many buffers the remedy was applied to.
  std::int64_t CountModified(const ModifiedProgram& modified) const;
  // Whether it depends on values of unknown dimensions if the modified program fits.
  bool IsOpen(const ModifiedProgram& modified) const;
  // Nothing fits an unknown limit.
  bool Fits(const Estimate& estimate) const { return limit_ > 0 && estimate.left_bytes <= limit_; }

 private:
  const Program& program_;
  const Meaning& meaning_;
  std::int64_t limit_ = 0;
  const Stop* stop_ = nullptr;
  BufferAssignment compiled_;
  BufferAssignment roomy_;  // without rematerialization
  std::int64_t need_ = 0;
};

// A remedy by the name that rule data uses. Returns nullopt if the program shows no place for it: there may be one that
// is not recognized.
struct ProgramRemedy {
  std::string_view name;
  std::optional<ModifiedProgram> (*apply)(const Simulator&);
};
extern const std::array<ProgramRemedy, 15> kRemedies;

inline constexpr std::int64_t kMicroBatches = 4;

// The axis `parts` times shorter, in all values.
std::optional<ModifiedProgram> Shorten(const Simulator& simulator, const Axis& axis, std::int64_t parts);
// The axis as long as `size`, shorter or longer.
std::optional<ModifiedProgram> Resize(const Simulator& simulator, const Axis& axis, std::int64_t size);
// A training step in `parts` pieces of the batch one after another. Arguments and results stay whole, and the gradients
// that are summed over the pieces live throughout.
std::optional<ModifiedProgram> Accumulate(const Simulator& simulator, const Axis& axis, std::int64_t parts);
// The same for any program, piece by piece against the whole. Of an array that has the axis twice, cuts one dimension.
std::optional<ModifiedProgram> InPieces(const Simulator& simulator, const Axis& axis, std::int64_t parts);
std::optional<ModifiedProgram> BlockAttention(const Simulator& simulator);
std::optional<ModifiedProgram> ChunkLoss(const Simulator& simulator, std::int64_t chunks);
std::optional<ModifiedProgram> Narrow(const Simulator& simulator);  // f32 to bf16
// Labels with a column for each class (one-hot) become a number for each example.
std::optional<ModifiedProgram> NumberLabels(const Simulator& simulator);
std::optional<ModifiedProgram> WithoutHostTransfer(const Simulator& simulator);
std::optional<ModifiedProgram> MergeTinyDimensions(const Simulator& simulator);

// donate.cc: outputs that reuse arguments, and optimizer state on the host.
std::optional<ModifiedProgram> Donate(const Simulator& simulator);
std::optional<ModifiedProgram> StateOnHost(const Simulator& simulator);

// shard.cc: arrays split over more devices.
std::optional<ModifiedProgram> Shard(const Simulator& simulator, std::int64_t devices);
std::optional<ModifiedProgram> MoreDevices(const Simulator& simulator, std::int64_t times);

// recompute.cc: layers computed again in the backward pass.
std::optional<ModifiedProgram> Recompute(const Simulator& simulator);

// What several remedies share.

// How much shorter an axis gets: times `length`, divided by `of`, rounded up.
struct Ratio {
  std::int64_t length = 1;
  std::int64_t of = 1;
  bool once = false;  // of two dimensions that are the axis only the first
};
std::int64_t ScaledSize(const Simulator& simulator, const ProgramValue& value, const Axis& axis, Ratio ratio);
// The dimensions of arrays that are sent to the host.
std::vector<ArrayDims> SentToHost(const Program& program);

// estimates.cc: what fills the memory, what would fit, and what each remedy would leave.

enum class WithRemedies { kNo, kYes };

// `role_words` are words in names of arguments that show their roles. `limit_bytes` is what a device has; 0: not known,
// and then no room is estimated. For a program that fits, the largest sizes are those that would still fit. Returns
// nothing, not even the memory, for a program that takes too long to simulate. Incomplete if `stop` ends it.
Prospects EstimateProgram(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes,
                          WithRemedies with_remedies, const Stop& stop = {});

// Whether there is a remedy of this name, for rule data.
bool IsRemedy(std::string_view name);

// Where the user finds a dimension: of the arguments that have the axis, an input before weights, and the largest of
// them. None if no argument of the user's has it.
std::optional<AxisPlace> FindPlace(const Program& program, const Meaning& meaning, const Axis& axis);

}  // namespace whyoom
