// jax.checkpoint round the body of a loop: what the forward pass keeps for the backward pass goes, the layers' inputs
// stay, and one layer's values come back while its backward pass runs.
#include <algorithm>
#include <map>
#include <set>

#include "program/change.h"

namespace whyoom {
namespace {

constexpr std::int64_t kSmallestValue = std::int64_t{64} << 10;
constexpr std::size_t kMostLoops = 1000;
constexpr std::size_t kMostReaders = 64;

// A loop of the forward pass and the loop of the backward pass that reads what it stacks.
struct LoopPair {
  Loop forward;
  Loop backward;
  std::optional<int> group = {};                   // of the dimension that the forward loop stacks
  std::vector<int> stacks = {};                    // numbers in BufferAssignment::buffers()
  std::vector<std::optional<int>> passed_to = {};  // by leaf of the forward loop: the leaf of the backward loop
};

// Whether a dimension of an array begins with the dimension group that a loop stacks.
bool IsStacked(const Rows& rows, std::optional<int> group) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const std::vector<int>& row) { return !row.empty() && row[0] == group; });
}

class PairFinder {
 public:
  PairFinder(const Program& program, const Meaning& meaning, const BufferAssignment& compiled)
      : program_(program), meaning_(meaning), compiled_(compiled) {}

  std::vector<LoopPair> Find() const {
    std::vector<LoopPair> pairs;
    const std::vector<Loop>& loops = program_.dimensions().loops();
    if (loops.size() > kMostLoops) return pairs;  // all are compared with each other
    for (const Loop& forward : loops) {
      if (forward.factor < 0 || !meaning_.IsForward(forward.instruction)) continue;
      const std::vector<int> factors = program_.dimensions().factors().Expand(forward.factor);
      const auto group = factors.empty() ? std::nullopt : std::optional(program_.dimensions().Family(factors.front()));
      for (const Loop& backward : loops) {
        if (!meaning_.IsBackward(backward.instruction)) continue;
        LoopPair pair{forward, backward, group};
        FindPassed(&pair);
        FindStacks(&pair);
        if (!pair.stacks.empty()) pairs.push_back(std::move(pair));
      }
    }
    return pairs;
  }

 private:
  void FindPassed(LoopPair* pair) const {
    const int forward = pair->forward.instruction;
    pair->passed_to.resize(program_.dimensions().LeafCount(forward));
    const HloInstruction& loop = program_.At(pair->backward.instruction);
    if (loop.operands.empty() || program_.At(loop.operands[0]).opcode != "tuple") return;
    const std::vector<int>& start = program_.At(loop.operands[0]).operands;
    for (std::size_t leaf = 0; leaf < start.size(); ++leaf) {
      const HloInstruction& from = program_.At(program_.Follow(start[leaf], [](const auto& is) {
        return is.Is({"bitcast", "copy", "reshape"});
      }));
      if (from.opcode != "get-tuple-element" || from.operands.empty() || from.operands[0] != forward) continue;
      const int element = program_.dimensions().TakenLeaf(from);
      if (element >= 0) pair->passed_to[element] = static_cast<int>(leaf);
    }
  }

  void FindStacks(LoopPair* pair) const {
    for (std::size_t b = 0; b < compiled_.buffers().size(); ++b) {
      bool read = false;
      bool stacked = false;
      for (const int i : compiled_.buffers()[b].values) {
        const ProgramValue& value = program_.values()[i];
        if (value.instruction != pair->forward.instruction || value.leaf < 0) continue;
        read = read || pair->passed_to[value.leaf];
        stacked = stacked || IsStacked(meaning_.RowsOf(i), pair->group);
      }
      if (read && stacked) pair->stacks.push_back(static_cast<int>(b));
    }
  }

  const Program& program_;
  const Meaning& meaning_;
  const BufferAssignment& compiled_;
};

// Changes one pair of loops.
class LoopRecomputer {
 public:
  LoopRecomputer(const Program& program, const Meaning& meaning, const BufferAssignment& compiled, const LoopPair& pair,
                 ModifiedProgram* modified)
      : program_(program),
        meaning_(meaning),
        dimensions_(program.dimensions()),
        compiled_(compiled),
        pair_(pair),
        forward_(BodyOf(pair.forward)),
        backward_(BodyOf(pair.backward)),
        modified_(*modified) {}

