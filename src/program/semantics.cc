#include "program/semantics.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace whyoom {
namespace {

constexpr std::int64_t kShortestSequence = 16;  // a shorter axis may be the batch of one device

template <class Item>
bool AnyIn(const std::vector<Item>& items, const std::set<Item>& set) {
  return std::any_of(items.begin(), items.end(), [&](const Item& item) { return set.contains(item); });
}

// Splits the path of a program's argument, "state['opt_state'][0].mu", into words in lower case.
std::vector<std::string> PathWords(const std::string& path) {
  std::vector<std::string> words(1);
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

// In an attention scope, or an einsum over query and key axes.
bool IsAttention(std::string_view op_name) {
  constexpr std::string_view kNames[] = {"attention", "Attention", "attn", "Attn", "qk,", "hqk", "bqk", "->qk"};
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](std::string_view name) { return Mentions(op_name, name); });
}

// Whether an instruction is a reduction by maximum.
bool FindsLargest(const HloModule& module, const HloInstruction& instruction) {
  if (instruction.opcode != "reduce" || instruction.operands.empty() || instruction.calls.empty()) return false;
  const HloComputation& reducer = module.computations[instruction.calls[0]];
  // The largest value and its position.
  if (instruction.operands.size() == 4 && module.instructions[instruction.operands[1]].opcode == "iota") return true;
  if (!reducer.root || module.ShapeOf(instruction.operands[0]).is_tuple) return false;
  // For 64-bit numbers, which are pairs, the reducer is not a single operation.
  return module.instructions[reducer.root].opcode == "maximum" || instruction.op_name.ends_with("reduce_max");
}

// Whether an instruction compares two arrays, rather than an array with a number.
bool ComparesArrays(const HloModule& module, const HloInstruction& instruction) {
  const auto is_number = [&](InstructionId id) {
    const HloInstruction& is = module.instructions[id];
    return is.opcode == "broadcast" && !is.operands.empty() && module.ShapeOf(is.operands[0]).array.dims.empty();
  };
  const std::vector<InstructionId>& operands = instruction.operands;
  return instruction.opcode == "compare" && std::none_of(operands.begin(), operands.end(), is_number);
}

constexpr std::int64_t kLargeEnough = std::int64_t{1} << 20;
constexpr std::size_t kMostKinds = 100;  // distinct attention pairs, or distinct dimensions of inputs

// The dimensions of which the program takes slices, or that it pads, to a length that does not divide theirs: it shifts
// values along them, as along a side of a field.
std::set<GroupId> FindShifted(const Program& program) {
  const Dimensions& dimensions = program.dimensions();
  std::set<GroupId> shifted;
  for (const InstructionId id : program.module().instructions.ids()) {
    const HloInstruction& is = program.At(id);
    if (!is.Is({"slice", "pad", "concatenate"}) || is.operands.empty()) continue;
    const ArrayDims& from = program.module().ShapeOf(is.operands[0]).array.dims;
    const ArrayDims& to = program.module().ShapeOf(id).array.dims;
    for (std::size_t dim = 0; from.size() == to.size() && dim < to.size(); ++dim) {
      const auto [shorter, longer] = std::minmax(from[dim], to[dim]);
      if (shorter <= 1 || longer / shorter > 8 || longer % shorter == 0) continue;
      const Groups groups = dimensions.GroupsOf({id, 0})[dim];
      shifted.insert(groups.begin(), groups.end());
    }
  }
  return shifted;
}

// The leading dimension of an array; empty if there is none or its size is 1.
template <class Ids>
Ids Leading(const std::vector<Ids>& dimensions) {
  return dimensions.empty() ? Ids() : dimensions.front();
}

}  // namespace

Semantics::Semantics(const Program& program, const RoleWords& role_words) : program_(program) {
  const std::vector<HloInstruction>& instructions = program.module().instructions;
  trains_ = std::any_of(instructions.begin(), instructions.end(),
                        [](const HloInstruction& instruction) { return IsGradient(instruction.op_name); });
  for (const ProgramParameter& parameter : program.parameters())
    parameter_groups_.push_back(program.dimensions().GroupsOf(parameter.array));
  FindClasses();
  FindRoles(role_words);
  has_weights_ = std::any_of(roles_.begin(), roles_.end(),
                             [](Role role) { return role == Role::kWeights || role == Role::kCache; });
  FindNoExamples();
  FindBatch();
  FindSequence();
  FindSlots();
  FindAttention();
  FindVocabulary();
  FindWeightDims();
  FindGathered();
  FindKinds();
}

