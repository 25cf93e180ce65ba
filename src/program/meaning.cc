#include "program/meaning.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "facts/op_name.h"

namespace whyoom {
namespace {

constexpr std::int64_t kShortestSequence = 16;  // a shorter axis may be a batch of one device

// The words of "state['opt_state'][0].mu['blocks']['wq']", in lower case.
std::vector<std::string> Words(std::string_view path) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

template <class Item>
bool AnyIn(const std::vector<Item>& items, const std::set<Item>& set) {
  return std::any_of(items.begin(), items.end(), [&](const Item& item) { return set.contains(item); });
}

bool NamesOptimizer(const std::string& path, const RoleWords& role_words) {
  return std::any_of(role_words.optimizer_parts.begin(), role_words.optimizer_parts.end(),
                     [&](const std::string& part) { return path.find(part) != std::string::npos; });
}

// Whether a reduction looks for the largest of an array's elements.
bool TakesLargest(const HloModule& module, const HloInstruction& instruction) {
  if (instruction.opcode != "reduce" || instruction.operands.empty() || instruction.calls.empty()) return false;
  const HloComputation& reducer = module.computations[instruction.calls[0]];
  if (reducer.root < 0 || module.ShapeOf(instruction.operands[0]).is_tuple) return false;
  // Of numbers of 64 bits, which are pairs, it is no single operation.
  return module.instructions[reducer.root].opcode == "maximum" || instruction.op_name.ends_with("reduce_max");
}

// Whether the result is the operand in another place, order or type.
bool Carries(const HloModule& module, const HloInstruction& instruction) {
  const auto carries = [](const HloInstruction& is) {
    return is.Is({"bitcast", "convert", "copy", "copy-start", "copy-done", "get-tuple-element", "transpose", "reshape",
                  "all-gather-done", "async-done"});
  };
  if (carries(instruction)) return true;
  if (instruction.opcode != "fusion" || instruction.calls.empty()) return false;
  const std::vector<int>& fused = module.computations[instruction.calls[0]].instructions;
  return std::all_of(fused.begin(), fused.end(), [&](int at) {
    return module.instructions[at].opcode == "parameter" || carries(module.instructions[at]);
  });
}

constexpr std::int64_t kLargeEnough = std::int64_t{1} << 20;
constexpr std::size_t kMostKinds =
    1000;  // of attention, or of dimensions that are fed in: more are looked for by nobody

}  // namespace

Meaning::Meaning(const Program& program, const RoleWords& role_words) : program_(program) {
  const std::vector<HloInstruction>& instructions = program.module().instructions;
  trains_ = std::any_of(instructions.begin(), instructions.end(),
                        [](const HloInstruction& instruction) { return IsGradient(instruction.op_name); });
  for (const ProgramValue& value : program.values()) {
    rows_.push_back(value.leaf < 0 ? Rows() : RowsOf(value.instruction, value.leaf));
    if (value.leaf >= 0 && value.size >= kLargeEnough) large_.push_back(value.number);
  }
  FindRoles(role_words);
  has_weights_ = std::any_of(roles_.begin(), roles_.end(),
                             [](Role role) { return role == Role::kWeights || role == Role::kCache; });
  FindBatch();
  FindSequence();
  FindAttention();
  FindVocabulary();
  FindWeightDims();
  gathered_ = FindGathered();
  FindKinds();
}

bool Meaning::IsBackward(int instruction) const { return IsGradient(program_.At(instruction).op_name); }

bool Meaning::IsForward(int instruction) const {
  const std::string_view name = program_.At(instruction).op_name;
  return IsDifferentiated(name) && !IsTransposed(name);
}

Rows Meaning::RowsOf(int instruction, int leaf) const {
  Rows rows = program_.dimensions().Of(instruction, leaf);
  for (std::vector<int>& row : rows) {
    for (int& factor : row) factor = program_.dimensions().Family(factor);
  }
  return rows;
}

bool HoldsWhole(const std::vector<int>& row, const std::vector<int>& families) {
  return std::search(row.begin(), row.end(), families.begin(), families.end()) != row.end();
}

int Occurs(const Rows& rows, const Axis& axis) {
  int whole = 0;
  int parts = 0;
  for (const std::vector<int>& row : rows) {
    if (HoldsWhole(row, axis.families)) {
      ++whole;
    } else if (std::find(row.begin(), row.end(), axis.families.front()) != row.end()) {
      ++parts;
    }
  }
  return whole > 0 ? whole : parts;
}

Axis Meaning::MakeAxis(const std::vector<int>& factors) const {
  Axis axis;
  axis.size = 1;
  for (const int factor : factors) {
    axis.families.push_back(program_.dimensions().Family(factor));
    axis.size *= program_.dimensions().factors().size(factor);
  }
  return axis;
}

bool Meaning::InWeights(const Axis& axis) const { return AnyIn(axis.families, weight_families_); }

bool Meaning::IsOfWeights(const Rows& rows) const {
  return std::all_of(rows.begin(), rows.end(),
                     [&](const std::vector<int>& row) { return row.empty() || AnyIn(row, weight_families_); });
}

bool Meaning::MayHave(std::size_t value, const Axis& axis) const {
  const ProgramValue& is = program_.values()[value];
  if (is.leaf < 0 || Has(value, axis) || gathered_[is.instruction] != 0) return false;
  if (weight_dims_.contains(SortedDims(program_.ShapeOf(is).dims))) return false;
  return std::any_of(rows_[value].begin(), rows_[value].end(), [&](const std::vector<int>& row) {
    if (row.empty() || AnyIn(row, weight_families_)) return false;
    return (!batch_ || Occurs({row}, batch_) == 0) && (!sequence_ || Occurs({row}, sequence_) == 0);
  });
}

std::int64_t Meaning::BytesWith(const Axis& axis) const {
  std::int64_t bytes = 0;
  for (const int i : large_) {
    if (Has(i, axis)) bytes += program_.values()[i].size;
  }
  return bytes;
}

Axis Meaning::Restored(const Axis& axis) const {
  const auto [known, is_new] = of_size_.try_emplace(axis.size);
  std::map<std::vector<int>, std::int64_t>& found = known->second;
  for (const int i : is_new ? large_ : std::vector<int>()) {
    const ProgramValue& value = program_.values()[i];
    const ArrayShape& shape = program_.ShapeOf(value);
    for (std::size_t dim = 0; dim < rows_[i].size(); ++dim) {
      if (shape.dims[dim] == axis.size && !AnyIn(rows_[i][dim], weight_families_)) found[rows_[i][dim]] += value.size;
    }
  }
  Axis best = axis;
  std::int64_t most = 10 * BytesWith(axis);
  for (const auto& [families, bytes] : found) {
    if (bytes <= most) continue;
    most = bytes;
    best.families = families;
  }
  return best;
}

Role Meaning::NamedRole(const ProgramParameter& parameter, const RoleWords& role_words, bool is_returned) const {
  const std::vector<std::string> words = Words(parameter.path);
  const bool is_float = program_.ShapeOf(parameter).dtype.find('f') != std::string::npos;
  const bool is_weight = AnyIn(words, role_words.weights);
  if (AnyIn(words, role_words.cache)) return Role::kCache;
  if (AnyIn(words, role_words.optimizer_state)) return Role::kOptimizerState;
  if (AnyIn(words, role_words.inputs) && !is_weight) return Role::kInput;
  if (!is_float) return Role::kInput;
  return is_weight || (is_returned && trains_) ? Role::kWeights : Role::kOther;
}

void Meaning::FindRoles(const RoleWords& role_words) {
  const std::vector<ProgramParameter>& parameters = program_.parameters();
  std::set<std::string> returned;  // shapes of outputs
  for (const ProgramOutput& output : program_.outputs()) returned.insert(program_.ShapeOf(output).shape);
  std::set<std::string> weights;  // shapes
  for (const ProgramParameter& parameter : parameters) {
    const ArrayShape& shape = program_.ShapeOf(parameter);
    const bool is_returned = returned.contains(shape.shape);
    roles_.push_back(NamedRole(parameter, role_words, is_returned));
    comes_back_.push_back(is_returned && !trains_ && !shape.dims.empty() ? 1 : 0);
    if (roles_.back() == Role::kWeights) weights.insert(shape.shape);
  }
  std::set<int> fed_in;
  for (const ProgramParameter& parameter : parameters) {
    Role& role = roles_[parameter.place];
    const ArrayShape& shape = program_.ShapeOf(parameter);
    // Short names ("m", "v") are optimizer state only beside weights of the same shape.
    if (role == Role::kOptimizerState && shape.dims.size() > 1 && !weights.contains(shape.shape) && !weights.empty() &&
        !NamesOptimizer(parameter.path, role_words))
      role = Role::kOther;
    const Rows rows = RowsOf(parameter.instruction, parameter.leaf);
    if (role == Role::kInput && !rows.empty()) fed_in.insert(rows[0].begin(), rows[0].end());
  }
  for (const ProgramParameter& parameter : parameters) {
    const Rows rows = RowsOf(parameter.instruction, parameter.leaf);
    // What has a row for each example is no weight, whatever its name.
    if (roles_[parameter.place] == Role::kWeights && !rows.empty() && !rows[0].empty() &&
        fed_in.contains(rows[0].front()))
      roles_[parameter.place] = Role::kInput;
    if (!IsState(parameter.place)) continue;
    for (const std::vector<int>& row : rows) {
      weight_families_.insert(row.begin(), row.end());
      if (rows.size() > 2) stacked_families_.insert(row.begin(), row.end());
    }
  }
  for (const int family : LearnedPositions(fed_in)) weight_families_.erase(family);
}

// Dimensions that arrays are multiplied with weights along: summed over, or made by the weight.
std::set<int> Meaning::Features(const std::set<int>& fed_in) const {
  std::set<int> features;
  const Dimensions& dimensions = program_.dimensions();
  for (const Product& product : dimensions.products()) {
    if (IsBackward(product.instruction) || !product.batch.empty()) continue;
    const std::vector<int> contracted = dimensions.FamiliesOf(product.contracted);
    features.insert(contracted.begin(), contracted.end());
    for (const std::vector<int>* free : {&product.left, &product.right}) {
      const std::vector<int> of_operand = dimensions.FamiliesOf(*free);
      if (!AnyIn(of_operand, fed_in)) features.insert(of_operand.begin(), of_operand.end());
    }
  }
  for (const Loop& loop : dimensions.loops()) {  // layers
    if (loop.factor < 0) continue;
    const std::vector<int> stacked = dimensions.FamiliesOf({loop.factor});
    features.insert(stacked.begin(), stacked.end());
  }
  return features;
}

// A table of learned positions has a row for each place in the sequence; it is added, never multiplied with, and the
// sequence is no dimension of the weights for that.
std::set<int> Meaning::LearnedPositions(const std::set<int>& fed_in) const {
  constexpr int kTables = 2;  // of an encoder and a decoder
  const std::set<int> features = Features(fed_in);
  std::map<int, int> weights;     // by family: how many have it
  std::set<int> beside_features;  // families
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (roles_[parameter.place] != Role::kWeights) continue;
    std::set<int> of_weight;
    for (const std::vector<int>& row : RowsOf(parameter.instruction, parameter.leaf))
      of_weight.insert(row.begin(), row.end());
    const bool has_features =
        std::any_of(of_weight.begin(), of_weight.end(), [&](int family) { return features.contains(family); });
    for (const int family : of_weight) {
      ++weights[family];
      if (has_features) beside_features.insert(family);
    }
  }
  std::set<int> positions;
  for (const int i : large_) {
    for (std::size_t dim = 0; dim < rows_[i].size(); ++dim) {
      const std::vector<int>& row = rows_[i][dim];
      if (program_.ShapeOf(program_.values()[i]).dims[dim] < kShortestSequence) continue;
      const bool only_added = std::all_of(row.begin(), row.end(), [&](int family) {
        const auto of = weights.find(family);
        return of != weights.end() && of->second <= kTables && beside_features.contains(family) &&
               !features.contains(family);
      });
      if (only_added) positions.insert(row.begin(), row.end());
    }
  }
  return positions;
}

