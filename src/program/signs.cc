#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "program/remedies.h"
#include "text/cleaning.h"

namespace whyoom {
namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;
constexpr std::size_t kMostFollowed = 64;  // instructions between an array and what reads it

struct SignFinder {
  const Simulator& simulator;
  const Program& program = simulator.program;
  const Semantics& semantics = simulator.semantics;
  Evidence signs;
  std::set<std::string_view> on_host;  // shapes of large arguments in host memory
  std::map<InstructionId, const ProgramParameter*> large;
  std::set<std::pair<GroupId, std::int64_t>>
      split_inputs;                                   // dimensions of the inputs, with their lengths over all devices
  std::set<ArrayDims> frozen;                         // dimensions of weights that do not change
  std::set<std::int64_t> identities;                  // sizes of identity matrices
  std::map<ArrayDims, std::size_t> weight_counts;     // number of large weights by their dimensions
  std::map<std::string, std::int64_t> largest_bytes;  // bytes of the array that the sign is called by

  Evidence Find() {
    FindTraining();
    FindKept();
    FindArguments();
    FindUnoptimized();
    FindAtPeak();
    FindStacks();
    FindTransfers();
    return std::move(signs);
  }

  // Adds the bytes to the sign, which is called by its largest array.
  void Add(const std::string& name, std::int64_t bytes, const std::string& array) {
    if (bytes < kLeastBytes) return;
    const double sum = signs.Number(name + "_bytes").value_or(0) + static_cast<double>(bytes);
    signs.Set(name + "_bytes", sum, {}, true);
    if (bytes > largest_bytes[name]) signs.Set(name + "_array", array, {}, true);
    largest_bytes[name] = std::max(largest_bytes[name], bytes);
  }

  const ArrayShape& ShapeOf(const ProgramParameter& parameter) const { return program.ShapeOf(parameter.array); }
  const ArrayShape& ArrayOf(InstructionId id) const { return program.module.ShapeOf(id).array; }

  // JAX marks the operators of a backward pass; other front ends do not.
  void FindTraining() {
    const auto is_of_jax = [](const HloInstruction& is) { return is.op_name.starts_with("jit("); };
    if (semantics.trains || std::ranges::any_of(program.module.instructions, is_of_jax))
      signs.Set("program_trains", semantics.trains, {}, true);
  }

  // State, which a step is expected to return, for which the program returns a new array of its type and shape.
  void FindKept() {
    std::multiset<std::pair<std::string, ArrayDims>> returned;
    std::set<std::string> kept;  // arguments of the function
    std::int64_t bytes = 0;
    for (const ProgramOutput& output : program.outputs) {
      if (output.value) returned.insert({program.ShapeOf(output.array).dtype, program.ShapeOf(output.array).dims});
    }
    for (const ProgramParameter& parameter : program.parameters) {
      const bool is_kept = semantics.IsState(parameter) || semantics.RoleOf(parameter) == Role::kCache;
      const auto same = returned.find({ShapeOf(parameter).dtype, ShapeOf(parameter).dims});
      if (!is_kept || parameter.shares_output || same == returned.end()) continue;
      returned.erase(same);
      Add("kept_state", parameter.size, program.NameOf(parameter));
      kept.insert(parameter.Argument());
      bytes += parameter.size;
    }
    const auto is_plain = [](const std::string& name) { return std::ranges::all_of(name, IsWordChar); };
    if (std::ranges::all_of(kept, is_plain)) Add("kept_arguments", bytes, fmt::format("'{}'", fmt::join(kept, "', '")));
  }

  // The largest array that is sent to the host. A transfer may send it in parts.
  void FindTransfers() {
    const ProgramValue* largest = nullptr;
    for (const InstructionId sent : SentToHost(program)) {
      for (const ValueId id : program.values_of[sent]) {
        const ProgramValue& value = program.values[id];
        if (value.array && (largest == nullptr || value.size > largest->size)) largest = &value;
      }
    }
    if (largest != nullptr) Add("host_transfer", largest->size, program.NameOf(largest->array));
  }