void Semantics::FindClasses() {
  std::map<std::tuple<const ArrayShape*, std::int64_t, ArrayGroups>, ClassId> known;
  for (const ProgramValue& value : program_.values()) {
    const ArrayShape* shape = value.array ? &program_.ShapeOf(value.array) : nullptr;
    ArrayGroups groups = value.array ? program_.dimensions().GroupsOf(value.array) : ArrayGroups();
    const auto [found, is_new] = known.try_emplace({shape, value.size, std::move(groups)}, classes_.next_id());
    const ClassId id = found->second;
    if (is_new) classes_.push_back({.shape = shape, .groups = std::get<ArrayGroups>(found->first), .size = value.size});
    if (is_new && shape != nullptr && value.size >= kLargeEnough) large_.push_back(id);
    ++classes_[id].count;
    class_of_.push_back(id);
  }
}

bool Semantics::IsBackward(InstructionId instruction) const { return IsGradient(program_.At(instruction).op_name); }

bool Semantics::IsForward(InstructionId instruction) const {
  const std::string_view name = program_.At(instruction).op_name;
  return IsDifferentiated(name) && !IsTransposed(name);
}

bool Contains(const Groups& dimension, const Groups& groups) {
  if (groups.size() == 1) return Contains(dimension, groups.front());
  return std::search(dimension.begin(), dimension.end(), groups.begin(), groups.end()) != dimension.end();
}

std::uint32_t DimensionsWith(const ArrayGroups& dimensions, const Axis& axis) {
  if (!axis) return 0;
  std::uint32_t whole = 0;
  std::uint32_t longest = 0;
  std::uint32_t bit = 1;
  for (const Groups& groups : dimensions) {
    if (Contains(groups, axis.groups)) {
      whole |= bit;
    } else if (axis.longest && Contains(groups, axis.longest)) {
      longest |= bit;
    }
    bit <<= 1;
  }
  return whole | longest;
}

Axis Semantics::MakeAxis(const FactorIds& factors) const {
  std::int64_t size = 1;
  for (const FactorId factor : factors) size *= program_.dimensions().factors().size(factor);
  return MakeAxis(program_.dimensions().GroupsOf(factors), size);
}

Axis Semantics::MakeAxis(const Groups& groups, std::int64_t size) const {
  const auto shorter = [&](GroupId a, GroupId b) {
    return program_.dimensions().factors().size(a) < program_.dimensions().factors().size(b);
  };
  Axis axis{.groups = groups, .size = size};
  if (!groups.empty()) axis.longest = *std::max_element(groups.begin(), groups.end(), shorter);
  return axis;
}

std::uint32_t Semantics::DimensionsOf(const ArrayGroups& array, const Axis& axis) const {
  const bool is_of_tokens = axis && (axis == batch_ || axis == sequence_);
  return DimensionsWith(array, axis) | (is_of_tokens ? SlotsIn(array) : 0);
}

std::uint32_t Semantics::SlotsIn(const ArrayGroups& array) const {
  std::uint32_t slots = 0;
  for (std::size_t dim = 0; dim < array.size(); ++dim) {
    if (AnyIn(array[dim], slots_)) slots |= std::uint32_t{1} << dim;
  }
  return slots;
}

std::uint32_t Semantics::TokensIn(const ArrayGroups& array) const {
  return DimensionsWith(array, batch_) | DimensionsWith(array, sequence_);
}

bool Semantics::is_of_tokens() const {
  if (!has_examples() && !has_attention()) return false;
  constexpr std::size_t kMostDimensions = 3;  // examples, positions, features
  return std::none_of(program_.parameters().begin(), program_.parameters().end(),
                      [&](const ProgramParameter& parameter) {
                        return program_.ShapeOf(parameter.array).dims.size() > kMostDimensions &&
                               RoleOf(parameter) != Role::kCache && Has(parameter, sequence_) && Has(parameter, batch_);
                      });
}

bool Semantics::InWeights(const Axis& axis) const { return AnyIn(axis.groups, weight_groups_); }