  void Run(const std::function<bool()>& is_stopped) {
    forward_time_ = TimeOf(pair_.forward);
    backward_time_ = TimeOf(pair_.backward);
    if (forward_time_.last < 0 || backward_time_.last < 0) return;
    FindStacks();
    FindInputs();
    products_ = dimensions_.ProductsIn(ComputationsOf(pair_.forward));
    KeepInputs();
    for (const Stack& stack : stacks_) DropStack(stack);
    StackInputs();
    if (const std::int64_t most = ReplayBytes(is_stopped); most > 0) {
      modified_.added.push_back(
          {.size = most, .first = backward_time_.first, .last = backward_time_.first, .values = largest_->values});
    }
  }

 private:
  struct Time {
    std::int64_t first = INT64_MAX;
    std::int64_t last = -1;
  };
  // What the loop keeps of each step.
  struct Stack {
    const Buffer* buffer;
    int leaf;        // of the forward loop
    ArrayDims dims;  // of one step, sorted
    bool kept = false;
  };
  // What the loop carries from step to step besides stacks: a layer's input.
  struct Input {
    int leaf;
    ArrayDims dims;  // sorted
    std::int64_t bytes;
  };

  int BodyNumber(const Loop& loop) const { return program_.At(loop.instruction).calls[1]; }
  const HloComputation& BodyOf(const Loop& loop) const { return program_.module().computations[BodyNumber(loop)]; }
  bool IsOfLoop(const ProgramValue& value) const { return value.instruction == pair_.forward.instruction; }

