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

constexpr std::int64_t kMostLayers = 128;       // a loop of more steps goes through a sequence
constexpr std::int64_t kMostExamples = 131072;  // more of them are places, of nobody knows how many examples
constexpr std::int64_t kShortest = 16;          // of a sequence
constexpr std::int64_t kNoCarry = 200;          // what is smaller than this part of the largest is no layer's input
constexpr std::int64_t kMostlyNarrow = 4;       // bf16 beside four times as much f32 is there on purpose

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

  std::vector<Prospect> Changes() const {
    std::vector<Prospect> changes;
    const auto add = [&](const char* name, const std::optional<Prospect>& made) {
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
  // Where an example's dimensions begin.
  static std::size_t First(const ListedValue& value) { return value.part == ListedPart::kStacked ? 1 : 0; }

  static bool IsComputed(const ListedValue& value) {
    return value.part != ListedPart::kArgument && value.part != ListedPart::kConverted &&
           value.part != ListedPart::kConstant;
  }

  // The length that has most of the bytes.
  static std::int64_t Most(const std::map<std::int64_t, std::int64_t>& bytes) {
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == bytes.end() ? 0 : most->first;
  }

  // [layers, places, features] of a loop: examples and their places are one dimension, and it may be one example.
  static bool IsOfPlaces(const ListedValue& value) {
    const Dims& dims = value.shape.dims;
    return value.part == ListedPart::kStacked && dims.size() == 3 && dims[1] > kMostExamples;
  }

  bool InWeights(std::int64_t length) const {
    return std::any_of(listed_.values.begin(), listed_.values.end(), [&](const ListedValue& value) {
      return value.part == ListedPart::kConverted &&
             std::find(value.shape.dims.begin(), value.shape.dims.end(), length) != value.shape.dims.end();
    });
  }

  // The first dimension of what is computed that no weight has. Beside a backward pass what is neither stacked nor of
  // the forward pass may be a gradient of weights.
  void FindBatch() {
    std::map<std::int64_t, std::int64_t> bytes;  // by length
    for (const ListedValue& value : listed_.values) {
      const bool may_be_of_weights =
          trains_ && value.part != ListedPart::kStacked && value.part != ListedPart::kForward;
      if (!IsComputed(value) || may_be_of_weights) continue;
      const Dims& dims = value.shape.dims;
      const std::size_t first = First(value);
      if (dims.size() < first + 2 || IsOfPlaces(value)) continue;
      const auto batch = std::find_if(dims.begin() + static_cast<std::ptrdiff_t>(first), dims.end(),
                                      [&](std::int64_t length) { return length > 1 && !InWeights(length); });
      if (batch != dims.end()) bytes[*batch] += value.size;
    }
    batch_ = Most(bytes);
  }

  // Attention's scores have it twice; otherwise what follows the batch in arrays of examples, places and features, or
  // the steps of a long loop.
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
      sequence_ = Most(*found);
      of_steps_ = found == &steps;
      if (sequence_ >= kShortest) return;
    }
    sequence_ = 0;
  }

  Prospect Saving(double bytes) const {
    Prospect made;
    const double with_gaps = bytes * (1 + gaps_);
    made.saves_bytes = std::min(static_cast<std::int64_t>(with_gaps), listed_.need_bytes);
    made.left_bytes = listed_.need_bytes - made.saves_bytes;
    return made;
  }

  // `size` returns what is left of a computed value.
  Prospect Made(const std::function<std::int64_t(const ListedValue&)>& size) const {
    double saved = 0;
    for (const ListedValue& value : listed_.values) {
      if (IsComputed(value)) saved += static_cast<double>(value.size - size(value));
    }
    return Saving(saved);
  }

  static std::int64_t Shorter(std::int64_t length, std::int64_t parts) {
    return length / parts + (length % parts > 0 ? 1 : 0);
  }

  std::optional<Prospect> ShortenBatch(std::int64_t parts) const {
    if (batch_ < 2) return std::nullopt;
    parts = std::min(parts, batch_);
    Prospect made = Made([&](const ListedValue& value) {
      Dims dims = value.shape.dims;
      // Examples against examples have it twice; where there is more, a dimension of the same length is another.
      const bool twice = dims.size() == 2;
      bool found = false;
      for (std::int64_t& length : dims) {
        if (length != batch_ || (found && !twice)) continue;
        length = Shorter(length, parts);
        found = true;
      }
      // With the sequence it may be one dimension.
      const std::size_t first = First(value);
      if (!found && first < dims.size() && dims[first] > batch_ && dims[first] % batch_ == 0 &&
          !InWeights(dims[first]) && value.part != ListedPart::kBackward)
        dims[first] = Shorter(dims[first], parts);
      return BytesWithDims(value.shape, value.size, dims);
    });
    made.parts = parts;
    return made;
  }

  std::optional<Prospect> HalveSequence() const {
    if (sequence_ == 0) return std::nullopt;
    Prospect made = Made([&](const ListedValue& value) {
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

  // Where much of what is computed for each example is narrow already, the rest is wide on purpose. Wide arguments are
  // seen by what they were converted from.
  std::optional<Prospect> Narrow() const {
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
    Prospect made = Saving(saved);
    if (wide_arguments && !arguments_are_listed) {
      made.saves_bytes = std::min(made.saves_bytes + listed_.arguments_bytes / 2, listed_.need_bytes);
      made.left_bytes = listed_.need_bytes - made.saves_bytes;
    }
    return made;
  }

  // Of what a loop keeps for the backward pass a layer's input stays; the rest comes back while a layer is gone through
  // backward, none of it or all at once.
  std::optional<Prospect> RecomputeLoops() const {
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
    Prospect made = Saving(std::max(0.0, stacks - static_cast<double>(carry) - comes_back / 2));
    made.spread_bytes = static_cast<std::int64_t>(comes_back / 2 * (1 + gaps_));
    return made;
  }

  const ListedProgram& listed_;
  bool trains_ = false;
  std::int64_t batch_ = 0;     // 0: not found
  std::int64_t sequence_ = 0;  // the same
  bool of_steps_ = false;      // it is what loops go through
  double gaps_ = 0;            // fragmentation beside each byte of temporaries
};

}  // namespace

std::vector<Prospect> LookAtList(const ListedProgram& listed) {
  return listed.values.empty() ? std::vector<Prospect>() : RowReader(listed).Changes();
}

}  // namespace whyoom
