#include "program/dimensions.h"

#include <algorithm>
#include <string>
#include <utility>

namespace whyoom {
namespace {

constexpr std::size_t kStepsOfRelation = 16;  // it is kept, and gone through when families are joined
constexpr std::size_t kStepsOfSplit = 8;      // its parts are kept

}  // namespace

int Factors::Add(std::int64_t size) {
  nodes_.push_back({size, -1, -1, -1});
  return static_cast<int>(nodes_.size()) - 1;
}

int Factors::Find(int factor) const {
  int root = factor;
  while (nodes_[root].parent >= 0) root = nodes_[root].parent;
  while (factor != root) {
    int& parent = nodes_[factor].parent;
    factor = std::exchange(parent, root);
  }
  return root;
}

int Factors::Next(std::vector<int>* open) const {
  while (!open->empty()) {
    const int root = Find(open->back());
    const Node& node = nodes_[root];
    if (node.major < 0 && node.size != 1) return root;
    open->pop_back();
    if (node.major < 0) continue;
    open->push_back(node.minor);
    open->push_back(node.major);
  }
  return -1;
}

std::vector<int> Factors::Expand(int factor) const { return Expand(std::vector<int>{factor}); }

std::vector<int> Factors::Expand(const std::vector<int>& factors) const {
  std::vector<int> open(factors.rbegin(), factors.rend());
  std::vector<int> row;
  for (int factor = Next(&open); factor >= 0; factor = Next(&open)) {
    row.push_back(factor);
    open.pop_back();
  }
  return row;
}

void Factors::Split(int factor, std::int64_t major_size) {
  const std::int64_t size = nodes_[factor].size;
  steps_ += kStepsOfSplit;
  const int major = Add(major_size);
  const int minor = Add(size / major_size);
  nodes_[factor].major = major;
  nodes_[factor].minor = minor;
}

bool Factors::BringTogether(int one, int other) {
  if (size(one) == size(other)) {
    nodes_[one].parent = other;
    return true;
  }
  const int larger = size(one) > size(other) ? one : other;
  const std::int64_t part = std::min(size(one), size(other));
  // A dimension without elements is a part of none.
  if (part < 1 || size(larger) % part != 0) return false;
  Split(larger, part);
  return true;
}

bool Factors::Equate(const std::vector<int>& a, const std::vector<int>& b) {
  // Parts are taken from the major side on. A split may show in both rows, so what comes next is looked up after each;
  // sizes only get smaller, so this ends.
  std::vector<int> left(a.rbegin(), a.rend());
  std::vector<int> right(b.rbegin(), b.rend());
  while (true) {
    ++steps_;
    const int one = Next(&left);
    const int other = Next(&right);
    if (one < 0 || other < 0) return one == other;
    if (one == other) {
      left.pop_back();
      right.pop_back();
    } else if (!BringTogether(one, other)) {
      return false;
    }
  }
}

bool Factors::Equate(int a, int b) {
  ++steps_;
  return Find(a) == Find(b) || Equate(std::vector<int>{a}, std::vector<int>{b});
}

void Factors::Relate(int a, int b) {
  steps_ += kStepsOfRelation;
  relations_.emplace_back(a, b);
}

void Factors::JoinFamilies() {
  families_.resize(nodes_.size());
  for (std::size_t i = 0; i < families_.size(); ++i) families_[i] = static_cast<int>(i);
  for (const auto& [a, b] : relations_) {
    std::vector<int> left = Expand(a);
    std::vector<int> right = Expand(b);
    while (!left.empty() && !right.empty() && left.back() == right.back()) left.pop_back(), right.pop_back();
    while (!left.empty() && !right.empty() && left.front() == right.front()) {
      left.erase(left.begin());
      right.erase(right.begin());
    }
    if (left.empty() || right.empty()) continue;
    const auto smaller = [&](int x, int y) { return size(x) < size(y); };
    const int one = Family(*std::max_element(left.begin(), left.end(), smaller));
    const int other = Family(*std::max_element(right.begin(), right.end(), smaller));
    families_[std::max(one, other)] = std::min(one, other);
  }
}

int Factors::Family(int factor) const {
  int family = Find(factor);
  while (families_[family] != family) family = families_[family] = families_[families_[family]];
  return family;
}

void Dimensions::FindLeaves() {
  // A tuple's shapes are numbered before or after it, so each is worked out when it is first asked for.
  leaves_.resize(module_.shapes.size());
  std::vector<char> state(module_.shapes.size(), 0);  // 1: being worked out, 2: done
  const auto work_out = [&](const auto& self, int shape) -> void {
    char& here = state[shape];
    if (here != 0) return;
    here = 1;
    const HloShape& is = module_.shapes[shape];
    Leaves found;
    if (!is.is_tuple) found.shapes.push_back(shape);
    for (const int element : is.elements) {
      self(self, element);
      const Leaves& inner = leaves_[element];
      found.starts.push_back(static_cast<int>(found.shapes.size()));
      found.shapes.insert(found.shapes.end(), inner.shapes.begin(), inner.shapes.end());
    }
    leaves_[shape] = std::move(found);
    here = 2;
  };
  for (std::size_t shape = 0; shape < module_.shapes.size(); ++shape) work_out(work_out, static_cast<int>(shape));
}

std::size_t Dimensions::Count(const HloModule& module) {
  std::vector<std::size_t> of_shape;  // elements come before their tuple
  for (const HloShape& shape : module.shapes) {
    std::size_t count = 1 + shape.array.dims.size();
    for (const int element : shape.elements) {
      if (std::cmp_less(element, of_shape.size())) count += of_shape[element];
    }
    of_shape.push_back(count);
  }
  std::size_t count = 0;
  for (const HloInstruction& instruction : module.instructions) count += of_shape[instruction.shape];
  return count;
}

Dimensions::Dimensions(const HloModule& module) : module_(module) {
  FindLeaves();
  first_.resize(module.instructions.size());
  for (std::size_t i = 0; i < module.instructions.size(); ++i) {
    const Leaves& leaves = LeavesOf(module.instructions[i].shape);
    for (const int shape : leaves.shapes) {
      first_[i].push_back(static_cast<int>(factors_.count()));
      for (const std::int64_t dim : module.shapes[shape].array.dims) factors_.Add(dim);
    }
  }
  ApplyRules();
  factors_.JoinFamilies();
}

int Dimensions::LeafCount(int instruction) const {
  return static_cast<int>(LeavesOf(module_.instructions[instruction].shape).shapes.size());
}

const ArrayShape& Dimensions::Leaf(int instruction, int leaf) const {
  const Leaves& leaves = LeavesOf(module_.instructions[instruction].shape);
  return module_.shapes[leaves.shapes[leaf]].array;
}

int Dimensions::LeafAt(int instruction, std::string_view index) const {
  int shape = module_.instructions[instruction].shape;
  int leaf = 0;
  for (const std::int64_t element : Integers(index)) {
    const HloShape& is = module_.shapes[shape];
    if (!is.is_tuple || element < 0 || element >= static_cast<std::int64_t>(is.elements.size())) return -1;
    leaf += LeavesOf(shape).starts[element];
    shape = is.elements[element];
  }
  return module_.shapes[shape].is_tuple ? -1 : leaf;
}

int Dimensions::Node(int instruction, int leaf, int dim) const { return first_[instruction][leaf] + dim; }

int Dimensions::TakenLeaf(const HloInstruction& get_tuple_element) const {
  if (get_tuple_element.operands.empty()) return -1;
  return LeafAt(get_tuple_element.operands[0],
                "{" + std::string(Attribute(get_tuple_element.attributes, "index")) + "}");
}

std::vector<std::vector<int>> Dimensions::Of(int instruction, int leaf) const {
  std::vector<std::vector<int>> rows;
  const std::size_t rank = Leaf(instruction, leaf).dims.size();
  for (std::size_t dim = 0; dim < rank; ++dim)
    rows.push_back(factors_.Expand(Node(instruction, leaf, static_cast<int>(dim))));
  return rows;
}

std::vector<int> Dimensions::FamiliesOf(const std::vector<int>& factors) const {
  std::vector<int> families = factors_.Expand(factors);
  for (int& factor : families) factor = Family(factor);
  return families;
}

std::map<ArrayDims, int> Dimensions::ProductsIn(const std::set<int>& computations,
                                                const std::set<int>& instructions) const {
  std::map<ArrayDims, int> counts;
  for (const Product& product : products_) {
    if (computations.contains(module_.instructions[product.instruction].computation) ||
        instructions.contains(product.instruction))
      ++counts[SortedDims(Leaf(product.instruction, 0).dims)];
  }
  return counts;
}

}  // namespace whyoom