std::int64_t Semantics::BytesWith(const Axis& axis) const {
  if (!axis) return 0;
  std::int64_t bytes = 0;
  for (const ClassId id : large_) {
    const ValueClass& arrays = classes_[id];
    if (DimensionsOf(arrays.groups, axis) != 0) bytes += arrays.count * arrays.size;
  }
  return bytes;
}

// Propagation may lose an axis. Returns another of the same size if it has over ten times the bytes, else `axis`.
Axis Semantics::Restored(const Axis& axis) const {
  std::map<Groups, std::int64_t> found;
  for (const ClassId id : large_) {
    const ValueClass& arrays = classes_[id];
    const ArrayDims& dims = arrays.shape->dims;
    for (std::size_t dim = 0; dim < dims.size(); ++dim) {
      const Groups& groups = arrays.groups[dim];
      if (dims[dim] == axis.size && !AnyIn(groups, weight_groups_)) found[groups] += arrays.count * arrays.size;
    }
  }
  Axis best = axis;
  std::int64_t most = 10 * BytesWith(axis);
  for (const auto& [groups, bytes] : found) {
    if (bytes <= most) continue;
    most = bytes;
    best = MakeAxis(groups, axis.size);
  }
  return best;
}

Role Semantics::NamedRole(const ProgramParameter& parameter, const RoleWords& role_words, bool is_returned,
                          bool is_tree) const {
  const std::vector<std::string> words = PathWords(parameter.path);
  const bool is_float = program_.ShapeOf(parameter.array).dtype.find('f') != std::string::npos;
  const bool is_weight = AnyIn(words, role_words.weights);
  std::vector<std::string> own = words;
  if (is_tree && !own.empty()) own.erase(own.begin());
  if (AnyIn(words, role_words.cache)) return Role::kCache;
  if (AnyIn(words, role_words.optimizer_state)) return Role::kOptimizerState;
  if (AnyIn(own, role_words.inputs) && !is_weight) return Role::kInput;
  if (!is_float && !(is_weight && IsQuantized(program_.ShapeOf(parameter.array).dtype))) return Role::kInput;
  return is_weight || (is_returned && trains_) ? Role::kWeights : Role::kOther;
}

void Semantics::FindRoles(const RoleWords& role_words) {
  const std::vector<ProgramParameter>& parameters = program_.parameters();
  std::set<std::string> returned;  // shapes of outputs
  for (const ProgramOutput& output : program_.outputs()) returned.insert(program_.ShapeOf(output.array).shape);
  std::set<ArrayDims> weights;  // dimensions over all devices
  // The name of an argument that holds a tree of arrays says little: "target" is a batch's, or a second model.
  std::set<std::string> trees;
  for (const ProgramParameter& parameter : parameters) {
    if (PathWords(parameter.path).size() > 2) trees.insert(parameter.Argument());
  }
  for (const ProgramParameter& parameter : parameters) {
    const ArrayShape& shape = program_.ShapeOf(parameter.array);
    const bool is_returned = returned.contains(shape.shape);
    roles_.push_back(NamedRole(parameter, role_words, is_returned, trees.contains(parameter.Argument())));
    if (roles_.back() == Role::kWeights) weights.insert(parameter.WholeDims(shape.dims));
  }
  for (const ProgramParameter& parameter : parameters) {
    Role& role = roles_[parameter.place];
    const ArrayShape& shape = program_.ShapeOf(parameter.array);
    // Short names ("m", "v") are optimizer state only if weights of the same shape exist.
    if (role == Role::kOptimizerState && shape.dims.size() > 1 && !weights.contains(parameter.WholeDims(shape.dims)) &&
        std::none_of(role_words.optimizer_parts.begin(), role_words.optimizer_parts.end(),
                     [&](const std::string& part) { return Mentions(parameter.path, part); }))
      role = Role::kOther;
  }
  FindWeightGroups();
}

void Semantics::FindWeightGroups() {
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (!IsState(parameter)) continue;
    const ArrayGroups& dimensions = GroupsOf(parameter);
    for (const Groups& groups : dimensions) {
      weight_groups_.insert(groups.begin(), groups.end());
      if (dimensions.size() > 2) stacked_groups_.insert(groups.begin(), groups.end());
    }
  }
  // A table of learned positions has a dimension of the tokens, which is no feature.
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (RoleOf(parameter) != Role::kInput || IsFloat(program_.ShapeOf(parameter.array).dtype)) continue;
    for (const Groups& groups : GroupsOf(parameter)) {
      for (const GroupId group : groups) weight_groups_.erase(group);
    }
  }
}

