// Memory of arguments: outputs that take it over (donation), and optimizer state that stays on the host.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "program/change.h"

namespace whyoom {

int Changes::LastUse(int instruction, int depth) const {
  // What only renames a value is looked through.
  constexpr int kDeepest = 16;
  int last = -1;
  if (depth > kDeepest) return last;
  // Ways that part and meet again would else be gone once each.
  const auto key = static_cast<std::int64_t>(instruction) * (kDeepest + 1) + depth;
  const auto known = last_uses_.find(key);
  if (known != last_uses_.end()) return known->second;
  for (const int user : program_.UsersOf(instruction)) {
    const std::string_view opcode = program_.module().instructions[static_cast<std::size_t>(user)].opcode;
    const bool renames = opcode == "bitcast" || opcode == "get-tuple-element" || opcode == "tuple" ||
                         opcode == "copy-start" || opcode == "copy-done";
    if (renames) last = std::max(last, LastUse(user, depth + 1));
    if (opcode != "tuple") last = std::max(last, program_.PositionOf(user));
  }
  last_uses_[key] = last;
  return last;
}

bool Changes::CanTakeOver(const ProgramOutput& output, const ProgramParameter& parameter) const {
  const int made = program_.PositionOf(output.instruction);
  const HloInstruction& is = program_.module().instructions[static_cast<std::size_t>(output.instruction)];
  if (is.opcode == "while") {
    // A loop updates its own copy of the argument, which it then need not make; else it writes while it still reads.
    int from = is.operands.empty() ? -1 : is.operands[0];
    if (from < 0 || program_.module().instructions[static_cast<std::size_t>(from)].opcode != "tuple") return false;
    const HloInstruction& start = program_.module().instructions[static_cast<std::size_t>(from)];
    if (output.leaf >= static_cast<int>(start.operands.size())) return false;
    from = start.operands[static_cast<std::size_t>(output.leaf)];
    for (int depth = 0; depth < 8; ++depth) {
      if (from == parameter.instruction) return true;
      const HloInstruction& at = program_.module().instructions[static_cast<std::size_t>(from)];
      const bool same = at.opcode == "copy" || at.opcode == "bitcast" || at.opcode == "copy-done" ||
                        at.opcode == "copy-start" || at.opcode == "get-tuple-element";
      if (!same || at.operands.empty()) break;
      from = at.operands[0];
    }
  }
  const int last = LastUse(parameter.instruction, 0);
  return is.opcode == "while" ? last < made : last <= made;
}

int Changes::CopyOf(const ProgramParameter& parameter, const ProgramValue& output) const {
  for (const int i : program_.ValuesIn(output.allocation)) {
    const ProgramValue& value = program_.values()[static_cast<std::size_t>(i)];
    if (value.size != output.size || value.instruction < 0) continue;
    const HloInstruction& is = program_.InstructionOf(value);
    if (is.opcode == "copy" && !is.operands.empty() && is.operands[0] == parameter.instruction) return i;
  }
  return -1;
}

std::optional<Variant> Changes::Donate() const {
  // Outputs without memory of their own, matched to arguments of the same shape that no output shares yet and that
  // nothing reads after the output is made.
  Sizes sizes = compiled_.SizesAsTheyAre();
  std::vector<Buffer> added;
  const std::vector<ProgramValue>& values = program_.values();
  std::set<int> instructions;                                     // that now write into an argument
  std::set<int> allocations;                                      // of outputs that are no more
  std::int64_t tried = 0;                                         // pairs of an output and an argument of its shape
  std::map<std::string_view, std::vector<std::size_t>> of_shape;  // parameters that can still be taken over
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    const ProgramParameter& parameter = program_.parameters()[p];
    if (!parameter.shares_output && parameter.size > 0) of_shape[program_.ShapeOf(parameter).shape].push_back(p);
  }
  for (const ProgramOutput& output : program_.outputs()) {
    const int value = output.value;
    if (value < 0) continue;
    const ProgramValue& handed_out = values[static_cast<std::size_t>(value)];
    std::vector<std::size_t>& same_shape = of_shape[program_.ShapeOf(output).shape];
    for (auto p = same_shape.begin(); p != same_shape.end(); ++p) {
      const ProgramParameter& parameter = program_.parameters()[*p];
      // An argument that is only copied, so that it can be written to, need not be copied.
      const int copy = CopyOf(parameter, handed_out);
      ++tried;
      if (copy < 0 && !CanTakeOver(output, parameter)) continue;
      same_shape.erase(p);
      instructions.insert(output.instruction);
      allocations.insert(handed_out.allocation);
      sizes[static_cast<std::size_t>(value)] = 0;
      for (const int i : program_.ValuesIn(handed_out.allocation)) {
        const ProgramValue& written = values[static_cast<std::size_t>(i)];
        const bool written_to = copy >= 0 && written.first >= values[static_cast<std::size_t>(copy)].first;
        if (written.size == handed_out.size && written_to) sizes[static_cast<std::size_t>(i)] = 0;
      }
      if (program_.InstructionOf(handed_out).opcode != "while") break;
      for (const Buffer& buffer : compiled_.buffers()) {
        if (std::find(buffer.values.begin(), buffer.values.end(), value) == buffer.values.end()) continue;
        for (const int shared : buffer.values) sizes[static_cast<std::size_t>(shared)] = 0;
      }
      break;
    }
  }
  if (instructions.empty()) {
    // Only an argument of an output's shape can be donated for it.
    Variant variant = RuledOut(tried == 0 ? "nothing_to_donate" : "");
    variant.tried = tried;
    return variant;
  }
  // What lay in the outputs' memory until they were made needs memory of its own; what an update consumes goes as soon
  // as the update can be made, which the compiler then does early.
  for (const Buffer& buffer : compiled_.buffers()) {
    if (!allocations.contains(buffer.allocation) || buffer.is_output) continue;
    const ProgramValue& last = values[static_cast<std::size_t>(buffer.values.back())];
    if (last.instruction < 0) continue;
    std::int64_t end = -1;
    std::int64_t left = 0;
    for (const int user : program_.UsersOf(last.instruction)) {
      if (!instructions.contains(user)) end = buffer.last;
      for (const int operand : program_.module().instructions[static_cast<std::size_t>(user)].operands)
        end = std::max<std::int64_t>(end, program_.PositionOf(operand));
    }
    if (end < 0 || end >= buffer.last) continue;
    for (const int value : buffer.values) {
      left = std::max(left, sizes[static_cast<std::size_t>(value)]);
      sizes[static_cast<std::size_t>(value)] = 0;
    }
    added.push_back({0, left, buffer.first, std::max(buffer.first, end), buffer.allocation, buffer.values, false});
  }
  return Variant{std::move(sizes), 0, std::move(added)};
}

