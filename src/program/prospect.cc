#include "program/prospect.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "facts/op_name.h"
#include "program/change.h"

namespace whyoom {
namespace {

constexpr std::int64_t kDevices = 4;  // of a host of most TPU types, where the program does not say how many
constexpr std::int64_t kPieces = 16;
constexpr std::int64_t kChunks = 8;
constexpr std::int64_t kLeastOfPair = 2;  // per cent of the limit: what saves less helps no other over it

using Make = std::optional<ModifiedProgram> (*)(const Changes&, const Meaning&, const Program&);

struct NamedChange {
  std::string_view name;
  Make make;
};

struct MadeChange {
  std::string_view name;
  ModifiedProgram modified;
};

std::int64_t Devices(const Program& program) { return program.partitions() > 1 ? program.partitions() : kDevices; }

constexpr std::array<NamedChange, 15> kChanges = {{
    {"half_batch", [](const Changes& c, const Meaning& m, const Program&) { return c.Shorten(m.batch(), 2); }},
    {"batch_in_steps",
     [](const Changes& c, const Meaning& m, const Program&) { return c.Accumulate(m.batch(), kMicroBatches); }},
    {"half_sequence", [](const Changes& c, const Meaning& m, const Program&) { return c.Shorten(m.sequence(), 2); }},
    {"pieces", [](const Changes& c, const Meaning& m, const Program&) { return c.InPieces(m.batch(), kPieces); }},
    {"donate", [](const Changes& c, const Meaning&, const Program&) { return c.Donate(); }},
    {"shard", [](const Changes& c, const Meaning&, const Program& p) { return c.Shard(Devices(p)); }},
    // From one device to a host, else the next larger topology.
    {"more_devices", [](const Changes& c, const Meaning&,
                        const Program& p) { return c.MoreDevices(p.partitions() > 1 ? 2 : kDevices); }},
    {"bfloat16", [](const Changes& c, const Meaning&, const Program&) { return c.Narrow(); }},
    {"recompute_layers", [](const Changes& c, const Meaning&, const Program&) { return c.Recompute(); }},
    {"attention_in_blocks", [](const Changes& c, const Meaning&, const Program&) { return c.BlockAttention(); }},
    {"loss_in_chunks", [](const Changes& c, const Meaning&, const Program&) { return c.ChunkLoss(kChunks); }},
    {"labels_as_numbers", [](const Changes& c, const Meaning&, const Program&) { return c.NumberLabels(); }},
    {"state_on_host", [](const Changes& c, const Meaning&, const Program&) { return c.StateOnHost(); }},
    {"no_host_transfer", [](const Changes& c, const Meaning&, const Program&) { return c.WithoutHostTransfer(); }},
    {"no_tiny_dimensions", [](const Changes& c, const Meaning&, const Program&) { return c.MergeTinyDimensions(); }},
}};

const char* KindName(ValueKind kind) {
  switch (kind) {
    case ValueKind::kWeights:
      return "weights";
    case ValueKind::kGatheredWeights:
      return "gathered_weights";
    case ValueKind::kOptimizerState:
      return "optimizer_state";
    case ValueKind::kGradients:
      return "gradients";
    case ValueKind::kActivations:
      return "activations";
    case ValueKind::kLogits:
      return "logits";
    case ValueKind::kAttentionScores:
      return "attention_scores";
    case ValueKind::kTemporaries:
      return "temporaries";
    case ValueKind::kInputs:
      return "inputs";
    case ValueKind::kOutputs:
      return "outputs";
    case ValueKind::kConstants:
      return "constants";
    case ValueKind::kUnknown:
      break;
  }
  return "unknown";
}

// The scope that a transformation was made in: "decoder" of "jvp(decoder)" and "transpose(jvp(decoder))"; empty where
// that is a class, a call or nothing.
std::string ScopeInside(std::string_view part) {
  part = WithoutWrappers(part);
  const bool scope = !part.empty() && part[0] >= 'a' && part[0] <= 'z' && part.find('(') == std::string_view::npos;
  return scope ? std::string(part) : std::string();
}

// "jit(step)/jvp(Model)/while/body/decoder/mlp/dot_general" is of the module "decoder/mlp": without what JAX put round
// it and without the operation.
std::string ModuleOf(std::string_view op_name) {
  std::string module;
  std::string last;
  const auto add = [&](const std::string& part) { module += (module.empty() ? "" : "/") + part; };
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= op_name.size(); ++i) {
    const char c = i < op_name.size() ? op_name[i] : '/';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c != '/' || (depth > 0 && i < op_name.size())) continue;
    std::string part(op_name.substr(begin, i - begin));
    begin = i + 1;
    if (part.find('(') != std::string::npos) part = ScopeInside(part);
    if (IsWrapper(part)) continue;
    if (!last.empty()) add(last);
    last = part;
  }
  return module;
}