// Finds the dimensions of arguments that are not examples, whatever their size: layers and pages of a cache, the rows
// of a data set that the program looks up, both sides of a representation of pairs.
void Semantics::FindNoExamples() {
  const Dimensions& dimensions = program_.dimensions();
  for (const Loop& loop : dimensions.loops()) {
    // The compiler makes loops, too, such as one over the examples of a gather.
    if (loop.factor && program_.At(loop.instruction).op_name.ends_with("while"))
      no_examples_.insert(dimensions.GroupOf(loop.factor));
  }
  for (const ProgramParameter& parameter : program_.parameters()) {
    std::set<Groups> seen = {{}};
    for (const Groups& groups : GroupsOf(parameter)) {
      if (IsState(parameter) || seen.insert(groups).second) continue;
      no_examples_.insert(groups.begin(), groups.end());
    }
  }
  for (const HloInstruction& is : program_.module().instructions) {
    if (!is.Is({"gather", "dynamic-slice"}) || is.operands.empty() || dimensions.LeafCount(is.operands[0]) == 0)
      continue;
    const ArrayId from{is.operands[0], 0};
    const std::vector<FactorIds> dims = dimensions.FactorsOf(from);
    // With several indices, as in a vmap, one of them counts the examples. A slice has none.
    const std::vector<std::int64_t> along = Integers(Attribute(is.attributes, "start_index_map"));
    if (along.size() == 1 && along[0] >= 0 && std::cmp_less(along[0], dims.size())) addressed_.insert(dims[along[0]]);
    // The partitioner makes slices, too, which have the name of another operation.
    if (!is.op_name.ends_with("dynamic_slice")) continue;
    const std::vector<std::int64_t> taken = Integers(Attribute(is.attributes, "dynamic_slice_sizes"));
    for (std::size_t dim = 0; dim < std::min(dims.size(), taken.size()); ++dim) {
      if (taken[dim] > 1 && taken[dim] < program_.ShapeOf(from).dims[dim]) addressed_.insert(dims[dim]);
    }
  }
}

void Semantics::FindBatch() {
  // The leading dimension of an input that no weight has; if there are several, the one whose values have most bytes.
  std::int64_t best = -1;
  const std::set<GroupId> shifted = FindShifted(program_);
  // First consider inputs, then all arguments but state, then dimensions of weights.
  for (int lenience = 0; lenience <= 2 && best <= 0; ++lenience) {
    std::set<std::pair<Groups, std::int64_t>> seen;
    for (const ProgramParameter& parameter : program_.parameters()) {
      if (IsState(parameter) || (lenience == 0 && RoleOf(parameter) != Role::kInput)) continue;
      const FactorIds leading = Leading(program_.dimensions().FactorsOf(parameter.array));
      if (leading.empty() || addressed_.contains(leading)) continue;  // a scalar, a batch of 1, or a table
      const Axis axis = MakeAxis(leading);
      if (AnyIn(axis.groups, no_examples_) || (lenience < 2 && InWeights(axis))) continue;
      if (seen.size() >= kMostKinds || !seen.emplace(axis.groups, axis.size).second) continue;
      const Axis restored = Restored(axis);
      const auto is_shifted = [&](GroupId group) { return shifted.contains(group); };
      if (lenience > 0 && std::all_of(restored.groups.begin(), restored.groups.end(), is_shifted)) continue;
      const std::int64_t bytes = BytesWith(restored);
      if (bytes <= best) continue;
      best = bytes;
      batch_ = restored;
    }
  }
  if (batch_) JoinBatches();
}

