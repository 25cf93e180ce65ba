// A remedy made on a program: which values get smaller, go away or come in addition, and what the whole then needs.
//
// Nothing here knows a remedy by its name: the rule data says which change a remedy is. What fusion and scheduling
// would decide anew after a change is not in the dump, so each outcome has a spread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "input/stop.h"
#include "program/layout.h"
#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

struct Outcome {
  std::int64_t left_bytes = 0;    // what the changed program needs
  std::int64_t spread_bytes = 0;  // how far off that may be, up or down
};

// What a change makes of a program.
struct Variant {
  Sizes sizes;                // of the program's values
  std::int64_t more = 0;      // that the program needs throughout, in addition
  std::vector<Buffer> added;  // in addition for a time; `values` of each: what it comes back of, if of any
  std::string_view ruled_out =
      {};                  // why the program proves that the change cannot help: see Prospect; empty: it does not
  std::int64_t tried = 0;  // buffers that the change was made on, and that take as much as before
  Sizes at_best = {};      // if it also shrank what may have the axis though the trail to it is lost; else empty
  // What it was made on, for the user to find it.
  std::int64_t parts = 0;  // devices, steps or pieces; 0: none
  Axis axis = {};          // that is cut into them
  bool of_state = false;   // weights and optimizer state are
};

class Changes {
 public:
  // Borrows all. `limit_bytes` is what a device has; 0: not known. Once `stop`, which may be null, is asked for, what
  // is given counts for nothing.
  Changes(const Program& program, const Meaning& meaning, std::int64_t limit_bytes, const Stop* stop = nullptr);

  // Each gives nothing where the program shows no place for the change: then it may have one that is not recognized.

  // The axis `parts` times shorter, in all values.
  std::optional<Variant> Shorten(const Axis& axis, std::int64_t parts) const;
  // The axis as long as `size`, shorter or longer.
  std::optional<Variant> Resize(const Axis& axis, std::int64_t size) const;
  // A training step done in `parts` pieces of the batch one after another; arguments and results stay whole, and the
  // gradients that are added up over the pieces live throughout.
  std::optional<Variant> Accumulate(const Axis& axis, std::int64_t parts) const;
  // The same of any program, piece by piece against the whole: of an array that has the axis twice, rows.
  std::optional<Variant> InPieces(const Axis& axis, std::int64_t parts) const;
  std::optional<Variant> Donate() const;
  std::optional<Variant> Shard(std::int64_t devices) const;
  std::optional<Variant> MoreDevices(std::int64_t times) const;
  std::optional<Variant> Narrow() const;     // f32 to bf16
  std::optional<Variant> Recompute() const;  // layers in the backward pass
  std::optional<Variant> BlockAttention() const;
  std::optional<Variant> ChunkLoss(std::int64_t chunks) const;
  // Labels that come or are made with a column for each class (one-hot): a number for each example.
  std::optional<Variant> NumberLabels() const;
  std::optional<Variant> StateOnHost() const;
  std::optional<Variant> WithoutHostTransfer() const;
  std::optional<Variant> MergeTinyDimensions() const;

  Variant AsItIs() const;
  Variant RuledOut(std::string_view why) const;  // as it is, since the program proves that the change cannot help
  // Two changes made together: each shrinks what the other leaves.
  Variant Both(const Variant& one, const Variant& other) const;
  Outcome Judge(const Variant& variant) const;
  // How many buffers the change was made on.
  std::int64_t MadeOn(const Variant& variant) const;
  // Whether it depends on values whose dimensions are not known if the changed program fits.
  bool IsOpen(const Variant& variant) const;

  std::int64_t need_bytes() const { return need_; }
  // False where the program is too large for it to be laid out: then no outcome counts.
  bool whole() const { return compiled_.whole() && roomy_.whole(); }

  const Layout& compiled() const { return compiled_; }
  // Whether an outcome fits; a limit that is not known is never met.
  bool Fits(const Outcome& outcome) const { return limit_ > 0 && outcome.left_bytes <= limit_; }

 private:
  bool IsStopped() const { return stop_ != nullptr && stop_->IsAsked(); }
  // How much shorter an axis gets: times `length`, divided by `of`, rounded up.
  struct Ratio {
    std::int64_t length = 1;
    std::int64_t of = 1;
  };
  std::optional<Variant> InPieces(const Axis& axis, std::int64_t parts, bool rows) const;
  void KeepOutputs(Sizes* sizes) const;  // as they are
  // The same sizes, where what may have the axis is a part of what it was, too.
  Sizes AtBest(const Axis& axis, std::int64_t parts, Sizes sizes) const;
  // Whether the largest array is made of parts that do not ask for each other: of a vmap, or of all pairs of two
  // inputs.
  bool IsOfPieces() const;
  std::optional<Variant> SplitOver(std::int64_t devices) const;
  // Which arguments are split over devices already.
  struct Split {
    bool inputs = false;
    bool weights = false;
    std::set<int> families;  // of the dimensions that are
  };
  Split FindSplit() const;
  bool LeadsWithBatch(const std::vector<int>& dimension) const;
  std::optional<Sizes> GatheredSplit(std::int64_t devices) const;
  // What an axis of the mesh splits: families, with the length that a device has of them.
  struct MeshAxis {
    std::set<std::pair<int, std::int64_t>> splits;
    bool of_state = false;  // weights are among it
  };
  std::map<std::string, MeshAxis> MeshAxes() const;  // by name
  std::set<std::vector<int>> LongAxes(std::int64_t devices) const;
  Sizes BetweenWeights(const std::set<int>& split, std::int64_t devices) const;
  Sizes WholeWhereSent(Sizes sizes) const;
  Sizes Scaled(const Axis& axis, Ratio ratio, bool arguments_too, bool once = false) const;
  std::int64_t Scaled(std::size_t value, const Axis& axis, Ratio ratio, bool once) const;
  // Shapes of weights and optimizer state that are split over devices, or are not.
  std::set<std::string> StateShapes(bool split) const;
  // Values of these shapes a part of what they are.
  Sizes Divided(const std::set<std::string>& shapes, std::int64_t parts) const;
  Sizes StateSharded(std::int64_t devices) const;
  std::optional<Variant> RecomputeBlocks() const;             // of layers that are no loop
  std::vector<std::vector<std::int64_t>> SentToHost() const;  // dimensions of the arrays
  // A loop of the forward pass and the one of the backward pass that reads what it stacks.
  struct Pair;
  std::vector<int> Handed(int forward, int backward) const;
  std::vector<Pair> FindPairs() const;
  void RecomputeLoop(const Pair& pair, Sizes* sizes, std::vector<Buffer>* added) const;
  bool ReadsStep(int instruction) const;
  bool WrittenFrom(const HloComputation& body, int stack, int element) const;

  std::vector<bool> MadeOfState() const;  // by instruction: of weights or of what else is kept from step to step
  bool ComputesIn(std::string_view dtype) const;
  bool IsUpdated(const ProgramParameter& parameter) const;
  int LastUse(int instruction, int depth) const;
  int CopyOf(const ProgramParameter& parameter, const ProgramValue& output) const;
  bool CanTakeOver(const ProgramOutput& output, const ProgramParameter& parameter) const;

  const Program& program_;
  const Meaning& meaning_;
  std::int64_t limit_ = 0;
  const Stop* stop_ = nullptr;
  Layout compiled_;
  Layout roomy_;  // without rematerialization
  std::int64_t need_ = 0;
  std::set<std::string_view> output_shapes_;
  mutable std::unordered_map<std::int64_t, int> last_uses_;  // of what was asked: instruction and depth
};

}  // namespace whyoom
