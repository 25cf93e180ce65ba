#include "program/change.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

namespace whyoom {
namespace {

// Bytes of a value when its dimensions are others; what the compiler rounds stays in proportion. Where a dimension gets
// too short for its tile, the compiler chooses another layout.
std::int64_t Resized(const ProgramValue& value, const ArrayShape& shape, const std::vector<std::int64_t>& dims) {
  ArrayShape changed = shape;
  changed.dims = dims;
  const std::optional<std::int64_t> before = PaddedBytes(shape);
  const std::optional<std::int64_t> same_layout = PaddedBytes(changed);
  const std::optional<std::int64_t> best = BestLayoutBytes(changed);
  if (!before || !same_layout || !best || *before <= 0) return value.size;
  const double share =
      static_cast<double>(ElementCount(changed)) / std::max(1.0, static_cast<double>(ElementCount(shape)));
  const double proportional = static_cast<double>(*before) * share;
  const double after =
      std::max(proportional,
               static_cast<double>(std::min(*same_layout, std::max(*best, static_cast<std::int64_t>(proportional)))));
  return static_cast<std::int64_t>(static_cast<double>(value.size) * after / static_cast<double>(*before));
}

}  // namespace

Changes::Changes(const Program& program, const Meaning& meaning, std::int64_t limit_bytes)
    : program_(program), meaning_(meaning), limit_(limit_bytes), compiled_(program, false), roomy_(program, true) {
  need_ = compiled_.Need(compiled_.SizesAsTheyAre());
}

Sizes Changes::Scaled(const Axis& axis, Ratio ratio, bool arguments_too, bool once) const {
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const MemoryAllocation& allocation = program_.AllocationOf(program_.values()[i]);
    if (!arguments_too && allocation.kind == AllocationKind::kArgument) continue;
    sizes[i] = Scaled(i, axis, ratio, once);
  }
  return sizes;
}

std::int64_t Changes::Scaled(std::size_t number, const Axis& axis, Ratio ratio, bool once) const {
  const ProgramValue& value = program_.values()[number];
  if (!meaning_.Has(number, axis)) return value.size;
  const Rows& rows = meaning_.RowsOf(number);
  const ArrayShape& shape = program_.ShapeOf(value);
  std::vector<std::int64_t> dims = shape.dims;
  const auto holds = [&](const std::vector<int>& row) {
    return std::search(row.begin(), row.end(), axis.families.begin(), axis.families.end()) != row.end();
  };
  const bool whole = std::any_of(rows.begin(), rows.end(), holds);
  for (std::size_t dim = 0; dim < rows.size(); ++dim) {
    const bool here = whole ? holds(rows[dim])
                            : std::find(rows[dim].begin(), rows[dim].end(), axis.families.front()) != rows[dim].end();
    if (!here) continue;
    const double length =
        static_cast<double>(dims[dim]) * static_cast<double>(ratio.length) / static_cast<double>(ratio.of);
    dims[dim] = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(length)));
    if (once) break;  // of two dimensions that are one axis only one can be split over the same devices
  }
  return Resized(value, shape, dims);
}

Outcome Changes::Judge(const Sizes& sizes, std::int64_t more, const std::vector<Buffer>& added) const {
  const std::int64_t tight = compiled_.Need(sizes, added) + more;
  const std::int64_t roomy = std::max(tight, roomy_.Need(sizes, added) + more);
  Outcome outcome;
  outcome.spread_bytes = (std::min(roomy, std::max(limit_, tight)) - tight) / 2;
  // The compiler computes again only as much as it must to stay somewhat below the limit: it was seen to aim at 14.65
  // of 15.75 GiB.
  constexpr double kAimsAt = 0.93;
  const auto aim = static_cast<std::int64_t>(kAimsAt * static_cast<double>(limit_));
  outcome.left_bytes = limit_ <= 0 ? tight : std::max(tight, std::min(roomy, aim));
  return outcome;
}

std::optional<Outcome> Changes::Shorten(const Axis& axis, std::int64_t parts) const {
  if (!axis || axis.size < parts) return std::nullopt;
  return Judge(Scaled(axis, {1, parts}, true), 0);
}

std::optional<Outcome> Changes::Resize(const Axis& axis, std::int64_t size) const {
  if (!axis || size < 1) return std::nullopt;
  return Judge(Scaled(axis, {size, axis.size}, true), 0);
}