// If an argument's leading dimension is as long as the batch, treats it as the batch: propagation may have lost it.
void Semantics::JoinBatches() {
  std::size_t lost = 0;
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (IsState(parameter)) continue;
    const Axis axis = MakeAxis(Leading(program_.dimensions().FactorsOf(parameter.array)));
    if (axis.groups.size() != batch_.groups.size() || axis.size != batch_.size || axis == batch_ || InWeights(axis) ||
        ++lost > kMostKinds)
      continue;
    const auto join = [&](ArrayGroups& dimensions) {
      for (Groups& groups : dimensions) {
        const auto found = std::search(groups.begin(), groups.end(), axis.groups.begin(), axis.groups.end());
        if (found != groups.end()) std::copy(batch_.groups.begin(), batch_.groups.end(), found);
      }
    };
    for (ValueClass& arrays : classes_) join(arrays.groups);
    for (ArrayGroups& dimensions : parameter_groups_) join(dimensions);
  }
}

// The non-leading dimensions of inputs, and the dimensions that loops stack along.
std::vector<Axis> Semantics::SequenceCandidates() const {
  std::vector<Axis> candidates;
  std::set<std::pair<Groups, std::int64_t>> seen;
  std::set<GroupId> shared;  // of arguments that the examples share, such as the pages of a cache
  const auto is_shared = [&](const ProgramParameter& parameter) {
    const ArrayDims& dims = program_.ShapeOf(parameter.array).dims;
    return batch_ && !Has(parameter, batch_) && std::count(dims.begin(), dims.end(), batch_.size) == 0;
  };
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (IsState(parameter) || !is_shared(parameter)) continue;
    for (const Groups& groups : GroupsOf(parameter)) shared.insert(groups.begin(), groups.end());
  }
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (IsState(parameter) || is_shared(parameter)) continue;
    const std::vector<FactorIds> dims = program_.dimensions().FactorsOf(parameter.array);
    for (std::size_t dim = 1; dim < dims.size(); ++dim) {
      if (dims[dim].empty() || seen.size() >= kMostKinds) continue;
      const Axis axis = MakeAxis(dims[dim]);
      if (!seen.emplace(axis.groups, axis.size).second) continue;
      const Axis restored = Restored(axis);
      candidates.push_back(AnyIn(restored.groups, shared) ? axis : restored);
    }
  }
  for (const Loop& loop : program_.dimensions().loops()) {
    if (loop.factor && candidates.size() < 2 * kMostKinds) candidates.push_back(MakeAxis(FactorIds{loop.factor}));
  }
  return candidates;
}

// Chooses the candidate with most bytes of values among those that no weight has.
void Semantics::FindSequence() {
  std::int64_t best = 0;
  for (const Axis& axis : SequenceCandidates()) {
    const bool is_of_batch = std::any_of(axis.groups.begin(), axis.groups.end(),
                                         [&](GroupId group) { return Contains(batch_.groups, group); });
    if (is_of_batch || axis.size < kShortestSequence || InWeights(axis)) continue;
    const std::int64_t bytes = BytesWith(axis);
    if (bytes <= best) continue;
    best = bytes;
    sequence_ = axis;
  }
}

// The capacity of experts: a dimension that no parameter has, beside a dimension of weights, which tokens are compared
// with (a one-hot dispatch) or written to (a scatter). Programs compute it from the number of tokens.
void Semantics::FindSlots() {
  if (!is_of_tokens()) return;
  std::set<GroupId> given(batch_.groups.begin(), batch_.groups.end());  // of parameters
  given.insert(sequence_.groups.begin(), sequence_.groups.end());
  for (const ProgramParameter& parameter : program_.parameters()) {
    for (const Groups& groups : GroupsOf(parameter)) given.insert(groups.begin(), groups.end());
  }
  const Dimensions& dimensions = program_.dimensions();
  std::set<GroupId> candidates;
  for (const InstructionId id : program_.module().instructions.ids()) {
    const HloInstruction& is = program_.At(id);
    const bool scatters = is.opcode == "scatter" && is.operands.size() > 2;
    const bool is_one_hot = ComparesArrays(program_.module(), is) && Attribute(is.attributes, "direction") == "EQ";
    if ((!scatters && !is_one_hot) || dimensions.LeafCount(id) == 0) continue;
    const ArrayGroups result = dimensions.GroupsOf({id, 0});
    for (const Groups& groups : result) {
      if (groups.size() == 1 && !given.contains(groups.front())) candidates.insert(groups.front());
    }
  }
  if (candidates.empty()) return;
  for (const ClassId id : large_) {
    const auto is_weight = [&](const Groups& groups) { return AnyIn(groups, weight_groups_); };
    const ArrayGroups& array = classes_[id].groups;
    if (std::none_of(array.begin(), array.end(), is_weight)) continue;
    for (const Groups& groups : array) {
      const bool is_slots = groups.size() == 1 && candidates.contains(groups.front());
      if (is_slots && TokensIn({groups}) == 0) slots_.insert(groups.front());
    }
  }
}

