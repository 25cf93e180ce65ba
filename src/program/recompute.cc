// Simulates jax.checkpoint around each step of a loop over layers. The values that the forward pass stacks for the
// backward pass are removed, except the steps' inputs. During the backward pass of a step, its values are
// rematerialized.
#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "program/remedies.h"

namespace whyoom {
namespace {

// A loop of the forward pass, and the loop of the backward pass that reads the arrays that the former stacks.
class LoopPair {
 public:
  LoopPair(const Simulator& simulator, const Loop& forward, const Loop& backward)
      : program_(simulator.program), forward_(forward), backward_(backward) {
    FindCarried();
    FindStacks(simulator);
  }

  void Recompute(ModifiedProgram* modified) {
    if (stacks_.empty()) return;
    modified->tried += static_cast<std::int64_t>(stacks_.size());
    for (const ProgramValue& value : program_.values) {
      if (!value.array.instruction || value.first < 0) continue;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.computation == BodyOf(backward_) && is.opcode != "parameter") begin_ = std::min(begin_, value.first);
    }
    if (begin_ == INT64_MAX) return;
    KeepInputs();
    CountProducts();
    for (const Stack& stack : stacks_) Drop(stack, modified);
  }

 private:
  // An array that the forward loop saves from each step and the backward loop reads.
  struct Stack {
    const Buffer* buffer;
    int leaf;        // of the forward loop
    ArrayDims dims;  // of one step, sorted
    bool kept = false;
  };

  ComputationId BodyOf(const Loop& loop) const { return program_.At(loop.instruction).calls[1]; }
  ArrayDims DimsOf(int leaf) const { return program_.ShapeOf({forward_.instruction, leaf}).dims; }

  // Whether a dimension of the array is the one that the forward loop stacks along.
  bool IsStacked(const ArrayGroups& dimensions) const {
    return std::ranges::any_of(dimensions, [&](const Groups& groups) {
      return !groups.empty() && !forward_.groups.empty() && groups[0] == forward_.groups[0];
    });
  }

  void FindCarried() {
    carried_to_.resize(program_.dimensions.LeafCount(forward_.instruction));
    const std::span<const InstructionId> operands = program_.At(backward_.instruction).operands;
    if (operands.empty() || program_.At(operands[0]).opcode != "tuple") return;
    int leaf = -1;
    for (InstructionId initial : program_.At(operands[0]).operands) {
      ++leaf;
      while (program_.At(initial).Is({"bitcast", "copy", "reshape"}) && !program_.At(initial).operands.empty())
        initial = program_.At(initial).operands[0];
      const HloInstruction& from = program_.At(initial);
      if (from.opcode != "get-tuple-element" || from.operands.empty() || from.operands[0] != forward_.instruction)
        continue;
      if (const ArrayId taken = program_.dimensions.TupleElementOf(from)) carried_to_[taken.leaf] = leaf;
    }
  }

  void FindStacks(const Simulator& simulator) {
    for (const Buffer& buffer : simulator.compiled.buffers) {
      bool read = false;
      int leaf = -1;
      for (const ValueId id : buffer.values) {
        const ArrayId array = program_.values[id].array;
        if (array.instruction != forward_.instruction || !array) continue;
        leaf = array.leaf;
        read = read || carried_to_[leaf];
      }
      if (!read) continue;
      ArrayDims dims = DimsOf(leaf);
      const auto steps = std::ranges::find(dims, forward_.steps);
      if (steps == dims.end()) continue;
      dims.erase(steps);
      stacks_.push_back({&buffer, leaf, SortedDims(std::move(dims))});
    }
    std::ranges::sort(stacks_, std::ranges::greater(), [](const Stack& stack) { return stack.buffer->size; });
  }

  // Keeps the smallest stack with the dimensions of each layer's input: a loop-carried value that is not a stack and
  // that the body changes.
  void KeepInputs() {
    constexpr std::int64_t kSmallestKept = std::int64_t{64} << 10;
    for (std::size_t leaf = 0; leaf < carried_to_.size(); ++leaf) {
      const ArrayId array{forward_.instruction, static_cast<int>(leaf)};
      if (program_.PassesOn(program_.At(forward_.instruction), leaf) ||
          IsStacked(program_.dimensions.GroupsOf(array)) ||
          PaddedBytes(program_.ShapeOf(array)).value_or(0) < kSmallestKept)
        continue;
      const ArrayDims dims = SortedDims(DimsOf(array.leaf));
      const auto stack = std::find_if(stacks_.rbegin(), stacks_.rend(),
                                      [&](const Stack& one) { return !one.kept && one.dims == dims; });
      if (stack != stacks_.rend()) stack->kept = true;
    }
  }