// A weight that comes back, anew: what is frozen has no gradient.
bool Changes::IsUpdated(const ProgramParameter& parameter) const {
  const std::string& shape = program_.ShapeOf(parameter).shape;
  return std::any_of(program_.outputs().begin(), program_.outputs().end(),
                     [&](const ProgramOutput& output) { return program_.ShapeOf(output).shape == shape; });
}

std::optional<Outcome> Changes::Accumulate(const Axis& axis, std::int64_t parts) const {
  return meaning_.trains() ? InPieces(axis, parts, false) : Outcome{need_, 0};
}

std::optional<Outcome> Changes::InPieces(const Axis& axis, std::int64_t parts) const {
  return IsOfPieces() ? InPieces(axis, parts, true) : std::nullopt;
}

bool Changes::IsOfPieces() const {
  std::vector<int> live;
  compiled_.Need(compiled_.SizesAsTheyAre(), {}, &live);
  int largest = -1;
  for (const int b : live) {
    if (largest < 0 || compiled_.buffers()[static_cast<std::size_t>(b)].size >
                           compiled_.buffers()[static_cast<std::size_t>(largest)].size)
      largest = b;
  }
  if (largest < 0) return false;
  std::set<int> leading;  // of what is fed in
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    const Rows rows = meaning_.RowsOf(program_.parameters()[p].instruction, program_.parameters()[p].leaf);
    if (meaning_.RoleOf(p) == Role::kInput && !rows.empty() && !rows[0].empty()) leading.insert(rows[0].front());
  }
  for (const int i : compiled_.buffers()[static_cast<std::size_t>(largest)].values) {
    const ProgramValue& value = program_.values()[static_cast<std::size_t>(i)];
    if (value.instruction >= 0 && program_.InstructionOf(value).op_name.find("vmap(") != std::string_view::npos)
      return true;
    std::set<int> here;
    for (const std::vector<int>& row : meaning_.RowsOf(static_cast<std::size_t>(i))) {
      if (!row.empty() && leading.contains(row.front())) here.insert(row.front());
    }
    if (here.size() > 1) return true;
  }
  return false;
}

std::optional<Outcome> Changes::InPieces(const Axis& axis, std::int64_t parts, bool rows) const {
  if (!axis || axis.size < 2) return std::nullopt;
  // State that comes in and goes out whole, such as a cache, would be copied piece by piece.
  for (std::size_t i = 0; i < program_.parameters().size(); ++i) {
    if (meaning_.RoleOf(i) == Role::kCache && program_.parameters()[i].size > need_ / 10) return Outcome{need_, 0};
  }
  parts = std::min(parts, axis.size);
  const Sizes sizes = Scaled(axis, {1, parts}, false, rows);
  std::int64_t sums = 0;
  if (meaning_.trains()) {
    for (std::size_t i = 0; i < program_.parameters().size(); ++i) {
      if (meaning_.RoleOf(i) == Role::kWeights && IsUpdated(program_.parameters()[i]))
        sums += program_.parameters()[i].size;
    }
  }
  // Gradients that are live at the peak already are the sums.
  std::vector<int> live;
  compiled_.Need(sizes, {}, &live);
  std::int64_t gradients = 0;
  for (const int buffer : live) {
    const Buffer& is = compiled_.buffers()[static_cast<std::size_t>(buffer)];
    if (meaning_.KindOf(static_cast<std::size_t>(is.values.front())) == ValueKind::kGradients) gradients += is.size;
  }
  return Judge(sizes, std::max<std::int64_t>(0, sums - gradients));
}

