// jax.checkpoint, made on a program: what the forward pass keeps for the backward pass goes, the layers' inputs stay,
// and one layer's values come back while its backward pass runs.
#include <algorithm>
#include <map>
#include <set>

#include "program/change.h"

namespace whyoom {
namespace {

constexpr std::int64_t kSmallestValue = std::int64_t{64} << 10;
constexpr std::size_t kMostLoops = 1000;

}  // namespace

struct Changes::Pair {
  Loop forward;
  Loop backward;
  std::vector<int> stacks;  // numbers in compiled_.buffers()
  std::vector<int> handed;  // of each leaf of the forward loop, the leaf of the backward one
};

// Which element of the backward loop is which of the forward one, by leaf; -1 where it is none.
std::vector<int> Changes::Handed(int forward, int backward) const {
  const HloModule& module = program_.module();
  std::vector<int> handed(static_cast<std::size_t>(program_.dimensions().LeafCount(forward)), -1);
  const HloInstruction& loop = module.instructions[static_cast<std::size_t>(backward)];
  if (loop.operands.empty()) return handed;
  const HloInstruction& start = module.instructions[static_cast<std::size_t>(loop.operands[0])];
  if (start.opcode != "tuple") return handed;
  for (std::size_t leaf = 0; leaf < start.operands.size(); ++leaf) {
    int from = start.operands[leaf];
    for (int depth = 0; depth < 8; ++depth) {
      const HloInstruction& is = module.instructions[static_cast<std::size_t>(from)];
      if (is.operands.empty()) break;
      if (is.opcode == "get-tuple-element" && is.operands[0] == forward) {
        const int element = program_.dimensions().TakenLeaf(is);
        if (element >= 0) handed[static_cast<std::size_t>(element)] = static_cast<int>(leaf);
        break;
      }
      if (is.opcode != "bitcast" && is.opcode != "copy" && is.opcode != "reshape") break;
      from = is.operands[0];
    }
  }
  return handed;
}

std::vector<Changes::Pair> Changes::FindPairs() const {
  std::vector<Pair> pairs;
  const Dimensions& dimensions = program_.dimensions();
  const auto& values = program_.values();
  if (dimensions.loops().size() > kMostLoops) return pairs;  // all are held against each other
  for (const Loop& forward : dimensions.loops()) {
    if (forward.factor < 0 || !meaning_.IsForward(forward.instruction)) continue;
    const std::vector<int> expanded = dimensions.factors().Expand(forward.factor);
    const int axis = expanded.empty() ? -1 : dimensions.Family(expanded.front());
    for (const Loop& backward : dimensions.loops()) {
      if (!meaning_.IsBackward(backward.instruction)) continue;
      Pair pair{forward, backward, {}, Handed(forward.instruction, backward.instruction)};
      for (std::size_t b = 0; b < compiled_.buffers().size(); ++b) {
        bool read = false;
        bool stacked = false;
        for (const int i : compiled_.buffers()[b].values) {
          const ProgramValue& value = values[static_cast<std::size_t>(i)];
          if (value.instruction != forward.instruction || value.leaf < 0) continue;
          read = read || pair.handed[static_cast<std::size_t>(value.leaf)] >= 0;
          for (const std::vector<int>& row : meaning_.RowsOf(static_cast<std::size_t>(i)))
            stacked = stacked || (!row.empty() && row[0] == axis);
        }
        if (read && stacked) pair.stacks.push_back(static_cast<int>(b));
      }
      if (!pair.stacks.empty()) pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

// A fusion that only takes one step of a stack out of it.
bool Changes::ReadsStep(int instruction) const {
  const HloModule& module = program_.module();
  const HloInstruction* at = &module.instructions[static_cast<std::size_t>(instruction)];
  for (int depth = 0; depth < 8; ++depth) {
    if (at->opcode == "dynamic-slice") return true;
    if (at->opcode == "fusion" && !at->calls.empty()) {
      const int root = module.computations[static_cast<std::size_t>(at->calls[0])].root;
      if (root < 0) return false;
      at = &module.instructions[static_cast<std::size_t>(root)];
    } else if ((at->opcode == "bitcast" || at->opcode == "copy" || at->opcode == "reshape") && !at->operands.empty()) {
      at = &module.instructions[static_cast<std::size_t>(at->operands[0])];
    } else {
      return false;
    }
  }
  return false;
}

// Whether a loop's body writes into a stack only what it was handed as an element.
bool Changes::WrittenFrom(const HloComputation& body, int stack, int element) const {
  const HloModule& module = program_.module();
  if (body.root < 0 || body.parameters.empty()) return false;
  const std::vector<int>& next = module.instructions[static_cast<std::size_t>(body.root)].operands;
  if (stack >= static_cast<int>(next.size())) return false;
  int writer = next[static_cast<std::size_t>(stack)];
  for (int depth = 0; depth < 8; ++depth) {
    const HloInstruction& is = module.instructions[static_cast<std::size_t>(writer)];
    if ((is.opcode != "get-tuple-element" && is.opcode != "bitcast") || is.operands.empty()) break;
    writer = is.operands[0];
  }
  bool from_it = false;
  for (const int operand : module.instructions[static_cast<std::size_t>(writer)].operands) {
    const HloInstruction& is = module.instructions[static_cast<std::size_t>(operand)];
    const std::optional<std::int64_t> bytes = PaddedBytes(module.ShapeOf(operand).array);
    if (!bytes || *bytes < kSmallestValue) continue;
    const bool handed =
        is.opcode == "get-tuple-element" && !is.operands.empty() && is.operands[0] == body.parameters[0];
    if (!handed) return false;
    const int leaf = program_.dimensions().TakenLeaf(is);
    if (leaf == element) from_it = true;
    if (leaf != element && leaf != stack) return false;
  }
  return from_it;
}

void Changes::RecomputeLoop(const Pair& pair, Sizes* sizes, std::vector<Buffer>* added) const {
  const HloModule& module = program_.module();
  const auto& values = program_.values();
  const Dimensions& dimensions = program_.dimensions();
  const auto body_of = [&](const Loop& loop) -> const HloComputation& {
    return module.computations[static_cast<std::size_t>(
        module.instructions[static_cast<std::size_t>(loop.instruction)].calls[1])];
  };
  const HloComputation& forward = body_of(pair.forward);
  const HloComputation& backward = body_of(pair.backward);
  // When the bodies run.
  const auto span = [&](const HloComputation& body) {
    const int number = static_cast<int>(&body - module.computations.data());
    std::pair<std::int64_t, std::int64_t> range{INT64_MAX, -1};
    for (const ProgramValue& value : values) {
      if (value.instruction < 0 || value.first < 0) continue;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.computation != number || is.opcode == "parameter") continue;
      range.first = std::min(range.first, value.first);
      range.second = std::max(range.second, value.last);
    }
    return range;
  };
  const auto [forward_begin, forward_end] = span(forward);
  const auto [backward_begin, backward_end] = span(backward);
  if (forward_end < 0 || backward_end < 0) return;

  // What the loop carries from step to step besides stacks: the layers' inputs. One stack of each must stay.
  const int loop = pair.forward.instruction;
  const std::vector<int> expanded = dimensions.factors().Expand(pair.forward.factor);
  const int axis = expanded.empty() ? -1 : dimensions.Family(expanded.front());
  const HloInstruction* next =
      forward.root < 0 ? nullptr : &module.instructions[static_cast<std::size_t>(forward.root)];
  struct Input {
    int leaf;
    std::vector<std::int64_t> dims;
    std::int64_t bytes;
  };
  std::vector<Input> inputs;
  std::set<int> is_stack;  // leaves of the loop
  for (const int b : pair.stacks) {
    for (const int i : compiled_.buffers()[static_cast<std::size_t>(b)].values) {
      if (values[static_cast<std::size_t>(i)].instruction == loop)
        is_stack.insert(values[static_cast<std::size_t>(i)].leaf);
    }
  }
  for (int leaf = 0;
       next != nullptr && leaf < dimensions.LeafCount(loop) && leaf < static_cast<int>(next->operands.size()); ++leaf) {
    if (is_stack.contains(leaf)) continue;
    const HloInstruction& made =
        module.instructions[static_cast<std::size_t>(next->operands[static_cast<std::size_t>(leaf)])];
    const bool unchanged = made.opcode == "get-tuple-element" && !made.operands.empty() &&
                           made.operands[0] == (forward.parameters.empty() ? -1 : forward.parameters[0]);
    const std::optional<std::int64_t> bytes = PaddedBytes(dimensions.Leaf(loop, leaf));
    const Rows rows = meaning_.RowsOf(loop, leaf);
    const bool stack = std::any_of(rows.begin(), rows.end(),
                                   [&](const std::vector<int>& row) { return !row.empty() && row[0] == axis; });
    if (unchanged || stack || !bytes || *bytes < kSmallestValue) continue;
    inputs.push_back({leaf, SortedDims(dimensions.Leaf(loop, leaf).dims), *bytes});
  }

  // What follows from a product by elementwise steps is made inside the fusions that use it, once it is made anew: of
  // values of the same dimensions only as many take memory as there are products.
  std::map<std::vector<std::int64_t>, int> products;
  std::set<int> computations{static_cast<int>(&forward - module.computations.data())};
  for (bool more = true; more;) {
    const std::size_t before = computations.size();
    for (const int computation : std::set<int>(computations)) {
      for (const int at : module.computations[static_cast<std::size_t>(computation)].instructions) {
        const HloInstruction& is = module.instructions[static_cast<std::size_t>(at)];
        if (is.opcode == "fusion") computations.insert(is.calls.begin(), is.calls.end());
      }
    }
    more = computations.size() > before;
  }
  for (const Product& product : dimensions.products()) {
    if (computations.contains(module.instructions[static_cast<std::size_t>(product.instruction)].computation))
      ++products[SortedDims(dimensions.Leaf(product.instruction, 0).dims)];
  }

  std::int64_t replay = 0;  // kept values of one step, in order of being made: the most at once
  std::vector<std::pair<std::int64_t, std::int64_t>> made;  // when, bytes
  std::vector<int> order = pair.stacks;
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return compiled_.buffers()[static_cast<std::size_t>(a)].size >
           compiled_.buffers()[static_cast<std::size_t>(b)].size;
  });
  // Of each input the stack that keeps it: written from the input itself, else the smallest of its dimensions.
  std::set<int> kept;
  for (const bool written_from_it : {true, false}) {
    std::erase_if(inputs, [&](const Input& input) {
      for (auto b = order.rbegin(); b != order.rend(); ++b) {
        if (kept.contains(*b)) continue;
        int leaf = -1;
        for (const int i : compiled_.buffers()[static_cast<std::size_t>(*b)].values) {
          if (values[static_cast<std::size_t>(i)].instruction == loop) leaf = values[static_cast<std::size_t>(i)].leaf;
        }
        if (leaf < 0) continue;
        std::vector<std::int64_t> dims = dimensions.Leaf(loop, leaf).dims;
        const auto steps = std::find(dims.begin(), dims.end(), pair.forward.steps);
        if (steps == dims.end()) continue;
        dims.erase(steps);
        if (SortedDims(dims) != input.dims) continue;
        if (written_from_it && !WrittenFrom(forward, leaf, input.leaf)) continue;
        kept.insert(*b);
        return true;
      }
      return false;
    });
  }
  std::map<std::vector<std::int64_t>, int> taking;
  for (const int b : order) {
    const Buffer& buffer = compiled_.buffers()[static_cast<std::size_t>(b)];
    int written = -1;  // leaf of the forward loop
    int read = -1;     // leaf of the backward body's parameter
    std::int64_t bytes = 0;
    std::vector<std::int64_t> dims;
    for (const int i : buffer.values) {
      const ProgramValue& value = values[static_cast<std::size_t>(i)];
      bytes = std::max(bytes, (*sizes)[static_cast<std::size_t>(i)]);
      if (value.instruction == loop) {
        written = value.leaf;
        dims = dimensions.Leaf(loop, written).dims;
      }
    }
    if (written >= 0) read = pair.handed[static_cast<std::size_t>(written)];
    const auto steps = std::find(dims.begin(), dims.end(), pair.forward.steps);
    if (steps == dims.end() || bytes == 0) continue;
    dims.erase(steps);
    if (kept.contains(b)) continue;
    const std::int64_t step = bytes / pair.forward.steps;
    for (const int i : buffer.values) (*sizes)[static_cast<std::size_t>(i)] = 0;
    // Made anew before the backward pass of the step, kept until that reads it last.
    std::int64_t last = backward_begin;
    if (read >= 0 && !backward.parameters.empty() && backward.parameters[0] >= 0) {
      const int parameter = backward.parameters[0];
      for (const int element : program_.UsersOf(parameter)) {
        const HloInstruction& is = module.instructions[static_cast<std::size_t>(element)];
        if (is.opcode != "get-tuple-element" || dimensions.TakenLeaf(is) != read) continue;
        std::vector<int> readers = program_.UsersOf(element);
        for (std::size_t r = 0; r < readers.size() && r < 64; ++r) {
          const int user = readers[r];
          const HloInstruction& by = module.instructions[static_cast<std::size_t>(user)];
          if (by.opcode == "tuple") continue;  // handed on to the next step
          last = std::max<std::int64_t>(last, program_.PositionOf(user));
          if (!ReadsStep(user) && by.opcode != "copy" && by.opcode != "bitcast") continue;
          // A copy of the step: it need not be one, and what reads it reads the step.
          for (std::size_t i = 0; i < values.size(); ++i) {
            if (values[i].instruction == user && values[i].size >= step / 2) (*sizes)[i] = 0;
          }
          readers.insert(readers.end(), program_.UsersOf(user).begin(), program_.UsersOf(user).end());
        }
      }
    }
    std::int64_t when = forward_end;
    if (next != nullptr && written >= 0 && written < static_cast<int>(next->operands.size())) {
      int from = next->operands[static_cast<std::size_t>(written)];
      for (int depth = 0; depth < 8 && program_.PositionOf(from) < 0; ++depth) {
        const HloInstruction& is = module.instructions[static_cast<std::size_t>(from)];
        if (is.operands.empty()) break;
        from = is.operands[0];
      }
      if (program_.PositionOf(from) >= 0) when = program_.PositionOf(from);
    }
    if (taking[SortedDims(dims)]++ >= std::max(1, products[SortedDims(dims)])) continue;
    made.emplace_back(when, step);
    added->push_back({0, step, backward_begin + 1, last, 0, buffer.values, false});
  }
  for (const Input& input : inputs) {
    std::vector<int> of;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i].instruction == loop && values[i].leaf == input.leaf) of = {static_cast<int>(i)};
    }
    added->push_back({0, input.bytes * pair.forward.steps, forward_begin, backward_end, 0, of, false});
  }
  // The forward body runs once more at the begin of the backward one, with what it needs itself.
  for (const auto& [when, step] : made) {
    if (IsStopped()) return;
    std::int64_t live = 0;
    for (const auto& [other, bytes] : made) live += other <= when ? bytes : 0;
    for (const Buffer& buffer : compiled_.buffers()) {
      if (buffer.first < forward_begin || buffer.first > when || buffer.last < when || buffer.last > forward_end)
        continue;
      // What is as large as a kept value is that value, on its way to the stack.
      const bool is_kept = std::any_of(made.begin(), made.end(), [&](const auto& is) {
        return std::abs(is.second - buffer.size) <= buffer.size / 64;
      });
      if (!is_kept) live += buffer.size;
    }
    replay = std::max(replay, live);
  }
  if (replay > 0) {
    const std::vector<int>& of = compiled_.buffers()[static_cast<std::size_t>(order.front())].values;
    added->push_back({0, replay, backward_begin, backward_begin, 0, of, false});
  }
}

std::optional<Variant> Changes::Recompute() const {
  if (!meaning_.trains()) return RuledOut("no_gradients");
  const std::vector<Pair> pairs = FindPairs();
  if (pairs.empty()) return RecomputeBlocks();
  Sizes sizes = compiled_.SizesAsTheyAre();
  std::vector<Buffer> added;
  for (const Pair& pair : pairs) {
    if (!IsStopped()) RecomputeLoop(pair, &sizes, &added);
  }
  Variant variant{std::move(sizes), 0, std::move(added)};
  for (const Pair& pair : pairs) variant.tried += static_cast<std::int64_t>(pair.stacks.size());
  return variant;
}

}  // namespace whyoom
