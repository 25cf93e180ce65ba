// Simulates jax.checkpoint around each layer. The values that the forward pass saves for the backward pass are removed,
// except the layers' inputs. During the backward pass of a layer, its values are rematerialized.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "program/layers.h"
#include "program/remedies.h"

namespace whyoom {
namespace {

constexpr std::int64_t kSmallestKept = std::int64_t{64} << 10;
constexpr int kMostCopies = 8;  // longest chain of copies
constexpr std::size_t kMostReaders = 64;

// Removes values that layers save for their backward pass, and decides which of them need memory again there.
class Checkpoint {
 public:
  // `products`: the number of products of a layer, by the dimensions of their results.
  Checkpoint(std::map<ArrayDims, int> products, ModifiedProgram* modified)
      : products_(std::move(products)), modified_(*modified) {}

  // Removes the values. Returns whether they need memory again when they are rematerialized. Elementwise results of a
  // product are then fused into their users, so among values with the same dimensions, only as many need memory as
  // there are products.
  bool Remove(const std::vector<ValueId>& values, const ArrayDims& dims) {
    modified_.Remove(values);
    return back_[dims]++ < std::max(1, products_[dims]);
  }

 private:
  std::map<ArrayDims, int> products_;
  std::map<ArrayDims, int> back_;
  ModifiedProgram& modified_;
};

// Rematerializes the layers of a pair of loops.
class LoopRecomputer {
 public:
  LoopRecomputer(const Simulator& simulator, const LoopPair& pair, ModifiedProgram* modified)
      : program_(simulator.program()),
        simulator_(simulator),
        pair_(pair),
        forward_(BodyOf(pair.forward)),
        backward_(BodyOf(pair.backward)),
        checkpoint_(program_.dimensions().ProductsIn(ComputationsOf(pair.forward)), modified),
        modified_(*modified) {}

  void Run() {
    forward_time_ = TimeOf(pair_.forward);
    backward_time_ = TimeOf(pair_.backward);
    if (forward_time_.last < 0 || backward_time_.last < 0) return;
    FindStacks();
    FindInputs();
    KeepInputs();
    for (const Stack& stack : stacks_) DropStack(stack);
    StackInputs();
    if (const std::int64_t most = ReplayBytes(); most > 0)
      modified_.Add(most, backward_time_.first, backward_time_.first, largest_->values);
  }

 private:
  struct Time {
    std::int64_t first = INT64_MAX;
    std::int64_t last = -1;
  };
  // An array that the loop saves from each step.
  struct Stack {
    const Buffer* buffer;
    int leaf;        // of the forward loop
    ArrayDims dims;  // of one step, sorted
    bool kept = false;
  };
  // A loop-carried value that is not a stack: a layer's input.
  struct Input {
    int leaf;
    ArrayDims dims;  // sorted
    std::int64_t bytes;
  };

  ComputationId BodyId(const Loop& loop) const { return program_.At(loop.instruction).calls[1]; }
  const HloComputation& BodyOf(const Loop& loop) const { return program_.module().computations[BodyId(loop)]; }
  ArrayId ForwardArray(int leaf) const { return {pair_.forward.instruction, leaf}; }
  const ArrayDims& DimsOf(int leaf) const { return program_.ShapeOf(ForwardArray(leaf)).dims; }

  // The positions in the schedule of a loop's body.
  Time TimeOf(const Loop& loop) const {
    Time time;
    for (const ProgramValue& value : program_.values()) {
      if (!value.array.instruction || value.first < 0) continue;
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.computation != BodyId(loop) || is.opcode == "parameter") continue;
      time.first = std::min(time.first, value.first);
      time.last = std::max(time.last, value.last);
    }
    return time;
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
    largest_ = buffers.front();
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
      if (bytes >= kSmallestKept) inputs_.push_back({leaf, SortedDims(DimsOf(leaf)), bytes});
    }
  }

  // Marks a stack to keep for each input: one that stores the input itself, else the smallest with its dimensions.
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

  // Whether an instruction is an element of a loop body's parameter: a loop-carried value.
  static bool IsElementOf(const HloInstruction& is, const HloComputation& body) {
    return is.opcode == "get-tuple-element" && !is.operands.empty() && !body.parameters.empty() &&
           is.operands[0] == body.parameters[0];
  }

