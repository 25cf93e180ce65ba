#include "program/semantics.h"

#include <map>
#include <tuple>

#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::int64_t kShortestSequence = 16;  // a shorter axis may be the batch of one device
constexpr std::int64_t kLargeEnough = std::int64_t{1} << 20;
constexpr std::size_t kMostKinds = 100;  // distinct attention pairs, softmaxes, or distinct dimensions of inputs

// In an attention scope, or an einsum over query and key axes.
bool IsAttention(std::string_view op_name) {
  constexpr std::string_view kNames[] = {"attention", "Attention", "attn", "Attn", "qk,", "hqk", "bqk", "->qk"};
  return std::ranges::any_of(kNames, [&](std::string_view name) { return Mentions(op_name, name); });
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
  return instruction.opcode == "compare" && std::ranges::none_of(instruction.operands, [&](InstructionId id) {
           const HloInstruction& is = module.instructions[id];
           return is.opcode == "broadcast" && !is.operands.empty() && module.ShapeOf(is.operands[0]).array.dims.empty();
         });
}

// The dimensions that an array has twice, such as the sides of a representation of pairs.
Groups Repeated(const ArrayGroups& array) {
  std::set<Groups> seen = {{}};
  Groups repeated;
  for (const Groups& groups : array) {
    if (!groups.empty() && !seen.insert(groups).second) repeated.insert(repeated.end(), groups.begin(), groups.end());
  }
  return repeated;
}

bool Share(const Groups& a, const Groups& b) { return std::ranges::find_first_of(a, b) != a.end(); }

// Splits the path of a program's argument, "state['opt_state'][0].mu", into words in lower case.
std::vector<std::string> PathWords(const std::string& path) {
  static const Regex word(R"((\w+))");
  const std::string lower = LowerAscii(path);
  re2::StringPiece rest = lower;
  std::vector<std::string> words;
  for (std::string found; re2::RE2::FindAndConsume(&rest, word, &found);) words.push_back(found);
  return words;
}

bool AnyIn(const std::vector<std::string>& words, const std::set<std::string>& set) {
  return std::ranges::any_of(words, [&](const std::string& word) { return set.contains(word); });
}

// The role by the name. The name of a tree of arrays (`is_tree`) is weak evidence: "target" may be a second model.
Role NamedRole(const std::string& path, const std::string& dtype, const RoleWords& role_words, bool may_be_weights,
               bool is_tree) {
  const std::vector<std::string> words = PathWords(path);
  const std::vector<std::string> own(words.begin() + (is_tree && !words.empty() ? 1 : 0), words.end());
  const bool is_weight = AnyIn(words, role_words.weights);
  if (AnyIn(words, role_words.cache)) return Role::kCache;
  if (AnyIn(words, role_words.optimizer_state)) return Role::kOptimizerState;
  if (AnyIn(own, role_words.inputs) && !is_weight) return Role::kInput;
  const bool is_quantized = dtype == "s8" || dtype == "u8" || dtype == "s4" || dtype == "u4";  // "f8…" contains an f
  if (dtype.find('f') == std::string::npos && !(is_weight && is_quantized)) return Role::kInput;
  return is_weight || may_be_weights ? Role::kWeights : Role::kOther;
}

// Fills the Semantics that it is.
struct SemanticsFinder : Semantics {
  std::vector<ClassId> large;  // arrays of at least kLargeEnough bytes
  Indexed<GroupId, unsigned> uses;
  std::vector<Axis> softmaxes;        // dimensions along which the program takes a softmax or argmax
  std::set<ArrayDims> weight_dims;    // sorted dimensions of weights: per device, unsharded, and of one layer
  std::set<ComputationId> gathering;  // that contain an all-gather
  std::set<FactorIds> addressed;  // dimensions that a gather indexes, or of which the program takes parts by position