class Filling {
 public:
  Filling(const Program& program, const Meaning& meaning) : program_(program), meaning_(meaning) {}

  std::vector<MemoryPart> PartsOf(const BufferAssignment& layout, std::int64_t need) {
    std::vector<int> live;
    layout.Need(layout.CompiledSizes(), {}, &live);
    const auto& values = program_.values();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const MemoryAllocation& allocation = program_.AllocationOf(values[i]);
      const bool fixed = allocation.kind == AllocationKind::kArgument || allocation.kind == AllocationKind::kConstant;
      if (fixed && values[i].size == allocation.size && seen_.insert(values[i].allocation).second)
        Add(i, values[i].size);
    }
    for (const Buffer& buffer : layout.buffers()) {
      if (buffer.is_output) AddBytes("outputs", "", buffer.size);
    }
    for (const int b : live) {
      const Buffer& buffer = layout.buffers()[b];
      const MemoryAllocation& allocation = program_.memory().allocations[buffer.allocation];
      if (buffer.is_output || allocation.kind == AllocationKind::kOutput) continue;  // in an output's memory
      Add(MostTelling(buffer), buffer.size);
    }
    if (need > total_) AddBytes("fragmentation", "", need - total_);
    std::vector<MemoryPart> parts;
    for (auto& [kind, modules] : bytes_) {
      MemoryPart part{kind, 0, {}};
      for (const auto& [module, bytes] : modules) {
        part.bytes += bytes;
        if (!module.empty()) part.modules.emplace_back(module, bytes);
      }
      std::stable_sort(part.modules.begin(), part.modules.end(),
                       [](const auto& a, const auto& b) { return a.second > b.second; });
      if (part.modules.size() > kMostModules) part.modules.resize(kMostModules);
      parts.push_back(std::move(part));
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const MemoryPart& a, const MemoryPart& b) { return a.bytes > b.bytes; });
    return parts;
  }

 private:
  static constexpr std::size_t kMostModules = 8;

  // Among the values of one place, the one that says most about itself: a loop's carried value is named by nobody.
  std::size_t MostTelling(const Buffer& buffer) const {
    std::size_t best = static_cast<std::size_t>(buffer.values.front());
    for (const int i : buffer.values) {
      const ProgramValue& value = program_.values()[i];
      if (value.instruction < 0 || value.leaf < 0) continue;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.Is({"parameter", "while", "custom-call"}) || is.op_name.empty()) continue;
      const ValueKind kind = meaning_.KindOf(static_cast<std::size_t>(i));
      const ValueKind so_far = meaning_.KindOf(best);
      if (so_far == ValueKind::kUnknown || so_far == ValueKind::kTemporaries || kind == ValueKind::kActivations)
        best = static_cast<std::size_t>(i);
    }
    return best;
  }

  void Add(std::size_t i, std::int64_t size) {
    const ProgramValue& value = program_.values()[i];
    std::int64_t padding = 0;
    std::string module;
    if (value.leaf >= 0) {
      const std::optional<std::int64_t> plain = UnpaddedBytes(program_.ShapeOf(value));
      if (plain && *plain < size) padding = size - *plain;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.opcode != "parameter") module = ModuleOf(is.op_name);
    }
    AddBytes(KindName(meaning_.KindOf(i)), module, size - padding);
    AddBytes("padding", "", padding);
  }

  void AddBytes(const std::string& kind, const std::string& module, std::int64_t bytes) {
    if (bytes <= 0) return;
    bytes_[kind][module] += bytes;
    total_ += bytes;
  }

  const Program& program_;
  const Meaning& meaning_;
  std::map<std::string, std::map<std::string, std::int64_t>> bytes_;
  std::set<int> seen_;  // allocations
  std::int64_t total_ = 0;
};

std::string NameOf(const Meaning& meaning, const Axis& axis) {
  if (axis.families == meaning.vocabulary().families) return "vocabulary";
  if (!meaning.has_examples()) return {};
  if (axis.families == meaning.batch().families) return "batch";
  return axis.families == meaning.sequence().families ? "sequence" : "";
}