int Changes::LastUse(int instruction, int depth) const {
  // What only renames a value is looked through.
  constexpr int kDeepest = 16;
  int last = -1;
  if (depth > kDeepest) return last;
  // Ways that part and meet again would else be gone once each.
  const auto [known, is_new] = last_uses_.try_emplace(std::pair(instruction, depth), last);
  if (!is_new) return known->second;
  for (const int user : program_.UsersOf(instruction)) {
    const std::string_view opcode = program_.module().instructions[static_cast<std::size_t>(user)].opcode;
    const bool renames = opcode == "bitcast" || opcode == "get-tuple-element" || opcode == "tuple" ||
                         opcode == "copy-start" || opcode == "copy-done";
    if (renames) last = std::max(last, LastUse(user, depth + 1));
    if (opcode != "tuple") last = std::max(last, program_.PositionOf(user));
  }
  last_uses_[std::pair(instruction, depth)] = last;
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

std::optional<Outcome> Changes::Donate() const {
  // Outputs without memory of their own, matched to arguments of the same shape that no output shares yet and that
  // nothing reads after the output is made.
  Sizes sizes = compiled_.SizesAsTheyAre();
  std::vector<Buffer> added;
  const std::vector<ProgramValue>& values = program_.values();
  std::set<std::size_t> taken;
  std::set<int> instructions;                                     // that now write into an argument
  std::set<int> allocations;                                      // of outputs that are no more
  std::map<std::string_view, std::vector<std::size_t>> of_shape;  // parameters
  for (std::size_t p = 0; p < program_.parameters().size(); ++p)
    of_shape[program_.ShapeOf(program_.parameters()[p]).shape].push_back(p);
  for (const ProgramOutput& output : program_.outputs()) {
    const std::string& shape = program_.ShapeOf(output).shape;
    const int value = output.value;
    if (value < 0) continue;
    const ProgramValue& handed_out = values[static_cast<std::size_t>(value)];
    for (const std::size_t p : of_shape[shape]) {
      const ProgramParameter& parameter = program_.parameters()[p];
      if (taken.contains(p) || parameter.shares_output || parameter.size <= 0) continue;
      // An argument that is only copied, so that it can be written to, need not be copied.
      const int copy = CopyOf(parameter, handed_out);
      if (copy < 0 && !CanTakeOver(output, parameter)) continue;
      taken.insert(p);
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
  if (taken.empty()) return Outcome{need_, 0};
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
    added.push_back({0, left, buffer.first, std::max(buffer.first, end), buffer.allocation, {}, false});
  }
  return Judge(sizes, 0, added);
}

std::set<std::string> Changes::StateShapes(bool split) const {
  std::set<std::string> shapes;
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    const ProgramParameter& parameter = program_.parameters()[p];
    if (meaning_.RoleOf(p) != Role::kWeights && meaning_.RoleOf(p) != Role::kOptimizerState) continue;
    const bool is_split =
        std::any_of(parameter.shards.begin(), parameter.shards.end(), [](std::int64_t n) { return n > 1; });
    if (is_split == split) shapes.insert(program_.ShapeOf(parameter).shape);
  }
  return shapes;
}

Sizes Changes::Divided(const std::set<std::string>& shapes, std::int64_t parts) const {
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf >= 0 && shapes.contains(program_.ShapeOf(value).shape)) sizes[i] /= parts;
  }
  return sizes;
}

Sizes Changes::StateSharded(std::int64_t devices) const {
  // Weights, what the optimizer keeps of them and their gradients; arrays that are split already stay as they are.
  std::set<std::string> whole = StateShapes(false);
  for (const std::string& split : StateShapes(true)) whole.erase(split);
  return Divided(whole, devices);
}

std::optional<Outcome> Changes::MoreDevices(std::int64_t times) const {
  // State that is split over the devices is split further; each device keeps its share of the work.
  const std::set<std::string> split = StateShapes(true);
  return split.empty() ? SplitOver(times) : Judge(Divided(split, times), 0);
}

std::optional<Outcome> Changes::Shard(std::int64_t devices) const {
  if (!program_.is_for_a_mesh()) return std::nullopt;  // there may be one device only
  return SplitOver(devices);
}

