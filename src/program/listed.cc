#include "program/listed.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "program/remedies.h"

namespace whyoom {
namespace {

using Part = ListedPart;

constexpr std::int64_t kMostLayers = 128;  // a loop with more steps iterates over a sequence
constexpr std::int64_t kShortest = 16;     // shortest sequence
constexpr std::int64_t kMostlyNarrow = 4;  // if bf16 exceeds 1/4 of f32, the use of f32 is intended

// Index of the first dimension after the loop steps, if any.
std::size_t First(const ListedValue& value) { return value.part == Part::kStacked ? 1 : 0; }

bool IsComputed(const ListedValue& value) {
  return value.part != Part::kArgument && value.part != Part::kConverted && value.part != Part::kConstant;
}

bool HasLength(const ListedValue& value, std::int64_t length) {
  const ArrayDims& dims = value.shape.dims;
  return length > 0 && std::ranges::find(dims, length) != dims.end();
}

std::int64_t Shorter(std::int64_t length, std::int64_t parts) { return length / parts + (length % parts > 0 ? 1 : 0); }

// The length with most bytes; 0 if there is none.
std::int64_t LengthWithMostBytes(const std::map<std::int64_t, std::int64_t>& bytes) {
  const auto most = std::ranges::max_element(bytes, {}, [](const auto& one) { return one.second; });
  return most == bytes.end() ? 0 : most->first;
}

struct RowReader {
  const ListedProgram& listed;
  bool trains = false;
  std::int64_t batch = 0;     // 0: not found
  std::int64_t sequence = 0;  // the same
  double gaps = 0;            // bytes of fragmentation per byte of temporaries

  std::vector<Effect> Estimates() {
    trains = std::ranges::any_of(listed.values, [](const ListedValue& value) {
      return value.part == Part::kStacked || value.part == Part::kForward || value.part == Part::kBackward;
    });
    FindBatch();
    FindSequence();
    const std::int64_t temporaries = listed.need_bytes - listed.arguments_bytes - listed.fragmentation_bytes;
    if (temporaries > 0) gaps = static_cast<double>(listed.fragmentation_bytes) / static_cast<double>(temporaries);
    std::vector<Effect> changes;
    if (batch > 1) changes.push_back(ShortenBatch("half_batch", 2));
    if (batch > 1 && trains) changes.push_back(ShortenBatch("batch_in_steps", std::min(kMicroBatches, batch)));
    const auto halve = [&](const ListedValue&, ArrayDims* dims) {
      std::ranges::replace(*dims, sequence, Shorter(sequence, 2));
    };
    if (sequence > 0) changes.push_back(Resized("half_sequence", 2, halve));
    changes.push_back(Narrow());
    if (std::ranges::any_of(listed.values, IsSaved)) changes.push_back(RecomputeLoops());
    return changes;
  }

  // The batch is the first dimension of computed values. In a program with gradients, considers only stacked and
  // forward values, since others may be gradients of weights.
  void FindBatch() {
    std::map<std::int64_t, std::int64_t> bytes;  // by length
    for (const ListedValue& value : listed.values) {
      const ArrayDims& dims = value.shape.dims;
      const bool may_be_of_weights = trains && value.part != Part::kStacked && value.part != Part::kForward;
      if (!IsComputed(value) || may_be_of_weights || dims.size() < First(value) + 2) continue;
      const auto dim = std::find_if(dims.begin() + static_cast<std::ptrdiff_t>(First(value)), dims.end(),
                                    [](std::int64_t length) { return length > 1; });
      if (dim != dims.end()) bytes[*dim] += value.size;
    }
    batch = LengthWithMostBytes(bytes);
  }

  // The sequence is the number of steps of a long loop, else the length that attention scores have twice, else the
  // dimension after the batch in arrays of [examples, positions, features].
  void FindSequence() {
    std::map<std::int64_t, std::int64_t> twice;
    std::map<std::int64_t, std::int64_t> next;
    std::map<std::int64_t, std::int64_t> steps;
    for (const ListedValue& value : listed.values) {
      const ArrayDims& dims = value.shape.dims;
      const std::size_t first = First(value);
      if (!IsComputed(value)) continue;
      if (first == 1 && !dims.empty() && dims[0] > kMostLayers) steps[dims[0]] += value.size;
      if (dims.size() == first + 4 && dims[first + 2] == dims[first + 3]) twice[dims[first + 2]] += value.size;
      if (dims.size() == first + 3 && dims[first] == batch) next[dims[first + 1]] += value.size;
    }
    sequence = LengthWithMostBytes(!steps.empty() ? steps : !twice.empty() ? twice : next);
    if (sequence < kShortest) sequence = 0;
  }

