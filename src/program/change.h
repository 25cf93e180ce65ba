// A remedy applied to a program: which values get smaller, go away or are added, and what the whole program then needs.
//
// Nothing here knows a remedy by its name: the rule data says which change a remedy is. How the compiler would fuse and
// schedule a modified program is not in the dump, so each estimate has a spread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "input/stop.h"
#include "program/buffer_assignment.h"
#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

struct Estimate {
  std::int64_t left_bytes = 0;    // what the modified program needs
  std::int64_t spread_bytes = 0;  // how far off that may be, up or down
};

struct ModifiedProgram {
  Sizes sizes;                      // of the program's values
  std::int64_t more = 0;            // bytes that the program needs throughout, in addition
  std::vector<Buffer> added = {};   // in addition for a time; `values` of each: what it is made again from, if anything
  std::string_view ruled_out = {};  // why the program proves that the change cannot help, see Prospect; else empty
  std::int64_t tried = 0;           // buffers that the change was made on, and that need as much as before
  Sizes at_best = {};               // if the change also shrank values that may have the axis; else empty
  // What the change was made on, for the user to find it.
  std::int64_t parts = 0;  // devices, steps or pieces; 0: none
  Axis axis = {};          // that is cut into them
  bool of_state = false;   // weights and optimizer state are
};

// When an instruction's result is read last, whatever it is renamed to in between.
class LastUses {
 public:
  explicit LastUses(const Program& program) : program_(program) {}
  int Of(int instruction, int depth = 0) const;  // -1: never

 private:
  const Program& program_;
  mutable std::unordered_map<std::int64_t, int> known_;  // by instruction and depth
};

class Changes {
 public:
  // Borrows all. `limit_bytes` is what a device has; 0: not known. Results mean nothing once `stop` (may be null) asks
  // to stop.
  Changes(const Program& program, const Meaning& meaning, std::int64_t limit_bytes, const Stop* stop = nullptr);

  // Each returns nullopt if the program shows no place for the change: there may be one that is not recognized.

  // The axis `parts` times shorter, in all values.
  std::optional<ModifiedProgram> Shorten(const Axis& axis, std::int64_t parts) const;
  // The axis as long as `size`, shorter or longer.
  std::optional<ModifiedProgram> Resize(const Axis& axis, std::int64_t size) const;
  // A training step done in `parts` pieces of the batch one after another. Arguments and results stay whole, and the
  // gradients that are summed over the pieces live throughout.
  std::optional<ModifiedProgram> Accumulate(const Axis& axis, std::int64_t parts) const;
  // The same for any program, piece by piece against the whole. Cuts the rows of an array that has the axis twice.
  std::optional<ModifiedProgram> InPieces(const Axis& axis, std::int64_t parts) const;
  std::optional<ModifiedProgram> Donate() const;
  std::optional<ModifiedProgram> Shard(std::int64_t devices) const;
  std::optional<ModifiedProgram> MoreDevices(std::int64_t times) const;
  std::optional<ModifiedProgram> Narrow() const;     // f32 to bf16
  std::optional<ModifiedProgram> Recompute() const;  // layers in the backward pass
  std::optional<ModifiedProgram> BlockAttention() const;
  std::optional<ModifiedProgram> ChunkLoss(std::int64_t chunks) const;
  // Labels with a column for each class (one-hot) become a number for each example.
  std::optional<ModifiedProgram> NumberLabels() const;
  std::optional<ModifiedProgram> StateOnHost() const;
  std::optional<ModifiedProgram> WithoutHostTransfer() const;
  std::optional<ModifiedProgram> MergeTinyDimensions() const;