  // Counts the products of a step, including those in fusions.
  void CountProducts() {
    const std::set<ComputationId> computations = WithFusions(program_.module, BodyOf(forward_));
    for (const Product& product : program_.dimensions.products) {
      if (computations.contains(program_.At(product.instruction).computation))
        ++products_[SortedDims(program_.ShapeOf({product.instruction, 0}).dims)];
    }
  }

  // Removes a stack. One step of it is rematerialized before the step's backward pass and is live until its last use.
  // Elementwise results of a product are then fused into their users, so among values with the same dimensions, only as
  // many need memory as there are products.
  void Drop(const Stack& stack, ModifiedProgram* modified) {
    const std::int64_t bytes = SharedBytes(stack.buffer->values, modified->sizes);
    if (bytes == 0 || stack.kept) return;
    const std::int64_t step = bytes / forward_.steps;
    modified->Remove(stack.buffer->values);
    const bool comes_back = back_[stack.dims]++ < std::max(1, products_[stack.dims]);
    const std::int64_t last = DropCopies(stack.leaf, step, modified);
    if (comes_back) modified->Add(step, begin_ + 1, last, stack.buffer->values);
  }

  // Returns the position of the last read of a stack's step in the backward body. Removes the copies of the step, since
  // their readers can read the rematerialized step.
  std::int64_t DropCopies(int leaf, std::int64_t step, ModifiedProgram* modified) const {
    constexpr std::size_t kMostReaders = 64;
    std::int64_t last = begin_;
    const std::vector<InstructionId>& carried = program_.module.computations[BodyOf(backward_)].parameters;
    if (!carried_to_[leaf] || carried.empty() || !carried[0]) return last;
    for (const InstructionId element : program_.users[carried[0]]) {
      const HloInstruction& is = program_.At(element);
      if (is.opcode != "get-tuple-element" || program_.dimensions.TupleElementOf(is).leaf != *carried_to_[leaf])
        continue;
      std::vector<InstructionId> readers = program_.users[element];
      for (std::size_t r = 0; r < readers.size() && r < kMostReaders; ++r) {
        const InstructionId user = readers[r];
        if (program_.At(user).opcode == "tuple") continue;  // carried to the next step
        last = std::max<std::int64_t>(last, program_.positions[user]);
        if (!ReadsStep(user) && !program_.At(user).Is({"copy", "bitcast"})) continue;
        for (const ValueId id : program_.values_of[user]) {
          if (program_.values[id].size >= step / 2) modified->sizes[id] = 0;
        }
        readers.insert(readers.end(), program_.users[user].begin(), program_.users[user].end());
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
  Loop forward_;
  Loop backward_;
  std::vector<std::optional<int>> carried_to_;  // by leaf of the forward loop: the leaf of the backward loop
  std::vector<Stack> stacks_;                   // largest first
  std::map<ArrayDims, int> products_;           // number of products of a step, by the dimensions of their results
  std::map<ArrayDims, int> back_;               // number of rematerialized values
  std::int64_t begin_ = INT64_MAX;              // of the backward loop's body in the schedule
};

}  // namespace

std::optional<ModifiedProgram> Recompute(const Simulator& simulator) {
  constexpr std::size_t kMostLoops = 1000;  // each loop is compared with each other
  const Semantics& semantics = simulator.semantics;
  if (!semantics.trains) return simulator.Unmodified("no_gradients");
  const std::vector<Loop>& loops = simulator.program.dimensions.loops;
  ModifiedProgram modified = simulator.Unmodified();
  for (const Loop& forward : loops) {
    if (forward.groups.empty() || !semantics.IsForward(forward.instruction) || loops.size() > kMostLoops) continue;
    for (const Loop& backward : loops) {
      if (simulator.IsStopped() || !semantics.IsBackward(backward.instruction)) continue;
      LoopPair(simulator, forward, backward).Recompute(&modified);
    }
  }
  return modified.tried > 0 ? std::optional(std::move(modified)) : std::nullopt;
}

}  // namespace whyoom