std::vector<std::vector<int>> Meaning::FactorsOf(const ProgramParameter& parameter) const {
  return program_.dimensions().Of(parameter.instruction, parameter.leaf);
}

void Meaning::FindBatch() {
  // The leading dimension of what is fed in that no weight shares; among several the one that most of the memory has.
  std::int64_t best = -1;
  // First what is called an input and only goes in, then also what comes back, then whatever is left.
  for (int lenience = 0; lenience <= 2 && best <= 0; ++lenience) {
    std::set<std::pair<std::vector<int>, std::int64_t>> looked_at;
    for (const ProgramParameter& parameter : program_.parameters()) {
      const std::size_t i = parameter.place;
      if (IsState(i) || (lenience == 0 && (roles_[i] != Role::kInput || comes_back_[i] != 0))) continue;
      const std::vector<std::vector<int>> dims = FactorsOf(parameter);
      if (dims.empty() || dims[0].empty()) continue;  // a scalar, or a batch of 1
      const Axis axis = MakeAxis(dims[0]);
      if (lenience < 2 && InWeights(axis)) continue;
      if (looked_at.size() >= kMostKinds || !looked_at.emplace(axis.families, axis.size).second) continue;
      const Axis restored = Restored(axis);
      const std::int64_t bytes = BytesWith(restored);
      if (bytes <= best) continue;
      best = bytes;
      batch_ = restored;
    }
  }
  if (batch_) JoinBatches();
}