  void Find(const RoleWords& role_words) {
    const std::vector<HloInstruction>& instructions = program.module.instructions;
    trains = std::ranges::any_of(instructions,
                                 [](const HloInstruction& instruction) { return IsGradient(instruction.op_name); });
    for (const ProgramParameter& parameter : program.parameters)
      parameter_groups.push_back(program.dimensions.GroupsOf(parameter.array));
    FindClasses();
    FindRoles(role_words);
    has_weights = std::ranges::any_of(roles, [](Role role) { return role == Role::kWeights || role == Role::kCache; });
    FindUses();
    FindBatch();
    FindSequence();
    FindSlots();
    FindAttention();
    FindWeightDims();
    FindKinds();
  }

  // How the program uses a group of dimensions; a bit for each use.
  enum Use : unsigned {
    kOfWeights = 1,     // a feature: weights or optimizer state have it
    kOfMatrices = 2,    // weights with more than two dimensions have it
    kNoExamples = 4,    // a loop counts them one by one, or an argument has them twice
    kShifted = 8,       // values move along it, as along a side of a field
    kCompared = 16,     // of a comparison of arrays or a scatter: maybe of the slots of experts
    kOfArguments = 32,  // an argument has it
    kShared = 64        // of arguments that the examples share, such as the pages of a cache
  };

  void Mark(const Groups& groups, unsigned use) {
    for (const GroupId group : groups) uses[group] |= use;
  }
  void Mark(const ArrayGroups& array, unsigned use) {
    for (const Groups& groups : array) Mark(groups, use);
  }
  bool Is(GroupId group, unsigned use) const { return (uses[group] & use) != 0; }
  bool AnyIs(const Groups& groups, unsigned use) const {
    return std::ranges::any_of(groups, [&](GroupId group) { return Is(group, use); });
  }
  bool AllAre(const Groups& groups, unsigned use) const {
    return std::ranges::all_of(groups, [&](GroupId group) { return Is(group, use); });
  }
  bool HasFeature(const ArrayGroups& array) const {
    return std::ranges::any_of(array, [&](const Groups& groups) { return AnyIs(groups, kOfWeights); });
  }

  void FindClasses() {
    std::map<std::tuple<const ArrayShape*, std::int64_t, ArrayGroups>, ClassId> known;
    for (const ProgramValue& value : program.values) {
      const ArrayShape* shape = value.array ? &program.ShapeOf(value.array) : nullptr;
      ArrayGroups groups = value.array ? program.dimensions.GroupsOf(value.array) : ArrayGroups();
      const auto [found, is_new] = known.try_emplace({shape, value.size, std::move(groups)}, classes.next_id());
      const ClassId id = found->second;
      if (is_new)
        classes.push_back({.shape = shape, .groups = std::get<ArrayGroups>(found->first), .size = value.size});
      if (is_new && shape != nullptr && value.size >= kLargeEnough) large.push_back(id);
      ++classes[id].count;
      class_of.push_back(id);
    }
  }

  // A dimension of an argument.
  Axis AxisOf(const ProgramParameter& parameter, std::size_t dim) const {
    return MakeAxis(GroupsOf(parameter)[dim], program.ShapeOf(parameter.array).dims[dim]);
  }

  Axis MakeAxis(const Groups& groups, std::int64_t size) const {
    const auto shorter = [&](GroupId a, GroupId b) {
      return program.dimensions.factors.size(a) < program.dimensions.factors.size(b);
    };
    Axis axis{.groups = groups, .size = size};
    if (!groups.empty()) axis.longest = *std::ranges::max_element(groups, shorter);
    return axis;
  }

  std::int64_t BytesWith(const Axis& axis) const {
    std::int64_t bytes = 0;
    for (const ClassId id : large) {
      const ValueClass& arrays = classes[id];
      if (DimensionsOf(arrays.groups, axis) != 0) bytes += arrays.count * arrays.size;
    }
    return bytes;
  }