std::optional<std::size_t> DimensionOf(const Rows& rows, const Axis& axis) {
  for (std::size_t dim = 0; dim < rows.size(); ++dim) {
    if (HoldsWhole(rows[dim], axis.families)) return dim;
  }
  return std::nullopt;
}

// The largest size of an axis that fits, by halving an interval; 0 where none does.
std::int64_t LargestThatFits(const Changes& changes, const Axis& axis, const Stop& stop) {
  constexpr std::int64_t kMostTimes = 1024;
  std::int64_t fits = 0;
  if (axis.size > INT64_MAX / kMostTimes) return 0;
  std::int64_t over = axis.size * kMostTimes;
  for (std::int64_t size = axis.size; size > 0 && !stop.IsAsked();) {
    const std::optional<ModifiedProgram> modified = changes.Resize(axis, size);
    if (!modified) return 0;
    (changes.Fits(changes.Judge(*modified)) ? fits : over) = size;
    if (over - fits <= 1) break;
    if (fits > axis.size * kMostTimes / 2) return 0;  // so many that nothing can be said of it
    size = fits > 0 && over > 2 * fits && over > axis.size ? fits * 2 : (fits + over) / 2;
  }
  return fits;
}

// Shardings are read from a file, which may say anything.
std::int64_t Times(std::int64_t size, std::int64_t devices) {
  std::int64_t all = 0;
  return __builtin_mul_overflow(size, devices, &all) ? std::numeric_limits<std::int64_t>::max() : all;
}

// How many times as long an axis is in the program as its user wrote it: it may be split over devices.
std::int64_t Split(const Program& program, const Meaning& meaning, const Axis& axis) {
  std::int64_t split = 1;
  for (const ProgramParameter& parameter : program.parameters()) {
    const Rows rows = meaning.RowsOf(parameter.instruction, parameter.leaf);
    for (std::size_t dim = 0; dim < std::min(rows.size(), parameter.shards.size()); ++dim) {
      if (!rows[dim].empty() && rows[dim] == axis.families) split = std::max(split, parameter.shards[dim]);
    }
  }
  if (split > 1) return split;
  // Where the trail to the argument is lost, what is fed in with as long a leading dimension is it.
  for (std::size_t i = 0; i < program.parameters().size(); ++i) {
    const ProgramParameter& parameter = program.parameters()[i];
    const std::vector<std::int64_t>& dims = program.ShapeOf(parameter).dims;
    if (meaning.RoleOf(i) == Role::kWeights || meaning.RoleOf(i) == Role::kOptimizerState) continue;
    if (!dims.empty() && dims[0] == axis.size && !parameter.shards.empty())
      split = std::max(split, parameter.shards[0]);
  }
  return split;
}

// Whether an axis is a sequence as people say it: of an image's or a field's arrays it is one side.
bool IsLine(const Program& program, const Meaning& meaning, const Axis& axis) {
  constexpr std::size_t kMostDimensions = 3;  // examples, positions, features
  return std::none_of(program.parameters().begin(), program.parameters().end(), [&](const ProgramParameter& parameter) {
    const Rows rows = meaning.RowsOf(parameter.instruction, parameter.leaf);
    return rows.size() > kMostDimensions && Occurs(rows, axis) > 0 && meaning.batch() &&
           Occurs(rows, meaning.batch()) > 0;
  });
}

// Into how many pieces a batch may be divided, in the order in which they are tried: a few are cheap and leave room
// for what an estimate is off by, more cost more.
std::vector<std::int64_t> StepsOf(std::int64_t batch) {
  constexpr std::int64_t kMostSteps = 4096;  // more is no training step
  constexpr std::int64_t kAll = 64;          // of more, powers of two alone
  std::vector<std::int64_t> all;
  const auto add = [&](std::int64_t steps) {
    if (steps <= batch && batch % steps == 0) all.push_back(steps);
  };
  add(1);
  for (std::int64_t steps = kMicroBatches; steps > 1; --steps) add(steps);
  for (std::int64_t steps = kMicroBatches + 1; steps <= kAll; ++steps) add(steps);
  for (std::int64_t steps = 2 * kAll; steps <= kMostSteps; steps *= 2) add(steps);
  return all;
}