// If the trail between two arguments is lost, a leading dimension as long as the batch is the batch, too.
void Meaning::JoinBatches() {
  std::size_t lost = 0;
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (IsState(parameter.place)) continue;
    const std::vector<std::vector<int>> dims = FactorsOf(parameter);
    if (dims.empty() || dims[0].size() != batch_.families.size()) continue;
    const Axis axis = MakeAxis(dims[0]);
    if (axis.size != batch_.size || axis == batch_ || InWeights(axis) || ++lost > kMostKinds) continue;
    of_size_.clear();
    for (Rows& rows : rows_) {
      for (std::vector<int>& row : rows) {
        const auto at = std::search(row.begin(), row.end(), axis.families.begin(), axis.families.end());
        if (at != row.end()) std::copy(batch_.families.begin(), batch_.families.end(), at);
      }
    }
  }
}

// Other dimensions that are fed in, or that a loop stacks.
std::vector<Axis> Meaning::SequenceCandidates() const {
  std::vector<Axis> candidates;
  std::set<std::pair<std::vector<int>, std::int64_t>> looked_at;
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (IsState(parameter.place)) continue;
    const std::vector<std::vector<int>> dims = FactorsOf(parameter);
    for (std::size_t dim = 1; dim < dims.size(); ++dim) {
      if (dims[dim].empty() || looked_at.size() >= kMostKinds) continue;
      const Axis axis = MakeAxis(dims[dim]);
      if (looked_at.emplace(axis.families, axis.size).second) candidates.push_back(Restored(axis));
    }
  }
  std::set<std::pair<std::vector<int>, std::int64_t>> stacked;
  for (const ProgramValue& value : program_.values()) {
    if (value.leaf < 0 || program_.InstructionOf(value).target != "AllocateBuffer") continue;
    const std::vector<std::vector<int>> dims = program_.dimensions().Of(value.instruction, value.leaf);
    if (dims.empty() || dims[0].empty()) continue;
    const Axis axis = MakeAxis(dims[0]);
    if (candidates.size() < 2 * kMostKinds && stacked.emplace(axis.families, axis.size).second)
      candidates.push_back(axis);
  }
  return candidates;
}