  // Propagation may lose an axis. Returns another of the same size if it has over ten times the bytes, else `axis`.
  Axis Restored(const Axis& axis) const {
    std::map<Groups, std::int64_t> found;
    for (const ClassId id : large) {
      const ValueClass& arrays = classes[id];
      const ArrayDims& dims = arrays.shape->dims;
      for (std::size_t dim = 0; dim < dims.size(); ++dim) {
        const Groups& groups = arrays.groups[dim];
        if (dims[dim] == axis.size && !AnyIs(groups, kOfWeights)) found[groups] += arrays.count * arrays.size;
      }
    }
    const auto most = std::ranges::max_element(found, {}, [](const auto& one) { return one.second; });
    return most == found.end() || most->second <= 10 * BytesWith(axis) ? axis : MakeAxis(most->first, axis.size);
  }

  void FindUses() {
    uses.resize(program.dimensions.factors.next().value);
    for (const ProgramParameter& parameter : program.parameters) {
      if (IsState(parameter))
        Mark(GroupsOf(parameter), GroupsOf(parameter).size() > 2 ? kOfWeights | kOfMatrices : kOfWeights);
    }
    for (const ProgramParameter& parameter : program.parameters) {
      const ArrayGroups& array = GroupsOf(parameter);
      if (!IsState(parameter)) Mark(Repeated(array), kNoExamples);
      const std::string& dtype = program.ShapeOf(parameter.array).dtype;
      if (RoleOf(parameter) != Role::kInput || dtype == kBfloat16 || dtype == "f16" || dtype == "f32") continue;
      // A table of learned positions has a dimension of the tokens, which is no feature.
      for (const Groups& groups : array) {
        for (const GroupId group : groups) uses[group] &= ~unsigned{kOfWeights};
      }
    }
    for (const Loop& loop : program.dimensions.loops) {
      // The compiler makes loops, too, such as one over the examples of a gather.
      if (program.At(loop.instruction).op_name.ends_with("while")) Mark(loop.groups, kNoExamples);
    }
    for (const InstructionId id : program.module.instructions.ids()) FindUsesOf(id);
  }

  void FindUsesOf(InstructionId instruction) {
    const HloModule& module = program.module;
    const HloInstruction& is = program.At(instruction);
    if (is.opcode.starts_with("all-gather")) gathering.insert(is.computation);
    if (FindsLargest(module, is)) AddSoftmax(is);
    if (is.operands.empty() || program.dimensions.LeafCount(instruction) == 0) return;
    if (is.Is({"slice", "pad", "concatenate"})) FindShifted(instruction);
    if (is.Is({"gather", "dynamic-slice"}) && program.dimensions.LeafCount(is.operands[0]) > 0) FindAddressed(is);
    const bool is_one_hot = ComparesArrays(module, is) && Attribute(is.attributes, "direction") == "EQ";
    if (!is_one_hot && !(is.opcode == "scatter" && is.operands.size() > 2)) return;
    for (const Groups& groups : program.dimensions.GroupsOf({instruction, 0})) {
      if (groups.size() == 1) Mark(groups, kCompared);
    }
  }

  // Marks dimensions that the instruction cuts or pads to a length that does not divide theirs.
  void FindShifted(InstructionId instruction) {
    const ArrayDims& from = program.module.ShapeOf(program.At(instruction).operands[0]).array.dims;
    const ArrayDims& to = program.module.ShapeOf(instruction).array.dims;
    for (std::size_t dim = 0; from.size() == to.size() && dim < to.size(); ++dim) {
      const auto [shorter, longer] = std::minmax(from[dim], to[dim]);
      if (shorter > 1 && longer / shorter <= 8 && longer % shorter != 0)
        Mark(program.dimensions.GroupsOf({instruction, 0})[dim], kShifted);
    }
  }

