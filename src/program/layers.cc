#include "program/layers.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "program/op_name.h"

namespace whyoom {

bool LoopPair::IsStacked(const ArrayGroups& dimensions) const {
  return std::any_of(dimensions.begin(), dimensions.end(),
                     [&](const Groups& groups) { return !groups.empty() && groups[0] == group; });
}

namespace {

// By leaf of the forward loop: the leaf of the backward loop that it initializes.
std::vector<std::optional<int>> LeavesPassed(const Program& program, const Loop& forward, const Loop& backward) {
  std::vector<std::optional<int>> carried_to(program.dimensions().LeafCount(forward.instruction));
  for (int leaf = 0; const InstructionId initial = program.InitialElement(backward.instruction, leaf); ++leaf) {
    const HloInstruction& from = program.At(program.Follow(initial, [](const auto& is) {
      return is.Is({"bitcast", "copy", "reshape"});
    }));
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

}  // namespace

std::vector<LoopPair> FindLoopPairs(const Program& program, const Semantics& semantics,
                                    const BufferAssignment& compiled) {
  constexpr std::size_t kMostLoops = 1000;
  std::vector<LoopPair> pairs;
  const std::vector<Loop>& loops = program.dimensions().loops();
  if (loops.size() > kMostLoops) return pairs;  // each loop is compared with each other
  for (const Loop& forward : loops) {
    const bool runs_again = IsRecomputedLoop(program.At(forward.instruction).op_name);
    if (!forward.factor || (!runs_again && !semantics.IsForward(forward.instruction))) continue;
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

namespace {

// Splits "jit(step)/jvp(GPT)/h_3/attn/dot_general" at slashes, without the operation at the end. Unwraps "jvp(block_5)"
// to "block_5".
std::vector<std::string_view> Scopes(std::string_view op_name) {
  std::vector<std::string_view> scopes;
  for (std::size_t begin = 0; begin < op_name.size();) {
    const std::size_t end = std::min(op_name.find('/', begin), op_name.size());
    std::string_view scope = op_name.substr(begin, end - begin);
    begin = end + 1;
    if (end == op_name.size()) break;
    for (std::size_t open = scope.find('('); open != std::string_view::npos; open = scope.find('('))
      scope.remove_prefix(open + 1);
    scope = scope.substr(0, scope.find(')'));
    if (!scope.empty()) scopes.push_back(scope);
  }
  return scopes;
}

// The numbered scopes of an operation, outermost first, as pairs of the path before the number and the number. Limited
// to the outermost eight, because each contains its whole path.
std::vector<std::pair<std::string, int>> Numbered(std::string_view op_name) {
  std::vector<std::pair<std::string, int>> numbered;
  constexpr std::size_t kMostNumbered = 8;
  std::string before;
  for (const std::string_view scope : Scopes(op_name)) {
    std::size_t digits = scope.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(scope[digits - 1])) != 0) --digits;
    before += '/';
    before += scope.substr(0, digits);
    if (digits == scope.size() || scope.size() - digits > 6) continue;
    if (numbered.size() >= kMostNumbered) break;
    numbered.emplace_back(before, std::stoi(std::string(scope.substr(digits))));
  }
  return numbered;
}

constexpr int kDeepest = 8;  // longest chain of copies and views

bool IsCopy(const HloInstruction& is) {
  return is.Is({"get-tuple-element", "bitcast", "copy", "copy-start", "copy-done"});
}

}  // namespace

bool Copies(const Program& program, InstructionId instruction, InstructionId source) {
  const HloInstruction& is = program.At(instruction);
  return IsCopy(is) && !is.operands.empty() && is.operands[0] == source;
}

InstructionId CopiedFrom(const Program& program, InstructionId instruction) {
  return program.Follow(instruction, IsCopy, kDeepest);
}

namespace {

class BlockFinder {
 public:
  BlockFinder(const Program& program, const Semantics& semantics) : program_(program), semantics_(semantics) {
    const HloModule& module = program.module();
    if (!module.entry) return;
    for (const Product& product : program.dimensions().products()) {
      products_.insert(product.instruction);
      of_products_.insert(module.instructions[product.instruction].computation);
    }
    for (const InstructionId i : module.computations[module.entry].instructions) {
      if (program.ScheduledAt(i) < 0) continue;
      if (semantics.IsForward(i)) forward_.push_back(i);
      if (semantics.IsBackward(i) && IsActivation(i)) backward_.push_back(i);
    }
  }

  Blocks Find() const {
    Blocks blocks;
    if (backward_.empty()) return blocks;
    for (const InstructionId i : backward_) blocks.turn = std::min<std::int64_t>(blocks.turn, program_.ScheduledAt(i));
    blocks.list = ByName();
    for (const InstructionId i : forward_) {
      if (MakesProduct(i)) blocks.with_product.insert(i);
    }
    return blocks;
  }

 private:
  static constexpr std::int64_t kSmallest = std::int64_t{1} << 20;
  using Scope = std::pair<std::string, int>;

  Indexed<BlockId, Block> ByName() const {
    std::map<std::string, std::map<int, int>> scopes;  // by path and number: the number of products
    for (const InstructionId i : forward_) {
      for (const auto& [scope, number] : Numbered(OpName(i))) scopes[scope][number] += MakesProduct(i) ? 1 : 0;
    }
    // Layers have similar numbers of products. Of nested scopes, choose the outermost that consists of layers.
    const auto are_layers = [](const std::map<int, int>& products) {
      if (products.size() < 2) return false;
      const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto [least, most] = std::minmax_element(products.begin(), products.end(), by_count);
      return 3 * least->second >= 2 * most->second;
    };
    std::map<Scope, Block> blocks;
    const auto block_of = [&](InstructionId i) -> Block* {
      const Scope* outermost = nullptr;
      const std::vector<Scope> numbered = Numbered(OpName(i));
      for (const Scope& scope : numbered) {
        const auto products = scopes.find(scope.first);
        if (products == scopes.end() || products->second.size() < 2) continue;
        if (outermost == nullptr) outermost = &scope;
        if (are_layers(products->second)) return &blocks[scope];
      }
      return outermost == nullptr ? nullptr : &blocks[*outermost];
    };
    for (const InstructionId i : forward_) {
      if (Block* block = block_of(i)) block->instructions.push_back(i);
    }
    for (const InstructionId i : backward_) {
      if (Block* block = block_of(i))
        block->backward_begin = std::min<std::int64_t>(block->backward_begin, program_.ScheduledAt(i));
    }
    Indexed<BlockId, Block> found;
    for (auto& [scope, block] : blocks) {
      if (!block.instructions.empty()) found.push_back(std::move(block));
    }
    return found;
  }

  bool MakesProduct(InstructionId i) const {
    const HloInstruction& is = program_.At(i);
    return products_.contains(i) || std::any_of(is.calls.begin(), is.calls.end(),
                                                [&](ComputationId call) { return of_products_.contains(call); });
  }

  std::string_view OpName(InstructionId i) const { return program_.At(i).op_name; }

  bool IsActivation(InstructionId i) const {
    const HloInstruction& is = program_.At(i);
    if (is.Is({"get-tuple-element", "bitcast", "tuple"})) return false;
    for (ArrayId array{i, 0}; array.leaf < program_.dimensions().LeafCount(i); ++array.leaf) {
      if (PaddedBytes(program_.ShapeOf(array)).value_or(0) < kSmallest) continue;
      if (!semantics_.batch() || DimensionsWith(program_.dimensions().GroupsOf(array), semantics_.batch()) != 0)
        return true;
    }
    return false;
  }

  const Program& program_;
  const Semantics& semantics_;
  std::vector<InstructionId> forward_;
  std::vector<InstructionId> backward_;  // only large arrays with the batch
  std::set<InstructionId> products_;     // dots and convolutions
  std::set<ComputationId> of_products_;  // computations that contain dots or convolutions
};

}  // namespace

Blocks FindBlocks(const Program& program, const Semantics& semantics) { return BlockFinder(program, semantics).Find(); }

}  // namespace whyoom