std::int64_t MicroBatchesThatFit(const Changes& changes, const Axis& batch, const Stop& stop) {
  for (const std::int64_t steps : StepsOf(batch.size)) {
    if (stop.IsAsked()) break;
    const std::optional<ModifiedProgram> modified =
        steps == 1 ? changes.Resize(batch, batch.size) : changes.Accumulate(batch, steps);
    if (modified && changes.Fits(changes.Judge(*modified))) return steps;
  }
  return 0;
}

// Whether it is known what a shorter axis leaves: which arrays have it, the program may not show.
bool IsClear(const Changes& changes, const std::optional<ModifiedProgram>& halved) {
  return !halved || !changes.IsOpen(*halved);
}

Room FindRoom(const Program& program, const Meaning& meaning, const Changes& changes, const Stop& stop) {
  Room room;
  if (meaning.batch() && IsClear(changes, changes.Shorten(meaning.batch(), 2))) {
    const std::int64_t split = Split(program, meaning, meaning.batch());
    room.batch = Times(meaning.batch().size, split);
    room.batch_devices = split;
    room.largest_batch = Times(LargestThatFits(changes, meaning.batch(), stop), split);
    room.batch_axis = FindPlace(program, meaning, meaning.batch());
    room.micro_batches = MicroBatchesThatFit(changes, meaning.batch(), stop);
  }
  if (meaning.sequence() && IsLine(program, meaning, meaning.sequence()) &&
      IsClear(changes, changes.Shorten(meaning.sequence(), 2))) {
    const std::int64_t split = Split(program, meaning, meaning.sequence());
    room.sequence = Times(meaning.sequence().size, split);
    room.largest_sequence = Times(LargestThatFits(changes, meaning.sequence(), stop), split);
    room.sequence_axis = FindPlace(program, meaning, meaning.sequence());
  }
  return room;
}

// A change made in as many parts as fit.
struct FittingChange {
  std::string_view name;
  bool only_if_needed;  // if no other change is enough alone
  std::optional<ModifiedProgram> (*make)(const Changes&, const Meaning&, const Room&);
};

std::optional<ModifiedProgram> ShortenTo(const Changes& changes, const Axis& axis, std::int64_t size,
                                         std::int64_t largest) {
  return largest > 0 ? changes.Shorten(axis, (size + largest - 1) / largest) : std::nullopt;
}

constexpr std::array<FittingChange, 3> kFittingChanges = {{
    {"batch_in_steps", false,
     [](const Changes& c, const Meaning& m, const Room& room) {
       return room.micro_batches > 1 ? c.Accumulate(m.batch(), room.micro_batches) : std::nullopt;
     }},
    {"half_batch", true,
     [](const Changes& c, const Meaning& m, const Room& room) {
       return ShortenTo(c, m.batch(), room.batch, room.largest_batch);
     }},
    {"half_sequence", true,
     [](const Changes& c, const Meaning& m, const Room& room) {
       return ShortenTo(c, m.sequence(), room.sequence, room.largest_sequence);
     }},
}};

// Gives the changes of which the room says what fits the figures of that, so that the two agree.
void SizeByRoom(const Program& program, const Meaning& meaning, const Changes& changes, Prospects* prospects) {
  std::vector<Prospect>& all = prospects->changes;
  for (const FittingChange& fitting : kFittingChanges) {
    const bool any_fits = std::any_of(all.begin(), all.end(), [&](const Prospect& one) {
      return !one.open && changes.Fits({one.left_bytes, 0});
    });
    if (fitting.only_if_needed && any_fits) continue;
    const std::optional<ModifiedProgram> modified = fitting.make(changes, meaning, prospects->room);
    if (!modified) continue;
    const Estimate estimate = changes.Judge(*modified);
    if (!changes.Fits(estimate)) continue;
    auto prospect =
        std::find_if(all.begin(), all.end(), [&](const Prospect& one) { return one.change == fitting.name; });
    if (prospect == all.end()) prospect = all.emplace(all.end());
    *prospect = Prospect{.change = std::string(fitting.name),
                         .saves_bytes = changes.need_bytes() - estimate.left_bytes,
                         .left_bytes = estimate.left_bytes,
                         .spread_bytes = estimate.spread_bytes,
                         .buffers = changes.MadeOn(*modified),
                         .ruled_out = {},
                         .parts = modified->parts,
                         .axis = FindPlace(program, meaning, modified->axis)};
  }
}

