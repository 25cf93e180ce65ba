// Simulates jax.checkpoint around each step of a loop over layers. The values that the forward pass stacks for the
// backward pass are removed, except the steps' inputs. During the backward pass of a step, its values are
// rematerialized.
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "program/remedies.h"

namespace whyoom {
namespace {

constexpr std::int64_t kSmallestKept = std::int64_t{64} << 10;
constexpr std::size_t kMostReaders = 64;

// A loop of the forward pass, and the loop of the backward pass that reads the arrays that the former stacks.
struct LoopPair {
  Loop forward;
  Loop backward;
  GroupId group;                               // of the dimension that the forward loop stacks along
  std::vector<const Buffer*> stacks;           // the stacked buffers that the backward loop reads
  std::vector<std::optional<int>> carried_to;  // by leaf of the forward loop: the leaf of the backward loop

  // Whether a dimension of an array begins with `group`.
  bool IsStacked(const ArrayGroups& dimensions) const {
    return std::any_of(dimensions.begin(), dimensions.end(),
                       [&](const Groups& groups) { return !groups.empty() && groups[0] == group; });
  }
};

// By leaf of the forward loop: the leaf of the backward loop that it initializes.
std::vector<std::optional<int>> LeavesPassed(const Program& program, const Loop& forward, const Loop& backward) {
  std::vector<std::optional<int>> carried_to(program.dimensions().LeafCount(forward.instruction));
  const std::vector<InstructionId>& operands = program.At(backward.instruction).operands;
  if (operands.empty() || program.At(operands[0]).opcode != "tuple") return carried_to;
  int leaf = -1;
  for (InstructionId initial : program.At(operands[0]).operands) {
    ++leaf;
    while (program.At(initial).Is({"bitcast", "copy", "reshape"}) && !program.At(initial).operands.empty())
      initial = program.At(initial).operands[0];
    const HloInstruction& from = program.At(initial);
    if (from.opcode != "get-tuple-element" || from.operands.empty() || from.operands[0] != forward.instruction)
      continue;
    if (const ArrayId taken = program.dimensions().TupleElementOf(from)) carried_to[taken.leaf] = leaf;
  }
  return carried_to;
}

// The buffers that the forward loop stacks and the backward loop reads.
std::vector<const Buffer*> StacksOf(const Program& program, const Semantics& semantics,
                                    const BufferAssignment& compiled, const LoopPair& pair) {
  std::vector<const Buffer*> stacks;
  for (const Buffer& buffer : compiled.buffers()) {
    bool read = false;
    bool stacked = false;
    for (const ValueId id : buffer.values) {
      const ArrayId array = program.values()[id].array;
      if (array.instruction != pair.forward.instruction || !array) continue;
      read = read || pair.carried_to[array.leaf];
      stacked = stacked || pair.IsStacked(semantics.GroupsOf(id));
    }
    if (read && stacked) stacks.push_back(&buffer);
  }
  return stacks;
}

std::vector<LoopPair> FindLoopPairs(const Program& program, const Semantics& semantics,
                                    const BufferAssignment& compiled) {
  constexpr std::size_t kMostLoops = 1000;
  std::vector<LoopPair> pairs;
  const std::vector<Loop>& loops = program.dimensions().loops();
  if (loops.size() > kMostLoops) return pairs;  // each loop is compared with each other
  for (const Loop& forward : loops) {
    if (!forward.factor || !semantics.IsForward(forward.instruction)) continue;
    const Groups groups = program.dimensions().GroupsOf(FactorIds{forward.factor});
    for (const Loop& backward : loops) {
      if (!semantics.IsBackward(backward.instruction)) continue;
      LoopPair pair{forward, backward};
      if (!groups.empty()) pair.group = groups.front();
      pair.carried_to = LeavesPassed(program, forward, backward);
      pair.stacks = StacksOf(program, semantics, compiled, pair);
      if (!pair.stacks.empty()) pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

// Rematerializes the layers of a pair of loops.
class LoopRecomputer {
 public:
  LoopRecomputer(const Simulator& simulator, const LoopPair& pair, ModifiedProgram* modified)
      : program_(simulator.program()),
        pair_(pair),
        forward_(BodyOf(pair.forward)),
        backward_(BodyOf(pair.backward)),
        modified_(*modified) {
    const std::set<ComputationId> computations = ComputationsOf(pair.forward);
    for (const Product& product : program_.dimensions().products()) {
      if (computations.contains(program_.At(product.instruction).computation))
        ++products_[SortedDims(program_.ShapeOf({product.instruction, 0}).dims)];
    }
  }

  void Run() {
    backward_begin_ = BeginOf(pair_.backward);
    if (backward_begin_ == INT64_MAX) return;
    FindStacks();
    FindInputs();
    KeepInputs();
    for (const Stack& stack : stacks_) DropStack(stack);
  }

 private:
  // An array that the loop saves from each step.
  struct Stack {
    const Buffer* buffer;
    int leaf;        // of the forward loop
    ArrayDims dims;  // of one step, sorted
    bool kept = false;
  };
  ComputationId BodyId(const Loop& loop) const { return program_.At(loop.instruction).calls[1]; }
  const HloComputation& BodyOf(const Loop& loop) const { return program_.module().computations[BodyId(loop)]; }
  ArrayId ForwardArray(int leaf) const { return {pair_.forward.instruction, leaf}; }
  const ArrayDims& DimsOf(int leaf) const { return program_.ShapeOf(ForwardArray(leaf)).dims; }

  // The first position in the schedule of a loop's body.
  std::int64_t BeginOf(const Loop& loop) const {
    std::int64_t begin = INT64_MAX;
    for (const ProgramValue& value : program_.values()) {
      if (!value.array.instruction || value.first < 0) continue;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.computation == BodyId(loop) && is.opcode != "parameter") begin = std::min(begin, value.first);
    }
    return begin;
  }

  // The body of a loop and its fused computations.
  std::set<ComputationId> ComputationsOf(const Loop& loop) const {
    std::set<ComputationId> computations = {BodyId(loop)};
    std::vector<ComputationId> open = {BodyId(loop)};
    while (!open.empty()) {
      const ComputationId computation = open.back();
      open.pop_back();
      for (const InstructionId id : program_.module().computations[computation].instructions) {
        if (program_.At(id).opcode != "fusion") continue;
        for (const ComputationId call : program_.At(id).calls) {
          if (computations.insert(call).second) open.push_back(call);
        }
      }
    }
    return computations;
  }

  // The loop-carried values that the forward body returns; empty if not known.
  const std::vector<InstructionId>& Returned() const {
    static const std::vector<InstructionId> none;
    return forward_.root ? program_.At(forward_.root).operands : none;
  }

  void FindStacks() {
    std::vector<const Buffer*> buffers = pair_.stacks;
    std::sort(buffers.begin(), buffers.end(), [](const Buffer* a, const Buffer* b) { return a->size > b->size; });
    for (const Buffer* buffer : buffers) {
      int leaf = -1;
      for (const ValueId id : buffer->values) {
        const ArrayId array = program_.values()[id].array;
        if (array.instruction != pair_.forward.instruction || !array) continue;
        leaf = array.leaf;
        stacked_leaves_.insert(leaf);
      }
      if (leaf < 0) continue;
      ArrayDims dims = DimsOf(leaf);
      const auto steps = std::find(dims.begin(), dims.end(), pair_.forward.steps);
      if (steps == dims.end()) continue;
      dims.erase(steps);
      stacks_.push_back({buffer, leaf, SortedDims(std::move(dims))});
    }
  }

  void FindInputs() {
    const int leaves =
        std::min(program_.dimensions().LeafCount(pair_.forward.instruction), static_cast<int>(Returned().size()));
    for (int leaf = 0; leaf < leaves; ++leaf) {
      const ArrayId array = ForwardArray(leaf);
      const std::int64_t bytes = PaddedBytes(program_.ShapeOf(array)).value_or(0);
      const bool unchanged = IsElementOf(program_.At(Returned()[leaf]), forward_);
      if (stacked_leaves_.contains(leaf) || unchanged || pair_.IsStacked(program_.dimensions().GroupsOf(array)))
        continue;
      if (bytes >= kSmallestKept) inputs_.push_back(SortedDims(DimsOf(leaf)));
    }
  }

  // Keeps the smallest stack with the dimensions of each input.
  void KeepInputs() {
    for (const ArrayDims& input : inputs_) {
      const auto stack = std::find_if(stacks_.rbegin(), stacks_.rend(),
                                      [&](const Stack& one) { return !one.kept && one.dims == input; });
      if (stack != stacks_.rend()) stack->kept = true;
    }
  }

  // Whether an instruction is an element of a loop body's parameter: a loop-carried value.
  static bool IsElementOf(const HloInstruction& is, const HloComputation& body) {
    return is.opcode == "get-tuple-element" && !is.operands.empty() && !body.parameters.empty() &&
           is.operands[0] == body.parameters[0];
  }

  // Removes a stack. One step of it is rematerialized before the step's backward pass and is live until its last use.
  // Elementwise results of a product are then fused into their users, so among values with the same dimensions, only as
  // many need memory as there are products.
  void DropStack(const Stack& stack) {
    std::int64_t bytes = 0;
    for (const ValueId id : stack.buffer->values) bytes = std::max(bytes, modified_.sizes[id]);
    if (bytes == 0 || stack.kept) return;
    const std::int64_t step = bytes / pair_.forward.steps;
    modified_.Remove(stack.buffer->values);
    const bool comes_back = back_[stack.dims]++ < std::max(1, products_[stack.dims]);
    const std::int64_t last = DropCopies(stack.leaf, step);
    if (comes_back) modified_.Add(step, backward_begin_ + 1, last, stack.buffer->values);
  }

  // Returns the position of the last read of a stack's step in the backward body. Removes the copies of the step, since
  // their readers can read the rematerialized step.
  std::int64_t DropCopies(int leaf, std::int64_t step) {
    std::int64_t last = backward_begin_;
    const std::optional<int> carried_to = pair_.carried_to[leaf];
    if (!carried_to || backward_.parameters.empty() || !backward_.parameters[0]) return last;
    for (const InstructionId element : program_.UsersOf(backward_.parameters[0])) {
      const HloInstruction& is = program_.At(element);
      if (is.opcode != "get-tuple-element" || program_.dimensions().TupleElementOf(is).leaf != *carried_to) continue;
      std::vector<InstructionId> readers = program_.UsersOf(element);
      for (std::size_t r = 0; r < readers.size() && r < kMostReaders; ++r) {
        const InstructionId user = readers[r];
        if (program_.At(user).opcode == "tuple") continue;  // carried to the next step
        last = std::max<std::int64_t>(last, program_.PositionOf(user));
        if (!ReadsStep(user) && !program_.At(user).Is({"copy", "bitcast"})) continue;
        for (const ValueId id : program_.ValuesOf(user)) {
          if (program_.values()[id].size >= step / 2) modified_.sizes[id] = 0;
        }
        readers.insert(readers.end(), program_.UsersOf(user).begin(), program_.UsersOf(user).end());
      }
    }
    return last;
  }

  // Whether an instruction only slices one step from a stack.
  bool ReadsStep(InstructionId instruction, int depth = 8) const {
    const HloInstruction& is = program_.At(instruction);
    if (is.opcode == "dynamic-slice") return true;
    if (depth == 0) return false;
    if (const InstructionId root = program_.FusedRoot(is)) return ReadsStep(root, depth - 1);
    return is.Is({"bitcast", "copy", "reshape"}) && !is.operands.empty() && ReadsStep(is.operands[0], depth - 1);
  }

  const Program& program_;
  const LoopPair& pair_;
  const HloComputation& forward_;
  const HloComputation& backward_;
  std::map<ArrayDims, int> products_;  // number of products of a step, by the dimensions of their results
  std::map<ArrayDims, int> back_;      // number of rematerialized values
  ModifiedProgram& modified_;
  std::int64_t backward_begin_ = INT64_MAX;
  std::vector<Stack> stacks_;      // largest first
  std::set<int> stacked_leaves_;   // of the forward loop
  std::vector<ArrayDims> inputs_;  // sorted dimensions of the loop-carried values that are not stacks: layers' inputs
};

// Whether rematerialized values are a part of the peak. Then checkpoints of smaller parts of a layer may help, although
// checkpoints of layers do not.
bool RecomputesAtPeak(const Simulator& simulator) {
  const Program& program = simulator.program();
  std::int64_t bytes = 0;
  for (const Buffer* buffer : simulator.compiled().LiveAtPeak()) {
    const ProgramValue& value = program.values()[buffer->values.front()];
    if (value.array && Mentions(program.InstructionOf(value).op_name, "rematted_computation")) bytes += buffer->size;
  }
  return bytes > simulator.need_bytes() / 8;  // a smaller part seldom decides whether a program fits
}

}  // namespace

std::optional<ModifiedProgram> Recompute(const Simulator& simulator) {
  if (!simulator.semantics().trains()) return simulator.RuledOut("no_gradients");
  const std::vector<LoopPair> pairs = FindLoopPairs(simulator.program(), simulator.semantics(), simulator.compiled());
  if (pairs.empty()) return std::nullopt;
  const bool recomputes = RecomputesAtPeak(simulator);
  ModifiedProgram modified = simulator.Unmodified();
  for (const LoopPair& pair : pairs) {
    if (simulator.IsStopped()) break;
    LoopRecomputer(simulator, pair, &modified).Run();
    if (!recomputes) modified.tried += static_cast<std::int64_t>(pair.stacks.size());
  }
  return modified;
}

}  // namespace whyoom
