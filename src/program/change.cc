#include "program/change.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "facts/op_name.h"
#include "text/numbers.h"

namespace whyoom {
Changes::Changes(const Program& program, const Meaning& meaning, std::int64_t limit_bytes, const Stop* stop)
    : program_(program),
      meaning_(meaning),
      limit_(limit_bytes),
      stop_(stop),
      compiled_(program, false),
      roomy_(program, true) {
  need_ = compiled_.Need(compiled_.SizesAsTheyAre());
  for (const ProgramOutput& output : program.outputs()) output_shapes_.insert(program.ShapeOf(output).shape);
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
  const auto holds = [&](const std::vector<int>& row) { return HoldsWhole(row, axis.families); };
  const bool whole = std::any_of(rows.begin(), rows.end(), holds);
  for (std::size_t dim = 0; dim < rows.size(); ++dim) {
    const bool here = whole ? holds(rows[dim])
                            : std::find(rows[dim].begin(), rows[dim].end(), axis.families.front()) != rows[dim].end();
    if (!here) continue;
    const double length =
        static_cast<double>(dims[dim]) * static_cast<double>(ratio.length) / static_cast<double>(ratio.of);
    dims[dim] = std::max<std::int64_t>(1, WholeBytes(std::ceil(length)));
    if (once) break;  // of two dimensions that are one axis only one can be split over the same devices
  }
  return BytesWithDims(shape, value.size, dims);
}

Variant Changes::AsItIs() const { return {compiled_.SizesAsTheyAre(), 0, {}}; }

Variant Changes::RuledOut(std::string_view why) const {
  Variant variant = AsItIs();
  variant.ruled_out = why;
  return variant;
}

std::int64_t Changes::MadeOn(const Variant& variant) const {
  std::int64_t made_on = variant.tried + static_cast<std::int64_t>(variant.added.size());
  for (std::size_t i = 0; i < variant.sizes.size(); ++i)
    made_on += variant.sizes[i] != program_.values()[i].size ? 1 : 0;
  return made_on;
}

bool Changes::IsOpen(const Variant& variant) const {
  if (variant.at_best.empty() || limit_ <= 0 || Fits(Judge(variant))) return false;
  return Fits(Judge({variant.at_best, variant.more, variant.added}));
}

Sizes Changes::AtBest(const Axis& axis, std::int64_t parts, Sizes sizes) const {
  // What has an argument's shape is that, or its next value.
  std::set<std::string_view> arguments;
  for (const ProgramParameter& parameter : program_.parameters()) arguments.insert(program_.ShapeOf(parameter).shape);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (meaning_.MayHave(i, axis) && !arguments.contains(program_.ShapeOf(program_.values()[i]).shape))
      sizes[i] /= parts;
  }
  return sizes;
}

Outcome Changes::Judge(const Variant& variant) const {
  const std::int64_t tight = compiled_.Need(variant.sizes, variant.added) + variant.more;
  const std::int64_t roomy = std::max(tight, roomy_.Need(variant.sizes, variant.added) + variant.more);
  Outcome outcome;
  outcome.spread_bytes = (std::min(roomy, std::max(limit_, tight)) - tight) / 2;
  // The compiler computes again only as much as it must to stay somewhat below the limit: it was seen to aim at 14.65
  // of 15.75 GiB.
  constexpr double kAimsAt = 0.93;
  const auto aim = WholeBytes(kAimsAt * static_cast<double>(limit_));
  outcome.left_bytes = limit_ <= 0 ? tight : std::max(tight, std::min(roomy, aim));
  return outcome;
}

Variant Changes::Both(const Variant& one, const Variant& other) const {
  const Sizes as_is = compiled_.SizesAsTheyAre();
  const auto share = [&](std::int64_t bytes, std::size_t value, const Variant& by) {
    if (as_is[value] <= 0) return bytes;
    return WholeBytes(static_cast<double>(bytes) * static_cast<double>(by.sizes[value]) /
                      static_cast<double>(as_is[value]));
  };
  Variant both{one.sizes, one.more + other.more, {}};
  for (std::size_t i = 0; i < both.sizes.size(); ++i) both.sizes[i] = share(one.sizes[i], i, other);
  // What comes back of a value is changed as the value is; where the other change does without the value, it does
  // without what comes back of it.
  const auto add = [&](const Variant& from, const Variant& by) {
    for (Buffer buffer : from.added) {
      if (!buffer.values.empty()) buffer.size = share(buffer.size, static_cast<std::size_t>(buffer.values.front()), by);
      both.added.push_back(std::move(buffer));
    }
  };
  add(one, other);
  add(other, one);
  return both;
}

void Changes::KeepOutputs(Sizes* sizes) const {
  for (const ProgramOutput& output : program_.outputs()) {
    if (output.value >= 0) (*sizes)[At(output.value)] = program_.values()[At(output.value)].size;
  }
}

std::optional<Variant> Changes::Shorten(const Axis& axis, std::int64_t parts) const {
  if (!axis || axis.size < parts) return std::nullopt;
  Variant variant{Scaled(axis, {1, parts}, true), 0, {}};
  variant.at_best = AtBest(axis, parts, variant.sizes);
  variant.parts = parts;
  variant.axis = axis;
  return variant;
}