  // When the body of a loop runs.
  Time TimeOf(const Loop& loop) const {
    Time time;
    for (const ProgramValue& value : program_.values()) {
      if (value.instruction < 0 || value.first < 0) continue;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.computation != BodyNumber(loop) || is.opcode == "parameter") continue;
      time.first = std::min(time.first, value.first);
      time.last = std::max(time.last, value.last);
    }
    return time;
  }

  // The body of a loop and the fusions in it.
  std::set<int> ComputationsOf(const Loop& loop) const {
    std::set<int> computations = {BodyNumber(loop)};
    std::vector<int> open = {BodyNumber(loop)};
    while (!open.empty()) {
      const int computation = open.back();
      open.pop_back();
      for (const int at : program_.module().computations[computation].instructions) {
        if (program_.At(at).opcode != "fusion") continue;
        for (const int call : program_.At(at).calls) {
          if (computations.insert(call).second) open.push_back(call);
        }
      }
    }
    return computations;
  }

  // Of the stacks, the largest first.
  void FindStacks() {
    std::vector<int> order = pair_.stacks;
    const std::vector<Buffer>& buffers = compiled_.buffers();
    std::sort(order.begin(), order.end(), [&](int a, int b) { return buffers[a].size > buffers[b].size; });
    largest_ = &buffers[order.front()];
    for (const int b : order) {
      std::optional<int> leaf;
      for (const int i : buffers[b].values) {
        const ProgramValue& value = program_.values()[i];
        if (!IsOfLoop(value) || value.leaf < 0) continue;
        leaf = value.leaf;
        stacked_leaves_.insert(value.leaf);
      }
      if (!leaf) continue;
      ArrayDims dims = dimensions_.Leaf(pair_.forward.instruction, *leaf).dims;
      const auto steps = std::find(dims.begin(), dims.end(), pair_.forward.steps);
      if (steps == dims.end()) continue;
      dims.erase(steps);
      stacks_.push_back({&buffers[b], *leaf, SortedDims(std::move(dims))});
    }
  }

  void FindInputs() {
    if (forward_.root < 0) return;
    const std::vector<int>& next = program_.At(forward_.root).operands;
    const int loop = pair_.forward.instruction;
    const int leaves = std::min(dimensions_.LeafCount(loop), static_cast<int>(next.size()));
    for (int leaf = 0; leaf < leaves; ++leaf) {
      if (stacked_leaves_.contains(leaf)) continue;
      const HloInstruction& made = program_.At(next[leaf]);
      const std::optional<std::int64_t> bytes = PaddedBytes(dimensions_.Leaf(loop, leaf));
      if (IsElementOf(made, forward_)) continue;  // unchanged by the step
      if (IsStacked(meaning_.RowsOf(loop, leaf), pair_.group)) continue;
      if (bytes && *bytes >= kSmallestValue)
        inputs_.push_back({leaf, SortedDims(dimensions_.Leaf(loop, leaf).dims), *bytes});
    }
  }

  // Keeps a stack for each input: one that is written from the input itself, else the smallest of its dimensions.
  void KeepInputs() {
    for (const bool written_from_it : {true, false}) {
      std::erase_if(inputs_, [&](const Input& input) {
        const auto stack = std::find_if(stacks_.rbegin(), stacks_.rend(), [&](const Stack& one) {
          return !one.kept && one.dims == input.dims && (!written_from_it || IsWrittenFrom(one.leaf, input.leaf));
        });
        if (stack == stacks_.rend()) return false;
        stack->kept = true;
        return true;
      });
    }
  }

  // Whether an instruction is an element of what a loop's body is given.
  static bool IsElementOf(const HloInstruction& is, const HloComputation& body) {
    return is.opcode == "get-tuple-element" && !is.operands.empty() && !body.parameters.empty() &&
           is.operands[0] == body.parameters[0];
  }

  // Whether the forward body writes into a stack only what it was given as an element.
  bool IsWrittenFrom(int stack, int element) const {
    if (forward_.root < 0) return false;
    const std::vector<int>& next = program_.At(forward_.root).operands;
    if (stack >= static_cast<int>(next.size())) return false;
    const int writer = program_.Follow(next[stack], [](const auto& is) {
      return is.Is({"get-tuple-element", "bitcast"});
    });
    bool from_it = false;
    for (const int operand : program_.At(writer).operands) {
      const std::optional<std::int64_t> bytes = PaddedBytes(program_.module().ShapeOf(operand).array);
      if (!bytes || *bytes < kSmallestValue) continue;
      if (!IsElementOf(program_.At(operand), forward_)) return false;
      const int leaf = dimensions_.TakenLeaf(program_.At(operand));
      if (leaf != element && leaf != stack) return false;
      from_it = from_it || leaf == element;
    }
    return from_it;
  }

  // A step of the stack is made again before the backward pass of the step, and lives until that reads it last.
  void DropStack(const Stack& stack) {
    std::int64_t bytes = 0;
    for (const int i : stack.buffer->values) bytes = std::max(bytes, modified_.sizes[i]);
    if (bytes == 0 || stack.kept) return;
    const std::int64_t step = bytes / pair_.forward.steps;
    for (const int i : stack.buffer->values) modified_.sizes[i] = 0;
    const std::int64_t last = DropCopies(stack.leaf, step);
    // Elementwise results of a product are made inside the fusions that use them, once they are made again: of values
    // of the same dimensions only as many need memory as there are products.
    if (live_again_[stack.dims]++ >= std::max(1, products_[stack.dims])) return;
    made_.push_back({MadeAt(stack.leaf), step});
    modified_.added.push_back(
        {.size = step, .first = backward_time_.first + 1, .last = last, .values = stack.buffer->values});
  }

  // Returns when the backward body reads a step of a stack last. Removes the copies of the step: what reads a copy can
  // read the step.
  std::int64_t DropCopies(int leaf, std::int64_t step) {
    std::int64_t last = backward_time_.first;
    const std::optional<int> passed_to = pair_.passed_to[leaf];
    if (!passed_to || backward_.parameters.empty() || backward_.parameters[0] < 0) return last;
    for (const int element : program_.UsersOf(backward_.parameters[0])) {
      const HloInstruction& is = program_.At(element);
      if (is.opcode != "get-tuple-element" || dimensions_.TakenLeaf(is) != *passed_to) continue;
      std::vector<int> readers = program_.UsersOf(element);
      for (std::size_t r = 0; r < readers.size() && r < kMostReaders; ++r) {
        const int user = readers[r];
        if (program_.At(user).opcode == "tuple") continue;  // passed on to the next step
        last = std::max<std::int64_t>(last, program_.PositionOf(user));
        if (!ReadsStep(user) && !program_.At(user).Is({"copy", "bitcast"})) continue;
        for (const int i : program_.ValuesOf(user)) {
          if (program_.values()[i].size >= step / 2) modified_.sizes[i] = 0;
        }
        readers.insert(readers.end(), program_.UsersOf(user).begin(), program_.UsersOf(user).end());
      }
    }
    return last;
  }

  // Whether an instruction only takes one step out of a stack.
  bool ReadsStep(int instruction, int depth = 8) const {
    const HloInstruction& is = program_.At(instruction);
    if (is.opcode == "dynamic-slice") return true;
    if (depth == 0) return false;
    if (const int root = program_.FusedRoot(is); root >= 0) return ReadsStep(root, depth - 1);
    return is.Is({"bitcast", "copy", "reshape"}) && !is.operands.empty() && ReadsStep(is.operands[0], depth - 1);
  }

  // When the forward body makes what it writes into a stack.
  std::int64_t MadeAt(int leaf) const {
    if (forward_.root < 0) return forward_time_.last;
    const std::vector<int>& next = program_.At(forward_.root).operands;
    if (leaf >= static_cast<int>(next.size())) return forward_time_.last;
    int from = next[leaf];
    for (int depth = 0; depth < 8 && program_.PositionOf(from) < 0 && !program_.At(from).operands.empty(); ++depth)
      from = program_.At(from).operands[0];
    return program_.PositionOf(from) >= 0 ? program_.PositionOf(from) : forward_time_.last;
  }

  // Inputs that no stack keeps need one of their own.
  void StackInputs() {
    for (const Input& input : inputs_) {
      std::vector<int> of;
      for (const int i : program_.ValuesOf(pair_.forward.instruction)) {
        if (program_.values()[i].leaf == input.leaf) of = {i};
      }
      modified_.added.push_back({.size = input.bytes * pair_.forward.steps,
                                 .first = forward_time_.first,
                                 .last = backward_time_.last,
                                 .values = std::move(of)});
    }
  }

  // The forward body runs once more at the begin of the backward body: the most that it needs, besides what stays.
  std::int64_t ReplayBytes(const std::function<bool()>& is_stopped) const {
    std::int64_t most = 0;
    for (const auto& [when, step] : made_) {
      if (is_stopped()) return 0;
      std::int64_t live = 0;
      for (const auto& [other, bytes] : made_) live += other <= when ? bytes : 0;
      for (const Buffer& buffer : compiled_.buffers()) {
        const bool runs = buffer.first >= forward_time_.first && buffer.first <= when && buffer.last >= when &&
                          buffer.last <= forward_time_.last;
        if (runs && !IsMade(buffer.size)) live += buffer.size;
      }
      most = std::max(most, live);
    }
    return most;
  }

  // A buffer that is as large as a value that is made again is that value, on its way to the stack.
  bool IsMade(std::int64_t size) const {
    return std::any_of(made_.begin(), made_.end(),
                       [&](const auto& made) { return std::abs(made.second - size) <= size / 64; });
  }

  const Program& program_;
  const Meaning& meaning_;
  const Dimensions& dimensions_;
  const BufferAssignment& compiled_;
  const LoopPair& pair_;
  const HloComputation& forward_;
  const HloComputation& backward_;
  ModifiedProgram& modified_;
  Time forward_time_;
  Time backward_time_;
  const Buffer* largest_ = nullptr;                          // stack
  std::vector<Stack> stacks_;                                // the largest first
  std::set<int> stacked_leaves_;                             // of the forward loop
  std::vector<Input> inputs_;                                // for which no stack is kept
  std::map<ArrayDims, int> products_;                        // of the forward body, by sorted dimensions
  std::map<ArrayDims, int> live_again_;                      // values, likewise
  std::vector<std::pair<std::int64_t, std::int64_t>> made_;  // again: when in the forward body, and bytes
};

}  // namespace

std::optional<ModifiedProgram> Changes::Recompute() const {
  if (!meaning_.trains()) return RuledOut("no_gradients");
  const std::vector<LoopPair> pairs = PairFinder(program_, meaning_, compiled_).Find();
  if (pairs.empty()) return RecomputeBlocks();
  ModifiedProgram modified = AsItIs();
  for (const LoopPair& pair : pairs) {
    if (IsStopped()) break;
    LoopRecomputer(program_, meaning_, compiled_, pair, &modified).Run([this] { return IsStopped(); });
    modified.tried += static_cast<std::int64_t>(pair.stacks.size());
  }
  return modified;
}

}  // namespace whyoom
