#include "program/blocks.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "facts/op_name.h"
#include "program/buffer_assignment.h"
#include "program/change.h"

namespace whyoom {
namespace {

// "jit(step)/jvp(GPT)/h_3/attn/dot_general": what stands between the slashes, without the operation at the end;
// "jvp(block_5)" is "block_5".
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

// The numbered scopes of an operation, outermost first: what stands before the number, and the number. Each holds all
// that stands before it, so the innermost of very many are left out.
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

constexpr int kDeepest = 8;  // copies and views of each other

bool IsCopy(const HloInstruction& is) {
  return is.Is({"get-tuple-element", "bitcast", "copy", "copy-start", "copy-done"});
}

}  // namespace

bool Copies(const Program& program, int instruction, int source) {
  const HloInstruction& is = program.At(instruction);
  return IsCopy(is) && !is.operands.empty() && is.operands[0] == source;
}

int CopiedFrom(const Program& program, int instruction) { return program.Follow(instruction, IsCopy, kDeepest); }

namespace {

class BlockFinder {
 public:
  BlockFinder(const Program& program, const Meaning& meaning) : program_(program), meaning_(meaning) {
    const HloModule& module = program.module();
    if (module.entry < 0) return;
    for (const Product& product : program.dimensions().products()) {
      products_.insert(product.instruction);
      of_products_.insert(module.instructions[product.instruction].computation);
    }
    for (const int i : module.computations[module.entry].instructions) {
      if (program.ScheduledAt(i) < 0) continue;
      if (meaning.IsForward(i)) forward_.push_back(i);
      if (meaning.IsBackward(i) && IsActivation(i)) backward_.push_back(i);
    }
    const auto by_position = [&](int a, int b) { return program.ScheduledAt(a) < program.ScheduledAt(b); };
    std::stable_sort(forward_.begin(), forward_.end(), by_position);
    std::stable_sort(backward_.begin(), backward_.end(), by_position);
  }

  Blocks Find() const {
    Blocks blocks;
    if (backward_.empty()) return blocks;
    blocks.turn = program_.ScheduledAt(backward_.front());
    blocks.list = ByName();
    blocks.named = blocks.list.size() >= 2;
    if (!blocks.named) blocks.list = ByCuts(blocks.turn);
    for (const int i : forward_) {
      if (MakesProduct(i)) blocks.with_product.insert(i);
    }
    return blocks;
  }

 private:
  static constexpr std::int64_t kSmallest = std::int64_t{1} << 20;
  using Scope = std::pair<std::string, int>;

