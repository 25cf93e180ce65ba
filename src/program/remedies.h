// The remedies that can be applied to a program. The rule data defines which of them a remedy of the report is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "program/simulator.h"

namespace whyoom {

// Returns nullopt if the program shows no place for it: there may be one that is not recognized.
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

}  // namespace whyoom