  // Finds rows that a program looks up, such as those of a data set or the pages of a cache: they are no examples.
  void FindAddressed(const HloInstruction& is) {
    const std::vector<FactorIds> dims = program.dimensions.FactorsOf({is.operands[0], 0});
    // With several indices, as in a vmap, one of them counts the examples. A slice has none.
    const std::vector<std::int64_t> along = Integers(Attribute(is.attributes, "start_index_map"));
    if (along.size() == 1 && along[0] >= 0 && std::cmp_less(along[0], dims.size())) addressed.insert(dims[along[0]]);
    // The partitioner makes slices, too, which have the name of another operation.
    if (!is.op_name.ends_with("dynamic_slice")) return;
    const std::vector<std::int64_t> taken = Integers(Attribute(is.attributes, "dynamic_slice_sizes"));
    for (std::size_t dim = 0; dim < std::min(dims.size(), taken.size()); ++dim) {
      if (taken[dim] > 1 && taken[dim] < program.ShapeOf({is.operands[0], 0}).dims[dim]) addressed.insert(dims[dim]);
    }
  }

  void AddSoftmax(const HloInstruction& is) {
    const ArrayId array{is.operands[0], 0};
    const ArrayGroups groups = program.dimensions.GroupsOf(array);
    for (const std::int64_t dim : Integers(Attribute(is.attributes, "dimensions"))) {
      if (dim < 0 || std::cmp_greater_equal(dim, groups.size()) || groups[dim].empty()) continue;
      Axis along = MakeAxis(groups[dim], program.ShapeOf(array).dims[dim]);
      if (softmaxes.size() < kMostKinds && std::ranges::find(softmaxes, along) == softmaxes.end())
        softmaxes.push_back(std::move(along));
    }
  }

  void FindBatch() {
    // The leading dimension of an input that no weight has; if there are several, the one whose values have most bytes.
    std::int64_t best = -1;
    // First consider inputs, then all arguments but state, then dimensions of weights.
    for (int lenience = 0; lenience <= 2 && best <= 0; ++lenience) {
      std::set<std::pair<Groups, std::int64_t>> seen;
      for (const ProgramParameter& parameter : program.parameters) {
        if (IsState(parameter) || (lenience == 0 && RoleOf(parameter) != Role::kInput)) continue;
        const std::vector<FactorIds> dims = program.dimensions.FactorsOf(parameter.array);
        // A scalar, a batch of 1, or a table.
        if (dims.empty() || dims[0].empty() || addressed.contains(dims[0])) continue;
        const Axis axis = AxisOf(parameter, 0);
        if (AnyIs(axis.groups, lenience < 2 ? kNoExamples | kOfWeights : unsigned{kNoExamples})) continue;
        if (seen.size() >= kMostKinds || !seen.emplace(axis.groups, axis.size).second) continue;
        const Axis restored = Restored(axis);
        if (lenience > 0 && AllAre(restored.groups, kShifted)) continue;
        const std::int64_t bytes = BytesWith(restored);
        if (bytes <= best) continue;
        best = bytes;
        batch = restored;
      }
    }
    if (batch) JoinBatches();
  }

  // If an argument's leading dimension is as long as the batch, treats it as the batch: propagation may have lost it.
  void JoinBatches() {
    std::size_t lost = 0;
    for (const ProgramParameter& parameter : program.parameters) {
      if (IsState(parameter) || GroupsOf(parameter).empty()) continue;
      const Axis axis = AxisOf(parameter, 0);
      if (axis.groups.size() != batch.groups.size() || axis.size != batch.size || axis == batch ||
          AnyIs(axis.groups, kOfWeights) || ++lost > kMostKinds)
        continue;
      const auto join = [&](ArrayGroups& dimensions) {
        for (Groups& groups : dimensions) {
          const auto found = std::search(groups.begin(), groups.end(), axis.groups.begin(), axis.groups.end());
          if (found != groups.end()) std::ranges::copy(batch.groups, found);
        }
      };
      for (ValueClass& arrays : classes) join(arrays.groups);
      for (ArrayGroups& dimensions : parameter_groups) join(dimensions);
    }
  }

