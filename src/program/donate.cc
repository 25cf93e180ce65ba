// Simulates donating arguments to outputs, and keeping optimizer state (without training, also weights) on the host.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "program/remedies.h"

namespace whyoom {
namespace {

// Finds the last use of an instruction's result, including uses of bitcasts, tuples and asynchronous copies of it.
class LastUses {
 public:
  explicit LastUses(const Program& program) : program_(program) {}

  // The position of the last use; -1 if there is none.
  int Of(InstructionId instruction, int depth = 0) {
    constexpr int kDeepest = 16;
    if (depth > kDeepest) return -1;
    // Without a cache, paths that fork and rejoin would be followed repeatedly.
    const auto key = static_cast<std::int64_t>(instruction.value) * (kDeepest + 1) + depth;
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    int last = -1;
    for (const InstructionId user : program_.UsersOf(instruction)) {
      const HloInstruction& is = program_.At(user);
      if (is.Is({"bitcast", "get-tuple-element", "tuple", "copy-start", "copy-done"}))
        last = std::max(last, Of(user, depth + 1));
      if (is.opcode != "tuple") last = std::max(last, program_.PositionOf(user));
    }
    known_[key] = last;
    return last;
  }

 private:
  const Program& program_;
  std::unordered_map<std::int64_t, int> known_;  // by instruction and depth
};

// Finds an argument to donate for each output that does not alias one. The argument must have the output's shape, be
// aliased by no other output, and not be read after the output is computed.
class Donation {
 public:
  Donation(const Simulator& simulator, ModifiedProgram* modified)
      : program_(simulator.program()),
        compiled_(simulator.compiled()),
        last_uses_(simulator.program()),
        modified_(*modified) {}

  // Returns false if no output has such an argument.
  bool Run() {
    for (const ProgramParameter& parameter : program_.parameters()) {
      if (!parameter.shares_output && parameter.size > 0)
        unused_[program_.ShapeOf(parameter.array).shape].push_back(&parameter);
    }
    for (const ProgramOutput& output : program_.outputs()) {
      if (output.value) Match(output);
    }
    if (writers_.empty()) return false;
    for (const Buffer& buffer : compiled_.buffers()) {
      if (allocations_.contains(buffer.allocation) && !buffer.is_output) Move(buffer);
    }
    return true;
  }

 private:
  void Match(const ProgramOutput& output) {
    std::vector<const ProgramParameter*>& same_shape = unused_[program_.ShapeOf(output.array).shape];
    for (auto parameter = same_shape.begin(); parameter != same_shape.end(); ++parameter) {
      // If the argument is copied only to be overwritten, donation makes the copy unnecessary.
      const ProgramValue* copy = CopyOf(**parameter, program_.values()[output.value]);
      ++modified_.tried;
      if (copy == nullptr && !CanReuse(output, **parameter)) continue;
      same_shape.erase(parameter);
      Remove(output, copy);
      return;
    }
  }

  const ProgramValue* CopyOf(const ProgramParameter& parameter, const ProgramValue& output) const {
    for (const ValueId id : program_.ValuesIn(output.allocation)) {
      const ProgramValue& value = program_.values()[id];
      if (value.size != output.size || !value.array.instruction) continue;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.opcode == "copy" && !is.operands.empty() && is.operands[0] == parameter.array.instruction) return &value;
    }
    return nullptr;
  }

  bool CanReuse(const ProgramOutput& output, const ProgramParameter& parameter) {
    const int made = program_.PositionOf(output.array.instruction);
    const int last = last_uses_.Of(parameter.array.instruction);
    if (program_.At(output.array.instruction).opcode != "while") return last <= made;
    // If the loop starts with a copy of the argument, donation makes the copy unnecessary. Otherwise the loop writes
    // the output throughout, so the argument must not be read during the loop.
    const InstructionId initial = program_.InitialElement(output.array.instruction, output.array.leaf);
    if (!initial) return false;
    const InstructionId from = program_.Follow(initial, [](const auto& at) {
      return at.Is({"copy", "bitcast", "copy-done", "copy-start", "get-tuple-element"});
    });
    return from == parameter.array.instruction || last < made;
  }

  // Removes the output, the copy (if any), and the values that overwrite the copy in the output's memory.
  void Remove(const ProgramOutput& output, const ProgramValue* copy) {
    const ProgramValue& returned = program_.values()[output.value];
    writers_.insert(output.array.instruction);
    allocations_.insert(returned.allocation);
    modified_.sizes[output.value] = 0;
    for (const ValueId id : program_.ValuesIn(returned.allocation)) {
      const ProgramValue& value = program_.values()[id];
      if (copy != nullptr && value.size == returned.size && value.first >= copy->first) modified_.sizes[id] = 0;
    }
    if (program_.InstructionOf(returned).opcode != "while") return;
    for (const Buffer& buffer : compiled_.buffers()) {
      if (std::find(buffer.values.begin(), buffer.values.end(), output.value) != buffer.values.end())
        modified_.Remove(buffer.values);
    }
  }