std::optional<Variant> Changes::Resize(const Axis& axis, std::int64_t size) const {
  if (!axis || size < 1) return std::nullopt;
  return Variant{Scaled(axis, {size, axis.size}, true), 0, {}};
}

// A weight that comes back, anew: what is frozen has no gradient.
bool Changes::IsUpdated(const ProgramParameter& parameter) const {
  return output_shapes_.contains(program_.ShapeOf(parameter).shape);
}

std::optional<Variant> Changes::Accumulate(const Axis& axis, std::int64_t parts) const {
  // Examples are independent of each other: a program without gradients can go through them in steps, too.
  return meaning_.trains() || meaning_.has_examples() ? InPieces(axis, parts, false) : RuledOut("no_gradients");
}

std::optional<Variant> Changes::InPieces(const Axis& axis, std::int64_t parts) const {
  return IsOfPieces() ? InPieces(axis, parts, true) : std::nullopt;
}

bool Changes::IsOfPieces() const {
  if (!meaning_.trains() && meaning_.has_examples()) return true;
  std::vector<int> live;
  compiled_.Need(compiled_.SizesAsTheyAre(), {}, &live);
  int largest = -1;
  for (const int b : live) {
    if (largest < 0 || compiled_.buffers()[static_cast<std::size_t>(b)].size >
                           compiled_.buffers()[static_cast<std::size_t>(largest)].size)
      largest = b;
  }
  if (largest < 0) return false;
  std::map<int, std::int64_t> fed_in;  // by leading family, bytes
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    const Rows rows = meaning_.RowsOf(program_.parameters()[p].instruction, program_.parameters()[p].leaf);
    const Role role = meaning_.RoleOf(p);
    if ((role != Role::kInput && role != Role::kOther) || rows.empty() || rows[0].empty()) continue;
    fed_in[rows[0].front()] += program_.parameters()[p].size;
  }
  // An array that is much larger than what it is made of is summed up again, item by item. What is fed in stays whole:
  // of one that is not much larger the pieces would leave most.
  constexpr std::int64_t kMuchLarger = 8;
  for (const int i : compiled_.buffers()[static_cast<std::size_t>(largest)].values) {
    const ProgramValue& value = program_.values()[static_cast<std::size_t>(i)];
    if (value.instruction >= 0 && IsMapped(program_.InstructionOf(value).op_name)) return true;
    std::multiset<int> here;
    for (const std::vector<int>& row : meaning_.RowsOf(static_cast<std::size_t>(i))) {
      if (!row.empty() && fed_in.contains(row.front())) here.insert(row.front());
    }
    if (!here.empty() && *here.begin() != *here.rbegin()) return true;
    // Of pairs of an array with itself each item may be held against all the others.
    if (meaning_.has_examples() || here.size() != 1 || value.leaf < 0) continue;
    const std::int64_t data = UnpaddedBytes(program_.ShapeOf(value)).value_or(0);
    if (data / kMuchLarger > fed_in[*here.begin()]) return true;
  }
  return false;
}

std::optional<Variant> Changes::InPieces(const Axis& axis, std::int64_t parts, bool rows) const {
  if (!axis || axis.size < 2) return std::nullopt;
  // State that comes in and goes out whole, such as a cache, would be copied piece by piece.
  for (std::size_t i = 0; i < program_.parameters().size(); ++i) {
    if (meaning_.RoleOf(i) == Role::kCache && program_.parameters()[i].size > need_ / 10) return std::nullopt;
  }
  parts = std::min(parts, axis.size);
  Sizes sizes = Scaled(axis, {1, parts}, false, rows);
  KeepOutputs(&sizes);  // what is handed out for each example is put together again
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
  std::int64_t temporaries = 0;
  for (const int buffer : live) {
    const Buffer& is = compiled_.buffers()[static_cast<std::size_t>(buffer)];
    if (!is.is_output) temporaries += is.size / parts;
    if (meaning_.KindOf(static_cast<std::size_t>(is.values.front())) == ValueKind::kGradients) gradients += is.size;
  }
  // The piece of what is fed in lies in memory of its own.
  std::int64_t pieces = 0;
  for (std::size_t i = 0; i < program_.parameters().size(); ++i) {
    const ProgramParameter& parameter = program_.parameters()[i];
    if (Occurs(meaning_.RowsOf(parameter.instruction, parameter.leaf), axis) > 0) pieces += parameter.size / parts;
  }
  // The sums are done before any weight is updated: until then they lie where the new weights and state will, as far
  // as other temporaries do not.
  std::int64_t free = 0;
  for (const Buffer& buffer : compiled_.buffers()) free += buffer.is_output ? buffer.size : 0;
  const std::int64_t own_sums = sums - gradients - std::max<std::int64_t>(0, free - temporaries);
  Variant variant{sizes, std::max<std::int64_t>(0, own_sums) + pieces, {}};
  variant.at_best = AtBest(axis, parts, std::move(sizes));
  variant.parts = parts;
  variant.axis = axis;
  return variant;
}

