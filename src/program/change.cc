#include "program/change.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "facts/op_name.h"
#include "text/numbers.h"

namespace whyoom {

Changes::Changes(const Program& program, const Meaning& meaning, std::int64_t limit_bytes, const Stop* stop)
    : program_(program),
      meaning_(meaning),
      limit_(limit_bytes),
      stop_(stop),
      compiled_(program, false),
      roomy_(program, true),
      last_uses_(program) {
  need_ = compiled_.Need(compiled_.CompiledSizes());
  for (const ProgramOutput& output : program.outputs()) output_shapes_.insert(program.ShapeOf(output).shape);
}

Sizes Changes::Scaled(const Axis& axis, Ratio ratio, bool arguments_too) const {
  Sizes sizes = compiled_.CompiledSizes();
  for (const ProgramValue& value : program_.values()) {
    if (arguments_too || program_.AllocationOf(value).kind != AllocationKind::kArgument)
      sizes[value.number] = Scaled(value, axis, ratio);
  }
  return sizes;
}

std::int64_t Changes::Scaled(const ProgramValue& value, const Axis& axis, Ratio ratio) const {
  if (!meaning_.Has(value.number, axis)) return value.size;
  const Rows& rows = meaning_.RowsOf(value.number);
  ArrayDims dims = program_.ShapeOf(value).dims;
  const auto holds = [&](const std::vector<int>& row) { return HoldsWhole(row, axis.families); };
  const bool whole = std::any_of(rows.begin(), rows.end(), holds);
  for (std::size_t dim = 0; dim < rows.size(); ++dim) {
    if (whole ? !holds(rows[dim]) : !HoldsWhole(rows[dim], {axis.families.front()})) continue;
    const double length =
        static_cast<double>(dims[dim]) * static_cast<double>(ratio.length) / static_cast<double>(ratio.of);
    dims[dim] = std::max<std::int64_t>(1, WholeBytes(std::ceil(length)));
    if (ratio.once) break;  // of two dimensions that are one axis only one can be split over the same devices
  }
  return BytesWithDims(program_.ShapeOf(value), value.size, dims);
}

ModifiedProgram Changes::RuledOut(std::string_view why) const {
  ModifiedProgram modified = AsItIs();
  modified.ruled_out = why;
  return modified;
}

std::int64_t Changes::MadeOn(const ModifiedProgram& modified) const {
  std::int64_t made_on = modified.tried + static_cast<std::int64_t>(modified.added.size());
  for (const ProgramValue& value : program_.values()) made_on += modified.sizes[value.number] != value.size ? 1 : 0;
  return made_on;
}

bool Changes::IsOpen(const ModifiedProgram& modified) const {
  if (modified.at_best.empty() || limit_ <= 0 || Fits(Judge(modified))) return false;
  return Fits(Judge({.sizes = modified.at_best, .more = modified.more, .added = modified.added}));
}

Sizes Changes::AtBest(const Axis& axis, std::int64_t parts, Sizes sizes) const {
  // A value with an argument's shape is the argument, or its next value.
  std::set<std::string_view> arguments;
  for (const ProgramParameter& parameter : program_.parameters()) arguments.insert(program_.ShapeOf(parameter).shape);
  for (const ProgramValue& value : program_.values()) {
    if (meaning_.MayHave(value.number, axis) && !arguments.contains(program_.ShapeOf(value).shape))
      sizes[value.number] /= parts;
  }
  return sizes;
}

Estimate Changes::Judge(const ModifiedProgram& modified) const {
  const std::int64_t tight = compiled_.Need(modified.sizes, modified.added) + modified.more;
  const std::int64_t roomy = std::max(tight, roomy_.Need(modified.sizes, modified.added) + modified.more);
  // The compiler recomputes only as much as it must to stay somewhat below the limit: it was seen to aim at 14.65 of
  // 15.75 GiB.
  constexpr double kAimsAt = 0.93;
  const auto aim = WholeBytes(kAimsAt * static_cast<double>(limit_));
  return {.left_bytes = limit_ <= 0 ? tight : std::max(tight, std::min(roomy, aim)),
          .spread_bytes = (std::min(roomy, std::max(limit_, tight)) - tight) / 2};
}

ModifiedProgram Changes::Both(const ModifiedProgram& one, const ModifiedProgram& other) const {
  const auto share = [&](std::int64_t bytes, int number, const ModifiedProgram& by) {
    const std::int64_t size = program_.values()[number].size;
    if (size <= 0) return bytes;
    return WholeBytes(static_cast<double>(bytes) * static_cast<double>(by.sizes[number]) / static_cast<double>(size));
  };
  ModifiedProgram both{.sizes = one.sizes, .more = one.more + other.more};
  for (const ProgramValue& value : program_.values())
    both.sizes[value.number] = share(one.sizes[value.number], value.number, other);
  // What is made again from a value changes as the value does. If the other change does without the value, it does
  // without what is made again from it.
  const auto add = [&](const ModifiedProgram& from, const ModifiedProgram& by) {
    for (Buffer buffer : from.added) {
      if (!buffer.values.empty()) buffer.size = share(buffer.size, buffer.values.front(), by);
      both.added.push_back(std::move(buffer));
    }
  };
  add(one, other);
  add(other, one);
  return both;
}

void Changes::KeepOutputs(Sizes* sizes) const {
  for (const ProgramOutput& output : program_.outputs()) {
    if (output.value >= 0) (*sizes)[output.value] = program_.values()[output.value].size;
  }
}

std::optional<ModifiedProgram> Changes::Shorten(const Axis& axis, std::int64_t parts) const {
  if (!axis || axis.size < parts) return std::nullopt;
  ModifiedProgram modified{.sizes = Scaled(axis, {.of = parts}), .parts = parts, .axis = axis};
  modified.at_best = AtBest(axis, parts, modified.sizes);
  return modified;
}

std::optional<ModifiedProgram> Changes::Resize(const Axis& axis, std::int64_t size) const {
  if (!axis || size < 1) return std::nullopt;
  return ModifiedProgram{.sizes = Scaled(axis, {.length = size, .of = axis.size})};
}

// A weight that is returned, updated: a frozen one has no gradient.
bool Changes::IsUpdated(const ProgramParameter& parameter) const {
  return output_shapes_.contains(program_.ShapeOf(parameter).shape);
}

std::optional<ModifiedProgram> Changes::Accumulate(const Axis& axis, std::int64_t parts) const {
  // Examples are independent of each other: a program without gradients can go through them in steps, too.
  return meaning_.trains() || meaning_.has_examples() ? InPieces(axis, parts, false) : RuledOut("no_gradients");
}

std::optional<ModifiedProgram> Changes::InPieces(const Axis& axis, std::int64_t parts) const {
  return IsOfPieces() ? InPieces(axis, parts, true) : std::nullopt;
}

std::map<int, std::int64_t> Changes::FedIn() const {
  std::map<int, std::int64_t> fed_in;
  for (const ProgramParameter& parameter : program_.parameters()) {
    const Rows rows = meaning_.RowsOf(parameter.instruction, parameter.leaf);
    const Role role = meaning_.RoleOf(parameter.place);
    if ((role == Role::kInput || role == Role::kOther) && !rows.empty() && !rows[0].empty())
      fed_in[rows[0].front()] += parameter.size;
  }
  return fed_in;
}

bool Changes::IsOfPieces() const {
  if (!meaning_.trains() && meaning_.has_examples()) return true;
  const std::vector<int> live = compiled_.LiveAtPeak();
  const std::vector<Buffer>& buffers = compiled_.buffers();
  const auto largest =
      std::max_element(live.begin(), live.end(), [&](int a, int b) { return buffers[a].size < buffers[b].size; });
  if (largest == live.end()) return false;
  // An array that is much larger than what it is made of is summed up again, item by item. Inputs stay whole: if the
  // array is not much larger, the pieces would leave most of the memory in use.
  constexpr std::int64_t kMuchLarger = 8;
  std::map<int, std::int64_t> fed_in = FedIn();
  for (const int i : buffers[*largest].values) {
    const ProgramValue& value = program_.values()[i];
    if (value.instruction >= 0 && IsMapped(program_.InstructionOf(value).op_name)) return true;
    std::multiset<int> here;
    for (const std::vector<int>& row : meaning_.RowsOf(i)) {
      if (!row.empty() && fed_in.contains(row.front())) here.insert(row.front());
    }
    if (!here.empty() && *here.begin() != *here.rbegin()) return true;
    // Of pairs of an array with itself each item may be compared with all the others.
    if (meaning_.has_examples() || here.size() != 1 || value.leaf < 0) continue;
    const std::int64_t data = UnpaddedBytes(program_.ShapeOf(value)).value_or(0);
    if (data / kMuchLarger > fed_in[*here.begin()]) return true;
  }
  return false;
}

// What the sums of gradients over the pieces need. Gradients that are live at the peak already are the sums. The sums
// are done before any weight is updated: until then they use the memory of the new weights and state, as far as other
// temporaries do not.
std::int64_t Changes::GradientSums(const Sizes& sizes, std::int64_t parts) const {
  std::int64_t sums = 0;
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (meaning_.trains() && meaning_.RoleOf(parameter.place) == Role::kWeights && IsUpdated(parameter))
      sums += parameter.size;
  }
  std::vector<int> live;
  compiled_.Need(sizes, {}, &live);
  std::int64_t temporaries = 0;
  for (const int i : live) {
    const Buffer& buffer = compiled_.buffers()[i];
    if (!buffer.is_output) temporaries += buffer.size / parts;
    if (meaning_.KindOf(buffer.values.front()) == ValueKind::kGradients) sums -= buffer.size;
  }
  std::int64_t free = 0;
  for (const Buffer& buffer : compiled_.buffers()) free += buffer.is_output ? buffer.size : 0;
  return std::max<std::int64_t>(0, sums - std::max<std::int64_t>(0, free - temporaries));
}