  ModifiedProgram AsItIs() const { return {.sizes = compiled_.CompiledSizes()}; }
  ModifiedProgram RuledOut(std::string_view why) const;  // unchanged: the program proves that the change cannot help
  // Two changes made together: each shrinks what the other leaves.
  ModifiedProgram Both(const ModifiedProgram& one, const ModifiedProgram& other) const;
  Estimate Judge(const ModifiedProgram& modified) const;
  // How many buffers the change was made on.
  std::int64_t MadeOn(const ModifiedProgram& modified) const;
  // Whether it depends on values of unknown dimensions if the modified program fits.
  bool IsOpen(const ModifiedProgram& modified) const;

  std::int64_t need_bytes() const { return need_; }
  // False if the program is too large to simulate: then no estimate counts.
  bool whole() const { return compiled_.whole() && roomy_.whole(); }

  const BufferAssignment& compiled() const { return compiled_; }
  // Whether an estimate fits. Nothing fits an unknown limit.
  bool Fits(const Estimate& estimate) const { return limit_ > 0 && estimate.left_bytes <= limit_; }

 private:
  bool IsStopped() const { return stop_ != nullptr && stop_->IsAsked(); }

  // How much shorter an axis gets: times `length`, divided by `of`, rounded up.
  struct Ratio {
    std::int64_t length = 1;
    std::int64_t of = 1;
    bool once = false;  // of two dimensions that are the axis only the first
  };
  Sizes Scaled(const Axis& axis, Ratio ratio, bool arguments_too = true) const;
  std::int64_t Scaled(const ProgramValue& value, const Axis& axis, Ratio ratio) const;
  // Sizes, if what may have the axis is also cut into parts.
  Sizes AtBest(const Axis& axis, std::int64_t parts, Sizes sizes) const;
  void KeepOutputs(Sizes* sizes) const;  // as they are

  std::optional<ModifiedProgram> InPieces(const Axis& axis, std::int64_t parts, bool rows) const;
  // Whether the largest array consists of parts that are independent of each other: of a vmap, or of all pairs of two
  // inputs.
  bool IsOfPieces() const;
  std::map<int, std::int64_t> FedIn() const;  // bytes by leading dimension group
  std::int64_t GradientSums(const Sizes& sizes, std::int64_t parts) const;
  bool ComputesIn(std::string_view dtype) const;
  bool IsUpdated(const ProgramParameter& parameter) const;
  std::vector<bool> MadeOfState() const;      // by instruction: from weights or other state
  std::vector<ArrayDims> SentToHost() const;  // dimensions of the arrays

  void SendToHost(const ProgramParameter& parameter, ModifiedProgram* modified) const;
  void SendResultsToHost(const std::set<std::string>& shapes, ModifiedProgram* modified) const;
  std::optional<ModifiedProgram> RecomputeBlocks() const;  // layers without a loop

  // Which arguments are split over devices already.
  struct Split {
    bool inputs = false;
    bool weights = false;
    std::set<int> groups;  // of the dimensions that are
  };
  // What an axis of the mesh splits: dimension groups, with the length that a device has.
  struct MeshAxis {
    std::set<std::pair<int, std::int64_t>> splits;
    bool of_state = false;  // weights are among it
  };
  std::optional<ModifiedProgram> SplitOver(std::int64_t devices) const;
  Split FindSplit() const;
  bool LeadsWithBatch(const std::vector<int>& dimension) const;
  std::optional<Sizes> GatheredSplit(std::int64_t devices) const;
  std::map<std::string, MeshAxis> MeshAxes() const;  // by name
  std::set<std::vector<int>> LongAxes(std::int64_t devices) const;
  Sizes BetweenWeights(const std::set<int>& split, std::int64_t devices) const;
  Sizes WholeWhereSent(Sizes sizes) const;
  Sizes StateSharded(std::int64_t devices) const;

  const Program& program_;
  const Meaning& meaning_;
  std::int64_t limit_ = 0;
  const Stop* stop_ = nullptr;
  BufferAssignment compiled_;
  BufferAssignment roomy_;  // without rematerialization
  std::int64_t need_ = 0;
  std::set<std::string_view> output_shapes_;
  LastUses last_uses_;
};

}  // namespace whyoom