// Whether most products of the program as its user wrote it are of such numbers.
bool Changes::ComputesIn(std::string_view dtype) const {
  const HloModule& before = program_.before();
  double such = 0;
  double others = 0;
  for (const HloInstruction& instruction : before.instructions) {
    if ((instruction.opcode != "dot" && instruction.opcode != "convolution") || instruction.operands.empty()) continue;
    const HloShape& shape = before.ShapeOf(instruction.operands[0]);
    if (shape.is_tuple) continue;
    (shape.array.dtype == dtype ? such : others) += static_cast<double>(ElementCount(shape.array));
  }
  return such > others;
}

std::optional<Variant> Changes::Narrow() const {
  // A number of 64 bits is a pair of f32, with many temporaries of its own.
  if (ComputesIn(kFloat64)) return std::nullopt;
  // Where the products are computed in narrow numbers already, the wide values for each example are so on purpose.
  const bool mixed = ComputesIn(kBfloat16);
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf < 0 || program_.ShapeOf(value).dtype != "f32") continue;
    if (mixed && (meaning_.Has(i, meaning_.batch()) || meaning_.Has(i, meaning_.sequence()))) continue;
    const std::optional<std::int64_t> narrow = BytesWithElementBits(program_.ShapeOf(value), 16);
    if (narrow) sizes[i] = std::min(value.size, *narrow);
  }
  Variant variant{std::move(sizes), 0, {}};
  // If nothing but those could become narrow, it is not known whether they may.
  if (mixed && Judge(variant).left_bytes > need_ - need_ / 200) return std::nullopt;
  return variant;
}

std::optional<Variant> Changes::BlockAttention() const {
  if (!meaning_.has_attention()) return std::nullopt;
  if (ComputesIn(kFloat64)) return RuledOut("64_bits");  // no kernel takes such numbers
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (meaning_.IsScores(i)) sizes[i] = 0;
  }
  return Variant{std::move(sizes), 0, {}};
}

std::optional<Variant> Changes::ChunkLoss(std::int64_t chunks) const {
  if (!meaning_.vocabulary()) return std::nullopt;
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (meaning_.KindOf(i) == ValueKind::kLogits) sizes[i] /= chunks;
  }
  KeepOutputs(&sizes);  // logits that are handed out are whole in the end
  Variant variant{std::move(sizes), 0, {}};
  variant.parts = chunks;
  return variant;
}

std::vector<bool> Changes::MadeOfState() const {
  std::vector<bool> made(program_.module().instructions.size(), false);
  std::vector<int> open;
  for (std::size_t p = 0; p < program_.parameters().size(); ++p) {
    if (meaning_.RoleOf(p) != Role::kInput) open.push_back(program_.parameters()[p].instruction);
  }
  while (!open.empty()) {
    const int i = open.back();
    open.pop_back();
    if (made[static_cast<std::size_t>(i)]) continue;
    made[static_cast<std::size_t>(i)] = true;
    const std::vector<int>& users = program_.UsersOf(i);
    open.insert(open.end(), users.begin(), users.end());
  }
  return made;
}

std::optional<Variant> Changes::NumberLabels() const {
  const Axis classes = meaning_.vocabulary();
  if (!classes) return std::nullopt;
  const HloModule& module = program_.module();
  const std::vector<bool> made_of_state = MadeOfState();
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    // A loop's own values are not followed to what the loop is given.
    if (value.instruction < 0 || program_.InstructionOf(value).computation != module.entry) continue;
    if (made_of_state[static_cast<std::size_t>(value.instruction)] || !meaning_.Has(i, classes)) continue;
    sizes[i] = Scaled(i, classes, {1, classes.size}, false);
  }
  return Variant{std::move(sizes), 0, {}};
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

std::optional<Variant> Changes::MergeTinyDimensions() const {
  // A dimension shorter than the rows of a tile can be merged with another, and then nothing is padded. Where no
  // dimension is, the compiler chose the layout with its padding among all others, and would again.
  constexpr std::int64_t kTiny = 8;
  std::int64_t padded = 0;
  Sizes sizes = compiled_.SizesAsTheyAre();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf < 0) continue;
    const ArrayShape& shape = program_.ShapeOf(value);
    const bool tiny =
        std::any_of(shape.dims.begin(), shape.dims.end(), [](std::int64_t dim) { return dim > 1 && dim < kTiny; });
    const std::optional<std::int64_t> plain = UnpaddedBytes(shape);
    padded += plain && *plain < value.size ? 1 : 0;
    if (tiny && plain && *plain > 0) sizes[i] = std::min(value.size, *plain);
  }
  Variant variant{std::move(sizes), 0, {}};
  variant.tried = padded;
  return variant;
}

std::optional<Variant> Changes::WithoutHostTransfer() const {
  // What is sent must be whole in memory; without, it is mostly part of a fusion, and so is what it is made of.
  const std::vector<std::vector<std::int64_t>> sent = SentToHost();
  if (sent.empty()) return std::nullopt;
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
  return Variant{std::move(sizes), 0, {}};
}

}  // namespace whyoom