  // Chooses among the non-leading dimensions of inputs, and the dimensions that loops stack along, the one with most
  // bytes of values that no weight has.
  void FindSequence() {
    std::int64_t best = 0;
    const auto consider = [&](const Axis& axis) {
      if (Share(axis.groups, batch.groups) || axis.size < kShortestSequence || AnyIs(axis.groups, kOfWeights)) return;
      const std::int64_t bytes = BytesWith(axis);
      if (bytes > best) sequence = axis;
      best = std::max(best, bytes);
    };
    const auto is_shared = [&](const ProgramParameter& parameter) {
      const ArrayDims& dims = program.ShapeOf(parameter.array).dims;
      return batch && !Has(parameter, batch) && std::ranges::count(dims, batch.size) == 0;
    };
    for (const ProgramParameter& parameter : program.parameters) {
      if (!IsState(parameter) && is_shared(parameter)) Mark(GroupsOf(parameter), kShared);
    }
    std::set<std::pair<Groups, std::int64_t>> seen;
    for (const ProgramParameter& parameter : program.parameters) {
      for (std::size_t dim = 1; dim < GroupsOf(parameter).size(); ++dim) {
        const Axis axis = AxisOf(parameter, dim);
        if (IsState(parameter) || is_shared(parameter) || !axis || seen.size() >= kMostKinds) continue;
        if (!seen.emplace(axis.groups, axis.size).second) continue;
        const Axis restored = Restored(axis);
        consider(AnyIs(restored.groups, kShared) ? axis : restored);
      }
    }
    for (const Loop& loop : program.dimensions.loops) {
      const Axis axis = MakeAxis(loop.groups, loop.steps);
      const auto is_cache = [&](const ProgramParameter& one) { return RoleOf(one) == Role::kCache && Has(one, axis); };
      if (!axis || seen.size() >= kMostKinds || !seen.emplace(axis.groups, axis.size).second) continue;
      if (std::ranges::none_of(program.parameters, is_cache)) consider(axis);  // else its layers
    }
  }

  // The capacity of experts: a dimension that no parameter has, beside a dimension of weights, which tokens are
  // compared with (a one-hot dispatch) or written to (a scatter). Programs compute it from the number of tokens.
  void FindSlots() {
    if (!is_of_tokens()) return;
    Mark({batch.groups, sequence.groups}, kOfArguments);
    for (const ArrayGroups& array : parameter_groups) Mark(array, kOfArguments);
    for (const ClassId id : large) {
      if (!HasFeature(classes[id].groups)) continue;
      for (const Groups& groups : classes[id].groups) {
        if (groups.size() == 1 && AllAre(groups, kCompared) && !AnyIs(groups, kOfArguments)) slots.insert(groups[0]);
      }
    }
  }

  // The groups of a product's free dimensions without the batch and the dimensions of weights, such as grouped heads.
  Groups Positions(const FactorIds& factors) const {
    Groups positions = program.dimensions.GroupsOf(factors);
    std::erase_if(positions, [&](GroupId group) { return Contains(batch.groups, group) || Is(group, kOfWeights); });
    return positions;
  }

  // Finds attention and the vocabulary.
  void FindAttention() {
    // The vocabulary is the dimension that a maximum reduces, for a softmax, and that a weight has. Features are not
    // reduced by a maximum. The experts of a router are, but an expert has a matrix, while a class has only a row. So
    // are the keys of attention, which learned positions have, but its products are batched.
    for (const Axis& along : softmaxes) {
      const auto is_of_logits = [&](const Product& product) {
        const auto is_along = [&](const FactorIds& side) { return program.dimensions.GroupsOf(side) == along.groups; };
        return product.batch.empty() && (is_along(product.left) || is_along(product.right));
      };
      if (AnyIs(along.groups, kOfWeights) && !AnyIs(along.groups, kOfMatrices) && along.size > vocabulary.size &&
          std::ranges::any_of(program.dimensions.products, is_of_logits))
        vocabulary = along;
    }
    // An input with features that has a dimension twice contains pairs: scores then have a bias, which no kernel takes.
    for (const ProgramParameter& parameter : program.parameters) {
      const ArrayGroups& array = GroupsOf(parameter);
      if (!IsState(parameter) && HasFeature(array) && !Repeated(array).empty()) return;
    }
    // Attention scores are a batched product of two activations that contracts features. No weight has its free
    // dimensions, the positions of queries and keys. A softmax over the keys follows, or the op name mentions
    // attention. Otherwise it is another pairwise product, such as one that assigns tokens to experts.
    for (const Product& product : program.dimensions.products) {
      if (attention.size() >= kMostKinds) break;
      const Groups queries = Positions(product.left);
      const Groups keys = Positions(product.right);
      const Groups summed = program.dimensions.GroupsOf(product.contracted);
      if (IsBackward(product.instruction) || queries.empty() || keys.empty() || product.batch.empty() ||
          summed.empty() || !AllAre(summed, kOfWeights))
        continue;
      const auto is_of_keys = [&](const Axis& along) { return Share(along.groups, keys); };
      if (IsAttention(program.At(product.instruction).op_name) || std::ranges::any_of(softmaxes, is_of_keys))
        attention.insert({queries, keys});
    }
  }

