#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "facts/array.h"
#include "facts/evidence.h"
#include "program/remedies.h"

namespace whyoom {
namespace {

// By ValueKind.
constexpr std::array<const char*, 11> kKindNames = {
    "weights",          "gathered_weights", "optimizer_state", "gradients", "activations", "logits",
    "attention_scores", "temporaries",      "inputs",          "constants", "unknown"};

// Removes JAX's wrappers and the operation: "decoder/mlp" for
// "jit(step)/jvp(Model)/while/body/jvp(decoder)/mlp/dot_general".
std::string ModuleOf(std::string_view op_name) {
  static const std::set<std::string> kWrappers = {"while",      "body",  "cond",       "closed_call",
                                                  "checkpoint", "remat", "eval_jaxpr", ""};
  std::vector<std::string> scopes;
  ListReader parts(op_name, '/');
  while (const auto part = parts.Next()) {
    const std::string scope = WithoutWrappers(std::string(*part));
    // A class or a call is no scope, and neither is an einsum's equation.
    const bool is_call = part->find('(') != part->npos && (scope[0] < 'a' || scope[0] > 'z' || Mentions(scope, "("));
    if (!is_call && !Mentions(scope, "->") && !kWrappers.contains(scope)) scopes.push_back(scope);
  }
  if (!scopes.empty()) scopes.pop_back();
  return fmt::format("{}", fmt::join(scopes, "/"));
}

// Of a buffer, the value with the most specific kind. Skips values without a user's name (loop-carried ones).
const ProgramValue& MostSpecific(const Simulator& simulator, const Buffer& buffer) {
  const Indexed<ValueId, ProgramValue>& values = simulator.program.values;
  ValueId best = buffer.values.front();
  for (const ValueId id : buffer.values) {
    if (!values[id].array) continue;
    const HloInstruction& is = simulator.program.InstructionOf(values[id]);
    if (is.Is({"parameter", "while", "custom-call"}) || is.op_name.empty()) continue;
    const ValueKind so_far = simulator.semantics.KindOf(best);
    if (so_far == ValueKind::kUnknown || so_far == ValueKind::kTemporaries ||
        simulator.semantics.KindOf(id) == ValueKind::kActivations)
      best = id;
  }
  return values[best];
}

// Sorts the parts, and the modules of each part, by size.
std::vector<MemoryPart> PartsOf(const std::map<std::string, std::map<std::string, std::int64_t>>& kinds) {
  constexpr std::size_t kMostModules = 8;
  std::vector<MemoryPart> parts;
  for (const auto& [kind, modules] : kinds) {
    MemoryPart& part = parts.emplace_back(MemoryPart{kind});
    for (const auto& [module, bytes] : modules) {
      part.bytes += bytes;
      if (!module.empty()) part.modules.emplace_back(module, bytes);
    }
    std::ranges::stable_sort(part.modules, std::ranges::greater(), [](const auto& module) { return module.second; });
    part.modules.resize(std::min(part.modules.size(), kMostModules));
  }
  std::ranges::stable_sort(parts, std::ranges::greater(), &MemoryPart::bytes);
  return parts;
}

// The memory at the peak by kind, and of each kind by the user's module ("" if unknown); largest first.
std::vector<MemoryPart> MemoryByKind(const Simulator& simulator) {
  const Program& program = simulator.program;
  std::map<std::string, std::map<std::string, std::int64_t>> kinds;
  std::int64_t total = 0;
  const auto add = [&](const std::string& kind, const std::string& module, std::int64_t bytes) {
    if (bytes > 0) kinds[kind][module] += bytes;
    total += std::max<std::int64_t>(0, bytes);
  };
  const auto add_value = [&](const ProgramValue& value, std::int64_t size) {
    const std::int64_t plain =
        value.array ? std::min(size, UnpaddedBytes(program.ShapeOf(value.array)).value_or(size)) : size;
    const bool is_computed = value.array && program.InstructionOf(value).opcode != "parameter";
    add(kKindNames[static_cast<std::size_t>(simulator.semantics.KindOf(value.id))],
        is_computed ? ModuleOf(program.InstructionOf(value).op_name) : "", plain);
    add("padding", "", size - plain);
  };
  for (const AllocationId id : program.memory.allocations.ids()) {
    const MemoryAllocation& allocation = program.memory.allocations[id];
    // The first value that spans an argument or constant determines its kind.
    const auto spans = [&](ValueId value) { return program.values[value].size == allocation.size; };
    const std::vector<ValueId>& values = program.values_in[id];
    const auto value = std::ranges::find_if(values, spans);
    if (allocation.IsFixed() && value != values.end()) add_value(program.values[*value], allocation.size);
  }
  for (const Buffer& buffer : simulator.compiled.buffers) {
    if (buffer.is_output) add("outputs", "", buffer.size);
  }
  for (const Buffer* buffer : simulator.compiled.LiveAtPeak()) {
    const bool in_output = program.memory.allocations[buffer->allocation].kind == AllocationKind::kOutput;
    if (!buffer->is_output && !in_output) add_value(MostSpecific(simulator, *buffer), buffer->size);
  }
  add("fragmentation", "", simulator.need_bytes - total);
  return PartsOf(kinds);
}

// Saturates, since numbers of devices come from a file and can be arbitrary.
std::int64_t Times(std::int64_t size, std::int64_t devices) {
  return ClampToBytes(static_cast<double>(size) * static_cast<double>(devices));
}

bool Fits(const Simulator& simulator, const std::optional<ModifiedProgram>& modified) {
  return modified && simulator.Fits(simulator.EstimateOf(*modified));
}

// Finds the largest size of an axis that fits, by bisection. Returns 0 if no size fits or all sizes seem to. Rounds a
// smaller size down to a multiple of a power of two that divides the size in use, by at most an eighth: sizes in
// between are padded to tiles of up to 128.
std::int64_t LargestThatFits(const Simulator& simulator, const Axis& axis) {
  constexpr std::int64_t kMostTimes = 1024;
  std::int64_t fits = 0;
  if (axis.size > INT64_MAX / kMostTimes) return 0;
  std::int64_t over = axis.size * kMostTimes;
  for (std::int64_t size = axis.size; size > 0 && !simulator.IsStopped();) {
    (Fits(simulator, Resize(simulator, axis, size)) ? fits : over) = size;
    if (over - fits <= 1) break;
    if (fits > axis.size * kMostTimes / 2) return 0;  // the axis hardly matters, so nothing can be concluded
    size = fits > 0 && over > 2 * fits && over > axis.size ? fits * 2 : (fits + over) / 2;
  }
  std::int64_t tile = 1;
  while (fits < axis.size && tile < 128 && axis.size % (2 * tile) == 0 && 16 * tile <= fits) tile *= 2;
  return fits - fits % tile;
}

// Tries 1 (the whole batch), the usual number, which is cheap and leaves a margin for error, then fewer, then more.
std::int64_t MicroBatchesThatFit(const Simulator& simulator) {
  constexpr std::int64_t kMostSteps = 4096;  // more are not realistic for a training step
  const Axis batch = simulator.semantics.batch;
  std::vector<std::int64_t> numbers = {1, kMicroBatches, 3, 2};
  for (std::int64_t steps = kMicroBatches + 1; steps <= std::min(kMostSteps, batch.size); ++steps)
    numbers.push_back(steps);
  for (const std::int64_t steps : numbers) {
    if (steps > batch.size || batch.size % steps != 0) continue;
    if (simulator.IsStopped()) break;
    if (Fits(simulator, steps == 1 ? Resize(simulator, batch, batch.size) : Accumulate(simulator, batch, steps)))
      return steps;
  }
  return 0;
}

// The number of devices that share an axis.
std::int64_t DevicesAlong(const Simulator& simulator, const Axis& axis) {
  std::int64_t split = 1;
  for (const ProgramParameter& parameter : simulator.program.parameters) {
    const ArrayGroups& groups = simulator.semantics.GroupsOf(parameter);
    for (std::size_t dim = 0; dim < std::min(groups.size(), parameter.shards.size()); ++dim) {
      if (!groups[dim].empty() && groups[dim] == axis.groups) split = std::max(split, parameter.shards[dim]);
    }
  }
  return split;
}

Room FindRoom(const Simulator& simulator) {
  const Semantics& semantics = simulator.semantics;
  Room room;
  if (const Axis batch = semantics.batch) {
    const std::int64_t split = DevicesAlong(simulator, batch);
    room.batch = Times(batch.size, split);
    room.batch_devices = split > 1 ? split : 0;
    room.largest_batch = Times(LargestThatFits(simulator, batch), split);
    room.batch_axis = LocateAxis(simulator.program, semantics, batch);
    room.micro_batches = MicroBatchesThatFit(simulator);
  }
  if (const Axis sequence = semantics.sequence; sequence && semantics.is_of_tokens()) {
    const std::int64_t split = DevicesAlong(simulator, sequence);
    room.sequence = Times(sequence.size, split);
    room.largest_sequence = Times(LargestThatFits(simulator, sequence), split);
    room.sequence_axis = LocateAxis(simulator.program, semantics, sequence);
  }
  return room;
}

// The effects of all remedies. Uses the number of micro-batches of `room`, so that both show the same figures.
std::vector<Effect> EffectsOf(const Simulator& simulator, const Room& room) {
  std::vector<Effect> effects;
  for (const ProgramRemedy& remedy : kRemedies) {
    if (simulator.IsStopped()) break;
    const bool in_steps = remedy.name == "batch_in_steps" && room.micro_batches > 1;
    const std::optional<ModifiedProgram> modified =
        in_steps ? Accumulate(simulator, simulator.semantics.batch, room.micro_batches) : remedy.apply(simulator);
    if (!modified || (simulator.CountModified(*modified) == 0 && modified->ruled_out.empty())) continue;
    Effect& effect = effects.emplace_back(simulator.EstimateOf(*modified));
    effect.change = remedy.name;
    effect.axis = LocateAxis(simulator.program, simulator.semantics, modified->axis);
  }
  return effects;
}

// The 64 largest temporaries, with the part of the schedule in which each is live.
std::vector<LiveArray> LiveArraysOf(const Program& program) {
  constexpr std::size_t kMostArrays = 64;
  std::vector<Buffer> buffers = TemporariesOf(program.memory);
  const auto length = static_cast<double>(program.memory.schedule_length);
  std::ranges::stable_sort(buffers, std::ranges::greater(), &Buffer::size);
  std::vector<LiveArray> arrays;
  for (const Buffer& buffer : buffers) {
    const ArrayId array = program.values[buffer.values.front()].array;
    if (!array || arrays.size() == kMostArrays) continue;
    const std::int64_t padding = buffer.size - UnpaddedBytes(program.ShapeOf(array)).value_or(buffer.size);
    arrays.push_back({program.NameOf(array), buffer.size, std::max<std::int64_t>(0, padding),
                      static_cast<double>(buffer.first) / length, static_cast<double>(buffer.last + 1) / length});
  }
  return arrays;
}

}  // namespace

std::optional<AxisLocation> LocateAxis(const Program& program, const Semantics& semantics, const Axis& axis) {
  if (!axis) return std::nullopt;
  std::optional<AxisLocation> place;
  std::tuple<bool, std::int64_t> best;
  for (const ProgramParameter& parameter : program.parameters) {
    const ArrayGroups& dims = semantics.GroupsOf(parameter);
    const auto found = std::ranges::find_if(dims, [&](const Groups& groups) { return Contains(groups, axis.groups); });
    // Without an op name, the argument's name is the compiler's.
    if (found == dims.end() || program.At(parameter.array.instruction).op_name.empty()) continue;
    const std::tuple rank(!semantics.IsState(parameter), parameter.size);
    if (place && rank <= best) continue;
    best = rank;
    const auto dim = found - dims.begin();
    place = AxisLocation{parameter.path, dim, parameter.WholeDims(program.ShapeOf(parameter.array).dims)[dim]};
    if (semantics.has_examples() && axis.groups == semantics.sequence.groups) place->name = "sequence";
    if (semantics.has_examples() && axis.groups == semantics.batch.groups) place->name = "batch";
    if (axis.groups == semantics.vocabulary.groups) place->name = "vocabulary";
  }
  return place;
}

ProgramEstimates EstimateProgram(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes,
                                 WithRemedies with_remedies, const Stop& stop) {
  ProgramEstimates estimates;
  if (!program.dimensions.whole) return estimates;
  const Semantics semantics = FindSemantics(program, role_words);
  const Simulator simulator{program, semantics, limit_bytes, &stop};
  if (!simulator.whole) return estimates;
  estimates.need_bytes = simulator.need_bytes;
  estimates.memory = MemoryByKind(simulator);
  estimates.timeline = TimelineOf(program.memory);
  estimates.live = LiveArraysOf(program);
  if (limit_bytes > 0) estimates.room = FindRoom(simulator);
  if (with_remedies == WithRemedies::kNo) return estimates;
  estimates.changes = EffectsOf(simulator, estimates.room);
  estimates.signs = FindSigns(simulator);
  return estimates;
}

}  // namespace whyoom