  void FindArguments() {
    std::set<InstructionId> returned;
    for (const ProgramOutput& output : program.outputs) returned.insert(output.array.instruction);
    for (const ProgramParameter& parameter : program.parameters) {
      const ArrayShape& shape = ShapeOf(parameter);
      const ArrayGroups& groups = semantics.GroupsOf(parameter);
      const ArrayDims whole = parameter.WholeDims(shape.dims);
      for (std::size_t d = 0; d < parameter.shards.size() && d < groups.size(); ++d) {
        if (!semantics.IsState(parameter) && parameter.shards[d] > 1 && groups[d].size() == 1)
          split_inputs.insert({groups[d][0], whole[d]});
      }
      const bool can_split = program.partitions > 1 && !parameter.shards.empty();
      if (semantics.IsState(parameter) && can_split && !parameter.IsSplit())
        Add("whole_state", parameter.size, program.NameOf(parameter));
      if (!semantics.IsState(parameter) && semantics.trains && semantics.Has(parameter, semantics.vocabulary))
        Add("dense_labels", parameter.size, program.NameOf(parameter));
      if (ElementCount(shape) < kLeastBytes / 4) continue;
      large[parameter.array.instruction] = &parameter;
      const bool is_weight = semantics.RoleOf(parameter) == Role::kWeights;
      if (is_weight) ++weight_counts[shape.dims];
      if (is_weight && semantics.trains && returned.contains(parameter.array.instruction)) frozen.insert(shape.dims);
      if (shape.memory_space == kHostMemorySpace) on_host.insert(shape.shape);
    }
  }

  // The instruction that the operand comes from, through instructions with one of these opcodes.
  static InstructionId MakerOf(const HloModule& module, InstructionId operand,
                               std::initializer_list<std::string_view> through) {
    for (std::size_t i = 0; i < kMostFollowed; ++i) {
      const HloInstruction& is = module.instructions[operand];
      if (!is.Is(through) || is.operands.empty()) break;
      operand = is.operands[0];
    }
    return operand;
  }

  // Finds 64-bit floats, gradients of weights that are multiplied by zero, and identity matrices: comparisons of iotas.
  void FindUnoptimized() {
    const HloModule& before = program.before;
    InstructionId widest;
    std::int64_t most = 0;
    for (const InstructionId id : before.instructions.ids()) {
      const HloInstruction& is = before.instructions[id];
      const ArrayShape& shape = before.ShapeOf(id).array;
      const auto is_zero = [&](InstructionId operand) {
        const HloInstruction& maker = before.instructions[MakerOf(before, operand, {"broadcast"})];
        return maker.opcode == "constant" && maker.literal == "0";
      };
      const auto is_iota = [&](InstructionId operand) {
        return before.instructions[MakerOf(before, operand, {"broadcast"})].opcode == "iota";
      };
      const std::int64_t bytes = shape.dtype == kFloat64 ? UnpaddedBytes(shape).value_or(0) : 0;
      if (bytes > most) widest = id;
      most = std::max(most, bytes);
      if (semantics.trains && is.opcode == "multiply" && weight_counts.contains(shape.dims) &&
          std::ranges::any_of(is.operands, is_zero))
        frozen.insert(shape.dims);
      if (is.opcode == "compare" && Mentions(is.attributes, "direction=EQ") && shape.dims.size() == 2 &&
          shape.dims[0] == shape.dims[1] && std::ranges::all_of(is.operands, is_iota))
        identities.insert(shape.dims[0]);
    }
    if (widest) Add("float64", most, ShapeAtLine(before, before.ShapeOf(widest).array, widest));
  }

  // Whether the value contains the derivatives of all examples by each element of a whole batch.
  bool IsOfWholeJacobian(const ProgramValue& value) const {
    const std::string_view name = program.InstructionOf(value).op_name;
    const std::size_t mapped = name.find("vmap(");
    if (mapped == name.npos || !IsDifferentiated(name.substr(mapped)) || name.find("vmap(", mapped + 1) != name.npos)
      return false;
    const std::int64_t batch = semantics.batch.size;
    const ArrayDims& dims = program.ShapeOf(value.array).dims;
    const auto basis = std::ranges::find_if(
        dims, [&](std::int64_t dim) { return batch > 1 && dim % batch == 0 && identities.contains(dim); });
    return basis != dims.end() &&
           (std::find(dims.begin(), basis, batch) != basis || std::find(basis + 1, dims.end(), batch) != dims.end());
  }