std::optional<Variant> Changes::StateOnHost() const {
  // The optimizer's arguments and their new values come to the device only while they are used.
  Sizes sizes = compiled_.SizesAsTheyAre();
  std::vector<Buffer> added;
  const auto& values = program_.values();
  bool any = false;
  std::set<std::string> state;
  const bool inference = !meaning_.trains();
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    const ProgramParameter& parameter = program_.parameters()[p];
    const Role role = meaning_.RoleOf(p);
    if (role != Role::kOptimizerState && !(inference && role == Role::kWeights)) continue;
    state.insert(program_.ShapeOf(parameter).shape);
    std::int64_t first = INT64_MAX;
    for (const int user : program_.UsersOf(parameter.instruction)) {
      if (program_.PositionOf(user) >= 0) first = std::min<std::int64_t>(first, program_.PositionOf(user));
    }
    const int last = LastUse(parameter.instruction, 0);
    for (const int i : program_.ValuesOf(parameter.instruction)) {
      const ProgramValue& value = values[static_cast<std::size_t>(i)];
      if (value.leaf != parameter.leaf) continue;
      any = any || value.size > 0;
      // An output that shares its memory goes with it.
      for (const int other : program_.ValuesIn(value.allocation)) sizes[static_cast<std::size_t>(other)] = 0;
      if (last >= 0)
        added.push_back({0, value.size, inference ? std::min<std::int64_t>(first, last) : last, last, 0, {i}, false});
    }
  }
  if (!any) return std::nullopt;
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> of_shape;  // arguments: the state's, and all
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    auto& [of_state, all] = of_shape[program_.ShapeOf(program_.parameters()[p]).shape];
    of_state += meaning_.RoleOf(p) == Role::kOptimizerState ? 1 : 0;
    ++all;
  }
  for (const Buffer& buffer : compiled_.buffers()) {
    if (!buffer.is_output) continue;
    const ProgramValue& value = values[static_cast<std::size_t>(buffer.values.back())];
    if (value.leaf < 0 || !state.contains(program_.ShapeOf(value).shape)) continue;
    // Of outputs of one shape as many are the optimizer's as there are arguments of it that are.
    const auto [of_state, all] = of_shape[program_.ShapeOf(value).shape];
    if (of_state == 0 || all == 0) continue;
    for (const int i : buffer.values) sizes[static_cast<std::size_t>(i)] = value.size * (all - of_state) / all;
    added.push_back({0, value.size * of_state / all, buffer.first, buffer.first, 0, buffer.values, false});
  }
  return Variant{std::move(sizes), 0, std::move(added)};
}

}  // namespace whyoom