  std::vector<Block> ByName() const {
    std::map<std::string, std::map<int, int>> scopes;  // by number, products
    for (const int i : forward_) {
      for (const auto& [scope, number] : Numbered(OpName(i))) scopes[scope][number] += MakesProduct(i) ? 1 : 0;
    }
    // Layers are alike; of scopes in each other the outermost of which that is so.
    const auto are_layers = [](const std::map<int, int>& products) {
      if (products.size() < 2) return false;
      const auto by_count = [](const auto& a, const auto& b) { return a.second < b.second; };
      const auto [least, most] = std::minmax_element(products.begin(), products.end(), by_count);
      return 3 * least->second >= 2 * most->second;
    };
    std::map<Scope, Block> blocks;
    const auto block_of = [&](int i) -> Block* {
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
    for (const int i : forward_) {
      if (Block* block = block_of(i)) block->instructions.push_back(i);
    }
    for (const int i : backward_) {
      if (Block* block = block_of(i))
        block->backward_begin = std::min<std::int64_t>(block->backward_begin, program_.ScheduledAt(i));
    }
    std::vector<Block> found;
    for (auto& [scope, block] : blocks) {
      if (!block.instructions.empty()) found.push_back(std::move(block));
    }
    return found;
  }

  // Cuts the forward pass where one array alone crosses.
  std::vector<Block> ByCuts(std::int64_t turn) const {
    std::map<int, int> crossing;  // after a position, how many more or fewer arrays are still read
    for (const int i : forward_) {
      if (program_.ScheduledAt(i) >= turn || !IsActivation(i)) continue;
      const int last = LastForwardUse(i, turn);
      if (last <= program_.ScheduledAt(i)) continue;
      ++crossing[program_.ScheduledAt(i)];
      --crossing[last];
    }
    std::vector<int> cuts;
    int open = 0;
    for (const auto& [position, change] : crossing) {
      open += change;
      if (open == 1 && change <= 0) cuts.push_back(position);
    }
    std::vector<Block> blocks(1);
    std::size_t next = 0;
    std::map<std::string_view, std::size_t> by_name;
    for (const int i : forward_) {
      const std::string_view name = program_.At(i).name;
      const auto made = by_name.find(OriginalName(name));
      if (made != by_name.end()) blocks[made->second].instructions.push_back(i);  // computed again
      if (made != by_name.end() || program_.ScheduledAt(i) >= turn) continue;
      while (next < cuts.size() && program_.ScheduledAt(i) > cuts[next]) {
        if (!blocks.back().instructions.empty()) blocks.emplace_back();
        ++next;
      }
      by_name[OriginalName(name)] = blocks.size() - 1;
      blocks.back().instructions.push_back(i);
    }
    JoinThoseWithoutProducts(&blocks);
    for (Block& block : blocks) {
      for (const int i : block.instructions)
        block.backward_begin = std::min(block.backward_begin, FirstBackwardUse(i, turn));
    }
    return blocks;
  }

  // Nobody puts a checkpoint round an addition: it goes with the block before.
  void JoinThoseWithoutProducts(std::vector<Block>* blocks) const {
    std::vector<Block> joined;
    for (Block& block : *blocks) {
      const bool has_product =
          std::any_of(block.instructions.begin(), block.instructions.end(), [&](int i) { return MakesProduct(i); });
      if (joined.empty() || has_product) {
        joined.push_back(std::move(block));
      } else {
        std::vector<int>& into = joined.back().instructions;
        into.insert(into.end(), block.instructions.begin(), block.instructions.end());
      }
    }
    *blocks = std::move(joined);
  }

  bool MakesProduct(int i) const {
    const HloInstruction& is = program_.At(i);
    return products_.contains(i) ||
           std::any_of(is.calls.begin(), is.calls.end(), [&](int call) { return of_products_.contains(call); });
  }

  std::string_view OpName(int i) const { return program_.At(i).op_name; }

  bool IsActivation(int i) const {
    const HloInstruction& is = program_.At(i);
    if (is.Is({"get-tuple-element", "bitcast", "tuple"})) return false;
    for (int leaf = 0; leaf < program_.dimensions().LeafCount(i); ++leaf) {
      const std::optional<std::int64_t> bytes = PaddedBytes(program_.dimensions().Leaf(i, leaf));
      if (!bytes || *bytes < kSmallest) continue;
      if (!meaning_.batch() || Occurs(meaning_.RowsOf(i, leaf), meaning_.batch()) > 0) return true;
    }
    return false;
  }

  // The last position before `turn` at which a result is read.
  int LastForwardUse(int i, std::int64_t turn) const {
    int last = -1;
    ForEachReader(i, [&](int user) {
      if (program_.ScheduledAt(user) < turn) last = std::max(last, program_.ScheduledAt(user));
    });
    return last;
  }

  std::int64_t FirstBackwardUse(int i, std::int64_t turn) const {
    std::int64_t first = INT64_MAX;
    ForEachReader(i, [&](int user) {
      if (meaning_.IsBackward(user) && program_.ScheduledAt(user) >= turn)
        first = std::min<std::int64_t>(first, program_.ScheduledAt(user));
    });
    return first;
  }

  // Calls visit(user) for the users of a result and of its copies and views.
  template <class Visit>
  void ForEachReader(int i, const Visit& visit, int depth = 0) const {
    if (depth > kDeepest) return;
    for (const int user : program_.UsersOf(i)) {
      if (Copies(program_, user, i)) {
        ForEachReader(user, visit, depth + 1);
      } else {
        visit(user);
      }
    }
  }

  const Program& program_;
  const Meaning& meaning_;
  std::vector<int> forward_;
  std::vector<int> backward_;  // what has the batch
  std::set<int> products_;     // dots and convolutions
  std::set<int> of_products_;  // computations with any
};

}  // namespace

Blocks FindBlocks(const Program& program, const Meaning& meaning) { return BlockFinder(program, meaning).Find(); }

namespace {

constexpr std::size_t kMostJoined = 8;
constexpr std::int64_t kSmallestKept = std::int64_t{64} << 10;

// A result of the entry computation, with what the compiler computes again of it.
struct Kept {
  int block = -1;  // that makes it; -1: none
  std::vector<std::size_t> values;
  std::int64_t bytes = 0;
  std::int64_t first = INT64_MAX;
  std::int64_t last_of_place = -1;  // with what is written over it in place
  std::int64_t last_forward = -1;   // read by the forward pass of its own block
  std::int64_t first_backward = INT64_MAX;
  std::int64_t last_backward = -1;
  int forward_readers = 0;
  bool is_fused = false;        // into the one that reads it, where nobody else does: it follows from it elementwise
  std::set<int> readers;        // blocks other than its own whose forward pass reads it
  bool reaches_others = false;  // the forward pass outside of any block reads it, or it is handed out
  ArrayDims dims;
};

class BlockRecomputer {
 public:
  BlockRecomputer(const Program& program, const Meaning& meaning, const BufferAssignment& layout, Blocks blocks)
      : program_(program), meaning_(meaning), blocks_(std::move(blocks)), last_of_place_(program.values().size(), -1) {
    for (const Buffer& buffer : layout.buffers()) {
      for (const int v : buffer.values) last_of_place_[v] = buffer.last;
    }
    for (std::size_t b = 0; b < blocks_.list.size(); ++b) {
      for (const int i : blocks_.list[b].instructions) block_of_[i] = static_cast<int>(b);
    }
    Collect();
  }

