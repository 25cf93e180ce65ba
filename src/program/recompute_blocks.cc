// jax.checkpoint round each of the layers that follow each other in the program's text: what a layer's backward pass
// reads of its forward pass goes, unless another layer reads it, too; the layer's inputs stay until then, and its
// values come back while its own backward pass runs.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "facts/op_name.h"
#include "program/blocks.h"
#include "program/change.h"

namespace whyoom {
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
  std::vector<std::int64_t> dims;
};

class BlockRecomputer {
 public:
  BlockRecomputer(const Program& program, const Meaning& meaning, const Layout& layout, Blocks blocks)
      : program_(program), meaning_(meaning), blocks_(std::move(blocks)), last_of_place_(program.values().size(), -1) {
    for (const Buffer& buffer : layout.buffers()) {
      for (const int v : buffer.values) last_of_place_[static_cast<std::size_t>(v)] = buffer.last;
    }
    for (std::size_t b = 0; b < blocks_.list.size(); ++b) {
      for (const int i : blocks_.list[b].instructions) block_of_[i] = static_cast<int>(b);
    }
    Collect();
  }

  void Change(Sizes* sizes, std::vector<Buffer>* added) {
    std::vector<std::vector<const Kept*>> replayed(blocks_.list.size());
    // What a block hands on is one array, though the compiler may keep what it is the sum of.
    std::map<std::pair<int, std::vector<std::int64_t>>, const Kept*> handed_on;
    for (const Kept& kept : results_) {
      if (kept.block < 0 || kept.readers.empty() || kept.reaches_others) continue;
      const Kept*& one = handed_on[{kept.block, kept.dims}];
      if (one == nullptr || kept.bytes < one->bytes) one = &kept;
    }
    for (const Kept& kept : results_) {
      const auto one = handed_on.find({kept.block, kept.dims});
      const bool leaves =
          kept.reaches_others || (!kept.readers.empty() && (one == handed_on.end() || one->second == &kept));
      if (leaves) {
        KeepInput(kept, added);
      } else if (kept.block >= 0 && kept.last_backward >= 0) {
        replayed[static_cast<std::size_t>(kept.block)].push_back(&kept);
      }
    }
    for (std::size_t b = 0; b < replayed.size(); ++b) Replay(b, replayed[b], sizes, added);
  }

 private:
  struct Place {
    int block;   // of whose forward pass an instruction is; -1: of none
    bool again;  // as a part of the backward pass
  };
  Place PlaceOf(int instruction) const {
    const auto block = block_of_.find(instruction);
    const std::int64_t position = program_.ScheduledAt(instruction);
    const std::string_view name = program_.module().instructions[static_cast<std::size_t>(instruction)].name;
    const bool computed_again = OriginalName(name) != name;
    const bool again = block == block_of_.end() || computed_again
                           ? position >= blocks_.turn
                           : position >= blocks_.list[static_cast<std::size_t>(block->second)].backward_begin;
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
      const HloInstruction& is = program_.module().instructions[static_cast<std::size_t>(user)];
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

  // What a block reads from outside has to be there until its forward pass has run again; what is changed in place
  // lives on as what it is then.
  void KeepInput(const Kept& kept, std::vector<Buffer>* added) const {
    std::int64_t until = kept.last_of_place;
    for (const int reader : kept.readers) {
      const std::int64_t begin = blocks_.list[static_cast<std::size_t>(reader)].backward_begin;
      if (begin < INT64_MAX) until = std::max(until, begin);
    }
    if (until > kept.last_of_place)
      added->push_back(
          {0, kept.bytes, kept.last_of_place + 1, until, 0, {static_cast<int>(kept.values.front())}, false});
  }

  // How many products of a block have these dimensions: what follows from a product by elementwise steps is made
  // inside the fusions that use it, once it is made anew.
  std::map<std::vector<std::int64_t>, int> ProductsOf(std::size_t block) const {
    std::set<int> inside;
    for (const int i : blocks_.list[block].instructions) {
      const HloInstruction& is = program_.module().instructions[static_cast<std::size_t>(i)];
      inside.insert(is.calls.begin(), is.calls.end());
    }
    std::map<std::vector<std::int64_t>, int> products;
    for (const Product& product : program_.dimensions().products()) {
      const HloInstruction& is = program_.module().instructions[static_cast<std::size_t>(product.instruction)];
      const auto of = block_of_.find(product.instruction);
      if (!inside.contains(is.computation) && (of == block_of_.end() || of->second != static_cast<int>(block)))
        continue;
      ++products[SortedDims(program_.dimensions().Leaf(product.instruction, 0).dims)];
    }
    return products;
  }

  void Replay(std::size_t block, std::vector<const Kept*> kept, Sizes* sizes, std::vector<Buffer>* added) const {
    if (kept.empty()) return;
    std::sort(kept.begin(), kept.end(), [](const Kept* a, const Kept* b) { return a->first < b->first; });
    const std::int64_t begin = blocks_.list[block].backward_begin;
    // Gradients of weights, which the compiler put off while there was no need to make room, follow at once.
    std::int64_t end = INT64_MAX;
    for (const Block& other : blocks_.list) {
      if (other.backward_begin > begin) end = std::min(end, other.backward_begin);
    }
    const std::map<std::vector<std::int64_t>, int> products = ProductsOf(block);
    std::map<std::vector<std::int64_t>, int> taking;
    for (const Kept* value : kept) {
      if (value->first >= begin || value->first_backward > value->last_backward) continue;
      const std::int64_t back = std::min(begin, value->first_backward);
      for (const std::size_t v : value->values) (*sizes)[v] = 0;
      const std::int64_t read = std::max(value->last_forward, value->first);
      if (!value->is_fused)
        added->push_back({0, value->bytes, value->first, read, 0, {static_cast<int>(value->values.front())}, false});
      const auto of = products.find(value->dims);
      if (taking[value->dims]++ >= std::max(1, of == products.end() ? 0 : of->second)) continue;
      added->push_back({0,
                        value->bytes,
                        back,
                        std::max(back, std::min(end, value->last_backward)),
                        0,
                        {static_cast<int>(value->values.front())},
                        false});
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

std::optional<Variant> Changes::RecomputeBlocks() const {
  const Blocks blocks = FindBlocks(program_, meaning_);
  if (blocks.list.size() < 2) return std::nullopt;
  // What the values that come back would be fused into is not known: that the program needs more is rarely true.
  Variant best = AsItIs();
  std::int64_t least = need_;
  // Blocks without a name may be parts of a layer: the user puts the checkpoint where it helps most.
  const std::size_t most = blocks.named ? 1 : std::min(kMostJoined, blocks.list.size() / 2);
  for (std::size_t each = 1; each <= most && !IsStopped(); ++each) {
    Variant variant = AsItIs();
    BlockRecomputer(program_, meaning_, compiled_, Joined(blocks, each)).Change(&variant.sizes, &variant.added);
    const std::int64_t left = Judge(variant).left_bytes;
    if (left >= least) {
      best.tried += MadeOn(variant);
      continue;
    }
    least = left;
    best = std::move(variant);
  }
  // A checkpoint that is there already may be in the wrong place: what another would save is not known.
  const auto is_recomputed = [](const HloInstruction& is) { return IsRecomputed(is.op_name); };
  const std::vector<HloInstruction>& all = program_.module().instructions;
  if (least == need_ && std::any_of(all.begin(), all.end(), is_recomputed)) return std::nullopt;
  return best;
}

}  // namespace whyoom
