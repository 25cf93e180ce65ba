// Memory of arguments: outputs that reuse it (donation), and optimizer state that stays on the host.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "program/change.h"

namespace whyoom {
namespace {

// Finds an argument for each output that has memory of its own: one of the same shape that no output shares yet, and
// that nothing reads after the output is made.
class Donation {
 public:
  Donation(const Program& program, const BufferAssignment& compiled, const LastUses& last_uses,
           ModifiedProgram* modified)
      : program_(program), compiled_(compiled), last_uses_(last_uses), modified_(*modified) {}

  // False if there is no such argument.
  bool Run() {
    for (const ProgramParameter& parameter : program_.parameters()) {
      if (!parameter.shares_output && parameter.size > 0)
        unused_[program_.ShapeOf(parameter).shape].push_back(&parameter);
    }
    for (const ProgramOutput& output : program_.outputs()) {
      if (output.value >= 0) Match(output);
    }
    if (writers_.empty()) return false;
    for (const Buffer& buffer : compiled_.buffers()) {
      if (allocations_.contains(buffer.allocation) && !buffer.is_output) Move(buffer);
    }
    return true;
  }

 private:
  void Match(const ProgramOutput& output) {
    std::vector<const ProgramParameter*>& same_shape = unused_[program_.ShapeOf(output).shape];
    for (auto parameter = same_shape.begin(); parameter != same_shape.end(); ++parameter) {
      // An argument that is copied only to be written to need not be copied.
      const ProgramValue* copy = CopyOf(**parameter, program_.values()[output.value]);
      ++modified_.tried;
      if (copy == nullptr && !CanReuse(output, **parameter)) continue;
      same_shape.erase(parameter);
      Remove(output, copy);
      return;
    }
  }

  const ProgramValue* CopyOf(const ProgramParameter& parameter, const ProgramValue& output) const {
    for (const int i : program_.ValuesIn(output.allocation)) {
      const ProgramValue& value = program_.values()[i];
      if (value.size != output.size || value.instruction < 0) continue;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.opcode == "copy" && !is.operands.empty() && is.operands[0] == parameter.instruction) return &value;
    }
    return nullptr;
  }

  bool CanReuse(const ProgramOutput& output, const ProgramParameter& parameter) const {
    const int made = program_.PositionOf(output.instruction);
    const int last = last_uses_.Of(parameter.instruction);
    const HloInstruction& is = program_.At(output.instruction);
    if (is.opcode != "while") return last <= made;
    // A loop updates its own copy of the argument, which it then need not make; else it writes while it still reads.
    if (is.operands.empty() || program_.At(is.operands[0]).opcode != "tuple") return false;
    const std::vector<int>& start = program_.At(is.operands[0]).operands;
    if (output.leaf >= static_cast<int>(start.size())) return false;
    const int from = program_.Follow(start[output.leaf], [](const auto& at) {
      return at.Is({"copy", "bitcast", "copy-done", "copy-start", "get-tuple-element"});
    });
    return from == parameter.instruction || last < made;
  }

  // The output, and what is written over the copy in its memory, needs none of its own.
  void Remove(const ProgramOutput& output, const ProgramValue* copy) {
    const ProgramValue& returned = program_.values()[output.value];
    writers_.insert(output.instruction);
    allocations_.insert(returned.allocation);
    modified_.sizes[output.value] = 0;
    for (const int i : program_.ValuesIn(returned.allocation)) {
      const ProgramValue& value = program_.values()[i];
      if (copy != nullptr && value.size == returned.size && value.first >= copy->first) modified_.sizes[i] = 0;
    }
    if (program_.InstructionOf(returned).opcode != "while") return;
    for (const Buffer& buffer : compiled_.buffers()) {
      if (std::find(buffer.values.begin(), buffer.values.end(), output.value) == buffer.values.end()) continue;
      for (const int shared : buffer.values) modified_.sizes[shared] = 0;
    }
  }

  // A buffer that used an output's memory until the output was made needs memory of its own. What an update consumes
  // goes as soon as the update can be made, which the compiler then does early.
  void Move(const Buffer& buffer) {
    const ProgramValue& last = program_.values()[buffer.values.back()];
    if (last.instruction < 0) return;
    std::int64_t end = -1;
    for (const int user : program_.UsersOf(last.instruction)) {
      if (!writers_.contains(user)) end = buffer.last;
      for (const int operand : program_.At(user).operands)
        end = std::max<std::int64_t>(end, program_.PositionOf(operand));
    }
    if (end < 0 || end >= buffer.last) return;
    std::int64_t bytes = 0;
    for (const int value : buffer.values) bytes = std::max(bytes, std::exchange(modified_.sizes[value], 0));
    modified_.added.push_back({.size = bytes,
                               .first = buffer.first,
                               .last = std::max(buffer.first, end),
                               .allocation = buffer.allocation,
                               .values = buffer.values});
  }