  // Whether the forward body stores only this loop-carried value in the stack.
  bool IsWrittenFrom(int stack, int element) const {
    if (std::cmp_greater_equal(stack, Returned().size())) return false;
    const InstructionId writer = program_.Follow(Returned()[stack], [](const auto& is) {
      return is.Is({"get-tuple-element", "bitcast"});
    });
    bool from_it = false;
    for (const InstructionId operand : program_.At(writer).operands) {
      if (PaddedBytes(program_.module().ShapeOf(operand).array).value_or(0) < kSmallestKept) continue;
      if (!IsElementOf(program_.At(operand), forward_)) return false;
      const int leaf = program_.dimensions().TupleElementOf(program_.At(operand)).leaf;
      if (leaf != element && leaf != stack) return false;
      from_it = from_it || leaf == element;
    }
    return from_it;
  }

  // Removes a stack. One step of it is rematerialized before the step's backward pass and is live until its last use.
  void DropStack(const Stack& stack) {
    std::int64_t bytes = 0;
    for (const ValueId id : stack.buffer->values) bytes = std::max(bytes, modified_.sizes[id]);
    if (bytes == 0 || stack.kept) return;
    const std::int64_t step = bytes / pair_.forward.steps;
    const bool comes_back = checkpoint_.Remove(stack.buffer->values, stack.dims);
    const std::int64_t last = DropCopies(stack.leaf, step);
    if (!comes_back) return;
    made_.push_back({MadeAt(stack.leaf), step});
    modified_.Add(step, backward_time_.first + 1, last, stack.buffer->values);
  }

  // Returns the position of the last read of a stack's step in the backward body. Removes the copies of the step, since
  // their readers can read the rematerialized step.
  std::int64_t DropCopies(int leaf, std::int64_t step) {
    std::int64_t last = backward_time_.first;
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

  // The position at which the forward body computes the value that it stores in a stack.
  std::int64_t MadeAt(int leaf) const {
    if (std::cmp_greater_equal(leaf, Returned().size())) return forward_time_.last;
    InstructionId from = Returned()[leaf];
    for (int depth = 0; depth < 8 && program_.PositionOf(from) < 0 && !program_.At(from).operands.empty(); ++depth)
      from = program_.At(from).operands[0];
    return program_.PositionOf(from) >= 0 ? program_.PositionOf(from) : forward_time_.last;
  }

  // Adds a stack for each input that no existing stack stores.
  void StackInputs() {
    for (const Input& input : inputs_) {
      std::vector<ValueId> of;
      for (const ValueId id : program_.ValuesOf(pair_.forward.instruction)) {
        if (program_.values()[id].array.leaf == input.leaf) of = {id};
      }
      modified_.Add(input.bytes * pair_.forward.steps, forward_time_.first, backward_time_.last, std::move(of));
    }
  }

  // The forward body runs again at the start of the backward body. Returns the peak memory of its own buffers.
  std::int64_t ReplayBytes() const {
    std::int64_t most = 0;
    for (const auto& [when, step] : made_) {
      if (simulator_.IsStopped()) return 0;
      std::int64_t live = 0;
      for (const auto& [other, bytes] : made_) live += other <= when ? bytes : 0;
      for (const Buffer& buffer : simulator_.compiled().buffers()) {
        const bool runs = buffer.first >= forward_time_.first && buffer.first <= when && buffer.last >= when &&
                          buffer.last <= forward_time_.last;
        if (runs && !IsMade(buffer.size)) live += buffer.size;
      }
      most = std::max(most, live);
    }
    return most;
  }

  // Whether a buffer of this size is probably a rematerialized value before it is stored in the stack.
  bool IsMade(std::int64_t size) const {
    return std::any_of(made_.begin(), made_.end(),
                       [&](const auto& made) { return std::abs(made.second - size) <= size / 64; });
  }

  const Program& program_;
  const Simulator& simulator_;
  const LoopPair& pair_;
  const HloComputation& forward_;
  const HloComputation& backward_;
  Checkpoint checkpoint_;
  ModifiedProgram& modified_;
  Time forward_time_;
  Time backward_time_;
  const Buffer* largest_ = nullptr;  // the largest stack
  std::vector<Stack> stacks_;        // largest first
  std::set<int> stacked_leaves_;     // of the forward loop
  std::vector<Input> inputs_;        // those without a kept stack
  // Rematerialized values: position in the forward body, and bytes.
  std::vector<std::pair<std::int64_t, std::int64_t>> made_;
};

// Rematerializes layers that follow each other in the entry computation.
class BlockRecomputer {
 public:
  BlockRecomputer(const Simulator& simulator, Blocks blocks, ModifiedProgram* modified)
      : program_(simulator.program()),
        semantics_(simulator.semantics()),
        blocks_(std::move(blocks)),
        modified_(*modified),
        last_of_buffer_(program_.values().size(), -1) {
    for (const Buffer& buffer : simulator.compiled().buffers()) {
      for (const ValueId id : buffer.values) last_of_buffer_[id] = buffer.last;
    }
    for (const BlockId block : blocks_.list.ids()) {
      for (const InstructionId id : blocks_.list[block].instructions) block_of_[id] = block;
    }
  }