  Effect Saving(const char* change, double bytes, std::int64_t parts = 0) const {
    Effect made{.change = change, .parts = parts};
    made.saves_bytes = std::min(static_cast<std::int64_t>(bytes * (1 + gaps)), listed.need_bytes);
    made.left_bytes = listed.need_bytes - made.saves_bytes;
    return made;
  }

  // Estimates a remedy that changes the dimensions of each computed value.
  template <class Resize>
  Effect Resized(const char* change, std::int64_t parts, const Resize& resize) const {
    double saved = 0;
    for (const ListedValue& value : listed.values) {
      if (!IsComputed(value)) continue;
      ArrayDims dims = value.shape.dims;
      resize(value, &dims);
      saved += static_cast<double>(value.size - BytesWithDims(value.shape, value.size, dims));
    }
    return Saving(change, saved, parts);
  }

  Effect ShortenBatch(const char* change, std::int64_t parts) const {
    return Resized(change, parts, [&](const ListedValue& value, ArrayDims* dims) {
      auto dim = std::ranges::find(*dims, batch);
      if (dim == dims->end() && First(value) < dims->size()) {
        // Batch and sequence may be merged into one dimension.
        dim = dims->begin() + static_cast<std::ptrdiff_t>(First(value));
        const bool of_weights = std::ranges::any_of(listed.values, [&](const ListedValue& other) {
          return other.part == Part::kConverted && HasLength(other, *dim);
        });
        if (*dim <= batch || *dim % batch != 0 || of_weights || value.part == Part::kBackward) return;
      }
      if (dim != dims->end()) *dim = Shorter(*dim, parts);
    });
  }

  // If many values per example are already bf16, the f32 values are f32 on purpose. Conversions to bf16 and values of
  // the backward pass reveal f32 arguments that are not listed.
  Effect Narrow() const {
    std::int64_t narrow = 0;
    std::int64_t wide = 0;
    const auto is_of_batch = [&](const ListedValue& value) {
      return IsComputed(value) && value.part != Part::kCopied && HasLength(value, batch);
    };
    for (const ListedValue& value : listed.values) {
      if (is_of_batch(value)) (value.shape.dtype == kBfloat16 ? narrow : wide) += value.size;
    }
    const bool mixed = narrow > wide / kMostlyNarrow;
    double saved = 0;
    bool wide_arguments = false;
    bool arguments_are_listed = false;
    for (const ListedValue& value : listed.values) {
      const bool is_f32 = value.shape.dtype == "f32";
      const bool narrowed = value.part == Part::kConverted && value.shape.dtype == kBfloat16;
      arguments_are_listed = arguments_are_listed || value.part == Part::kArgument;
      wide_arguments = wide_arguments || narrowed || (value.part == Part::kBackward && is_f32);
      if (narrowed) saved += static_cast<double>(value.size);  // the copy
      const bool on_purpose = mixed && value.part != Part::kCopied && HasLength(value, batch);
      if (!is_f32 || on_purpose) continue;
      const std::int64_t half = BytesWithElementBits(value.shape, 16).value_or(value.size);
      saved += static_cast<double>(value.size - std::min(value.size, half));
    }
    if (wide_arguments && !arguments_are_listed)
      saved += static_cast<double>(listed.arguments_bytes) / 2 / (1 + gaps);  // arguments have no gaps
    return Saving("bfloat16", saved);
  }

  static bool IsSaved(const ListedValue& value) { return value.part == Part::kStacked && !value.shape.dims.empty(); }

  // A loop saves values for the backward pass. With rematerialization, it saves only the layers' inputs, assumed to be
  // the smallest stack, and computes the other values again, one layer at a time. The spread is large because any share
  // of a layer's values may be live.
  Effect RecomputeLoops() const {
    std::int64_t carry = INT64_MAX;
    double stacks = 0;
    double comes_back = 0;
    for (const ListedValue& value : listed.values) {
      if (!IsSaved(value)) continue;
      const auto size = static_cast<double>(value.size);
      stacks += size;
      comes_back += size / static_cast<double>(std::max<std::int64_t>(1, value.shape.dims[0]));
      carry = std::min(carry, value.size);
    }
    Effect made = Saving("recompute_layers", std::max(0.0, stacks - static_cast<double>(carry) - comes_back / 2));
    made.spread_bytes = static_cast<std::int64_t>(comes_back / 2 * (1 + gaps));
    return made;
  }
};

}  // namespace

std::vector<Effect> EstimateFromList(const ListedProgram& listed) {
  return listed.values.empty() ? std::vector<Effect>() : RowReader{listed}.Estimates();
}

}  // namespace whyoom