  // A buffer that used an output's memory before the output was computed now needs its own memory. The compiler
  // schedules the update that reads the buffer as soon as all operands are computed. The buffer is live until then.
  void Move(const Buffer& buffer) {
    const ProgramValue& last = program_.values()[buffer.values.back()];
    if (!last.array.instruction) return;
    std::int64_t end = -1;
    for (const InstructionId user : program_.UsersOf(last.array.instruction)) {
      if (!writers_.contains(user)) end = buffer.last;
      for (const InstructionId operand : program_.At(user).operands)
        end = std::max<std::int64_t>(end, program_.PositionOf(operand));
    }
    if (end < 0 || end >= buffer.last) return;
    std::int64_t bytes = 0;
    for (const ValueId value : buffer.values) bytes = std::max(bytes, std::exchange(modified_.sizes[value], 0));
    modified_.Add(bytes, buffer.first, std::max(buffer.first, end), buffer.values);
  }

  const Program& program_;
  const BufferAssignment& compiled_;
  LastUses last_uses_;
  ModifiedProgram& modified_;
  std::map<std::string_view, std::vector<const ProgramParameter*>> unused_;  // by shape
  std::set<InstructionId> writers_;     // instructions that now write to an argument
  std::set<AllocationId> allocations_;  // of outputs that now alias an argument
};

// Keeps the argument on the host, and on the device only while it is used (in training: only at its last use).
void MoveToHost(const Simulator& simulator, const ProgramParameter& parameter, LastUses* last_uses,
                ModifiedProgram* modified) {
  const Program& program = simulator.program();
  const InstructionId instruction = parameter.array.instruction;
  const std::int64_t last = last_uses->Of(instruction);
  std::int64_t first = last;
  for (const InstructionId user : program.UsersOf(instruction)) {
    if (!simulator.semantics().trains() && program.PositionOf(user) >= 0)
      first = std::min<std::int64_t>(first, program.PositionOf(user));
  }
  for (const ValueId id : program.ValuesOf(instruction)) {
    const ProgramValue& value = program.values()[id];
    if (value.array != parameter.array) continue;
    modified->Remove(program.ValuesIn(value.allocation));  // including an output that aliases it
    if (last >= 0) modified->Add(value.size, first, last, {id});
  }
}

// Moves outputs to the host. Assumes the same share of optimizer state among outputs and arguments of the same shape.
void MoveResultsToHost(const Simulator& simulator, const std::set<std::string_view>& shapes,
                       ModifiedProgram* modified) {
  const Program& program = simulator.program();
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> of_shape;  // argument counts: state, all
  for (const ProgramParameter& parameter : program.parameters()) {
    auto& [state, all] = of_shape[program.ShapeOf(parameter.array).shape];
    state += simulator.semantics().RoleOf(parameter) == Role::kOptimizerState ? 1 : 0;
    ++all;
  }
  for (const Buffer& buffer : simulator.compiled().buffers()) {
    if (!buffer.is_output) continue;
    const ProgramValue& value = program.values()[buffer.values.back()];
    if (!value.array || !shapes.contains(program.ShapeOf(value.array).shape)) continue;
    const auto [state, all] = of_shape[program.ShapeOf(value.array).shape];
    if (state == 0 || all == 0) continue;
    for (const ValueId id : buffer.values) modified->sizes[id] = value.size * (all - state) / all;
    modified->Add(value.size * state / all, buffer.first, buffer.first, buffer.values);
  }
}

}  // namespace

std::optional<ModifiedProgram> Donate(const Simulator& simulator) {
  ModifiedProgram modified = simulator.Unmodified();
  if (Donation(simulator, &modified).Run()) {
    modified.tried = 0;
    return modified;
  }
  // An argument can be donated only to an output of the same shape.
  modified.ruled_out = modified.tried == 0 ? "nothing_to_donate" : "";
  return modified;
}

std::optional<ModifiedProgram> StateOnHost(const Simulator& simulator) {
  const Semantics& semantics = simulator.semantics();
  ModifiedProgram modified = simulator.Unmodified();
  LastUses last_uses(simulator.program());
  std::set<std::string_view> shapes;
  for (const ProgramParameter& parameter : simulator.program().parameters()) {
    const Role role = semantics.RoleOf(parameter);
    if (role != Role::kOptimizerState && (semantics.trains() || role != Role::kWeights)) continue;
    shapes.insert(simulator.program().ShapeOf(parameter.array).shape);
    MoveToHost(simulator, parameter, &last_uses, &modified);
  }
  if (simulator.CountModified(modified) == 0) return std::nullopt;
  MoveResultsToHost(simulator, shapes, &modified);
  return modified;
}

}  // namespace whyoom