// Of the candidates that no weight has, the one that most of the memory has.
void Meaning::FindSequence() {
  std::int64_t best = 0;
  for (const Axis& axis : SequenceCandidates()) {
    if (axis == batch_ || axis.size < kShortestSequence || InWeights(axis)) continue;
    const std::int64_t bytes = BytesWith(axis);
    if (bytes <= best) continue;
    best = bytes;
    sequence_ = axis;
  }
}

std::vector<std::pair<std::vector<int>, Rows>> Meaning::FindSoftmaxes() const {
  std::vector<std::pair<std::vector<int>, Rows>> softmaxes;
  const HloModule& module = program_.module();
  for (const HloInstruction& instruction : module.instructions) {
    if (softmaxes.size() >= kMostKinds) break;
    if (!TakesLargest(module, instruction)) continue;
    Rows rows = RowsOf(instruction.operands[0], 0);
    std::vector<int> along;
    for (const std::int64_t dim : Integers(Attribute(instruction.attributes, "dimensions"))) {
      if (dim < 0 || dim >= static_cast<std::int64_t>(rows.size())) continue;
      const std::vector<int>& row = rows[dim];
      along.insert(along.end(), row.begin(), row.end());
    }
    std::pair<std::vector<int>, Rows> softmax{std::move(along), std::move(rows)};
    if (std::find(softmaxes.begin(), softmaxes.end(), softmax) == softmaxes.end())
      softmaxes.push_back(std::move(softmax));
  }
  return softmaxes;
}