std::optional<Outcome> Changes::SplitOver(std::int64_t devices) const {
  bool batch_split = false;
  bool weights_split = false;
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    const ProgramParameter& parameter = program_.parameters()[p];
    const Rows rows = meaning_.RowsOf(parameter.instruction, parameter.leaf);
    for (std::size_t dim = 0; dim < std::min(rows.size(), parameter.shards.size()); ++dim) {
      if (parameter.shards[dim] <= 1) continue;
      const bool is_batch =
          meaning_.batch() && !rows[dim].empty() && rows[dim].front() == meaning_.batch().families.front();
      (is_batch ? batch_split : weights_split) = true;
    }
  }
  std::optional<Outcome> best;
  const std::vector<std::vector<std::int64_t>> sent = SentToHost();
  const auto consider = [&](Sizes sizes) {
    // What is sent to the host is put together in one place first.
    for (std::size_t i = 0; i < sizes.size() && !sent.empty(); ++i) {
      const ProgramValue& value = program_.values()[i];
      for (const std::vector<std::int64_t>& dims : sent) {
        if (value.leaf >= 0 && program_.ShapeOf(value).dims == dims) sizes[i] = value.size;
      }
    }
    const Outcome outcome = Judge(sizes, 0);
    if (!best || outcome.left_bytes < best->left_bytes) best = outcome;
  };
  if (!weights_split || batch_split) consider(StateSharded(devices));
  if (batch_split) {
    // What is put together again from all devices, and need not be.
    std::int64_t local = 0;
    for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
      const ProgramParameter& parameter = program_.parameters()[p];
      const Rows rows = meaning_.RowsOf(parameter.instruction, parameter.leaf);
      if (!rows.empty() && !rows[0].empty() && rows[0].front() == meaning_.batch().families.front())
        local = std::max(local, program_.ShapeOf(parameter).dims[0]);
    }
    Sizes sizes = compiled_.SizesAsTheyAre();
    bool any = false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const ProgramValue& value = program_.values()[i];
      if (value.leaf < 0 || local == 0) continue;
      const Rows& rows = meaning_.RowsOf(i);
      for (std::size_t dim = 0; dim < rows.size(); ++dim) {
        const bool is_batch = !rows[dim].empty() && rows[dim].front() == meaning_.batch().families.front();
        if (!is_batch || program_.ShapeOf(value).dims[dim] != local * devices) continue;
        sizes[i] /= devices;
        any = true;
        break;
      }
    }
    if (any) consider(sizes);
  }
  if (!batch_split && !weights_split) {
    const bool by_batch = meaning_.batch() && meaning_.batch().size % devices == 0;
    if (by_batch) consider(Scaled(meaning_.batch(), {1, devices}, true, true));
    // Where the batch is not what fills the memory, something else is split.
    if (!by_batch || !best || need_ - best->left_bytes < need_ / 4) {
      // Whichever long axis of the largest arrays leaves least.
      std::set<std::vector<int>> axes;
      std::vector<int> live;
      compiled_.Need(compiled_.SizesAsTheyAre(), {}, &live);
      for (const int b : live) {
        const Buffer& buffer = compiled_.buffers()[static_cast<std::size_t>(b)];
        if (buffer.size < need_ / 20) continue;
        for (const std::vector<int>& row : meaning_.RowsOf(static_cast<std::size_t>(buffer.values.front()))) {
          std::int64_t size = 1;
          for (const int family : row) size *= program_.dimensions().factors().size(family);
          if (size % devices == 0 && !row.empty()) axes.insert(row);
        }
      }
      for (const std::vector<int>& axis : axes) consider(Scaled({axis, 0}, {1, devices}, true, true));
    }
  }
  if (weights_split && !batch_split) {
    // The weights are split, the activations between them are whole on each device: split them along the sequence.
    const Axis& axis = meaning_.sequence() ? meaning_.sequence() : meaning_.batch();
    std::set<int> split;
    for (const ProgramParameter& parameter : program_.parameters()) {
      const Rows rows = meaning_.RowsOf(parameter.instruction, parameter.leaf);
      for (std::size_t dim = 0; dim < std::min(rows.size(), parameter.shards.size()); ++dim) {
        if (parameter.shards[dim] > 1) split.insert(rows[dim].begin(), rows[dim].end());
      }
    }
    Sizes sizes = compiled_.SizesAsTheyAre();
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      bool is_split = false;
      for (const std::vector<int>& row : meaning_.RowsOf(i)) {
        for (const int family : row) is_split = is_split || split.contains(family);
      }
      if (!is_split && axis) sizes[i] = Scaled(i, axis, {1, devices}, true);
    }
    consider(sizes);
  }
  return best;
}

// Whether most products of the program as its user wrote it are of bf16 numbers.
bool Changes::ComputesNarrow() const {
  const HloModule& before = program_.before();
  double narrow = 0;
  double wide = 0;
  for (const HloInstruction& instruction : before.instructions) {
    if ((instruction.opcode != "dot" && instruction.opcode != "convolution") || instruction.operands.empty()) continue;
    const HloShape& shape = before.ShapeOf(instruction.operands[0]);
    if (shape.is_tuple) continue;
    (shape.array.dtype == "bf16" ? narrow : wide) += static_cast<double>(ElementCount(shape.array));
  }
  return narrow > wide;
}