  void Run() {
    Collect();
    Indexed<BlockId, std::vector<const SavedValue*>> replayed(blocks_.list.size());
    const std::map<std::pair<BlockId, ArrayDims>, const SavedValue*> passed_on = PassedOn();
    for (const SavedValue& kept : results_) {
      const auto one = passed_on.find({kept.block, kept.dims});
      const bool stays =
          kept.is_used_outside || (!kept.readers.empty() && (one == passed_on.end() || one->second == &kept));
      if (stays) {
        KeepInput(kept);
      } else if (kept.block && kept.last_backward >= 0) {
        replayed[kept.block].push_back(&kept);
      }
    }
    for (const BlockId block : replayed.ids()) Replay(blocks_.list[block], std::move(replayed[block]));
  }

 private:
  // A result of the entry computation, including its rematerializations by the compiler.
  struct SavedValue {
    BlockId block;  // that computes it
    std::vector<ValueId> values;
    std::int64_t bytes = 0;
    std::int64_t first = INT64_MAX;
    std::int64_t last_of_buffer = -1;  // last use of its buffer, including in-place updates
    std::int64_t last_forward = -1;    // last read by the forward pass of its own block
    std::int64_t first_backward = INT64_MAX;
    std::int64_t last_backward = -1;
    int forward_readers = 0;
    bool is_fused = false;         // fused into its only reader, which is elementwise
    std::set<BlockId> readers;     // other blocks whose forward pass reads it
    bool is_used_outside = false;  // read by the forward pass outside of any block, or returned
    ArrayDims dims;
  };
  struct Place {
    BlockId block;     // the block whose forward pass contains the instruction
    bool in_backward;  // rematerialized within the backward pass
  };

  // The result that a block passes to other blocks, by block and dimensions. If the compiler saves several summands
  // instead of that result, only the smallest array counts.
  std::map<std::pair<BlockId, ArrayDims>, const SavedValue*> PassedOn() const {
    std::map<std::pair<BlockId, ArrayDims>, const SavedValue*> passed_on;
    for (const SavedValue& kept : results_) {
      if (!kept.block || kept.readers.empty() || kept.is_used_outside) continue;
      const SavedValue*& one = passed_on[{kept.block, kept.dims}];
      if (one == nullptr || kept.bytes < one->bytes) one = &kept;
    }
    return passed_on;
  }

  Place PlaceOf(InstructionId instruction) const {
    const auto found = block_of_.find(instruction);
    const BlockId block = found == block_of_.end() ? BlockId() : found->second;
    const std::string_view name = program_.At(instruction).name;
    const bool is_recomputed = OriginalName(name) != name;
    const std::int64_t begin = !block || is_recomputed ? blocks_.turn : blocks_.list[block].backward_begin;
    return {block, program_.ScheduledAt(instruction) >= begin};
  }

  void Collect() {
    std::map<ComputedArray, SavedValue> results;
    for (const ProgramValue& value : program_.values()) {
      if (!value.array || value.first < 0 || value.size < kSmallestKept || program_.AllocationOf(value).IsFixed())
        continue;
      const InstructionId source = CopiedFrom(program_, value.array.instruction);
      if (program_.InstructionOf(value).computation != program_.module().entry || !semantics_.IsForward(source))
        continue;
      SavedValue& kept = results[OriginalOf(program_, value)];
      kept.values.push_back(value.id);
      kept.bytes = std::max(kept.bytes, value.size);
      kept.first = std::min(kept.first, value.first);
      kept.last_of_buffer = std::max({kept.last_of_buffer, value.last, last_of_buffer_[value.id]});
      kept.dims = SortedDims(program_.ShapeOf(value.array).dims);
      kept.block = std::max(kept.block, PlaceOf(source).block);
    }
    for (auto& [array, kept] : results) {
      for (const ValueId id : kept.values) FindReaders(program_.values()[id].array, 0, &kept);
      results_.push_back(std::move(kept));
    }
  }

  void FindReaders(ArrayId array, int depth, SavedValue* kept) const {
    if (depth > kMostCopies) return;
    for (const InstructionId user : program_.UsersOf(array.instruction)) {
      const HloInstruction& is = program_.At(user);
      if (is.opcode == "get-tuple-element") {
        if (program_.dimensions().TupleElementOf(is).leaf == array.leaf) FindReaders({user, 0}, depth + 1, kept);
      } else if (Copies(program_, user, array.instruction)) {
        FindReaders({user, 0}, depth + 1, kept);
      } else if (is.opcode == "tuple") {
        kept->is_used_outside = true;
      } else {
        ReadBy(user, kept);
      }
    }
  }