// The dimension groups of a product's free dimensions without the batch; empty if a weight has any.
std::vector<int> Meaning::Positions(const std::vector<int>& factors) const {
  std::vector<int> positions = program_.dimensions().FamiliesOf(factors);
  std::erase_if(positions, [&](int family) { return HoldsWhole(batch_.families, {family}); });
  if (AnyIn(positions, weight_families_)) positions.clear();
  return positions;
}

void Meaning::FindAttention() {
  // Scores are a product of two activations whose free dimensions, the positions of queries and keys, no weight has;
  // what is summed over is a part of each head. A softmax over the keys follows, or the scope says what it is: else it
  // is another product of pairs, such as one that hands tokens to experts.
  const Dimensions& dimensions = program_.dimensions();
  const std::vector<std::pair<std::vector<int>, Rows>> softmaxes = FindSoftmaxes();
  const auto shares = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
  };
  const auto has_softmax = [&](const std::vector<int>& queries, const std::vector<int>& keys) {
    return std::any_of(softmaxes.begin(), softmaxes.end(), [&](const auto& softmax) {
      const auto has_queries = [&](const std::vector<int>& row) { return shares(row, queries); };
      return shares(softmax.first, keys) && std::any_of(softmax.second.begin(), softmax.second.end(), has_queries);
    });
  };
  for (const Product& product : dimensions.products()) {
    if (attention_.size() >= kMostKinds) break;
    if (IsBackward(product.instruction)) continue;
    const std::vector<int> queries = Positions(product.left);
    const std::vector<int> keys = Positions(product.right);
    if (queries.empty() || keys.empty()) continue;
    const std::vector<int> summed = dimensions.FamiliesOf(product.contracted);
    const bool over_features = !summed.empty() && std::all_of(summed.begin(), summed.end(), [&](int family) {
      return weight_families_.contains(family);
    });
    if (!over_features || product.batch.empty() || attention_.contains({queries, keys})) continue;
    if (IsAttention(program_.At(product.instruction).op_name) || has_softmax(queries, keys))
      attention_.insert({queries, keys});
  }
}

bool Meaning::IsScores(std::size_t value) const {
  const auto holds = [&](const std::vector<int>& positions) {
    return std::count_if(rows_[value].begin(), rows_[value].end(),
                         [&](const std::vector<int>& row) { return HoldsWhole(row, positions); });
  };
  return std::any_of(attention_.begin(), attention_.end(), [&](const auto& pair) {
    return pair.first == pair.second ? holds(pair.first) > 1 : holds(pair.first) > 0 && holds(pair.second) > 0;
  });
}

void Meaning::FindVocabulary() {
  // The classes that the loss is taken over: a softmax looks for the largest of them, which nothing does with features.
  // So does a router with its experts; but each of these has a matrix of its own, which the weights of the classes, a
  // row each, do not have.
  const HloModule& module = program_.module();
  for (const HloInstruction& instruction : module.instructions) {
    if (!TakesLargest(module, instruction)) continue;
    const int from = instruction.operands[0];
    const std::vector<std::vector<int>> dims = program_.dimensions().Of(from, 0);
    for (const std::int64_t dim : Integers(Attribute(instruction.attributes, "dimensions"))) {
      if (dim < 0 || dim >= static_cast<std::int64_t>(dims.size()) || dims[dim].empty()) continue;
      const Axis axis = MakeAxis(dims[dim]);
      if (InWeights(axis) && !AnyIn(axis.families, stacked_families_) && axis.size > vocabulary_.size)
        vocabulary_ = axis;
    }
  }
}