std::vector<Semantics::Softmax> Semantics::FindSoftmaxes() const {
  std::vector<Softmax> softmaxes;
  for (const HloInstruction& instruction : program_.module().instructions) {
    if (softmaxes.size() >= kMostKinds) break;
    if (!FindsLargest(program_.module(), instruction)) continue;
    Softmax softmax{.along = {}, .array = program_.dimensions().GroupsOf(ArrayId{instruction.operands[0], 0})};
    for (const std::int64_t dim : Integers(Attribute(instruction.attributes, "dimensions"))) {
      if (dim < 0 || std::cmp_greater_equal(dim, softmax.array.size())) continue;
      const Groups& groups = softmax.array[dim];
      softmax.along.insert(softmax.along.end(), groups.begin(), groups.end());
    }
    if (std::find(softmaxes.begin(), softmaxes.end(), softmax) == softmaxes.end())
      softmaxes.push_back(std::move(softmax));
  }
  return softmaxes;
}

// The groups of a product's free dimensions without the batch and the dimensions of weights, such as grouped heads.
Groups Semantics::Positions(const FactorIds& factors) const {
  Groups positions = program_.dimensions().GroupsOf(factors);
  std::erase_if(positions,
                [&](GroupId group) { return Contains(batch_.groups, group) || weight_groups_.contains(group); });
  return positions;
}

void Semantics::FindAttention() {
  // An input with features that has a dimension twice holds pairs. Among pairs, scores have a bias, which the kernels
  // do not take.
  for (const ProgramParameter& parameter : program_.parameters()) {
    std::set<Groups> seen = {{}};
    bool is_twice = false;
    for (const Groups& groups : GroupsOf(parameter)) is_twice |= !groups.empty() && !seen.insert(groups).second;
    const ArrayGroups& dims = GroupsOf(parameter);
    const auto is_feature = [&](const Groups& groups) { return AnyIn(groups, weight_groups_); };
    if (is_twice && !IsState(parameter) && std::any_of(dims.begin(), dims.end(), is_feature)) return;
  }
  // Attention scores are a batched product of two activations that contracts features. No weight has its free
  // dimensions, the positions of queries and keys. A softmax over the keys follows, or the op name mentions attention.
  // Otherwise it is another pairwise product, such as one that assigns tokens to experts.
  const Dimensions& dimensions = program_.dimensions();
  const std::vector<Softmax> softmaxes = FindSoftmaxes();
  const auto share = [](const Groups& a, const Groups& b) {
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
  };
  const auto has_softmax = [&](const Groups& queries, const Groups& keys) {
    return std::any_of(softmaxes.begin(), softmaxes.end(), [&](const Softmax& softmax) {
      const auto has_queries = [&](const Groups& groups) { return share(groups, queries); };
      return share(softmax.along, keys) && std::any_of(softmax.array.begin(), softmax.array.end(), has_queries);
    });
  };
  for (const Product& product : dimensions.products()) {
    if (attention_.size() >= kMostKinds) break;
    if (IsBackward(product.instruction)) continue;
    const Groups queries = Positions(product.left);
    const Groups keys = Positions(product.right);
    if (queries.empty() || keys.empty()) continue;
    const Groups summed = dimensions.GroupsOf(product.contracted);
    const bool over_features = !summed.empty() && std::all_of(summed.begin(), summed.end(), [&](GroupId group) {
      return weight_groups_.contains(group);
    });
    if (!over_features || product.batch.empty()) continue;
    if (IsAttention(program_.At(product.instruction).op_name) || has_softmax(queries, keys))
      attention_.insert({queries, keys});
  }
}

bool Semantics::IsScores(ValueId value) const {
  const auto count = [&](const Groups& positions) {
    return std::count_if(GroupsOf(value).begin(), GroupsOf(value).end(),
                         [&](const Groups& groups) { return Contains(groups, positions); });
  };
  return std::any_of(attention_.begin(), attention_.end(), [&](const auto& pair) {
    const auto& [queries, keys] = pair;
    return queries == keys ? count(queries) > 1 : count(queries) > 0 && count(keys) > 0;
  });
}