  void Change(ModifiedProgram* modified) {
    std::vector<std::vector<const Kept*>> replayed(blocks_.list.size());
    const std::map<std::pair<int, ArrayDims>, const Kept*> passed_on = PassedOn();
    for (const Kept& kept : results_) {
      const auto one = passed_on.find({kept.block, kept.dims});
      const bool stays =
          kept.reaches_others || (!kept.readers.empty() && (one == passed_on.end() || one->second == &kept));
      if (stays) {
        KeepInput(kept, modified);
      } else if (kept.block >= 0 && kept.last_backward >= 0) {
        replayed[kept.block].push_back(&kept);
      }
    }
    for (std::size_t b = 0; b < replayed.size(); ++b) Replay(blocks_.list[b], replayed[b], modified);
  }

 private:
  // The result that a block passes on to others, by block and dimensions. It is one array, though the compiler may keep
  // the arrays that it is the sum of.
  std::map<std::pair<int, ArrayDims>, const Kept*> PassedOn() const {
    std::map<std::pair<int, ArrayDims>, const Kept*> passed_on;
    for (const Kept& kept : results_) {
      if (kept.block < 0 || kept.readers.empty() || kept.reaches_others) continue;
      const Kept*& one = passed_on[{kept.block, kept.dims}];
      if (one == nullptr || kept.bytes < one->bytes) one = &kept;
    }
    return passed_on;
  }

  struct Place {
    int block;   // of whose forward pass an instruction is; -1: of none
    bool again;  // as a part of the backward pass
  };
  Place PlaceOf(int instruction) const {
    const auto block = block_of_.find(instruction);
    const std::int64_t position = program_.ScheduledAt(instruction);
    const std::string_view name = program_.At(instruction).name;
    const bool computed_again = OriginalName(name) != name;
    const bool again = block == block_of_.end() || computed_again
                           ? position >= blocks_.turn
                           : position >= blocks_.list[block->second].backward_begin;
    return {block == block_of_.end() ? -1 : block->second, again};
  }