  void FindRoles(const RoleWords& role_words) {
    std::set<std::string> returned;  // shapes of outputs
    for (const ProgramOutput& output : program.outputs) returned.insert(program.ShapeOf(output.array).shape);
    std::set<ArrayDims> weights;  // dimensions over all devices
    std::set<std::string> trees;
    std::set<std::string> paths;
    for (const ProgramParameter& parameter : program.parameters) {
      if (PathWords(parameter.path).size() > 2) trees.insert(parameter.Argument());
      paths.insert(parameter.path);
    }
    for (const ProgramParameter& parameter : program.parameters) {
      const ArrayShape& shape = program.ShapeOf(parameter.array);
      const bool is_returned = returned.contains(shape.shape);
      // Adam's second moment "v" comes with the first, "m"; the "v" of attention does not.
      static const Regex second(R"(\bv\b)");
      std::string path = parameter.path;
      std::string first = path;
      if (re2::RE2::GlobalReplace(&first, second, "m") > 0 && !paths.contains(first))
        re2::RE2::GlobalReplace(&path, second, "value");
      roles.push_back(
          NamedRole(path, shape.dtype, role_words, is_returned && trains, trees.contains(parameter.Argument())));
      if (roles.back() == Role::kWeights) weights.insert(parameter.WholeDims(shape.dims));
    }
    for (const ProgramParameter& parameter : program.parameters) {
      Role& role = roles[parameter.place];
      const ArrayShape& shape = program.ShapeOf(parameter.array);
      // Short names ("m", "v") are optimizer state only if weights of the same shape exist.
      if (role == Role::kOptimizerState && shape.dims.size() > 1 &&
          !weights.contains(parameter.WholeDims(shape.dims)) &&
          std::ranges::none_of(role_words.optimizer_parts,
                               [&](const std::string& part) { return Mentions(parameter.path, part); }))
        role = Role::kOther;
    }
  }

  void FindWeightDims() {
    for (const ProgramParameter& parameter : program.parameters) {
      if (RoleOf(parameter) != Role::kWeights) continue;
      ArrayDims dims = program.ShapeOf(parameter.array).dims;
      ArrayDims whole = parameter.WholeDims(dims);
      for (ArrayDims* of : {&dims, &whole}) {
        weight_dims.insert(SortedDims(*of));
        for (std::size_t d = 0; of->size() > 2 && d < of->size(); ++d) {
          ArrayDims layer = *of;
          layer.erase(layer.begin() + static_cast<std::ptrdiff_t>(d));
          weight_dims.insert(SortedDims(std::move(layer)));
        }
      }
    }
  }