  // Whether the value has a dimension of the inputs over all devices, although the inputs are split along it.
  bool IsReplicated(const ProgramValue& value) const {
    const Dimensions& dimensions = program.dimensions;
    for (const FactorIds& factors : dimensions.FactorsOf(value.array)) {
      for (const FactorId factor : factors)
        if (split_inputs.contains({dimensions.GroupOf(factor), dimensions.factors.size(factor)})) return true;
    }
    return false;
  }

  // If the value is computed from one whole argument: "widened_weights" or "whole_input_copy".
  std::string CopyOf(const ProgramValue& value) const {
    const ArrayShape& shape = program.ShapeOf(value.array);
    for (const InstructionId operand : program.InstructionOf(value).operands) {
      const auto argument = large.find(MakerOf(program.module, operand, {"bitcast", "copy", "reshape"}));
      if (argument == large.end() || ElementCount(ShapeOf(*argument->second)) != ElementCount(shape)) continue;
      const Role role = semantics.RoleOf(*argument->second);
      const bool is_wider = ElementBits(shape.dtype) > ElementBits(ShapeOf(*argument->second).dtype);
      if (role == Role::kWeights || role == Role::kCache) return is_wider ? "widened_weights" : "";
      if ((role == Role::kInput || role == Role::kOther) && IsReadByLoop(value.array.instruction))
        return "whole_input_copy";
    }
    return "";
  }

  // Whether a loop reads the array, perhaps after changes of its elements, and returns it unchanged.
  bool IsReadByLoop(InstructionId array) const {
    std::vector<InstructionId> same = {array};
    for (std::size_t i = 0; i < same.size() && i < kMostFollowed; ++i) {
      for (const InstructionId user : program.users[same[i]]) {
        const bool is_as_large = ElementCount(ArrayOf(user)) == ElementCount(ArrayOf(array));
        if (is_as_large && program.At(user).Is({"bitcast", "copy", "reshape", "fusion"})) same.push_back(user);
        const std::span<const InstructionId> carried = program.At(user).operands;
        const std::size_t place = std::ranges::find(carried, same[i]) - carried.begin();
        const auto is_unchanged = [&](InstructionId loop) { return program.PassesOn(program.At(loop), place); };
        if (program.At(user).opcode == "tuple" && std::ranges::any_of(program.users[user], is_unchanged)) return true;
      }
    }
    return false;
  }

  // Finds results of loops that are copied to donated arrays, and those with a part for each step.
  void FindStacks() {
    for (const ProgramOutput& output : program.outputs) {
      const HloInstruction& copy = program.At(output.array.instruction);
      if (output.value || copy.opcode != "copy" || copy.operands.empty()) continue;
      const ArrayId copied = program.dimensions.TupleElementOf(program.At(copy.operands[0]));
      if (copied && program.At(copied.instruction).opcode == "while") AddStack("copied_carry", copied);
    }
    for (const Loop& loop : program.dimensions.loops) {
      if (loop.groups.empty() || IsOverLayers(loop)) continue;
      const auto is_stack = [&](ArrayId array) {
        const ArrayGroups groups = array ? program.dimensions.GroupsOf(array) : ArrayGroups();
        return !groups.empty() && groups[0] == loop.groups;
      };
      for (const ProgramOutput& output : program.outputs) {
        if (output.value && output.array.instruction == loop.instruction && is_stack(output.array))
          AddStack("stacked_output", output.array);
      }
      for (const InstructionId user : program.users[loop.instruction]) {
        const ArrayId array = program.dimensions.TupleElementOf(program.At(user));
        if (!semantics.trains && is_stack(array) && IsOnlySliced(user, 0)) AddStack("stacked_output", array);
      }
    }
  }

