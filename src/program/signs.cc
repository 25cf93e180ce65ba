#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "program/remedies.h"
#include "program/semantics.h"
#include "text/cleaning.h"

namespace whyoom {
namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;
constexpr std::size_t kMostFollowed = 64;  // instructions between an array and what reads it
constexpr double kLeastSplitShare = 0.1;   // if less of the state is split, its arrays are whole by design

class SignFinder {
 public:
  explicit SignFinder(const Simulator& simulator)
      : program_(simulator.program), semantics_(simulator.semantics), simulator_(simulator) {}

  Evidence Find() {
    FindTraining();
    FindKept();
    FindWholeState();
    FindFloat64();
    FindArguments();
    FindFrozen();
    FindIdentities();
    FindAtPeak();
    FindStacks();
    FindTransfers();
    return std::move(signs_);
  }

 private:
  // Adds the bytes to the sign, which is called by its largest array.
  void Add(const std::string& name, std::int64_t bytes, const std::string& array) {
    if (bytes < kLeastBytes) return;
    const double sum = signs_.Number(name + "_bytes").value_or(0) + static_cast<double>(bytes);
    signs_.Set(name + "_bytes", sum, {}, true);
    if (bytes > largest_[name]) signs_.Set(name + "_array", array, {}, true);
    largest_[name] = std::max(largest_[name], bytes);
  }

  const ArrayShape& ShapeOf(const ProgramParameter& parameter) const { return program_.ShapeOf(parameter.array); }

  const ArrayShape& ArrayOf(InstructionId id) const { return program_.module.ShapeOf(id).array; }

  // JAX marks the operators of a backward pass; other front ends do not.
  void FindTraining() {
    const auto is_of_jax = [](const HloInstruction& is) { return is.op_name.starts_with("jit("); };
    const std::vector<HloInstruction>& all = program_.module.instructions;
    if (semantics_.trains || std::ranges::any_of(all, is_of_jax))
      signs_.Set("program_trains", semantics_.trains, {}, true);
  }

  // State, which a step is expected to return, for which the program returns a new array of its type and shape.
  void FindKept() {
    std::multiset<std::pair<std::string, ArrayDims>> returned;
    std::set<std::string> kept;  // arguments of the function
    std::int64_t bytes = 0;
    for (const ProgramOutput& output : program_.outputs) {
      if (output.value) returned.insert({program_.ShapeOf(output.array).dtype, program_.ShapeOf(output.array).dims});
    }
    for (const ProgramParameter& parameter : program_.parameters) {
      const bool is_kept = semantics_.IsState(parameter) || semantics_.RoleOf(parameter) == Role::kCache;
      const auto same = returned.find({ShapeOf(parameter).dtype, ShapeOf(parameter).dims});
      if (!is_kept || parameter.shares_output || same == returned.end()) continue;
      returned.erase(same);
      Add("kept_state", parameter.size, program_.NameOf(parameter));
      kept.insert(parameter.Argument());
      bytes += parameter.size;
    }
    const auto is_plain = [](const std::string& name) { return std::ranges::all_of(name, IsWordChar); };
    if (std::ranges::all_of(kept, is_plain)) Add("kept_arguments", bytes, fmt::format("'{}'", fmt::join(kept, "', '")));
  }

  void FindWholeState() {
    double split = 0;  // bytes over all devices
    double whole = 0;
    std::vector<const ProgramParameter*> whole_state;
    for (const ProgramParameter& parameter : program_.parameters) {
      if (!semantics_.IsState(parameter)) continue;
      auto bytes = static_cast<double>(parameter.size);
      for (const std::int64_t devices : parameter.shards) bytes *= static_cast<double>(devices);
      if (parameter.IsSplit()) {
        split += bytes;
      } else if (program_.partitions > 1 && !parameter.shards.empty()) {
        whole += bytes;
        whole_state.push_back(&parameter);
      }
    }
    const char* sign = split > kLeastSplitShare * whole ? "whole_state" : "replicated_state";
    for (const ProgramParameter* parameter : whole_state) Add(sign, parameter->size, program_.NameOf(*parameter));
  }