std::vector<char> Meaning::FindGathered() const {
  const HloModule& module = program_.module();
  std::vector<char> gathers(module.computations.size(), 0);  // holds an all-gather
  std::vector<char> gathered;
  for (const HloInstruction& instruction : module.instructions) {
    if (instruction.opcode.starts_with("all-gather")) gathers[instruction.computation] = 1;
  }
  for (const HloInstruction& instruction : module.instructions) {
    const std::vector<int>& calls = instruction.calls;
    const bool makes = instruction.opcode.starts_with("all-gather") ||
                       ((instruction.opcode == "fusion" || instruction.opcode.starts_with("async-")) &&
                        std::any_of(calls.begin(), calls.end(), [&](int call) { return gathers[call] != 0; }));
    const bool carries =
        !instruction.operands.empty() && gathered[instruction.operands[0]] != 0 && Carries(module, instruction);
    gathered.push_back(makes || carries ? 1 : 0);  // operands stand before their user
  }
  return gathered;
}

void Meaning::FindWeightDims() {
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (roles_[parameter.place] != Role::kWeights) continue;
    ArrayDims dims = program_.ShapeOf(parameter).dims;
    ArrayDims whole = dims;
    for (std::size_t d = 0; d < std::min(dims.size(), parameter.shards.size()); ++d)
      whole[d] = dims[d] > INT64_MAX / parameter.shards[d] ? dims[d] : dims[d] * parameter.shards[d];
    for (ArrayDims* of : {&dims, &whole}) {
      weight_dims_.insert(SortedDims(*of));
      for (std::size_t d = 0; of->size() > 2 && d < of->size(); ++d) {
        ArrayDims layer = *of;
        layer.erase(layer.begin() + static_cast<std::ptrdiff_t>(d));
        weight_dims_.insert(SortedDims(std::move(layer)));
      }
    }
  }
}

ValueKind Meaning::KindOfArgument(const MemoryAllocation& allocation) const {
  // The last array of a parameter counts.
  const std::vector<ProgramParameter>& all = program_.parameters();
  const auto after = std::partition_point(
      all.begin(), all.end(), [&](const ProgramParameter& one) { return one.number <= allocation.parameter; });
  if (after == all.begin() || std::prev(after)->number != allocation.parameter) return ValueKind::kUnknown;
  const Role role = roles_[std::prev(after)->place];
  return role == Role::kWeights          ? ValueKind::kWeights
         : role == Role::kOptimizerState ? ValueKind::kOptimizerState
                                         : ValueKind::kInputs;
}

ValueKind Meaning::KindOfArray(const ProgramValue& value) const {
  const std::size_t i = value.number;
  const bool per_example = IsPerExample(i);
  const bool of_weights = !per_example && weight_dims_.contains(SortedDims(program_.ShapeOf(value).dims));
  if (IsScores(i)) return ValueKind::kAttentionScores;
  if (per_example && Has(i, vocabulary_)) return ValueKind::kLogits;
  if (!per_example && gathered_[value.instruction] != 0 && (of_weights || IsOfWeights(rows_[i])))
    return ValueKind::kGatheredWeights;
  if (of_weights) return IsBackward(value.instruction) ? ValueKind::kGradients : ValueKind::kTemporaries;
  return trains_ && IsForward(value.instruction) ? ValueKind::kActivations : ValueKind::kTemporaries;
}

void Meaning::FindKinds() {
  for (const ProgramValue& value : program_.values()) {
    const MemoryAllocation& allocation = program_.AllocationOf(value);
    if (allocation.kind == AllocationKind::kConstant) {
      kinds_.push_back(ValueKind::kConstants);
    } else if (value.leaf < 0) {
      kinds_.push_back(ValueKind::kUnknown);
    } else {
      kinds_.push_back(allocation.kind == AllocationKind::kArgument ? KindOfArgument(allocation) : KindOfArray(value));
    }
  }
}

}  // namespace whyoom