void Semantics::FindVocabulary() {
  // The vocabulary is the dimension that a maximum reduces, for a softmax, and that a weight has. Features are not
  // reduced by a maximum. The experts of a router are, but an expert has a matrix, while a class has only a row.
  for (const HloInstruction& instruction : program_.module().instructions) {
    if (!FindsLargest(program_.module(), instruction)) continue;
    const std::vector<FactorIds> dims = program_.dimensions().FactorsOf({instruction.operands[0], 0});
    for (const std::int64_t dim : Integers(Attribute(instruction.attributes, "dimensions"))) {
      if (dim < 0 || std::cmp_greater_equal(dim, dims.size()) || dims[dim].empty()) continue;
      const Axis axis = MakeAxis(dims[dim]);
      if (InWeights(axis) && !AnyIn(axis.groups, stacked_groups_) && axis.size > vocabulary_.size) vocabulary_ = axis;
    }
  }
}

void Semantics::FindGathered() {
  const HloModule& module = program_.module();
  Indexed<ComputationId, char> gathers(module.computations.size(), 0);  // whether it contains an all-gather
  for (const HloInstruction& instruction : module.instructions) {
    if (instruction.opcode.starts_with("all-gather")) gathers[instruction.computation] = 1;
  }
  for (const HloInstruction& is : module.instructions) {
    const bool makes =
        is.opcode.starts_with("all-gather") ||
        ((is.opcode == "fusion" || is.opcode.starts_with("async-")) &&
         std::any_of(is.calls.begin(), is.calls.end(), [&](ComputationId id) { return gathers[id] != 0; }));
    gathered_.push_back(makes ? 1 : 0);
  }
}

void Semantics::FindWeightDims() {
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (RoleOf(parameter) != Role::kWeights) continue;
    ArrayDims dims = program_.ShapeOf(parameter.array).dims;
    ArrayDims whole = parameter.WholeDims(dims);
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

ValueKind Semantics::KindOfArgument(const MemoryAllocation& allocation) const {
  // The last array of a parameter decides.
  const std::vector<ProgramParameter>& all = program_.parameters();
  const auto after = std::partition_point(
      all.begin(), all.end(), [&](const ProgramParameter& one) { return one.number <= allocation.parameter; });
  if (after == all.begin() || std::prev(after)->number != allocation.parameter) return ValueKind::kUnknown;
  const Role role = RoleOf(*std::prev(after));
  return role == Role::kWeights          ? ValueKind::kWeights
         : role == Role::kOptimizerState ? ValueKind::kOptimizerState
                                         : ValueKind::kInputs;
}

ValueKind Semantics::KindOfArray(const ProgramValue& value) const {
  const InstructionId made_by = value.array.instruction;
  const bool per_example = IsPerExample(value.id);
  const bool of_weights = !per_example && weight_dims_.contains(SortedDims(program_.ShapeOf(value.array).dims));
  if (IsScores(value.id)) return ValueKind::kAttentionScores;
  if (per_example && Has(value.id, vocabulary_)) return ValueKind::kLogits;
  const ArrayGroups& groups = GroupsOf(value.id);
  const bool has_weight_dims = std::all_of(groups.begin(), groups.end(), [&](const Groups& dimension) {
    return dimension.empty() || AnyIn(dimension, weight_groups_);
  });
  if (!per_example && gathered_[made_by] != 0 && (of_weights || has_weight_dims)) return ValueKind::kGatheredWeights;
  if (of_weights) return IsBackward(made_by) ? ValueKind::kGradients : ValueKind::kTemporaries;
  return trains_ && IsForward(made_by) ? ValueKind::kActivations : ValueKind::kTemporaries;
}

void Semantics::FindKinds() {
  for (const ProgramValue& value : program_.values()) {
    const MemoryAllocation& allocation = program_.AllocationOf(value);
    if (allocation.kind == AllocationKind::kConstant) {
      kinds_.push_back(ValueKind::kConstants);
    } else if (!value.array) {
      kinds_.push_back(ValueKind::kUnknown);
    } else {
      kinds_.push_back(allocation.kind == AllocationKind::kArgument ? KindOfArgument(allocation) : KindOfArray(value));
    }
  }
}

}  // namespace whyoom
