#include "program/listed.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "program/remedies.h"

namespace whyoom {
namespace {

constexpr std::int64_t kMostLayers = 128;       // a loop with more steps iterates over a sequence
constexpr std::int64_t kMostExamples = 131072;  // a larger number is examples times positions
constexpr std::int64_t kShortest = 16;          // shortest sequence
constexpr std::int64_t kNoCarry = 200;          // a stack smaller than 1/200 of the largest is not a layer's input
constexpr std::int64_t kMostlyNarrow = 4;       // if bf16 exceeds 1/4 of f32, the use of f32 is intended

using Dims = std::vector<std::int64_t>;

class RowReader {
 public:
  explicit RowReader(const ListedProgram& listed) : listed_(listed) {
    for (const ListedValue& value : listed.values) {
      trains_ = trains_ || value.part == ListedPart::kStacked || value.part == ListedPart::kForward ||
                value.part == ListedPart::kBackward;
    }
    FindBatch();
    FindSequence();
    const std::int64_t temporaries = listed.need_bytes - listed.arguments_bytes - listed.fragmentation_bytes;
    if (temporaries > 0) gaps_ = static_cast<double>(listed.fragmentation_bytes) / static_cast<double>(temporaries);
  }

  std::vector<Effect> Estimates() const {
    std::vector<Effect> changes;
    const auto add = [&](const char* name, const std::optional<Effect>& made) {
      if (!made) return;
      changes.push_back(*made);
      changes.back().change = name;
    };
    add("half_batch", ShortenBatch(2));
    add("batch_in_steps", trains_ ? ShortenBatch(kMicroBatches) : std::nullopt);
    add("half_sequence", HalveSequence());
    add("bfloat16", Narrow());
    add("recompute_layers", RecomputeLoops());
    return changes;
  }

 private:
  // Index of the first dimension after the loop steps, if any.
  static std::size_t First(const ListedValue& value) { return value.part == ListedPart::kStacked ? 1 : 0; }

  static bool IsComputed(const ListedValue& value) {
    return value.part != ListedPart::kArgument && value.part != ListedPart::kConverted &&
           value.part != ListedPart::kConstant;
  }

  // The length with most bytes; 0 if there is none.
  static std::int64_t LengthWithMostBytes(const std::map<std::int64_t, std::int64_t>& bytes) {
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes.end() ? 0 : most->first;
  }

  // Whether a stack has examples and positions in one dimension, so its number of examples is unknown.
  static bool MergesPositions(const ListedValue& value) {
    const Dims& dims = value.shape.dims;
    return value.part == ListedPart::kStacked && dims.size() == 3 && dims[1] > kMostExamples;
  }

  bool InWeights(std::int64_t length) const {
    return std::any_of(listed_.values.begin(), listed_.values.end(), [&](const ListedValue& value) {
      return value.part == ListedPart::kConverted &&
             std::find(value.shape.dims.begin(), value.shape.dims.end(), length) != value.shape.dims.end();
    });
  }

  // The batch is the first dimension of computed values that no weight has. In a program with gradients, considers only
  // stacked and forward values, since others may be gradients of weights.
  void FindBatch() {
    std::map<std::int64_t, std::int64_t> bytes;  // by length
    for (const ListedValue& value : listed_.values) {
      const bool may_be_of_weights =
          trains_ && value.part != ListedPart::kStacked && value.part != ListedPart::kForward;
      if (!IsComputed(value) || may_be_of_weights) continue;
      const Dims& dims = value.shape.dims;
      const std::size_t first = First(value);
      if (dims.size() < first + 2 || MergesPositions(value)) continue;
      const auto batch = std::find_if(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end(),
                                      [&](std::int64_t length) { return length > 1 && !InWeights(length); });
      if (batch != dims.end()) bytes[*batch] += value.size;
    }
    batch_ = LengthWithMostBytes(bytes);
  }

  // The sequence is the number of steps of a long loop, else the length that attention scores have twice, else the
  // dimension after the batch in arrays of [examples, positions, features].
  void FindSequence() {
    std::map<std::int64_t, std::int64_t> twice;
    std::map<std::int64_t, std::int64_t> next;
    std::map<std::int64_t, std::int64_t> steps;
    for (const ListedValue& value : listed_.values) {
      if (!IsComputed(value)) continue;
      const Dims& dims = value.shape.dims;
      const std::size_t first = First(value);
      const std::size_t rank = dims.size() - std::min(first, dims.size());
      if (first == 1 && !dims.empty() && dims[0] > kMostLayers) steps[dims[0]] += value.size;
      if (rank == 4 && dims[first + 2] == dims[first + 3]) twice[dims[first + 2]] += value.size;
      if (rank == 3 && dims[first] == batch_) next[dims[first + 1]] += value.size;
    }
    for (const auto* found : {&steps, &twice, &next}) {
      sequence_ = LengthWithMostBytes(*found);
      of_steps_ = found == &steps;
      if (sequence_ >= kShortest) return;
    }
    sequence_ = 0;
  }

  Effect Saving(double bytes) const {
    Effect made;
    const double with_gaps = bytes * (1 + gaps_);
    made.saves_bytes = std::min(static_cast<std::int64_t>(with_gaps), listed_.need_bytes);
    made.left_bytes = listed_.need_bytes - made.saves_bytes;
    return made;
  }