  void Collect() {
    const HloModule& module = program_.module();
    std::map<ComputedArray, Kept> results;
    const auto& values = program_.values();
    for (std::size_t v = 0; v < values.size(); ++v) {
      const ProgramValue& value = values[v];
      if (value.instruction < 0 || value.leaf < 0 || value.first < 0 || value.size < kSmallestKept) continue;
      const AllocationKind kind = program_.AllocationOf(value).kind;
      if (kind == AllocationKind::kArgument || kind == AllocationKind::kConstant) continue;
      const int source = CopiedFrom(program_, value.instruction);
      const HloInstruction& is = program_.InstructionOf(value);
      if (is.computation != module.entry || !meaning_.IsForward(source)) continue;
      Kept& kept = results[OriginalOf(program_, value)];
      kept.values.push_back(v);
      kept.bytes = std::max(kept.bytes, value.size);
      kept.first = std::min(kept.first, value.first);
      kept.last_of_place = std::max({kept.last_of_place, value.last, last_of_place_[v]});
      kept.dims = SortedDims(program_.ShapeOf(value).dims);
      kept.block = std::max(kept.block, PlaceOf(source).block);
    }
    for (auto& [key, kept] : results) {
      for (const std::size_t v : kept.values) FindReaders(values[v].instruction, values[v].leaf, 0, &kept);
      results_.push_back(std::move(kept));
    }
  }

  void FindReaders(int instruction, int leaf, int depth, Kept* kept) const {
    if (depth > 8) return;
    for (const int user : program_.UsersOf(instruction)) {
      const HloInstruction& is = program_.At(user);
      if (is.opcode == "get-tuple-element") {
        if (program_.dimensions().TakenLeaf(is) == leaf) FindReaders(user, 0, depth + 1, kept);
      } else if (Copies(program_, user, instruction)) {
        FindReaders(user, 0, depth + 1, kept);
      } else if (is.opcode == "tuple") {
        kept->reaches_others = true;
      } else {
        ReadBy(user, kept);
      }
    }
  }

  void ReadBy(int user, Kept* kept) const {
    const std::int64_t position = program_.ScheduledAt(user);
    const auto [block, again] = PlaceOf(user);
    if (again || !meaning_.IsForward(user)) {
      if (position < blocks_.turn) return;
      kept->first_backward = std::min(kept->first_backward, position);
      kept->last_backward = std::max(kept->last_backward, position);
    } else if (block < 0) {
      kept->reaches_others = true;
    } else if (block != kept->block) {
      kept->readers.insert(block);
    } else {
      kept->last_forward = std::max(kept->last_forward, position);
      kept->is_fused = ++kept->forward_readers == 1 && FollowsElementwise(user, *kept);
    }
  }

  bool FollowsElementwise(int user, const Kept& kept) const {
    if (program_.dimensions().LeafCount(user) != 1 || blocks_.with_product.contains(user)) return false;
    return SortedDims(program_.dimensions().Leaf(user, 0).dims) == kept.dims;
  }

  // What a block reads from outside has to be there until its forward pass has run again. What is changed in place
  // lives on as what it is then.
  void KeepInput(const Kept& kept, ModifiedProgram* modified) const {
    std::int64_t until = kept.last_of_place;
    for (const int reader : kept.readers) {
      const std::int64_t begin = blocks_.list[reader].backward_begin;
      if (begin < INT64_MAX) until = std::max(until, begin);
    }
    if (until > kept.last_of_place) Add(kept, kept.last_of_place + 1, until, modified);
  }

  static void Add(const Kept& kept, std::int64_t first, std::int64_t last, ModifiedProgram* modified) {
    modified->added.push_back(
        {.size = kept.bytes, .first = first, .last = last, .values = {static_cast<int>(kept.values.front())}});
  }

