#include "program/remedies.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "text/numbers.h"

namespace whyoom {

Effect Simulator::EstimateOf(const ModifiedProgram& modified) const {
  const std::int64_t as_compiled = compiled.Need(modified.sizes, modified.added) + modified.more;
  const std::int64_t at_most =
      std::max(as_compiled, without_remat.Need(modified.sizes, modified.added) + modified.more);
  // The compiler rematerializes only as much as it must. It was observed to aim at 14.65 of 15.75 GiB.
  constexpr double kAimsAt = 0.93;
  const auto aim = ClampToBytes(kAimsAt * static_cast<double>(limit));
  std::int64_t left = limit <= 0 ? as_compiled : at_most;
  if (left > aim) {
    std::vector<std::int64_t> rematerialized;  // sizes of the buffers at the peak
    for (const Buffer* buffer : without_remat.LiveAtPeak(modified.sizes)) {
      if (without_remat.IsRematerialized(program.values[buffer->values.front()]))
        rematerialized.push_back(SharedBytes(buffer->values, modified.sizes));
    }
    std::ranges::sort(rematerialized, std::ranges::greater());
    for (const std::int64_t size : rematerialized) left -= left > aim ? size : 0;
  }
  left = std::max(as_compiled, std::min(left, aim));
  return {.saves_bytes = need_bytes - left,
          .left_bytes = left,
          .spread_bytes = (std::min(at_most, std::max(limit, as_compiled)) - as_compiled) / 2,
          .ruled_out = std::string(modified.ruled_out),
          .parts = modified.parts,
          .of_state = modified.of_state,
          .split = modified.split};
}

std::int64_t Simulator::CountModified(const ModifiedProgram& modified) const {
  std::int64_t count = modified.tried + static_cast<std::int64_t>(modified.added.size());
  for (const ProgramValue& value : program.values) count += modified.sizes[value.id] != value.size ? 1 : 0;
  return count;
}

namespace {

constexpr std::int64_t kDevices = 4;  // per host of most TPU types; used if the program does not show a number
constexpr std::int64_t kPieces = 16;
constexpr std::int64_t kChunks = 8;

void KeepOutputs(const Program& program, Sizes* sizes) {
  for (const ProgramOutput& output : program.outputs) {
    if (output.value) (*sizes)[output.value] = program.values[output.value].size;
  }
}

// `with_axis`: the dimensions to resize, a bit for each.
std::int64_t ScaledSize(const ValueClass& arrays, std::uint32_t with_axis, Ratio ratio) {
  if (with_axis == 0) return arrays.size;
  ArrayDims dims = arrays.shape->dims;
  for (std::size_t dim = 0; dim < dims.size(); ++dim) {
    if ((with_axis >> dim & 1) == 0) continue;
    const double length =
        static_cast<double>(dims[dim]) * static_cast<double>(ratio.length) / static_cast<double>(ratio.of);
    dims[dim] = std::max<std::int64_t>(1, ClampToBytes(std::ceil(length)));
    if (ratio.once) break;
  }
  return BytesWithDims(*arrays.shape, arrays.size, dims);
}

// Whether the program has independent pieces: examples without training, or its largest array is from a vmap.
bool ConsistsOfPieces(const Simulator& simulator) {
  const Program& program = simulator.program;
  if (!simulator.semantics.trains && simulator.semantics.has_examples()) return true;
  const std::vector<const Buffer*> live = simulator.compiled.LiveAtPeak();
  const auto largest = std::ranges::max_element(live, {}, &Buffer::size);
  return largest != live.end() && std::ranges::any_of((*largest)->values, [&](ValueId id) {
           const ProgramValue& value = program.values[id];
           return value.array.instruction && IsMapped(program.InstructionOf(value).op_name);
         });
}

// The additional memory for sums of gradients over the pieces. Gradients that are live at the peak become the sums.
std::int64_t GradientSums(const Simulator& simulator, const Sizes& sizes) {
  const Program& program = simulator.program;
  const Semantics& semantics = simulator.semantics;
  std::set<std::string_view> outputs;  // shapes; a frozen weight is not returned and has no gradient
  for (const ProgramOutput& output : program.outputs) outputs.insert(program.ShapeOf(output.array).shape);
  std::int64_t sums = 0;
  for (const ProgramParameter& parameter : program.parameters) {
    if (semantics.trains && semantics.RoleOf(parameter) == Role::kWeights &&
        outputs.contains(program.ShapeOf(parameter.array).shape))
      sums += parameter.size;
  }
  for (const Buffer* buffer : simulator.compiled.LiveAtPeak(sizes)) {
    if (semantics.KindOf(buffer->values.front()) == ValueKind::kGradients) sums -= buffer->size;
  }
  return std::max<std::int64_t>(0, sums);
}

// `once`: if an array has the axis twice, cuts only one dimension.
std::optional<ModifiedProgram> PieceByPiece(const Simulator& simulator, const Axis& axis, std::int64_t parts,
                                            bool once) {
  const Program& program = simulator.program;
  if (!axis || axis.size < 2) return std::nullopt;
  parts = std::min(parts, axis.size);
  std::int64_t pieces = 0;  // copies of the current piece of each input
  for (const ProgramParameter& parameter : program.parameters) {
    if (simulator.semantics.Has(parameter, axis)) pieces += parameter.size / parts;
  }
  const Sizes scaled = simulator.Scaled(axis, {.of = parts, .once = once});
  const auto size_of = [&](const ProgramValue& value) {
    return program.AllocationOf(value).kind == AllocationKind::kArgument ? value.size : scaled[value.id];
  };
  ModifiedProgram modified{.sizes = simulator.Resized(size_of), .parts = parts, .axis = axis};
  KeepOutputs(program, &modified.sizes);  // results of all pieces are concatenated
  modified.more = GradientSums(simulator, modified.sizes) + pieces;
  return modified;
}

// Whether most products of the unoptimized program compute in `dtype`, by number of elements.
bool ComputesIn(const HloModule& before, std::string_view dtype) {
  double such = 0;
  double others = 0;
  for (const HloInstruction& instruction : before.instructions) {
    if (!instruction.Is({"dot", "convolution"}) || instruction.operands.empty()) continue;
    const ArrayShape& shape = before.ShapeOf(instruction.operands[0]).array;
    (shape.dtype == dtype ? such : others) += static_cast<double>(ElementCount(shape));
  }
  return such > others;
}

// By instruction: the position of the last use of its result, including uses of bitcasts, tuples and asynchronous
// copies of it; -1 if there is none.
Indexed<InstructionId, int> LastUses(const Program& program) {
  Indexed<InstructionId, int> last(program.module.instructions.size(), -1);
  for (InstructionId id(last.size() - 1); id; --id.value) {  // operands precede their user
    const HloInstruction& is = program.At(id);
    const bool passes_on = is.Is({"bitcast", "get-tuple-element", "tuple", "copy-start", "copy-done"});
    const int use = std::max(passes_on ? last[id] : -1, is.opcode == "tuple" ? -1 : program.positions[id]);
    for (const InstructionId operand : is.operands) last[operand] = std::max(last[operand], use);
  }
  return last;
}

// The value in the output's memory that is a copy of the argument, only to be overwritten; null if there is none.
const ProgramValue* CopyOf(const Program& program, const ProgramParameter& parameter, const ProgramValue& output) {
  for (const ValueId id : program.values_in[output.allocation]) {
    const ProgramValue& value = program.values[id];
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
  const ProgramValue& last = program.values[buffer.values.back()];
  if (!last.array.instruction) return;
  std::int64_t end = -1;
  for (const InstructionId user : program.users[last.array.instruction]) {
    if (!writers.contains(user)) end = buffer.last;
    for (const InstructionId operand : program.At(user).operands)
      end = std::max<std::int64_t>(end, program.positions[operand]);
  }
  if (end < 0 || end >= buffer.last) return;
  modified->Add(SharedBytes(buffer.values, modified->sizes), buffer.first, std::max(buffer.first, end), buffer.values);
  modified->Remove(buffer.values);
}

// Moves outputs to the host. Assumes the same share of optimizer state among outputs and arguments of the same shape.
void MoveResultsToHost(const Simulator& simulator, ModifiedProgram* modified) {
  const Program& program = simulator.program;
  std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> counts;  // by shape: of state, of all arguments
  for (const ProgramParameter& parameter : program.parameters) {
    auto& [state, all] = counts[program.ShapeOf(parameter.array).shape];
    state += simulator.semantics.RoleOf(parameter) == Role::kOptimizerState ? 1 : 0;
    ++all;
  }
  for (const Buffer& buffer : simulator.compiled.buffers) {
    const ProgramValue& value = program.values[buffer.values.back()];
    if (!buffer.is_output || !value.array) continue;
    const auto& [state, all] = counts[program.ShapeOf(value.array).shape];
    if (state == 0) continue;
    const std::int64_t moved = value.size * state / all;
    for (const ValueId id : buffer.values) modified->sizes[id] = value.size - moved;
    modified->Add(moved, buffer.first, buffer.first, buffer.values);
  }
}

// Makes the axis `parts` times shorter in all values.
std::optional<ModifiedProgram> Shorten(const Simulator& simulator, const Axis& axis, std::int64_t parts) {
  if (!axis || axis.size < parts) return std::nullopt;
  return ModifiedProgram{.sizes = simulator.Scaled(axis, {.of = parts}), .parts = parts, .axis = axis};
}

// From f32 to bf16.
std::optional<ModifiedProgram> Narrow(const Simulator& simulator) {
  const Program& program = simulator.program;
  // 64-bit numbers are pairs of f32 with many temporaries, which this estimate does not cover.
  if (ComputesIn(program.before, kFloat64)) return std::nullopt;
  // If products already compute in bf16, the f32 values per example are f32 on purpose.
  const bool mixed = ComputesIn(program.before, kBfloat16);
  ModifiedProgram modified{.sizes = simulator.Resized([&](const ProgramValue& value) {
    const ArrayShape& shape = program.ShapeOf(value.array);
    if (shape.dtype != "f32" || (mixed && simulator.semantics.IsPerExample(value.id))) return value.size;
    return std::min(value.size, BytesWithElementBits(shape, 16).value_or(value.size));
  })};
  // If hardly any other value could be narrowed, the effect is unknown.
  const std::int64_t need = simulator.need_bytes;
  if (mixed && simulator.EstimateOf(modified).left_bytes > need - need / 200) return std::nullopt;
  return modified;
}

std::optional<ModifiedProgram> BlockAttention(const Simulator& simulator) {
  if (!simulator.semantics.has_attention()) return std::nullopt;
  if (ComputesIn(simulator.program.before, kFloat64)) return simulator.Unmodified("64_bits");  // no kernel supports it
  return ModifiedProgram{.sizes = simulator.Resized([&](const ProgramValue& value) {
    return simulator.semantics.IsScores(value.id) ? 0 : value.size;
  })};
}

std::optional<ModifiedProgram> ChunkLoss(const Simulator& simulator) {
  if (!simulator.semantics.vocabulary) return std::nullopt;
  const Dimensions& dimensions = simulator.program.dimensions;
  const auto size_of = [&](const ProgramValue& value) {
    if (simulator.semantics.KindOf(value.id) != ValueKind::kLogits) return value.size;
    for (const Loop& loop : dimensions.loops) {  // a loop that computes losses stacks only these
      const Axis steps{.groups = loop.groups, .size = loop.steps};
      if (DimensionsWith(simulator.semantics.GroupsOf(value.id), steps) != 0) return value.size / kChunks / loop.steps;
    }
    return value.size / kChunks;
  };
  ModifiedProgram modified{.sizes = simulator.Resized(size_of), .parts = kChunks};
  KeepOutputs(simulator.program, &modified.sizes);  // returned logits stay whole
  return modified;
}

std::optional<ModifiedProgram> MergeTinyDimensions(const Simulator& simulator) {
  // A dimension shorter than the rows of a tile can be merged with another, which avoids the padding. Without such a
  // dimension the remedy cannot help: the compiler would choose the same padded layout again.
  constexpr std::int64_t kTiny = 8;
  std::int64_t padded = 0;
  Sizes sizes = simulator.Resized([&](const ProgramValue& value) {
    const ArrayShape& shape = simulator.program.ShapeOf(value.array);
    const bool tiny = std::ranges::any_of(shape.dims, [](std::int64_t dim) { return dim > 1 && dim < kTiny; });
    const std::int64_t plain = UnpaddedBytes(shape).value_or(value.size);
    padded += plain < value.size ? 1 : 0;
    return tiny && plain > 0 ? std::min(value.size, plain) : value.size;
  });
  return ModifiedProgram{.sizes = std::move(sizes), .tried = padded};
}

std::optional<ModifiedProgram> WithoutHostTransfer(const Simulator& simulator) {
  // An array must be in memory as a whole to be sent. Without the transfer it is usually fused, and so are its inputs.
  const HloModule& module = simulator.program.module;
  std::set<std::int64_t> counts;  // elements
  for (const InstructionId sent : SentToHost(simulator.program))
    counts.insert(ElementCount(module.ShapeOf(sent).array));
  if (counts.empty()) return std::nullopt;
  return ModifiedProgram{.sizes = simulator.Resized([&](const ProgramValue& value) {
    const bool temporary = simulator.program.AllocationOf(value).kind == AllocationKind::kTemporaries;
    return temporary && counts.contains(ElementCount(simulator.program.ShapeOf(value.array))) ? 0 : value.size;
  })};
}

// Finds an argument to donate for each output that does not alias one. The argument must have the output's shape, be
// aliased by no other output, and not be read after the output is computed, unless it is only copied to be overwritten.
std::optional<ModifiedProgram> Donate(const Simulator& simulator) {
  const Program& program = simulator.program;
  const Indexed<InstructionId, int> last_uses = LastUses(program);
  std::map<std::string_view, std::vector<const ProgramParameter*>> unused;  // by shape
  for (const ProgramParameter& parameter : program.parameters) {
    if (!parameter.shares_output && parameter.size > 0)
      unused[program.ShapeOf(parameter.array).shape].push_back(&parameter);
  }
  ModifiedProgram modified = simulator.Unmodified();
  bool has_shape = false;           // an output has the shape of an argument
  std::set<InstructionId> writers;  // of outputs that now alias an argument
  std::set<AllocationId> allocations;
  for (const ProgramOutput& output : program.outputs) {
    if (!output.value) continue;
    const ProgramValue& value = program.values[output.value];
    std::vector<const ProgramParameter*>& same_shape = unused[program.ShapeOf(output.array).shape];
    for (auto parameter = same_shape.begin(); parameter != same_shape.end(); ++parameter) {
      has_shape = true;
      const ProgramValue* copy = CopyOf(program, **parameter, value);
      const int made = program.positions[output.array.instruction];
      if (copy == nullptr && last_uses[(*parameter)->array.instruction] > made) continue;
      modified.sizes[output.value] = 0;
      for (const ValueId id : program.values_in[value.allocation]) {  // the copy, and what overwrites it
        const ProgramValue& later = program.values[id];
        if (copy != nullptr && later.size == value.size && later.first >= copy->first) modified.sizes[id] = 0;
      }
      writers.insert(output.array.instruction);
      allocations.insert(value.allocation);
      same_shape.erase(parameter);
      break;
    }
  }
  for (const Buffer& buffer : simulator.compiled.buffers) {
    if (allocations.contains(buffer.allocation) && !buffer.is_output) MoveOut(program, buffer, writers, &modified);
  }
  if (!has_shape) modified.ruled_out = "nothing_to_donate";
  modified.tried = has_shape ? 1 : 0;
  return modified;
}

// Keeps optimizer state, and without training also weights, on the host.
std::optional<ModifiedProgram> StateOnHost(const Simulator& simulator) {
  const Program& program = simulator.program;
  const Indexed<InstructionId, int> last_uses = LastUses(program);
  ModifiedProgram modified = simulator.Unmodified();
  for (const ProgramParameter& parameter : program.parameters) {
    const Role role = simulator.semantics.RoleOf(parameter);
    if (role != Role::kOptimizerState && (simulator.semantics.trains || role != Role::kWeights)) continue;
    const int last = last_uses[parameter.array.instruction];
    for (const ValueId id : program.values_of[parameter.array.instruction]) {
      const ProgramValue& value = program.values[id];
      if (value.array != parameter.array) continue;
      modified.Remove(program.values_in[value.allocation]);       // including an output that aliases it
      if (last >= 0) modified.Add(value.size, last, last, {id});  // fetched for its last use
    }
  }
  if (simulator.CountModified(modified) == 0) return std::nullopt;
  MoveResultsToHost(simulator, &modified);
  return modified;
}

}  // namespace

const std::array<ProgramRemedy, 14> kRemedies = {{
    {"half_batch", [](const Simulator& s) { return Shorten(s, s.semantics.batch, 2); }},
    {"batch_in_steps", [](const Simulator& s) { return Accumulate(s, s.semantics.batch, kMicroBatches); }},
    {"half_sequence",
     [](const Simulator& s) {
       return s.semantics.is_of_tokens() ? Shorten(s, s.semantics.sequence, 2) : std::nullopt;
     }},
    {"pieces",
     [](const Simulator& s) {
       return ConsistsOfPieces(s) ? PieceByPiece(s, s.semantics.batch, kPieces, true) : std::nullopt;
     }},
    {"donate", Donate},
    // Instead of a single device, use all devices of a host.
    {"shard", [](const Simulator& s) { return Shard(s, s.program.partitions > 1 ? s.program.partitions : kDevices); }},
    {"more_devices", [](const Simulator& s) { return MoreDevices(s, s.program.partitions > 1 ? 2 : kDevices); }},
    {"bfloat16", Narrow},
    {"recompute_layers", Recompute},
    {"attention_in_blocks", BlockAttention},
    {"loss_in_chunks", ChunkLoss},
    {"state_on_host", StateOnHost},
    {"no_host_transfer", WithoutHostTransfer},
    {"no_tiny_dimensions", MergeTinyDimensions},
}};

Sizes Simulator::Scaled(const Axis& axis, Ratio ratio) const {
  std::map<std::tuple<const ArrayShape*, std::int64_t, std::uint32_t>, std::int64_t> known;
  Indexed<ClassId, std::int64_t> sizes;
  for (const ValueClass& arrays : semantics.classes) {
    const std::uint32_t with_axis = semantics.DimensionsOf(arrays.groups, axis);
    const auto [found, is_new] = known.try_emplace({arrays.shape, arrays.size, with_axis});
    if (is_new) found->second = ScaledSize(arrays, with_axis, ratio);
    sizes.push_back(found->second);
  }
  return Resized([&](const ProgramValue& value) { return sizes[semantics.class_of[value.id]]; });
}

std::vector<InstructionId> SentToHost(const Program& program) {
  std::vector<InstructionId> sent;
  for (const InstructionId transfer : HostTransfers(program.module)) {
    const std::span<const InstructionId> operands = program.At(transfer).operands;
    if (!operands.empty() && !program.module.ShapeOf(operands[0]).array.dims.empty()) sent.push_back(operands[0]);
  }
  return sent;
}

std::optional<ModifiedProgram> Resize(const Simulator& simulator, const Axis& axis, std::int64_t size) {
  if (!axis || size < 1) return std::nullopt;
  return ModifiedProgram{.sizes = simulator.Scaled(axis, {.length = size, .of = axis.size})};
}

std::optional<ModifiedProgram> Accumulate(const Simulator& simulator, const Axis& axis, std::int64_t parts) {
  // Examples are independent, so a program without gradients can process them in steps, too.
  const bool can = simulator.semantics.trains || simulator.semantics.has_examples();
  return can ? PieceByPiece(simulator, axis, parts, false) : simulator.Unmodified("no_gradients");
}

}  // namespace whyoom