Prospects LookAt(const Program& program, const Meaning& meaning, const Changes& changes, std::int64_t limit_bytes,
                 const Stop& stop) {
  Prospects prospects;
  if (!changes.whole()) return prospects;
  prospects.need_bytes = changes.need_bytes();
  prospects.memory = Filling(program, meaning).PartsOf(changes.compiled(), changes.need_bytes());
  prospects.timeline = TimelineOf(program.memory());
  if (limit_bytes > 0) prospects.room = FindRoom(program, meaning, changes, stop);
  return prospects;
}

}  // namespace

std::optional<AxisPlace> FindPlace(const Program& program, const Meaning& meaning, const Axis& axis) {
  if (!axis) return std::nullopt;
  std::optional<AxisPlace> place;
  std::tuple<bool, std::int64_t> best;
  for (std::size_t p = 0; p < program.parameters().size(); ++p) {
    const ProgramParameter& parameter = program.parameters()[p];
    const HloInstruction& is = program.At(parameter.instruction);
    const std::optional<std::size_t> dim = DimensionOf(meaning.RowsOf(parameter.instruction, parameter.leaf), axis);
    if (!dim || is.op_name.empty()) continue;  // named by the compiler alone
    const Role role = meaning.RoleOf(p);
    const std::tuple rank(role != Role::kWeights && role != Role::kOptimizerState, parameter.size);
    if (place && rank <= best) continue;
    best = rank;
    const std::int64_t shards = *dim < parameter.shards.size() ? parameter.shards[*dim] : 1;
    const std::int64_t here = program.ShapeOf(parameter).dims[*dim];
    place = AxisPlace{parameter.path, static_cast<std::int64_t>(*dim), here, NameOf(meaning, axis)};
    if (shards > 1 && here <= INT64_MAX / shards) place->length = here * shards;
  }
  return place;
}

bool IsChange(std::string_view name) {
  return std::any_of(kChanges.begin(), kChanges.end(), [&](const NamedChange& change) { return change.name == name; });
}

Prospects LookAt(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes, const Stop& stop) {
  const Meaning meaning(program, role_words);
  return LookAt(program, meaning, Changes(program, meaning, limit_bytes, &stop), limit_bytes, stop);
}

Prospects LookAhead(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes, const Stop& stop) {
  const Meaning meaning(program, role_words);
  const Changes changes(program, meaning, limit_bytes, &stop);
  Prospects prospects = LookAt(program, meaning, changes, limit_bytes, stop);
  if (!changes.whole()) return prospects;
  std::vector<MadeChange> part_of_it;
  for (const NamedChange& change : kChanges) {
    if (stop.IsAsked()) return prospects;
    std::optional<ModifiedProgram> modified = change.make(changes, meaning, program);
    if (!modified) continue;
    const std::int64_t buffers = changes.MadeOn(*modified);
    if (buffers == 0 && modified->ruled_out.empty()) continue;
    if (changes.IsOpen(*modified)) {
      prospects.changes.push_back(
          {.change = std::string(change.name), .buffers = buffers, .open = true, .ruled_out = {}, .axis = {}});
      continue;
    }
    const Estimate estimate = changes.Judge(*modified);
    prospects.changes.push_back({.change = std::string(change.name),
                                 .saves_bytes = changes.need_bytes() - estimate.left_bytes,
                                 .left_bytes = estimate.left_bytes,
                                 .spread_bytes = estimate.spread_bytes,
                                 .buffers = buffers,
                                 .ruled_out = std::string(modified->ruled_out),
                                 .parts = modified->parts,
                                 .axis = FindPlace(program, meaning, modified->axis),
                                 .of_state = modified->of_state});
    if (limit_bytes > 0 && !changes.Fits(estimate) &&
        changes.need_bytes() - estimate.left_bytes > kLeastOfPair * limit_bytes / 100)
      part_of_it.push_back({change.name, std::move(*modified)});
  }
  SizeByRoom(program, meaning, changes, &prospects);
  for (std::size_t i = 0; i < part_of_it.size(); ++i) {
    for (std::size_t j = i + 1; j < part_of_it.size() && !stop.IsAsked(); ++j) {
      const Estimate estimate = changes.Judge(changes.Both(part_of_it[i].modified, part_of_it[j].modified));
      prospects.pairs.push_back(
          {std::string(part_of_it[i].name), std::string(part_of_it[j].name), estimate.left_bytes});
    }
  }
  return prospects;
}

}  // namespace whyoom
