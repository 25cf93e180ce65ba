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

// What a change is made with.
struct Subject {
  const Program& program;
  const Meaning& meaning;
  const Changes& changes;

  std::int64_t Devices() const { return program.partitions() > 1 ? program.partitions() : kDevices; }
};

struct NamedChange {
  std::string_view name;
  std::optional<ModifiedProgram> (*make)(const Subject&);
};

struct MadeChange {
  std::string_view name;
  ModifiedProgram modified;
};

constexpr std::array<NamedChange, 15> kChanges = {{
    {"half_batch", [](const Subject& s) { return s.changes.Shorten(s.meaning.batch(), 2); }},
    {"batch_in_steps", [](const Subject& s) { return s.changes.Accumulate(s.meaning.batch(), kMicroBatches); }},
    {"half_sequence", [](const Subject& s) { return s.changes.Shorten(s.meaning.sequence(), 2); }},
    {"pieces", [](const Subject& s) { return s.changes.InPieces(s.meaning.batch(), kPieces); }},
    {"donate", [](const Subject& s) { return s.changes.Donate(); }},
    {"shard", [](const Subject& s) { return s.changes.Shard(s.Devices()); }},
    // From one device to a host, else the next larger topology.
    {"more_devices", [](const Subject& s) { return s.changes.MoreDevices(s.program.partitions() > 1 ? 2 : kDevices); }},
    {"bfloat16", [](const Subject& s) { return s.changes.Narrow(); }},
    {"recompute_layers", [](const Subject& s) { return s.changes.Recompute(); }},
    {"attention_in_blocks", [](const Subject& s) { return s.changes.BlockAttention(); }},
    {"loss_in_chunks", [](const Subject& s) { return s.changes.ChunkLoss(kChunks); }},
    {"labels_as_numbers", [](const Subject& s) { return s.changes.NumberLabels(); }},
    {"state_on_host", [](const Subject& s) { return s.changes.StateOnHost(); }},
    {"no_host_transfer", [](const Subject& s) { return s.changes.WithoutHostTransfer(); }},
    {"no_tiny_dimensions", [](const Subject& s) { return s.changes.MergeTinyDimensions(); }},
}};