  // Estimates a remedy that reduces each computed value to size(value).
  Effect Made(const std::function<std::int64_t(const ListedValue&)>& size) const {
    double saved = 0;
    for (const ListedValue& value : listed_.values) {
      if (IsComputed(value)) saved += static_cast<double>(value.size - size(value));
    }
    return Saving(saved);
  }

  static std::int64_t Shorter(std::int64_t length, std::int64_t parts) {
    return length / parts + (length % parts > 0 ? 1 : 0);
  }

  std::optional<Effect> ShortenBatch(std::int64_t parts) const {
    if (batch_ < 2) return std::nullopt;
    parts = std::min(parts, batch_);
    Effect made = Made([&](const ListedValue& value) {
      Dims dims = value.shape.dims;
      // A matrix of examples by examples has the batch twice. In other arrays, only the first match is the batch.
      const bool twice = dims.size() == 2;
      bool found = false;
      for (std::int64_t& length : dims) {
        if (length != batch_ || (found && !twice)) continue;
        length = Shorter(length, parts);
        found = true;
      }
      // Batch and sequence may be merged into one dimension.
      const std::size_t first = First(value);
      if (!found && first < dims.size() && dims[first] > batch_ && dims[first] % batch_ == 0 &&
          !InWeights(dims[first]) && value.part != ListedPart::kBackward)
        dims[first] = Shorter(dims[first], parts);
      return BytesWithDims(value.shape, value.size, dims);
    });
    made.parts = parts;
    return made;
  }

  std::optional<Effect> HalveSequence() const {
    if (sequence_ == 0) return std::nullopt;
    Effect made = Made([&](const ListedValue& value) {
      Dims dims = value.shape.dims;
      for (std::size_t i = of_steps_ ? 0 : First(value); i < dims.size(); ++i) {
        if (dims[i] == sequence_) dims[i] = Shorter(dims[i], 2);
      }
      return BytesWithDims(value.shape, value.size, dims);
    });
    made.parts = 2;
    return made;
  }

  bool HasBatch(const ListedValue& value) const {
    return batch_ > 0 && std::find(value.shape.dims.begin(), value.shape.dims.end(), batch_) != value.shape.dims.end();
  }

  // If many values per example are already bf16, the f32 values are f32 on purpose. Conversions to bf16 and values of
  // the backward pass reveal f32 arguments that are not listed.
  std::optional<Effect> Narrow() const {
    std::int64_t narrow = 0;
    std::int64_t wide = 0;
    for (const ListedValue& value : listed_.values) {
      if (!IsComputed(value) || value.part == ListedPart::kCopied || !HasBatch(value)) continue;
      (value.shape.dtype == kBfloat16 ? narrow : wide) += value.size;
    }
    const bool mixed = narrow > wide / kMostlyNarrow;
    double saved = 0;
    bool wide_arguments = false;
    bool arguments_are_listed = false;
    for (const ListedValue& value : listed_.values) {
      arguments_are_listed = arguments_are_listed || value.part == ListedPart::kArgument;
      if (value.part == ListedPart::kConverted && value.shape.dtype == kBfloat16) {
        saved += static_cast<double>(value.size);  // the copy
        wide_arguments = true;
      }
      const bool on_purpose = mixed && value.part != ListedPart::kCopied && HasBatch(value);
      if (value.shape.dtype != "f32" || on_purpose) continue;
      const std::optional<std::int64_t> half = BytesWithElementBits(value.shape, 16);
      if (half) saved += static_cast<double>(value.size - std::min(value.size, *half));
      wide_arguments = wide_arguments || value.part == ListedPart::kBackward;
    }
    Effect made = Saving(saved);
    if (wide_arguments && !arguments_are_listed) {
      made.saves_bytes = std::min(made.saves_bytes + listed_.arguments_bytes / 2, listed_.need_bytes);
      made.left_bytes = listed_.need_bytes - made.saves_bytes;
    }
    return made;
  }

  // A loop saves values for the backward pass. With rematerialization, it saves only the layers' inputs and computes
  // the other values again, one layer at a time. The spread is large because any share of a layer's values may be live.
  std::optional<Effect> RecomputeLoops() const {
    std::int64_t largest = 0;
    for (const ListedValue& value : listed_.values) {
      if (value.part == ListedPart::kStacked) largest = std::max(largest, value.size);
    }
    if (largest == 0) return std::nullopt;
    std::int64_t carry = largest;
    double stacks = 0;
    double comes_back = 0;
    for (const ListedValue& value : listed_.values) {
      if (value.part != ListedPart::kStacked || value.shape.dims.empty()) continue;
      stacks += static_cast<double>(value.size);
      comes_back +=
          static_cast<double>(value.size) / static_cast<double>(std::max<std::int64_t>(1, value.shape.dims[0]));
      if (value.size > largest / kNoCarry) carry = std::min(carry, value.size);
    }
    Effect made = Saving(std::max(0.0, stacks - static_cast<double>(carry) - comes_back / 2));
    made.spread_bytes = static_cast<std::int64_t>(comes_back / 2 * (1 + gaps_));
    return made;
  }

  const ListedProgram& listed_;
  bool trains_ = false;
  std::int64_t batch_ = 0;     // 0: not found
  std::int64_t sequence_ = 0;  // the same
  bool of_steps_ = false;      // the sequence is the number of steps of a loop
  double gaps_ = 0;            // bytes of fragmentation per byte of temporaries
};

}  // namespace

std::vector<Effect> EstimateFromList(const ListedProgram& listed) {
  return listed.values.empty() ? std::vector<Effect>() : RowReader(listed).Estimates();
}

}  // namespace whyoom