  // How many products of a block have these dimensions: what follows from a product by elementwise steps is made
  // inside the fusions that use it, once it is made again.
  std::map<ArrayDims, int> ProductsOf(const Block& block) const {
    std::set<int> called;
    for (const int i : block.instructions) called.insert(program_.At(i).calls.begin(), program_.At(i).calls.end());
    return program_.dimensions().ProductsIn(called, {block.instructions.begin(), block.instructions.end()});
  }

  void Replay(const Block& block, std::vector<const Kept*> kept, ModifiedProgram* modified) const {
    if (kept.empty()) return;
    std::sort(kept.begin(), kept.end(), [](const Kept* a, const Kept* b) { return a->first < b->first; });
    const std::int64_t begin = block.backward_begin;
    // Gradients of weights, which the compiler put off while there was no need to make room, follow at once.
    std::int64_t end = INT64_MAX;
    for (const Block& other : blocks_.list) {
      if (other.backward_begin > begin) end = std::min(end, other.backward_begin);
    }
    std::map<ArrayDims, int> products = ProductsOf(block);
    std::map<ArrayDims, int> live_again;
    for (const Kept* value : kept) {
      if (value->first >= begin || value->first_backward > value->last_backward) continue;
      for (const std::size_t v : value->values) modified->sizes[v] = 0;
      if (!value->is_fused) Add(*value, value->first, std::max(value->last_forward, value->first), modified);
      if (live_again[value->dims]++ >= std::max(1, products[value->dims])) continue;
      const std::int64_t back = std::min(begin, value->first_backward);
      Add(*value, back, std::max(back, std::min(end, value->last_backward)), modified);
    }
  }

  const Program& program_;
  const Meaning& meaning_;
  Blocks blocks_;
  std::map<int, int> block_of_;
  std::vector<Kept> results_;
  std::vector<std::int64_t> last_of_place_;  // by value
};

// Several blocks as one.
Blocks Joined(const Blocks& blocks, std::size_t each) {
  Blocks joined = blocks;
  joined.list.clear();
  for (std::size_t b = 0; b < blocks.list.size(); ++b) {
    if (b % each == 0) joined.list.emplace_back();
    Block& into = joined.list.back();
    const Block& block = blocks.list[b];
    into.instructions.insert(into.instructions.end(), block.instructions.begin(), block.instructions.end());
    into.backward_begin = std::min(into.backward_begin, block.backward_begin);
  }
  return joined;
}

}  // namespace

std::optional<ModifiedProgram> Changes::RecomputeBlocks() const {
  const Blocks blocks = FindBlocks(program_, meaning_);
  if (blocks.list.size() < 2) return std::nullopt;
  // What the values that come back would be fused into is not known: that the program needs more is rarely true.
  ModifiedProgram best = AsItIs();
  std::int64_t least = need_;
  // Blocks without a name may be parts of a layer: the user puts the checkpoint where it helps most.
  const std::size_t most = blocks.named ? 1 : std::min(kMostJoined, blocks.list.size() / 2);
  for (std::size_t each = 1; each <= most && !IsStopped(); ++each) {
    ModifiedProgram modified = AsItIs();
    BlockRecomputer(program_, meaning_, compiled_, Joined(blocks, each)).Change(&modified);
    const std::int64_t left = Judge(modified).left_bytes;
    if (left >= least) {
      best.tried += MadeOn(modified);
      continue;
    }
    least = left;
    best = std::move(modified);
  }
  // A checkpoint that is there already may be in the wrong place: what another would save is not known.
  const auto is_recomputed = [](const HloInstruction& is) { return IsRecomputed(is.op_name); };
  const std::vector<HloInstruction>& all = program_.module().instructions;
  if (least == need_ && std::any_of(all.begin(), all.end(), is_recomputed)) return std::nullopt;
  return best;
}

}  // namespace whyoom
