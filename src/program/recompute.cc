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
struct LoopPair {
  // An array that the forward loop saves from each step and the backward loop reads.
  struct Stack {
    const Buffer* buffer;
    int leaf;        // of the forward loop
    ArrayDims dims;  // of one step, sorted
    bool kept = false;
  };

  const Simulator& simulator;
  const Loop& forward;
  const Loop& backward;
  const Program& program = simulator.program;
  std::vector<std::optional<int>> carried_to;  // by leaf of the forward loop: the leaf of the backward loop
  std::vector<Stack> stacks;                   // largest first
  std::map<ArrayDims, int> products;           // number of products of a step, by the dimensions of their results
  std::map<ArrayDims, int> back;               // number of rematerialized values
  std::int64_t begin = INT64_MAX;              // of the backward loop's body in the schedule

  void Recompute(ModifiedProgram* modified) {
    FindCarried();
    FindStacks();
    if (stacks.empty()) return;
    modified->tried += static_cast<std::int64_t>(stacks.size());
    for (const ProgramValue& value : program.values) {
      if (!value.array.instruction || value.first < 0) continue;
      const HloInstruction& is = program.InstructionOf(value);
      if (is.computation == BodyOf(backward) && is.opcode != "parameter") begin = std::min(begin, value.first);
    }
    if (begin == INT64_MAX) return;
    KeepInputs();
    CountProducts();
    for (const Stack& stack : stacks) Drop(stack, modified);
  }

  ComputationId BodyOf(const Loop& loop) const { return program.At(loop.instruction).calls[1]; }
  ArrayDims DimsOf(int leaf) const { return program.ShapeOf({forward.instruction, leaf}).dims; }

  // Whether a dimension of the array is the one that the forward loop stacks along.
  bool IsStacked(const ArrayGroups& dimensions) const {
    const auto is_stacked = [&](const Groups& groups) { return !groups.empty() && groups[0] == forward.groups[0]; };
    return std::ranges::any_of(dimensions, is_stacked);
  }

  void FindCarried() {
    carried_to.resize(program.dimensions.LeafCount(forward.instruction));
    const std::span<const InstructionId> operands = program.At(backward.instruction).operands;
    if (operands.empty() || program.At(operands[0]).opcode != "tuple") return;
    int leaf = -1;
    for (InstructionId initial : program.At(operands[0]).operands) {
      ++leaf;
      while (program.At(initial).Is({"bitcast", "copy", "reshape"}) && !program.At(initial).operands.empty())
        initial = program.At(initial).operands[0];
      const ArrayId from = program.dimensions.TupleElementOf(program.At(initial));
      if (from && from.instruction == forward.instruction) carried_to[from.leaf] = leaf;
    }
  }

  void FindStacks() {
    for (const Buffer& buffer : simulator.compiled.buffers) {
      bool read = false;
      int leaf = -1;
      for (const ValueId id : buffer.values) {
        const ArrayId array = program.values[id].array;
        if (array.instruction != forward.instruction || !array) continue;
        leaf = array.leaf;
        read = read || carried_to[leaf];
      }
      if (!read) continue;
      ArrayDims dims = DimsOf(leaf);
      const auto steps = std::ranges::find(dims, forward.steps);
      if (steps == dims.end()) continue;
      dims.erase(steps);
      stacks.push_back({&buffer, leaf, SortedDims(std::move(dims))});
    }
    std::ranges::sort(stacks, std::ranges::greater(), [](const Stack& stack) { return stack.buffer->size; });
  }

  // Keeps the smallest stack with the dimensions of each layer's input: a loop-carried value that is not a stack and
  // that the body changes.
  void KeepInputs() {
    constexpr std::int64_t kSmallestKept = std::int64_t{64} << 10;
    for (std::size_t leaf = 0; leaf < carried_to.size(); ++leaf) {
      const ArrayId array{forward.instruction, static_cast<int>(leaf)};
      if (program.PassesOn(program.At(forward.instruction), leaf) || IsStacked(program.dimensions.GroupsOf(array)) ||
          PaddedBytes(program.ShapeOf(array)).value_or(0) < kSmallestKept)
        continue;
      const ArrayDims dims = SortedDims(DimsOf(array.leaf));
      const auto stack =
          std::find_if(stacks.rbegin(), stacks.rend(), [&](const Stack& one) { return !one.kept && one.dims == dims; });
      if (stack != stacks.rend()) stack->kept = true;
    }
  }

  // Counts the products of a step, including those in fusions.
  void CountProducts() {
    const std::set<ComputationId> computations = WithFusions(program.module, BodyOf(forward));
    for (const Product& product : program.dimensions.products) {
      if (computations.contains(program.At(product.instruction).computation))
        ++products[SortedDims(program.ShapeOf({product.instruction, 0}).dims)];
    }
  }

  // Removes a stack. One step of it is rematerialized before the step's backward pass and is live until its last use.
  // Elementwise results of a product are then fused into their users, so among values with the same dimensions, only as
  // many need memory as there are products.
  void Drop(const Stack& stack, ModifiedProgram* modified) {
    const std::int64_t bytes = SharedBytes(stack.buffer->values, modified->sizes);
    if (bytes == 0 || stack.kept) return;
    const std::int64_t step = bytes / forward.steps;
    modified->Remove(stack.buffer->values);
    const bool comes_back = back[stack.dims]++ < std::max(1, products[stack.dims]);
    const std::int64_t last = DropCopies(stack.leaf, step, modified);
    if (comes_back) modified->Add(step, begin + 1, last, stack.buffer->values);
  }

  // Returns the position of the last read of a stack's step in the backward body. Removes the copies of the step, since
  // their readers can read the rematerialized step.
  std::int64_t DropCopies(int leaf, std::int64_t step, ModifiedProgram* modified) const {
    constexpr std::size_t kMostReaders = 64;
    std::int64_t last = begin;
    const std::vector<InstructionId>& carried = program.module.computations[BodyOf(backward)].parameters;
    if (!carried_to[leaf] || carried.empty() || !carried[0]) return last;
    for (const InstructionId element : program.users[carried[0]]) {
      if (program.dimensions.TupleElementOf(program.At(element)).leaf != *carried_to[leaf]) continue;
      std::vector<InstructionId> readers = program.users[element];
      for (std::size_t r = 0; r < readers.size() && r < kMostReaders; ++r) {
        const InstructionId user = readers[r];
        if (program.At(user).opcode == "tuple") continue;  // carried to the next step
        last = std::max<std::int64_t>(last, program.positions[user]);
        if (!ReadsStep(user) && !program.At(user).Is({"copy", "bitcast"})) continue;
        for (const ValueId id : program.values_of[user]) {
          if (program.values[id].size >= step / 2) modified->sizes[id] = 0;
        }
        readers.insert(readers.end(), program.users[user].begin(), program.users[user].end());
      }
    }
    return last;
  }

  // Whether an instruction only slices one step from a stack.
  bool ReadsStep(InstructionId instruction, int depth = 8) const {
    const HloInstruction& is = program.At(instruction);
    if (is.opcode == "dynamic-slice") return true;
    if (depth == 0) return false;
    if (const InstructionId root = program.FusedRoot(is)) return ReadsStep(root, depth - 1);
    return is.Is({"bitcast", "copy", "reshape"}) && !is.operands.empty() && ReadsStep(is.operands[0], depth - 1);
  }
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
      LoopPair{simulator, forward, backward}.Recompute(&modified);
    }
  }
  return modified.tried > 0 ? std::optional(std::move(modified)) : std::nullopt;
}

}  // namespace whyoom
