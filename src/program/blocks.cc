#include "program/blocks.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "program/layout.h"

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
  return is.opcode == "get-tuple-element" || is.opcode == "bitcast" || is.opcode == "copy" ||
         is.opcode == "copy-start" || is.opcode == "copy-done";
}

class BlockFinder {
 public:
  BlockFinder(const Program& program, const Meaning& meaning) : program_(program), meaning_(meaning) {
    const HloModule& module = program.module();
    if (module.entry < 0) return;
    for (const Product& product : program.dimensions().products()) {
      products_.insert(product.instruction);
      of_products_.insert(module.instructions[static_cast<std::size_t>(product.instruction)].computation);
    }
    for (const int i : module.computations[static_cast<std::size_t>(module.entry)].instructions) {
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
      const int last = LastForwardUse(i, turn, 0);
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
      const std::string_view name = program_.module().instructions[static_cast<std::size_t>(i)].name;
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
        block.backward_begin = std::min(block.backward_begin, FirstBackwardUse(i, turn, 0));
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
    const HloInstruction& is = program_.module().instructions[static_cast<std::size_t>(i)];
    return products_.contains(i) ||
           std::any_of(is.calls.begin(), is.calls.end(), [&](int call) { return of_products_.contains(call); });
  }

  std::string_view OpName(int i) const { return program_.module().instructions[static_cast<std::size_t>(i)].op_name; }

  bool IsActivation(int i) const {
    const HloInstruction& is = program_.module().instructions[static_cast<std::size_t>(i)];
    if (is.opcode == "get-tuple-element" || is.opcode == "bitcast" || is.opcode == "tuple") return false;
    for (int leaf = 0; leaf < program_.dimensions().LeafCount(i); ++leaf) {
      const std::optional<std::int64_t> bytes = PaddedBytes(program_.dimensions().Leaf(i, leaf));
      if (!bytes || *bytes < kSmallest) continue;
      if (!meaning_.batch() || Occurs(meaning_.RowsOf(i, leaf), meaning_.batch()) > 0) return true;
    }
    return false;
  }

  // The last position before `turn` at which a result is read.
  int LastForwardUse(int i, std::int64_t turn, int depth) const {
    int last = -1;
    if (depth > kDeepest) return last;
    for (const int user : program_.UsersOf(i)) {
      if (Copies(program_, user, i))
        last = std::max(last, LastForwardUse(user, turn, depth + 1));
      else if (program_.ScheduledAt(user) < turn)
        last = std::max(last, program_.ScheduledAt(user));
    }
    return last;
  }

  std::int64_t FirstBackwardUse(int i, std::int64_t turn, int depth) const {
    std::int64_t first = INT64_MAX;
    if (depth > kDeepest) return first;
    for (const int user : program_.UsersOf(i)) {
      if (Copies(program_, user, i))
        first = std::min(first, FirstBackwardUse(user, turn, depth + 1));
      else if (meaning_.IsBackward(user) && program_.ScheduledAt(user) >= turn)
        first = std::min<std::int64_t>(first, program_.ScheduledAt(user));
    }
    return first;
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

bool Copies(const Program& program, int instruction, int source) {
  const HloInstruction& is = program.module().instructions[static_cast<std::size_t>(instruction)];
  return IsCopy(is) && !is.operands.empty() && is.operands[0] == source;
}

int CopiedFrom(const Program& program, int instruction) {
  for (int depth = 0; depth < kDeepest; ++depth) {
    const HloInstruction& is = program.module().instructions[static_cast<std::size_t>(instruction)];
    if (!IsCopy(is) || is.operands.empty()) break;
    instruction = is.operands[0];
  }
  return instruction;
}

}  // namespace whyoom
