// Simulates donating arguments to outputs, and keeping optimizer state (without training, also weights) on the host.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "program/remedies.h"

namespace whyoom {
namespace {

// By instruction: the position of the last use of its result, including uses of bitcasts, tuples and asynchronous
// copies of it; -1 if there is none.
Indexed<InstructionId, int> LastUses(const Program& program) {
  Indexed<InstructionId, int> last(program.module().instructions.size(), -1);
  for (InstructionId id(last.size() - 1); id; --id.value) {  // operands precede their user
    const HloInstruction& is = program.At(id);
    const bool passes_on = is.Is({"bitcast", "get-tuple-element", "tuple", "copy-start", "copy-done"});
    const int use = std::max(passes_on ? last[id] : -1, is.opcode == "tuple" ? -1 : program.PositionOf(id));
    for (const InstructionId operand : is.operands) last[operand] = std::max(last[operand], use);
  }
  return last;
}

// The value in the output's memory that is a copy of the argument, only to be overwritten; null if there is none.
const ProgramValue* CopyOf(const Program& program, const ProgramParameter& parameter, const ProgramValue& output) {
  for (const ValueId id : program.ValuesIn(output.allocation)) {
    const ProgramValue& value = program.values()[id];
    if (value.size != output.size || !value.array.instruction) continue;
    const HloInstruction& is = program.InstructionOf(value);
    if (is.opcode == "copy" && !is.operands.empty() && is.operands[0] == parameter.array.instruction) return &value;
  }
  return nullptr;
}

// A buffer that used an output's memory before the output was computed now needs its own memory. The compiler schedules
// the update that reads the buffer as soon as all operands are computed. The buffer is live until then. `writers` are
// the instructions that now write to an argument.
void MoveOut(const Program& program, const Buffer& buffer, const std::set<InstructionId>& writers,
             ModifiedProgram* modified) {
  const ProgramValue& last = program.values()[buffer.values.back()];
  if (!last.array.instruction) return;
  std::int64_t end = -1;
  for (const InstructionId user : program.UsersOf(last.array.instruction)) {
    if (!writers.contains(user)) end = buffer.last;
    for (const InstructionId operand : program.At(user).operands)
      end = std::max<std::int64_t>(end, program.PositionOf(operand));
  }
  if (end < 0 || end >= buffer.last) return;
  std::int64_t bytes = 0;
  for (const ValueId value : buffer.values) bytes = std::max(bytes, std::exchange(modified->sizes[value], 0));
  modified->Add(bytes, buffer.first, std::max(buffer.first, end), buffer.values);
}

// Moves outputs to the host. Assumes the same share of optimizer state among outputs and arguments of the same shape.
void MoveResultsToHost(const Simulator& simulator, ModifiedProgram* modified) {
  const Program& program = simulator.program();
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> counts;  // by shape: of state, of all arguments
  for (const ProgramParameter& parameter : program.parameters()) {
    auto& [state, all] = counts[program.ShapeOf(parameter.array).shape];
    state += simulator.semantics().RoleOf(parameter) == Role::kOptimizerState ? 1 : 0;
    ++all;
  }
  for (const Buffer& buffer : simulator.compiled().buffers()) {
    const ProgramValue& value = program.values()[buffer.values.back()];
    if (!buffer.is_output || !value.array) continue;
    const auto& [state, all] = counts[program.ShapeOf(value.array).shape];
    if (state == 0) continue;
    const std::int64_t moved = value.size * state / all;
    for (const ValueId id : buffer.values) modified->sizes[id] = value.size - moved;
    modified->Add(moved, buffer.first, buffer.first, buffer.values);
  }
}

}  // namespace

// Finds an argument to donate for each output that does not alias one. The argument must have the output's shape, be
// aliased by no other output, and not be read after the output is computed, unless it is only copied to be overwritten.
std::optional<ModifiedProgram> Donate(const Simulator& simulator) {
  const Program& program = simulator.program();
  const Indexed<InstructionId, int> last_uses = LastUses(program);
  std::map<std::string_view, std::vector<const ProgramParameter*>> unused;  // by shape
  for (const ProgramParameter& parameter : program.parameters()) {
    if (!parameter.shares_output && parameter.size > 0)
      unused[program.ShapeOf(parameter.array).shape].push_back(&parameter);
  }
  ModifiedProgram modified = simulator.Unmodified();
  bool has_shape = false;           // an output has the shape of an argument
  std::set<InstructionId> writers;  // of outputs that now alias an argument
  std::set<AllocationId> allocations;
  for (const ProgramOutput& output : program.outputs()) {
    if (!output.value) continue;
    const ProgramValue& value = program.values()[output.value];
    std::vector<const ProgramParameter*>& same_shape = unused[program.ShapeOf(output.array).shape];
    for (auto parameter = same_shape.begin(); parameter != same_shape.end(); ++parameter) {
      has_shape = true;
      const ProgramValue* copy = CopyOf(program, **parameter, value);
      const int made = program.PositionOf(output.array.instruction);
      if (copy == nullptr && last_uses[(*parameter)->array.instruction] > made) continue;
      modified.sizes[output.value] = 0;
      for (const ValueId id : program.ValuesIn(value.allocation)) {  // the copy, and what overwrites it
        const ProgramValue& later = program.values()[id];
        if (copy != nullptr && later.size == value.size && later.first >= copy->first) modified.sizes[id] = 0;
      }
      writers.insert(output.array.instruction);
      allocations.insert(value.allocation);
      same_shape.erase(parameter);
      break;
    }
  }
  for (const Buffer& buffer : simulator.compiled().buffers()) {
    if (allocations.contains(buffer.allocation) && !buffer.is_output) MoveOut(program, buffer, writers, &modified);
  }
  if (!has_shape) modified.ruled_out = "nothing_to_donate";
  modified.tried = has_shape ? 1 : 0;
  return modified;
}

std::optional<ModifiedProgram> StateOnHost(const Simulator& simulator) {
  const Program& program = simulator.program();
  const Indexed<InstructionId, int> last_uses = LastUses(program);
  ModifiedProgram modified = simulator.Unmodified();
  for (const ProgramParameter& parameter : program.parameters()) {
    const Role role = simulator.semantics().RoleOf(parameter);
    if (role != Role::kOptimizerState && (simulator.semantics().trains() || role != Role::kWeights)) continue;
    const int last = last_uses[parameter.array.instruction];
    for (const ValueId id : program.ValuesOf(parameter.array.instruction)) {
      const ProgramValue& value = program.values()[id];
      if (value.array != parameter.array) continue;
      modified.Remove(program.ValuesIn(value.allocation));        // including an output that aliases it
      if (last >= 0) modified.Add(value.size, last, last, {id});  // fetched for its last use
    }
  }
  if (simulator.CountModified(modified) == 0) return std::nullopt;
  MoveResultsToHost(simulator, &modified);
  return modified;
}

}  // namespace whyoom