  void AddStack(const char* sign, ArrayId stack) {
    for (const ValueId id : program.values_of[stack.instruction]) {
      const ProgramValue& value = program.values[id];
      if (value.array == stack && program.ShapeOf(stack).memory_space != kHostMemorySpace)
        Add(sign, value.size, program.NameOf(stack));
    }
  }

  // Whether most of the weights have a part for each step of the loop, or none are known.
  bool IsOverLayers(const Loop& loop) const {
    std::int64_t weights = 0;
    std::int64_t layers = 0;
    for (const ProgramParameter& parameter : program.parameters) {
      if (!semantics.IsState(parameter)) continue;
      const ArrayGroups& groups = semantics.GroupsOf(parameter);
      weights += parameter.size;
      if (!groups.empty() && groups[0] == loop.groups) layers += parameter.size;
    }
    return 2 * layers >= weights;
  }

  // Whether the program uses only slices of the array.
  bool IsOnlySliced(InstructionId array, int depth) const {
    constexpr int kDeepest = 8;
    const std::vector<InstructionId>& users = program.users[array];
    return !users.empty() && depth < kDeepest && std::ranges::all_of(users, [&](InstructionId user) {
      const HloInstruction& is = program.At(user);
      if (is.Is({"bitcast", "reshape"})) return IsOnlySliced(user, depth + 1);
      if (is.opcode != "fusion" || is.calls.empty()) return is.Is({"slice", "dynamic-slice"});
      const std::vector<InstructionId>& fused = program.module.computations[is.calls[0]].parameters;
      for (std::size_t i = 0; i < std::min(is.operands.size(), fused.size()); ++i) {
        if (is.operands[i] == array && !(fused[i] && IsOnlySliced(fused[i], depth + 1))) return false;
      }
      return true;
    });
  }

  void FindAtPeak() {
    std::map<ArrayDims, std::vector<const ProgramValue*>> gradients;  // by shape
    for (const Buffer* buffer : simulator.compiled.LiveAtPeak()) {
      const ProgramValue* gradient = nullptr;
      std::string sign;
      for (const ValueId id : buffer->values) {
        const ProgramValue& value = program.values[id];
        if (!value.array) continue;
        if (gradient == nullptr && semantics.IsBackward(value.array.instruction)) gradient = &value;
        if (!sign.empty() || program.InstructionOf(value).opcode == "parameter") continue;
        sign = SignOf(value);
        if (!sign.empty()) Add(sign, buffer->size, program.NameOf(value.array));
      }
      if (gradient != nullptr) gradients[program.ShapeOf(gradient->array).dims].push_back(gradient);
    }
    constexpr std::size_t kMany = 3;  // gradients for each weight: one, and one that is being computed, are usual
    for (const auto& [dims, count] : weight_counts) {
      if (gradients[dims].size() < kMany * count) continue;
      for (const ProgramValue* value : gradients[dims])
        Add("repeated_gradients", value->size, program.NameOf(value->array));
    }
  }

  std::string SignOf(const ProgramValue& value) const {
    const ArrayShape& shape = program.ShapeOf(value.array);
    if (shape.memory_space != kHostMemorySpace && on_host.contains(shape.shape)) return "fetched";
    if (IsOfWholeJacobian(value)) return "whole_jacobian";
    if (const std::string copied = CopyOf(value); !copied.empty()) return copied;
    if (frozen.contains(shape.dims)) return "frozen_gradients";
    if (IsReplicated(value)) return "replicated_activations";
    if (!semantics.trains) return semantics.KindOf(value.id) == ValueKind::kLogits ? "evaluation_logits" : "";
    const bool is_vmapped = IsMapped(program.InstructionOf(value).op_name);
    if (shape.dims.size() < 3 || !is_vmapped || !semantics.Has(value.id, semantics.batch)) return "";
    return weight_counts.contains(ArrayDims(shape.dims.begin() + 1, shape.dims.end())) ? "example_gradients" : "";
  }
};

}  // namespace

Evidence FindSigns(const Simulator& simulator) { return SignFinder{simulator}.Find(); }

}  // namespace whyoom