std::optional<ModifiedProgram> Changes::InPieces(const Axis& axis, std::int64_t parts, bool rows) const {
  if (!axis || axis.size < 2) return std::nullopt;
  parts = std::min(parts, axis.size);
  std::int64_t pieces = 0;  // the piece of an input has memory of its own
  for (const ProgramParameter& parameter : program_.parameters()) {
    // State that comes in and goes out whole, such as a cache, would be copied piece by piece.
    if (meaning_.RoleOf(parameter.place) == Role::kCache && parameter.size > need_ / 10) return std::nullopt;
    if (Occurs(meaning_.RowsOf(parameter.instruction, parameter.leaf), axis) > 0) pieces += parameter.size / parts;
  }
  ModifiedProgram modified{.sizes = Scaled(axis, {.of = parts, .once = rows}, false), .parts = parts, .axis = axis};
  KeepOutputs(&modified.sizes);  // results for each example are put together again
  modified.more = GradientSums(modified.sizes, parts) + pieces;
  modified.at_best = AtBest(axis, parts, modified.sizes);
  return modified;
}

// Whether most products of the program as its user wrote it are of such numbers.
bool Changes::ComputesIn(std::string_view dtype) const {
  const HloModule& before = program_.before();
  double such = 0;
  double others = 0;
  for (const HloInstruction& instruction : before.instructions) {
    if (!instruction.Is({"dot", "convolution"}) || instruction.operands.empty()) continue;
    const HloShape& shape = before.ShapeOf(instruction.operands[0]);
    if (shape.is_tuple) continue;
    (shape.array.dtype == dtype ? such : others) += static_cast<double>(ElementCount(shape.array));
  }
  return such > others;
}