// By ValueKind.
constexpr std::array<const char*, 12> kKindNames = {
    "weights",          "gathered_weights", "optimizer_state", "gradients", "activations", "logits",
    "attention_scores", "temporaries",      "inputs",          "outputs",   "constants",   "unknown"};

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

  std::vector<MemoryPart> PartsOf(const BufferAssignment& assignment, std::int64_t need) {
    std::set<int> seen;  // allocations
    for (const ProgramValue& value : program_.values()) {
      const MemoryAllocation& allocation = program_.AllocationOf(value);
      const bool fixed = allocation.kind == AllocationKind::kArgument || allocation.kind == AllocationKind::kConstant;
      if (fixed && value.size == allocation.size && seen.insert(value.allocation).second) Add(value, value.size);
    }
    for (const Buffer& buffer : assignment.buffers()) {
      if (buffer.is_output) AddBytes("outputs", "", buffer.size);
    }
    for (const int b : assignment.LiveAtPeak()) {
      const Buffer& buffer = assignment.buffers()[b];
      const MemoryAllocation& allocation = program_.memory().allocations[buffer.allocation];
      if (buffer.is_output || allocation.kind == AllocationKind::kOutput) continue;  // in an output's memory
      Add(program_.values()[MostTelling(buffer)], buffer.size);
    }
    if (need > total_) AddBytes("fragmentation", "", need - total_);
    return Sorted();
  }

 private:
  static constexpr std::size_t kMostModules = 8;

  // The largest first, and so the modules of each.
  std::vector<MemoryPart> Sorted() const {
    std::vector<MemoryPart> parts;
    for (const auto& [kind, modules] : bytes_) {
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

  // Among the values of one place, the one that says most about itself: a loop's carried value is named by nobody.
  int MostTelling(const Buffer& buffer) const {
    int best = buffer.values.front();
    for (const int i : buffer.values) {
      const ProgramValue& value = program_.values()[i];
      if (value.instruction < 0 || value.leaf < 0) continue;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.Is({"parameter", "while", "custom-call"}) || is.op_name.empty()) continue;
      const ValueKind so_far = meaning_.KindOf(best);
      if (so_far == ValueKind::kUnknown || so_far == ValueKind::kTemporaries ||
          meaning_.KindOf(i) == ValueKind::kActivations)
        best = i;
    }
    return best;
  }

  void Add(const ProgramValue& value, std::int64_t size) {
    std::int64_t padding = 0;
    std::string module;
    if (value.leaf >= 0) {
      padding = std::max<std::int64_t>(0, size - UnpaddedBytes(program_.ShapeOf(value)).value_or(size));
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.opcode != "parameter") module = ModuleOf(is.op_name);
    }
    AddBytes(kKindNames[static_cast<std::size_t>(meaning_.KindOf(value.number))], module, size - padding);
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

// Shardings are read from a file, which may say anything.
std::int64_t Times(std::int64_t size, std::int64_t devices) {
  std::int64_t all = 0;
  return __builtin_mul_overflow(size, devices, &all) ? std::numeric_limits<std::int64_t>::max() : all;
}

// Into how many pieces a batch may be divided, in the order in which they are tried: a few are cheap and leave room for
// what an estimate is off by, more cost more.
std::vector<std::int64_t> StepsOf(std::int64_t batch) {
  constexpr std::int64_t kMostSteps = 4096;  // more is no training step
  constexpr std::int64_t kAll = 64;          // of more, powers of two alone
  std::vector<std::int64_t> all = {1};
  for (std::int64_t steps = kMicroBatches; steps > 1; --steps) all.push_back(steps);
  for (std::int64_t steps = kMicroBatches + 1; steps <= kAll; ++steps) all.push_back(steps);
  for (std::int64_t steps = 2 * kAll; steps <= kMostSteps; steps *= 2) all.push_back(steps);
  std::erase_if(all, [&](std::int64_t steps) { return steps > batch || batch % steps != 0; });
  return all;
}

// Estimates what fits, and what each change would leave.
class Estimator {
 public:
  Estimator(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes, const Stop& stop)
      : program_(program),
        meaning_(program, role_words),
        changes_(program, meaning_, limit_bytes, &stop),
        limit_(limit_bytes),
        stop_(stop) {}

  Prospects WithoutChanges() const {
    Prospects prospects;
    if (!changes_.whole()) return prospects;
    prospects.need_bytes = changes_.need_bytes();
    prospects.memory = Filling(program_, meaning_).PartsOf(changes_.compiled(), changes_.need_bytes());
    prospects.timeline = TimelineOf(program_.memory());
    if (limit_ > 0) prospects.room = FindRoom();
    return prospects;
  }

  Prospects WithChanges() const {
    Prospects prospects = WithoutChanges();
    if (!changes_.whole()) return prospects;
    std::vector<MadeChange> partial;
    for (const NamedChange& change : kChanges) {
      if (stop_.IsAsked()) return prospects;
      std::optional<ModifiedProgram> modified = change.make({program_, meaning_, changes_});
      if (!modified || (changes_.MadeOn(*modified) == 0 && modified->ruled_out.empty())) continue;
      prospects.changes.push_back(ProspectOf(change.name, *modified));
      const Prospect& prospect = prospects.changes.back();
      if (!prospect.open && limit_ > 0 && prospect.left_bytes > limit_ &&
          prospect.saves_bytes > kLeastOfPair * limit_ / 100)
        partial.push_back({change.name, std::move(*modified)});
    }
    SizeByRoom(&prospects);
    for (std::size_t i = 0; i < partial.size(); ++i) {
      for (std::size_t j = i + 1; j < partial.size() && !stop_.IsAsked(); ++j) {
        const Estimate estimate = changes_.Judge(changes_.Both(partial[i].modified, partial[j].modified));
        prospects.pairs.push_back({std::string(partial[i].name), std::string(partial[j].name), estimate.left_bytes});
      }
    }
    return prospects;
  }

 private:
  // A change made in as many parts as fit.
  struct FittingChange {
    std::string_view name;
    bool only_if_needed;  // if no other change is enough alone
    std::optional<ModifiedProgram> modified;
  };

  Prospect ProspectOf(std::string_view name, const ModifiedProgram& modified) const {
    Prospect prospect;
    prospect.change = name;
    prospect.buffers = changes_.MadeOn(modified);
    prospect.open = changes_.IsOpen(modified);
    if (prospect.open) return prospect;
    const Estimate estimate = changes_.Judge(modified);
    prospect.saves_bytes = changes_.need_bytes() - estimate.left_bytes;
    prospect.left_bytes = estimate.left_bytes;
    prospect.spread_bytes = estimate.spread_bytes;
    prospect.ruled_out = modified.ruled_out;
    prospect.parts = modified.parts;
    prospect.axis = FindPlace(program_, meaning_, modified.axis);
    prospect.of_state = modified.of_state;
    return prospect;
  }

  bool Fits(const std::optional<ModifiedProgram>& modified) const {
    return modified && changes_.Fits(changes_.Judge(*modified));
  }

  // The largest size of an axis that fits, by halving an interval; 0 if none does.
  std::int64_t LargestThatFits(const Axis& axis) const {
    constexpr std::int64_t kMostTimes = 1024;
    std::int64_t fits = 0;
    if (axis.size > INT64_MAX / kMostTimes) return 0;
    std::int64_t over = axis.size * kMostTimes;
    for (std::int64_t size = axis.size; size > 0 && !stop_.IsAsked();) {
      (Fits(changes_.Resize(axis, size)) ? fits : over) = size;
      if (over - fits <= 1) break;
      if (fits > axis.size * kMostTimes / 2) return 0;  // so many that nothing can be said of it
      size = fits > 0 && over > 2 * fits && over > axis.size ? fits * 2 : (fits + over) / 2;
    }
    return fits;
  }

  std::int64_t MicroBatchesThatFit() const {
    const Axis batch = meaning_.batch();
    for (const std::int64_t steps : StepsOf(batch.size)) {
      if (stop_.IsAsked()) break;
      if (Fits(steps == 1 ? changes_.Resize(batch, batch.size) : changes_.Accumulate(batch, steps))) return steps;
    }
    return 0;
  }

  // How many times as long an axis is in the program as its user wrote it: it may be split over devices.
  std::int64_t Split(const Axis& axis) const {
    std::int64_t split = 1;
    for (const ProgramParameter& parameter : program_.parameters()) {
      const Rows rows = meaning_.RowsOf(parameter.instruction, parameter.leaf);
      for (std::size_t dim = 0; dim < std::min(rows.size(), parameter.shards.size()); ++dim) {
        if (!rows[dim].empty() && rows[dim] == axis.families) split = std::max(split, parameter.shards[dim]);
      }
    }
    if (split > 1) return split;
    // If the trail to the argument is lost, an input with as long a leading dimension is it.
    for (const ProgramParameter& parameter : program_.parameters()) {
      const ArrayDims& dims = program_.ShapeOf(parameter).dims;
      if (!meaning_.IsState(parameter.place) && !dims.empty() && dims[0] == axis.size && !parameter.shards.empty())
        split = std::max(split, parameter.shards[0]);
    }
    return split;
  }

  // Whether the sequence is one as people say it: in an image's or a field's arrays it is one side.
  bool IsLine() const {
    constexpr std::size_t kMostDimensions = 3;  // examples, positions, features
    const auto is_field = [&](const ProgramParameter& parameter) {
      const Rows rows = meaning_.RowsOf(parameter.instruction, parameter.leaf);
      return rows.size() > kMostDimensions && Occurs(rows, meaning_.sequence()) > 0 && meaning_.batch() &&
             Occurs(rows, meaning_.batch()) > 0;
    };
    return std::none_of(program_.parameters().begin(), program_.parameters().end(), is_field);
  }

  // Whether it is known what a shorter axis leaves: the program may not show which arrays have it.
  bool IsClear(const Axis& axis) const {
    const std::optional<ModifiedProgram> halved = changes_.Shorten(axis, 2);
    return axis && (!halved || !changes_.IsOpen(*halved));
  }

  Room FindRoom() const {
    Room room;
    if (const Axis batch = meaning_.batch(); IsClear(batch)) {
      const std::int64_t split = Split(batch);
      room.batch = Times(batch.size, split);
      room.batch_devices = split;
      room.largest_batch = Times(LargestThatFits(batch), split);
      room.batch_axis = FindPlace(program_, meaning_, batch);
      room.micro_batches = MicroBatchesThatFit();
    }
    if (const Axis sequence = meaning_.sequence(); sequence && IsLine() && IsClear(sequence)) {
      const std::int64_t split = Split(sequence);
      room.sequence = Times(sequence.size, split);
      room.largest_sequence = Times(LargestThatFits(sequence), split);
      room.sequence_axis = FindPlace(program_, meaning_, sequence);
    }
    return room;
  }

  std::optional<ModifiedProgram> ShortenTo(const Axis& axis, std::int64_t size, std::int64_t largest) const {
    return largest > 0 ? changes_.Shorten(axis, (size + largest - 1) / largest) : std::nullopt;
  }

  // The changes that the room knows a fitting number for get its figures, so that the two agree.
  void SizeByRoom(Prospects* prospects) const {
    const Room& room = prospects->room;
    const FittingChange fitting[] = {
        {"batch_in_steps", false,
         room.micro_batches > 1 ? changes_.Accumulate(meaning_.batch(), room.micro_batches) : std::nullopt},
        {"half_batch", true, ShortenTo(meaning_.batch(), room.batch, room.largest_batch)},
        {"half_sequence", true, ShortenTo(meaning_.sequence(), room.sequence, room.largest_sequence)}};
    std::vector<Prospect>& all = prospects->changes;
    for (const auto& [name, only_if_needed, modified] : fitting) {
      const bool any_fits = std::any_of(all.begin(), all.end(), [&](const Prospect& one) {
        return !one.open && changes_.Fits({.left_bytes = one.left_bytes});
      });
      if ((only_if_needed && any_fits) || !Fits(modified)) continue;
      const auto found =
          std::find_if(all.begin(), all.end(), [&, name = name](const Prospect& one) { return one.change == name; });
      Prospect& prospect = found == all.end() ? all.emplace_back() : *found;
      prospect = ProspectOf(name, *modified);
    }
  }

  const Program& program_;
  const Meaning meaning_;
  const Changes changes_;
  const std::int64_t limit_;
  const Stop& stop_;
};

}  // namespace

std::optional<AxisPlace> FindPlace(const Program& program, const Meaning& meaning, const Axis& axis) {
  if (!axis) return std::nullopt;
  std::optional<AxisPlace> place;
  std::tuple<bool, std::int64_t> best;
  for (const ProgramParameter& parameter : program.parameters()) {
    const HloInstruction& is = program.At(parameter.instruction);
    const std::optional<std::size_t> dim = DimensionOf(meaning.RowsOf(parameter.instruction, parameter.leaf), axis);
    if (!dim || is.op_name.empty()) continue;  // named by the compiler alone
    const Role role = meaning.RoleOf(parameter.place);
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
  return Estimator(program, role_words, limit_bytes, stop).WithoutChanges();
}

Prospects LookAhead(const Program& program, const RoleWords& role_words, std::int64_t limit_bytes, const Stop& stop) {
  return Estimator(program, role_words, limit_bytes, stop).WithChanges();
}

}  // namespace whyoom