  void ReadBy(InstructionId user, SavedValue* kept) const {
    const std::int64_t position = program_.ScheduledAt(user);
    const auto [block, in_backward] = PlaceOf(user);
    if (in_backward || !semantics_.IsForward(user)) {
      if (position < blocks_.turn) return;
      kept->first_backward = std::min(kept->first_backward, position);
      kept->last_backward = std::max(kept->last_backward, position);
    } else if (!block) {
      kept->is_used_outside = true;
    } else if (block != kept->block) {
      kept->readers.insert(block);
    } else {
      kept->last_forward = std::max(kept->last_forward, position);
      kept->is_fused = ++kept->forward_readers == 1 && FollowsElementwise(user, *kept);
    }
  }

  bool FollowsElementwise(InstructionId user, const SavedValue& kept) const {
    if (program_.dimensions().LeafCount(user) != 1 || blocks_.with_product.contains(user)) return false;
    return SortedDims(program_.ShapeOf({user, 0}).dims) == kept.dims;
  }

  // Extends the live range of a block's input until the block's forward pass is rematerialized. A value that is updated
  // in place continues as the updated value.
  void KeepInput(const SavedValue& kept) {
    std::int64_t until = kept.last_of_buffer;
    for (const BlockId reader : kept.readers) {
      const std::int64_t begin = blocks_.list[reader].backward_begin;
      if (begin < INT64_MAX) until = std::max(until, begin);
    }
    if (until > kept.last_of_buffer) Add(kept, kept.last_of_buffer + 1, until);
  }

  void Add(const SavedValue& kept, std::int64_t first, std::int64_t last) {
    modified_.Add(kept.bytes, first, last, {kept.values.front()});
  }

  std::map<ArrayDims, int> ProductsOf(const Block& block) const {
    std::set<ComputationId> called;
    for (const InstructionId id : block.instructions)
      called.insert(program_.At(id).calls.begin(), program_.At(id).calls.end());
    return program_.dimensions().ProductsIn(called, {block.instructions.begin(), block.instructions.end()});
  }

  void Replay(const Block& block, std::vector<const SavedValue*> kept) {
    if (kept.empty()) return;
    std::sort(kept.begin(), kept.end(), [](const SavedValue* a, const SavedValue* b) { return a->first < b->first; });
    const std::int64_t begin = block.backward_begin;
    // Weight gradients, which the compiler had deferred, are now computed immediately.
    std::int64_t end = INT64_MAX;
    for (const Block& other : blocks_.list) {
      if (other.backward_begin > begin) end = std::min(end, other.backward_begin);
    }
    Checkpoint checkpoint(ProductsOf(block), &modified_);
    for (const SavedValue* value : kept) {
      if (value->first >= begin || value->first_backward > value->last_backward) continue;
      const bool comes_back = checkpoint.Remove(value->values, value->dims);
      if (!value->is_fused) Add(*value, value->first, std::max(value->last_forward, value->first));
      if (!comes_back) continue;
      const std::int64_t back = std::min(begin, value->first_backward);
      Add(*value, back, std::max(back, std::min(end, value->last_backward)));
    }
  }

  const Program& program_;
  const Semantics& semantics_;
  const Blocks blocks_;
  ModifiedProgram& modified_;
  std::map<InstructionId, BlockId> block_of_;
  std::vector<SavedValue> results_;
  Indexed<ValueId, std::int64_t> last_of_buffer_;
};

std::optional<ModifiedProgram> RecomputeBlocks(const Simulator& simulator) {
  const Blocks blocks = FindBlocks(simulator.program(), simulator.semantics());
  if (blocks.list.size() < 2) return std::nullopt;
  ModifiedProgram modified = simulator.Unmodified();
  BlockRecomputer(simulator, blocks, &modified).Run();
  // How rematerialized values would be fused is not known, so an estimate above the current need is rarely right.
  if (simulator.EstimateOf(modified).left_bytes >= simulator.need_bytes()) return std::nullopt;
  return modified;
}

}  // namespace

std::optional<ModifiedProgram> Recompute(const Simulator& simulator) {
  if (!simulator.semantics().trains()) return simulator.RuledOut("no_gradients");
  const std::vector<LoopPair> pairs = FindLoopPairs(simulator.program(), simulator.semantics(), simulator.compiled());
  if (pairs.empty()) return RecomputeBlocks(simulator);
  ModifiedProgram modified = simulator.Unmodified();
  for (const LoopPair& pair : pairs) {
    if (simulator.IsStopped()) break;
    LoopRecomputer(simulator, pair, &modified).Run();
    modified.tried += static_cast<std::int64_t>(pair.stacks.size());
  }
  return modified;
}

}  // namespace whyoom
