// The half of FindDifferences that looks at what is done with the arguments.
//
// An operation is found again by how many elements it makes and by one of its dimensions: reshapes that put batch and
// sequence together leave both, and the names of operations differ from one way of writing a program to another.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "compare/difference.h"
#include "facts/op_name.h"

namespace whyoom {
namespace {

constexpr std::int64_t kTelling = 8;  // a dimension shorter than this is found by chance
constexpr double kMost = 0.5;
constexpr double kNoticeable = 0.1;
constexpr double kPart = 0.02;  // of the work, that is worth doing in pieces

using Key = std::pair<std::int64_t, std::int64_t>;  // elements and one of the dimensions

class Keys {
 public:
  void Add(const Result& result, std::int64_t times = 1) {
    for (const Key& key : KeysOf(result, times)) keys_.insert(key);
  }
  bool Has(const Result& result, std::int64_t times = 1) const {
    const std::vector<Key> keys = KeysOf(result, times);
    return std::any_of(keys.begin(), keys.end(), [&](const Key& key) { return keys_.contains(key); });
  }

 private:
  // Of a piece also with each dimension as long as the whole may have it.
  static std::vector<Key> KeysOf(const Result& result, std::int64_t times) {
    std::vector<Key> keys;
    for (const std::int64_t dim : result.dims) {
      if (dim >= kTelling) keys.emplace_back(result.elements * times, dim);
      if (times > 1 && dim * times >= kTelling) keys.emplace_back(result.elements * times, dim * times);
    }
    return keys;
  }

  std::set<Key> keys_;
};

using Shapes = std::set<std::vector<std::int64_t>>;

// Masks and indices may have the shape of quite other numbers.
std::vector<std::int64_t> ShapeKey(std::vector<std::int64_t> dims, bool is_float) {
  dims = Sorted(std::move(dims));
  if (!is_float) dims.push_back(-1);
  return dims;
}

// Without those of weights: a gradient may have the shape of a piece by chance.
Shapes ShapesOf(const Written& program) {
  Shapes weights;
  for (std::size_t i = 0; i < program.program().parameters().size(); ++i) {
    if (program.meaning().RoleOf(i) != Role::kWeights) continue;
    std::vector<std::int64_t> dims = program.program().ShapeOf(program.program().parameters()[i]).dims;
    std::erase(dims, 1);
    weights.insert(ShapeKey(std::move(dims), true));
  }
  Shapes shapes;
  for (const Result& result : program.results()) {
    std::vector<std::int64_t> key = ShapeKey(result.dims, result.is_float);
    if (!weights.contains(key)) shapes.insert(std::move(key));
  }
  return shapes;
}

// Whether the shape occurs, or would if one of its dimensions were so many times as long.
bool Occurs(const Shapes& shapes, const Result& result, std::int64_t times) {
  std::vector<std::int64_t> dims = result.dims;
  const auto has = [&](std::vector<std::int64_t> other) {
    return shapes.contains(ShapeKey(std::move(other), result.is_float));
  };
  if (has(dims)) return true;
  for (std::size_t i = 0; times > 1 && i < dims.size(); ++i) {
    std::vector<std::int64_t> longer = dims;
    longer[i] *= times;
    if (has(std::move(longer))) return true;
  }
  if (times <= 1) return false;
  dims.push_back(times);  // of a piece there was one for each
  return has(std::move(dims));
}

bool IsWithin(const Result& result, int loop) {
  return std::find(result.loops.begin(), result.loops.end(), loop) != result.loops.end();
}

std::string ShapeText(const Written& program, const Result& result) {
  return program.program().module().ShapeOf(result.instruction).array.shape;
}

bool HasDim(const Result& result, std::int64_t dim) {
  return dim > 0 && std::find(result.dims.begin(), result.dims.end(), dim) != result.dims.end();
}

class Work {
 public:
  Work(const Written& before, const Written& after) : before_(before), after_(after) {
    for (const Result& result : before.results()) were_.Add(result);
    shapes_ = ShapesOf(before);
  }

  std::vector<Difference> Compare() {
    Arguments("donate", before_.donated(), after_.donated());
    Arguments("state_on_host", before_.on_host(), after_.on_host());
    Callbacks();
    Labels();
    Pieces();
    Attention();
    Again();
    Narrower();
    return std::move(found_);
  }