  void FindFloat64() {
    const HloModule& before = program_.before;
    const std::vector<InstructionId> all = before.instructions.ids();
    const auto bytes = [&](InstructionId id) {
      const ArrayShape& shape = before.ShapeOf(id).array;
      return shape.dtype == kFloat64 ? UnpaddedBytes(shape).value_or(0) : 0;
    };
    const auto largest = std::ranges::max_element(all, {}, bytes);
    if (largest != all.end())
      Add("float64", bytes(*largest), ShapeAtLine(before, before.ShapeOf(*largest).array, *largest));
  }

  // The largest array that is sent to the host. A transfer may send it in parts.
  void FindTransfers() {
    const ProgramValue* largest = nullptr;
    for (const InstructionId transfer : HostTransfers(program_.module)) {
      for (const InstructionId operand : program_.At(transfer).operands) {
        for (const ValueId id : program_.values_of[operand]) {
          const ProgramValue& value = program_.values[id];
          if (value.array && (largest == nullptr || value.size > largest->size)) largest = &value;
        }
      }
    }
    if (largest != nullptr) Add("host_transfer", largest->size, program_.NameOf(largest->array));
  }

  void FindArguments() {
    for (const ProgramParameter& parameter : program_.parameters) {
      const ArrayShape& shape = ShapeOf(parameter);
      const ArrayGroups& groups = semantics_.GroupsOf(parameter);
      const ArrayDims whole = parameter.WholeDims(shape.dims);
      for (std::size_t d = 0; d < parameter.shards.size() && d < groups.size(); ++d) {
        if (!semantics_.IsState(parameter) && parameter.shards[d] > 1 && groups[d].size() == 1)
          split_.insert({groups[d][0], whole[d]});
      }
      if (ElementCount(shape) < kLeastBytes / 4) continue;
      large_[parameter.array.instruction] = &parameter;
      if (semantics_.RoleOf(parameter) == Role::kWeights) ++weights_[shape.dims];
      if (shape.memory_space == kHostMemorySpace) on_host_.insert(shape.shape);
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

  // Weights that the program returns unchanged, or whose gradient it multiplies by zero.
  void FindFrozen() {
    if (!semantics_.trains) return;
    std::set<InstructionId> returned;
    for (const ProgramOutput& output : program_.outputs) returned.insert(output.array.instruction);
    for (const auto& [instruction, parameter] : large_) {
      if (semantics_.RoleOf(*parameter) == Role::kWeights && returned.contains(instruction))
        frozen_.insert(ShapeOf(*parameter).dims);
    }
    const HloModule& before = program_.before;
    for (const HloInstruction& is : before.instructions) {
      const ArrayDims& dims = before.shapes[is.shape].array.dims;
      const auto is_zero = [&](InstructionId id) {
        const HloInstruction& maker = before.instructions[MakerOf(before, id, {"broadcast"})];
        return maker.opcode == "constant" && maker.literal == "0";
      };
      if (is.opcode == "multiply" && weights_.contains(dims) && std::ranges::any_of(is.operands, is_zero))
        frozen_.insert(dims);
    }
  }

  // The sizes of identity matrices: comparisons of two iotas.
  void FindIdentities() {
    const HloModule& before = program_.before;
    const auto is_iota = [&](InstructionId id) {
      return before.instructions[MakerOf(before, id, {"broadcast"})].opcode == "iota";
    };
    for (const HloInstruction& is : before.instructions) {
      const ArrayDims& dims = before.shapes[is.shape].array.dims;
      if (is.opcode == "compare" && Mentions(is.attributes, "direction=EQ") && dims.size() == 2 && dims[0] == dims[1] &&
          std::ranges::all_of(is.operands, is_iota))
        identities_.insert(dims[0]);
    }
  }

  // Whether the value contains the derivatives of all examples by each element of a whole batch.
  bool IsOfWholeJacobian(const ProgramValue& value) const {
    const std::string_view name = program_.InstructionOf(value).op_name;
    const std::size_t mapped = name.find("vmap(");
    if (mapped == name.npos || !IsDifferentiated(name.substr(mapped)) || name.find("vmap(", mapped + 1) != name.npos)
      return false;
    const std::int64_t batch = semantics_.batch.size;
    const ArrayDims& dims = program_.ShapeOf(value.array).dims;
    const auto basis = std::ranges::find_if(
        dims, [&](std::int64_t dim) { return batch > 1 && dim % batch == 0 && identities_.contains(dim); });
    return basis != dims.end() &&
           (std::find(dims.begin(), basis, batch) != basis || std::find(basis + 1, dims.end(), batch) != dims.end());
  }

  // Whether the value has a dimension of the inputs over all devices, although the inputs are split along it.
  bool IsReplicated(const ProgramValue& value) const {
    const Dimensions& dimensions = program_.dimensions;
    for (const FactorIds& factors : dimensions.FactorsOf(value.array)) {
      for (const FactorId factor : factors)
        if (split_.contains({dimensions.GroupOf(factor), dimensions.factors.size(factor)})) return true;
    }
    return false;
  }

  // If the value is computed from one whole argument: "widened_weights" or "whole_input_copy".
  std::string CopyOf(const ProgramValue& value) const {
    const ArrayShape& shape = program_.ShapeOf(value.array);
    for (const InstructionId operand : program_.InstructionOf(value).operands) {
      const auto argument = large_.find(MakerOf(program_.module, operand, {"bitcast", "copy", "reshape"}));
      if (argument == large_.end() || ElementCount(ShapeOf(*argument->second)) != ElementCount(shape)) continue;
      const Role role = semantics_.RoleOf(*argument->second);
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
      for (const InstructionId user : program_.users[same[i]]) {
        const bool is_as_large = ElementCount(ArrayOf(user)) == ElementCount(ArrayOf(array));
        if (is_as_large && program_.At(user).Is({"bitcast", "reshape", "fusion"})) same.push_back(user);
        const std::span<const InstructionId> carried = program_.At(user).operands;
        const std::size_t place = std::ranges::find(carried, same[i]) - carried.begin();
        const auto is_unchanged = [&](InstructionId loop) { return program_.PassesOn(program_.At(loop), place); };
        if (program_.At(user).opcode == "tuple" && std::ranges::any_of(program_.users[user], is_unchanged)) return true;
      }
    }
    return false;
  }

  // Finds results of loops that are copied to donated arrays, and those with a part for each step.
  void FindStacks() {
    for (const ProgramOutput& output : program_.outputs) {
      const HloInstruction& copy = program_.At(output.array.instruction);
      if (output.value || copy.opcode != "copy" || copy.operands.empty()) continue;
      const ArrayId copied = program_.dimensions.TupleElementOf(program_.At(copy.operands[0]));
      if (copied && program_.At(copied.instruction).opcode == "while") AddStack("copied_carry", copied);
    }
    for (const Loop& loop : program_.dimensions.loops) {
      if (loop.groups.empty() || IsOverLayers(loop)) continue;
      const auto is_stack = [&](ArrayId array) {
        const ArrayGroups groups = array ? program_.dimensions.GroupsOf(array) : ArrayGroups();
        return !groups.empty() && groups[0] == loop.groups;
      };
      for (const ProgramOutput& output : program_.outputs) {
        if (output.value && output.array.instruction == loop.instruction && is_stack(output.array))
          AddStack("stacked_output", output.array);
      }
      for (const InstructionId user : program_.users[loop.instruction]) {
        const ArrayId array = program_.dimensions.TupleElementOf(program_.At(user));
        if (!semantics_.trains && is_stack(array) && IsOnlySliced(user, 0)) AddStack("stacked_output", array);
      }
    }
  }

  void AddStack(const char* sign, ArrayId stack) {
    for (const ValueId id : program_.values_of[stack.instruction]) {
      const ProgramValue& value = program_.values[id];
      if (value.array == stack && program_.ShapeOf(stack).memory_space != kHostMemorySpace)
        Add(sign, value.size, program_.NameOf(stack));
    }
  }

  // Whether most of the weights have a part for each step of the loop, or none are known.
  bool IsOverLayers(const Loop& loop) const {
    std::int64_t weights = 0;
    std::int64_t layers = 0;
    for (const ProgramParameter& parameter : program_.parameters) {
      if (!semantics_.IsState(parameter)) continue;
      const ArrayGroups& groups = semantics_.GroupsOf(parameter);
      weights += parameter.size;
      if (!groups.empty() && groups[0] == loop.groups) layers += parameter.size;
    }
    return 2 * layers >= weights;
  }

  // Whether the program uses only slices of the array.
  bool IsOnlySliced(InstructionId array, int depth) const {
    constexpr int kDeepest = 8;
    const std::vector<InstructionId>& users = program_.users[array];
    return !users.empty() && depth < kDeepest && std::ranges::all_of(users, [&](InstructionId user) {
      const HloInstruction& is = program_.At(user);
      if (is.Is({"bitcast", "reshape"})) return IsOnlySliced(user, depth + 1);
      if (is.opcode != "fusion" || is.calls.empty()) return is.Is({"slice", "dynamic-slice"});
      const std::vector<InstructionId>& fused = program_.module.computations[is.calls[0]].parameters;
      for (std::size_t i = 0; i < std::min(is.operands.size(), fused.size()); ++i) {
        if (is.operands[i] == array && !(fused[i] && IsOnlySliced(fused[i], depth + 1))) return false;
      }
      return true;
    });
  }

  void FindAtPeak() {
    std::map<ArrayDims, std::vector<const ProgramValue*>> gradients;  // by shape
    for (const Buffer* buffer : simulator_.compiled.LiveAtPeak()) {
      const ProgramValue* gradient = nullptr;
      std::string sign;
      for (const ValueId id : buffer->values) {
        const ProgramValue& value = program_.values[id];
        if (!value.array) continue;
        if (gradient == nullptr && semantics_.IsBackward(value.array.instruction)) gradient = &value;
        if (!sign.empty() || program_.InstructionOf(value).opcode == "parameter") continue;
        sign = SignOf(value);
        if (!sign.empty()) Add(sign, buffer->size, program_.NameOf(value.array));
      }
      if (gradient != nullptr) gradients[program_.ShapeOf(gradient->array).dims].push_back(gradient);
    }
    constexpr std::size_t kMany = 3;  // gradients for each weight: one, and one that is being computed, are usual
    for (const auto& [dims, count] : weights_) {
      if (gradients[dims].size() < kMany * count) continue;
      for (const ProgramValue* value : gradients[dims])
        Add("repeated_gradients", value->size, program_.NameOf(value->array));
    }
  }

  std::string SignOf(const ProgramValue& value) const {
    const ArrayShape& shape = program_.ShapeOf(value.array);
    if (shape.memory_space != kHostMemorySpace && on_host_.contains(shape.shape)) return "fetched";
    if (IsOfWholeJacobian(value)) return "whole_jacobian";
    if (const std::string copied = CopyOf(value); !copied.empty()) return copied;
    if (frozen_.contains(shape.dims)) return "frozen_gradients";
    if (IsReplicated(value)) return "replicated_activations";
    if (!semantics_.trains) return semantics_.KindOf(value.id) == ValueKind::kLogits ? "evaluation_logits" : "";
    const bool is_vmapped = IsMapped(program_.InstructionOf(value).op_name);
    if (shape.dims.size() < 3 || !is_vmapped || !semantics_.Has(value.id, semantics_.batch)) return "";
    return weights_.contains(ArrayDims(shape.dims.begin() + 1, shape.dims.end())) ? "example_gradients" : "";
  }

  const Program& program_;
  const Semantics& semantics_;
  const Simulator& simulator_;
  Evidence signs_;
  std::set<std::string_view> on_host_;  // shapes of large arguments in host memory
  std::map<InstructionId, const ProgramParameter*> large_;
  std::set<std::pair<GroupId, std::int64_t>> split_;  // dimensions of the inputs, with their lengths over all devices
  std::set<ArrayDims> frozen_;                        // dimensions of weights that do not change
  std::set<std::int64_t> identities_;                 // sizes of identity matrices
  std::map<ArrayDims, std::size_t> weights_;          // number of large weights by their dimensions
  std::map<std::string, std::int64_t> largest_;       // bytes of the array that the sign is called by
};

}  // namespace

Evidence FindSigns(const Simulator& simulator) { return SignFinder(simulator).Find(); }

}  // namespace whyoom