std::optional<ModifiedProgram> Changes::Narrow() const {
  // A number of 64 bits is a pair of f32, with many temporaries of its own.
  if (ComputesIn(kFloat64)) return std::nullopt;
  // If the products are computed in narrow numbers already, the wide values for each example are wide on purpose.
  const bool mixed = ComputesIn(kBfloat16);
  ModifiedProgram modified = AsItIs();
  for (const ProgramValue& value : program_.values()) {
    if (value.leaf < 0 || program_.ShapeOf(value).dtype != "f32" || (mixed && meaning_.IsPerExample(value.number)))
      continue;
    const std::optional<std::int64_t> narrow = BytesWithElementBits(program_.ShapeOf(value), 16);
    if (narrow) modified.sizes[value.number] = std::min(value.size, *narrow);
  }
  // If nothing but those could become narrow, it is not known whether they may.
  if (mixed && Judge(modified).left_bytes > need_ - need_ / 200) return std::nullopt;
  return modified;
}

std::optional<ModifiedProgram> Changes::BlockAttention() const {
  if (!meaning_.has_attention()) return std::nullopt;
  if (ComputesIn(kFloat64)) return RuledOut("64_bits");  // no kernel computes with such numbers
  ModifiedProgram modified = AsItIs();
  for (std::size_t i = 0; i < modified.sizes.size(); ++i) {
    if (meaning_.IsScores(i)) modified.sizes[i] = 0;
  }
  return modified;
}