  ValueKind KindOfArray(const ProgramValue& value) const {
    const InstructionId made_by = value.array.instruction;
    const HloInstruction& is = program.At(made_by);
    if (IsScores(value.id)) return ValueKind::kAttentionScores;
    if (IsPerExample(value.id)) {
      if (Has(value.id, vocabulary)) return ValueKind::kLogits;
      return trains && IsForward(made_by) ? ValueKind::kActivations : ValueKind::kTemporaries;
    }
    const bool of_weights = weight_dims.contains(SortedDims(program.ShapeOf(value.array).dims));
    const bool gathers = is.opcode.starts_with("all-gather") ||
                         ((is.opcode == "fusion" || is.opcode.starts_with("async-")) &&
                          std::ranges::any_of(is.calls, [&](ComputationId id) { return gathering.contains(id); }));
    if (gathers && of_weights) return ValueKind::kGatheredWeights;
    if (of_weights) return IsBackward(made_by) ? ValueKind::kGradients : ValueKind::kTemporaries;
    return trains && IsForward(made_by) ? ValueKind::kActivations : ValueKind::kTemporaries;
  }

  void FindKinds() {
    std::map<int, ValueKind> arguments;  // by number of the entry computation's parameter: of its last array
    for (const ProgramParameter& parameter : program.parameters) {
      const Role role = RoleOf(parameter);
      arguments[parameter.number] = role == Role::kWeights          ? ValueKind::kWeights
                                    : role == Role::kOptimizerState ? ValueKind::kOptimizerState
                                                                    : ValueKind::kInputs;
    }
    for (const ProgramValue& value : program.values) {
      const MemoryAllocation& allocation = program.AllocationOf(value);
      const auto argument = arguments.find(allocation.parameter);
      const bool is_argument = allocation.kind == AllocationKind::kArgument;
      kinds.push_back(allocation.kind == AllocationKind::kConstant ? ValueKind::kConstants
                      : !value.array                               ? ValueKind::kUnknown
                      : !is_argument                               ? KindOfArray(value)
                      : argument == arguments.end()                ? ValueKind::kUnknown
                                                                   : argument->second);
    }
  }
};

}  // namespace

Semantics FindSemantics(const Program& program, const RoleWords& role_words) {
  SemanticsFinder finder{{program}};
  finder.Find(role_words);
  return finder;
}

bool Contains(const Groups& dimension, const Groups& groups) {
  return !groups.empty() &&
         std::search(dimension.begin(), dimension.end(), groups.begin(), groups.end()) != dimension.end();
}

std::uint32_t DimensionsWith(const ArrayGroups& dimensions, const Axis& axis) {
  std::uint32_t found = 0;
  for (std::size_t dim = 0; axis && dim < dimensions.size(); ++dim) {
    if (Contains(dimensions[dim], axis.groups) || (axis.longest && Contains(dimensions[dim], axis.longest)))
      found |= std::uint32_t{1} << dim;
  }
  return found;
}

std::uint32_t Semantics::DimensionsOf(const ArrayGroups& array, const Axis& axis) const {
  std::uint32_t found = DimensionsWith(array, axis);
  if (!axis || (axis != batch && axis != sequence)) return found;
  for (std::size_t dim = 0; dim < array.size(); ++dim) {
    if (std::ranges::find_first_of(array[dim], slots) != array[dim].end()) found |= std::uint32_t{1} << dim;
  }
  return found;
}

bool Semantics::is_of_tokens() const {
  if (!has_examples() && !has_attention()) return false;
  constexpr std::size_t kMostDimensions = 3;  // examples, positions, features
  return std::ranges::none_of(program.parameters, [&](const ProgramParameter& parameter) {
    return program.ShapeOf(parameter.array).dims.size() > kMostDimensions && RoleOf(parameter) != Role::kCache &&
           Has(parameter, sequence) && Has(parameter, batch);
  });
}

bool Semantics::IsScores(ValueId value) const {
  const auto count = [&](const Groups& positions) {
    return std::ranges::count_if(GroupsOf(value), [&](const Groups& groups) { return Contains(groups, positions); });
  };
  return std::ranges::any_of(attention, [&](const auto& pair) {
    const auto& [queries, keys] = pair;
    return queries == keys ? count(queries) > 1 : count(queries) > 0 && count(keys) > 0;
  });
}

}  // namespace whyoom