  const Program& program_;
  const BufferAssignment& compiled_;
  const LastUses& last_uses_;
  ModifiedProgram& modified_;
  std::map<std::string_view, std::vector<const ProgramParameter*>> unused_;  // by shape
  std::set<int> writers_;      // instructions that now write into an argument
  std::set<int> allocations_;  // of outputs that need none anymore
};

}  // namespace

int LastUses::Of(int instruction, int depth) const {
  constexpr int kDeepest = 16;
  if (depth > kDeepest) return -1;
  // Paths that part and meet again would otherwise be followed once each.
  const auto key = static_cast<std::int64_t>(instruction) * (kDeepest + 1) + depth;
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  int last = -1;
  for (const int user : program_.UsersOf(instruction)) {
    const HloInstruction& is = program_.At(user);
    if (is.Is({"bitcast", "get-tuple-element", "tuple", "copy-start", "copy-done"}))
      last = std::max(last, Of(user, depth + 1));
    if (is.opcode != "tuple") last = std::max(last, program_.PositionOf(user));
  }
  known_[key] = last;
  return last;
}

std::optional<ModifiedProgram> Changes::Donate() const {
  ModifiedProgram modified = AsItIs();
  if (Donation(program_, compiled_, last_uses_, &modified).Run()) {
    modified.tried = 0;
    return modified;
  }
  // Only an argument of an output's shape can be donated for it.
  modified.ruled_out = modified.tried == 0 ? "nothing_to_donate" : "";
  return modified;
}

std::optional<ModifiedProgram> Changes::StateOnHost() const {
  ModifiedProgram modified = AsItIs();
  std::set<std::string> shapes;
  for (const ProgramParameter& parameter : program_.parameters()) {
    const Role role = meaning_.RoleOf(parameter.place);
    if (role != Role::kOptimizerState && (meaning_.trains() || role != Role::kWeights)) continue;
    shapes.insert(program_.ShapeOf(parameter).shape);
    SendToHost(parameter, &modified);
  }
  if (MadeOn(modified) == 0) return std::nullopt;
  SendResultsToHost(shapes, &modified);
  return modified;
}

// The argument comes to the device only while it is used.
void Changes::SendToHost(const ProgramParameter& parameter, ModifiedProgram* modified) const {
  const std::int64_t last = last_uses_.Of(parameter.instruction);
  std::int64_t first = last;
  for (const int user : program_.UsersOf(parameter.instruction)) {
    if (!meaning_.trains() && program_.PositionOf(user) >= 0)
      first = std::min<std::int64_t>(first, program_.PositionOf(user));
  }
  for (const int i : program_.ValuesOf(parameter.instruction)) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf != parameter.leaf) continue;
    // An output that shares its memory goes with it.
    for (const int other : program_.ValuesIn(value.allocation)) modified->sizes[other] = 0;
    if (last >= 0) modified->added.push_back({.size = value.size, .first = first, .last = last, .values = {i}});
  }
}

// Of the outputs of one shape as many are optimizer state as there are arguments of it that are.
void Changes::SendResultsToHost(const std::set<std::string>& shapes, ModifiedProgram* modified) const {
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> of_shape;  // arguments: optimizer state, and all
  for (const ProgramParameter& parameter : program_.parameters()) {
    auto& [state, all] = of_shape[program_.ShapeOf(parameter).shape];
    state += meaning_.RoleOf(parameter.place) == Role::kOptimizerState ? 1 : 0;
    ++all;
  }
  for (const Buffer& buffer : compiled_.buffers()) {
    if (!buffer.is_output) continue;
    const ProgramValue& value = program_.values()[buffer.values.back()];
    if (value.leaf < 0 || !shapes.contains(program_.ShapeOf(value).shape)) continue;
    const auto [state, all] = of_shape[program_.ShapeOf(value).shape];
    if (state == 0 || all == 0) continue;
    for (const int i : buffer.values) modified->sizes[i] = value.size * (all - state) / all;
    modified->added.push_back(
        {.size = value.size * state / all, .first = buffer.first, .last = buffer.first, .values = buffer.values});
  }
}

}  // namespace whyoom