std::optional<Outcome> Changes::Narrow() const {
  // Where the products are computed in narrow numbers already, the wide values for each example are so on purpose.
  const bool mixed = ComputesNarrow();
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf < 0 || program_.ShapeOf(value).dtype != "f32") continue;
    if (mixed && (meaning_.Has(i, meaning_.batch()) || meaning_.Has(i, meaning_.sequence()))) continue;
    const std::optional<std::int64_t> narrow = BytesWithElementBits(program_.ShapeOf(value), 16);
    if (narrow) sizes[i] = std::min(value.size, *narrow);
  }
  return Judge(sizes, 0);
}

std::optional<Outcome> Changes::BlockAttention() const {
  if (meaning_.attention().empty()) return Outcome{need_, 0};
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (meaning_.IsScores(i)) sizes[i] = 0;
  }
  return Judge(sizes, 0);
}

std::optional<Outcome> Changes::ChunkLoss(std::int64_t chunks) const {
  if (!meaning_.vocabulary() || !meaning_.trains()) return Outcome{need_, 0};
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (meaning_.KindOf(i) == ValueKind::kLogits) sizes[i] /= chunks;
  }
  return Judge(sizes, 0);
}

std::vector<std::vector<std::int64_t>> Changes::SentToHost() const {
  std::vector<std::vector<std::int64_t>> sent;
  const HloModule& module = program_.module();
  for (const int transfer : HostTransfers(module)) {
    const HloInstruction& instruction = module.instructions[static_cast<std::size_t>(transfer)];
    if (instruction.operands.empty()) continue;
    const HloShape& shape = module.ShapeOf(instruction.operands[0]);
    if (!shape.is_tuple && !shape.array.dims.empty()) sent.push_back(shape.array.dims);
  }
  return sent;
}

std::optional<Outcome> Changes::MergeTinyDimensions() const {
  // A dimension shorter than the rows of a tile can be merged with another, and then nothing is padded. Where no
  // dimension is, the compiler chose the layout with its padding among all others, and would again.
  constexpr std::int64_t kTiny = 8;
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf < 0) continue;
    const ArrayShape& shape = program_.ShapeOf(value);
    const bool tiny =
        std::any_of(shape.dims.begin(), shape.dims.end(), [](std::int64_t dim) { return dim > 1 && dim < kTiny; });
    const std::optional<std::int64_t> plain = UnpaddedBytes(shape);
    if (tiny && plain && *plain > 0) sizes[i] = std::min(value.size, *plain);
  }
  return Judge(sizes, 0);
}

std::optional<Outcome> Changes::WithoutHostTransfer() const {
  // What is sent must be whole in memory; without, it is mostly part of a fusion, and so is what it is made of.
  const std::vector<std::vector<std::int64_t>> sent = SentToHost();
  if (sent.empty()) return Outcome{need_, 0};
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    const MemoryAllocation& allocation = program_.AllocationOf(value);
    if (value.leaf < 0 || allocation.kind != AllocationKind::kTemporaries) continue;
    for (const std::vector<std::int64_t>& dims : sent) {
      if (ElementCount(program_.ShapeOf(value)) ==
          std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()))
        sizes[i] = 0;
    }
  }
  return Judge(sizes, 0);
}

std::optional<Outcome> Changes::StateOnHost() const {
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
        added.push_back({0, value.size, inference ? std::min<std::int64_t>(first, last) : last, last, 0, {}, false});
    }
  }
  if (!any) return std::nullopt;
  for (const Buffer& buffer : compiled_.buffers()) {
    if (!buffer.is_output) continue;
    const ProgramValue& value = values[static_cast<std::size_t>(buffer.values.back())];
    if (value.leaf < 0 || !state.contains(program_.ShapeOf(value).shape)) continue;
    // Of outputs of one shape as many are the optimizer's as there are arguments of it that are.
    std::int64_t of_state = 0;
    std::int64_t all = 0;
    for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
      const ProgramParameter& parameter = program_.parameters()[p];
      if (program_.ShapeOf(parameter).shape != program_.ShapeOf(value).shape) continue;
      ++all;
      of_state += meaning_.RoleOf(p) == Role::kOptimizerState ? 1 : 0;
    }
    if (of_state == 0 || all == 0) continue;
    for (const int i : buffer.values) sizes[static_cast<std::size_t>(i)] = value.size * (all - of_state) / all;
    added.push_back({0, value.size * of_state / all, buffer.first, buffer.first, 0, {}, false});
  }
  return Judge(sizes, 0, added);
}

}  // namespace whyoom