 private:
  Difference& Found(std::string change) {
    found_.emplace_back().change = std::move(change);
    return found_.back();
  }
  bool Has(std::string_view change) const {
    return std::any_of(found_.begin(), found_.end(),
                       [&](const Difference& difference) { return difference.change == change; });
  }
  // A change of the arguments that are so in AFTER only, if they take enough.
  void Arguments(const char* change, const std::set<int>& before, const std::set<int>& after);
  std::set<std::int64_t> NewSteps() const;
  void Callbacks();
  void Labels();
  void Pieces();
  std::vector<const Result*> DoneIn(int loop) const;
  void InPieces(int loop);
  std::string WhatInPieces(int loop, const std::vector<const Result*>& covered) const;
  bool IsPieceOf(const Result& result, const std::vector<std::int64_t>& dims) const;
  void Attention();
  bool IsOfNewLoop(const Result& result, const std::set<std::int64_t>& new_steps) const;
  void Again();
  void Narrower();
  bool NarrowerArguments();
  void NarrowerWork();

  const Written& before_;
  const Written& after_;
  Keys were_;
  Shapes shapes_;            // of BEFORE
  std::set<int> partial_;    // those that do a part of the work in pieces
  std::int64_t pieces_ = 1;  // in which all of the work is done
  std::vector<Difference> found_;
};

// Numbers of steps that more loops take than before.
std::set<std::int64_t> Work::NewSteps() const {
  std::map<std::int64_t, int> known;
  for (const WrittenLoop& loop : before_.loops()) ++known[loop.steps];
  std::set<std::int64_t> more;
  for (const WrittenLoop& loop : after_.loops()) {
    if (--known[loop.steps] < 0) more.insert(loop.steps);
  }
  return more;
}

void Work::Arguments(const char* change, const std::set<int>& before, const std::set<int>& after) {
  const ProgramParameter* largest = nullptr;
  std::int64_t bytes = 0;
  std::int64_t most = -1;
  std::int64_t count = 0;
  for (const ArgumentPair& pair : MatchArguments(before_, after_)) {
    const ProgramParameter& one = before_.program().parameters()[pair.before];
    const ProgramParameter& other = after_.program().parameters()[pair.after];
    if (before.contains(one.number) || !after.contains(other.number)) continue;
    const std::int64_t size = UnpaddedBytes(after_.program().ShapeOf(other)).value_or(0);
    bytes += size;
    ++count;
    if (size <= most) continue;
    most = size;
    largest = &other;
  }
  if (largest == nullptr || bytes < kLargeBytes) return;
  Difference& difference = Found(change);
  difference.arrays = count;
  difference.facts["array"] = largest->path;
}

// Of a callback that was there there must be none any more: to tell it in the one direction, look from the other.
void Work::Callbacks() {
  if (before_.callbacks() == 0 || after_.callbacks() > 0) return;
  Found("no_host_transfer").arrays = before_.callbacks();
}

void Work::Labels() {
  const auto one_hot = [](const Written& program) {
    const Result* largest = nullptr;
    for (const Result& result : program.results()) {
      if (!IsOneHot(program.OpName(result.instruction))) continue;
      if (largest == nullptr || result.elements > largest->elements) largest = &result;
    }
    return largest;
  };
  const Result* had = one_hot(before_);
  if (had == nullptr || one_hot(after_) != nullptr || !HasDim(*had, before_.meaning().vocabulary().size)) return;
  Found("labels_as_numbers").facts["shape"] = ShapeText(before_, *had);
}

void Work::Pieces() {
  for (std::size_t i = 0; i < after_.loops().size(); ++i) {
    const WrittenLoop& loop = after_.loops()[i];
    // A loop within one that was found says no more.
    const bool known =
        std::any_of(loop.within.begin(), loop.within.end(), [&](int outer) { return partial_.contains(outer); });
    if (loop.steps > 1 && pieces_ == 1 && !known) InPieces(static_cast<int>(i));
  }
}

// What of BEFORE the loop makes piece by piece; nothing where that is a small part of it, or of the loop.
std::vector<const Result*> Work::DoneIn(int loop) const {
  const std::int64_t steps = after_.loops()[static_cast<std::size_t>(loop)].steps;
  double inside = 0;
  double divided = 0;
  Keys parts;
  Shapes whole;
  for (const Result& result : after_.results()) {
    if (!IsWithin(result, loop)) {
      whole.insert(ShapeKey(result.dims, result.is_float));
      continue;
    }
    inside += static_cast<double>(result.elements);
    if (Occurs(shapes_, result, 1) || !were_.Has(result, steps)) continue;
    divided += static_cast<double>(result.elements);
    parts.Add(result, steps);
  }
  std::vector<const Result*> covered;
  if (inside <= 0 || divided < kMost * inside) return covered;
  double all = 0;
  double done = 0;
  for (const Result& result : before_.results()) {
    all += static_cast<double>(result.elements);
    if (!parts.Has(result) || Occurs(whole, result, 1)) continue;
    covered.push_back(&result);
    done += static_cast<double>(result.elements);
  }
  if (done < kPart * all) covered.clear();
  return covered;
}

void Work::InPieces(int loop) {
  const std::vector<const Result*> covered = DoneIn(loop);
  if (covered.empty()) return;
  const std::int64_t steps = after_.loops()[static_cast<std::size_t>(loop)].steps;
  const std::string change = WhatInPieces(loop, covered);
  partial_.insert(loop);
  if (change == "batch_in_steps") pieces_ = steps;
  if (Has(change)) return;
  const Result* largest = *std::max_element(covered.begin(), covered.end(),
                                            [](const Result* a, const Result* b) { return a->elements < b->elements; });
  Difference& difference = Found(change);
  difference.facts["steps"] = static_cast<double>(steps);
  difference.facts["shape"] = ShapeText(before_, *largest);
  const std::int64_t batch = before_.meaning().batch().size;
  const bool of_batch = change == "batch_in_steps" && batch > 0 && batch % steps == 0;
  difference.facts["of_batch"] = of_batch;
  difference.from = of_batch ? batch : 1;
  difference.to = of_batch ? batch / steps : steps;
}

std::string Work::WhatInPieces(int loop, const std::vector<const Result*>& covered) const {
  const Written& one = after_;
  const WrittenLoop& itself = one.loops()[static_cast<std::size_t>(loop)];
  // Forward and backward pass within the loop: the gradient is taken of each piece.
  bool backward = std::any_of(one.results().begin(), one.results().end(), [&](const Result& result) {
    return IsWithin(result, loop) && IsTransposed(one.OpName(result.instruction));
  });
  for (const WrittenLoop& inner : one.loops()) {
    const bool is_within = std::find(inner.within.begin(), inner.within.end(), loop) != inner.within.end();
    backward = backward || (is_within && IsTransposed(one.OpName(inner.instruction)));
  }
  if (backward && !IsDifferentiated(one.OpName(itself.instruction))) return "batch_in_steps";
  double all = 0;
  double logits = 0;
  double scores = 0;
  for (const Result* result : covered) {
    const auto elements = static_cast<double>(result->elements);
    all += elements;
    if (HasDim(*result, before_.meaning().vocabulary().size)) logits += elements;
    if (before_.scores().contains(Sorted(result->dims))) scores += elements;
  }
  if (logits >= kMost * all && before_.meaning().trains()) return "loss_in_chunks";
  return scores >= kMost * all ? "attention_in_blocks" : "pieces";
}

// Whether a loop that was found to do the work in pieces makes it in place of the whole.
bool Work::IsPieceOf(const Result& result, const std::vector<std::int64_t>& dims) const {
  return std::any_of(partial_.begin(), partial_.end(), [&](int loop) {
    return IsWithin(result, loop) && Occurs({dims}, result, after_.loops()[static_cast<std::size_t>(loop)].steps);
  });
}

// The scores of all pairs are gone, and something new does their work: a loop, or a kernel.
void Work::Attention() {
  if (before_.scores().empty() || Has("attention_in_blocks")) return;
  std::set<std::vector<std::int64_t>> others;  // that were no scores
  for (const Result& result : before_.results()) {
    if (!before_.scores().contains(Sorted(result.dims))) others.insert(Sorted(result.dims));
  }
  const auto kernel = [](const Written& program) {
    const auto& instructions = program.program().module().instructions;
    return std::any_of(instructions.begin(), instructions.end(),
                       [](const HloInstruction& is) { return is.target == "tpu_custom_call"; });
  };
  if (NewSteps().empty() && (kernel(before_) || !kernel(after_))) return;
  for (const std::vector<std::int64_t>& scores : before_.scores()) {
    // Positions of queries and keys are most of the scores' dimensions; batch and heads may be put together.
    for (const Result& result : after_.results()) {
      if (IsPieceOf(result, scores)) return;
      const std::vector<std::int64_t> dims = Sorted(result.dims);
      if (std::includes(dims.begin(), dims.end(), scores.end() - 2, scores.end()) && !others.contains(dims)) return;
    }
  }
  // Where arguments have other dimensions, so have the scores.
  for (const ArgumentPair& pair : MatchArguments(before_, after_)) {
    if (before_.program().ShapeOf(before_.program().parameters()[pair.before]).dims !=
        after_.program().ShapeOf(after_.program().parameters()[pair.after]).dims)
      return;
  }
  Found("attention_in_blocks").facts["scores"] = fmt::format("[{}]", fmt::join(*before_.scores().begin(), ","));
}

// What is recomputed within a loop that was not there belongs to the new way of doing it.
bool Work::IsOfNewLoop(const Result& result, const std::set<std::int64_t>& new_steps) const {
  return std::any_of(result.loops.begin(), result.loops.end(), [&](int loop) {
    if (partial_.contains(loop)) return pieces_ == 1;
    return new_steps.contains(after_.loops()[static_cast<std::size_t>(loop)].steps);
  });
}

void Work::Again() {
  const auto is_again = [](const Written& program, const Result& result) {
    return IsRecomputed(program.OpName(result.instruction));
  };
  double before = 0;
  for (const Result& result : before_.results()) {
    if (is_again(before_, result)) before += static_cast<double>(result.elements);
  }
  const std::set<std::int64_t> new_steps = NewSteps();
  const Result* largest = nullptr;
  double now = 0;
  for (const Result& result : after_.results()) {
    if (!is_again(after_, result) || IsOfNewLoop(result, new_steps) || !Occurs(shapes_, result, pieces_)) continue;
    now += static_cast<double>(result.elements);
    if (largest == nullptr || result.elements > largest->elements) largest = &result;
  }
  if (largest == nullptr || now < 2 * before) return;
  Found("recompute_layers").facts["shape"] = ShapeText(after_, *largest);
}

void Work::Narrower() {
  if (!NarrowerArguments()) NarrowerWork();
}

bool Work::NarrowerArguments() {
  const auto shape = [](const Written& program, std::size_t number) -> const ArrayShape& {
    return program.program().ShapeOf(program.program().parameters()[number]);
  };
  double wide = 0;
  double narrower = 0;
  double most = -1;
  Difference difference;
  for (const ArgumentPair& pair : MatchArguments(before_, after_)) {
    const ArrayShape& one = shape(before_, pair.before);
    const ArrayShape& other = shape(after_, pair.after);
    const int bits = ElementBits(one.dtype).value_or(0);
    const int bits_after = ElementBits(other.dtype).value_or(0);
    if (one.dtype.find('f') == std::string::npos || bits == 0 || bits_after == 0) continue;
    const auto bytes = static_cast<double>(UnpaddedBytes(one).value_or(0));
    if (bits > 16) wide += bytes;
    if (bits_after >= bits) continue;
    narrower += bytes;
    ++difference.arrays;
    if (bytes <= most) continue;
    most = bytes;
    difference.facts["array"] = before_.program().parameters()[pair.before].path;
    difference.facts["dtype_before"] = one.dtype;
    difference.facts["dtype_after"] = other.dtype;
  }
  if (narrower <= kNoticeable * wide || narrower < static_cast<double>(kLargeBytes)) return false;
  difference.change = "bfloat16";
  found_.push_back(std::move(difference));
  return true;
}

void Work::NarrowerWork() {
  const auto share = [](const Written& program) {
    double floats = 0;
    double narrow = 0;
    for (const Result& result : program.results()) {
      if (!result.is_float) continue;
      floats += static_cast<double>(result.elements);
      if (result.bits <= 16) narrow += static_cast<double>(result.elements);
    }
    return floats > 0 ? narrow / floats : 0;
  };
  constexpr double kRise = 0.3;
  const double before = share(before_);
  const double after = share(after_);
  if (after - before < kRise) return;
  Difference& difference = Found("bfloat16");
  difference.facts["share_before"] = before;
  difference.facts["share_after"] = after;
}

}  // namespace

std::vector<Difference> WorkDifferences(const Written& before, const Written& after) {
  return Work(before, after).Compare();
}

}  // namespace whyoom