std::optional<ModifiedProgram> Changes::ChunkLoss(std::int64_t chunks) const {
  if (!meaning_.vocabulary()) return std::nullopt;
  ModifiedProgram modified = AsItIs();
  modified.parts = chunks;
  for (std::size_t i = 0; i < modified.sizes.size(); ++i) {
    if (meaning_.KindOf(i) == ValueKind::kLogits) modified.sizes[i] /= chunks;
  }
  KeepOutputs(&modified.sizes);  // returned logits are whole in the end
  return modified;
}

std::vector<bool> Changes::MadeOfState() const {
  std::vector<bool> made(program_.module().instructions.size(), false);
  std::vector<int> open;
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (meaning_.RoleOf(parameter.place) != Role::kInput) open.push_back(parameter.instruction);
  }
  while (!open.empty()) {
    const int i = open.back();
    open.pop_back();
    if (made[i]) continue;
    made[i] = true;
    open.insert(open.end(), program_.UsersOf(i).begin(), program_.UsersOf(i).end());
  }
  return made;
}

std::optional<ModifiedProgram> Changes::NumberLabels() const {
  const Axis classes = meaning_.vocabulary();
  if (!classes) return std::nullopt;
  const std::vector<bool> made_of_state = MadeOfState();
  ModifiedProgram modified = AsItIs();
  for (const ProgramValue& value : program_.values()) {
    // A loop's own values are not followed to what the loop is given.
    if (value.instruction < 0 || program_.InstructionOf(value).computation != program_.module().entry) continue;
    if (!made_of_state[value.instruction]) modified.sizes[value.number] = Scaled(value, classes, {.of = classes.size});
  }
  return modified;
}

std::vector<ArrayDims> Changes::SentToHost() const {
  std::vector<ArrayDims> sent;
  for (const int transfer : HostTransfers(program_.module())) {
    const std::vector<int>& operands = program_.At(transfer).operands;
    if (operands.empty()) continue;
    const HloShape& shape = program_.module().ShapeOf(operands[0]);
    if (!shape.is_tuple && !shape.array.dims.empty()) sent.push_back(shape.array.dims);
  }
  return sent;
}

std::optional<ModifiedProgram> Changes::MergeTinyDimensions() const {
  // A dimension shorter than the rows of a tile can be merged with another, and then nothing is padded. If no dimension
  // is, the compiler chose the layout with its padding among all others, and would again.
  constexpr std::int64_t kTiny = 8;
  ModifiedProgram modified = AsItIs();
  for (const ProgramValue& value : program_.values()) {
    if (value.leaf < 0) continue;
    const ArrayShape& shape = program_.ShapeOf(value);
    const bool tiny =
        std::any_of(shape.dims.begin(), shape.dims.end(), [](std::int64_t dim) { return dim > 1 && dim < kTiny; });
    const std::optional<std::int64_t> plain = UnpaddedBytes(shape);
    modified.tried += plain && *plain < value.size ? 1 : 0;
    if (tiny && plain && *plain > 0) modified.sizes[value.number] = std::min(value.size, *plain);
  }
  return modified;
}

std::optional<ModifiedProgram> Changes::WithoutHostTransfer() const {
  // What is sent must be whole in memory. Without the transfer it is mostly part of a fusion, and so is what it is made
  // of.
  const std::vector<ArrayDims> sent = SentToHost();
  if (sent.empty()) return std::nullopt;
  std::set<std::int64_t> counts;  // elements
  for (const ArrayDims& dims : sent)
    counts.insert(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()));
  ModifiedProgram modified = AsItIs();
  for (const ProgramValue& value : program_.values()) {
    if (value.leaf < 0 || program_.AllocationOf(value).kind != AllocationKind::kTemporaries) continue;
    if (counts.contains(ElementCount(program_.ShapeOf(value)))) modified.sizes[value.number] = 0;
  }
  return modified;
}

}  // namespace whyoom
