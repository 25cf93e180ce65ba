#include "program/dimensions.h"

#include <algorithm>
#include <string>

namespace whyoom {
namespace {

constexpr std::size_t kStepsOfRelation = 16;  // a relation is stored, and visited again when groups are joined
constexpr std::size_t kStepsOfSplit = 8;      // the two parts are stored

}  // namespace

FactorId Factors::Add(std::int64_t size) {
  nodes_.push_back({size});
  return FactorId(nodes_.size() - 1);
}

FactorId Factors::Find(FactorId factor) const {
  FactorId root = factor;
  while (nodes_[root].parent) root = nodes_[root].parent;
  while (factor != root) factor = std::exchange(nodes_[factor].parent, root);
  return root;
}

FactorId Factors::Next(FactorIds* open) const {
  while (!open->empty()) {
    const FactorId root = Find(open->back());
    const Node& node = nodes_[root];
    if (!node.major && node.size != 1) return root;
    open->pop_back();
    if (node.major) open->insert(open->end(), {node.minor, node.major});
  }
  return {};
}

FactorIds Factors::Expand(FactorIds factors) const {
  std::ranges::reverse(factors);
  FactorIds expanded;
  while (const FactorId factor = Next(&factors)) {
    expanded.push_back(factor);
    factors.pop_back();
  }
  return expanded;
}

void Factors::Split(FactorId factor, std::int64_t major_size) {
  steps_ += kStepsOfSplit;
  const FactorId major = Add(major_size);
  const FactorId minor = Add(size(factor) / major_size);
  nodes_[factor].major = major;
  nodes_[factor].minor = minor;
}

bool Factors::UnifyOrSplit(FactorId one, FactorId other) {
  if (size(one) == size(other)) {
    nodes_[one].parent = other;
    return true;
  }
  const FactorId larger = size(one) > size(other) ? one : other;
  const std::int64_t part = std::min(size(one), size(other));
  // A dimension of size 0 divides no other.
  if (part < 1 || size(larger) % part != 0) return false;
  Split(larger, part);
  return true;
}

bool Factors::Equate(const FactorIds& a, const FactorIds& b) {
  // Match factors from the major side. A split may affect both sides, so look up the next factors after each step.
  // Sizes only decrease, so the loop terminates.
  FactorIds left(a.rbegin(), a.rend());
  FactorIds right(b.rbegin(), b.rend());
  while (true) {
    ++steps_;
    const FactorId one = Next(&left);
    const FactorId other = Next(&right);
    if (!one || !other) return one == other;
    if (one == other) {
      left.pop_back();
      right.pop_back();
    } else if (!UnifyOrSplit(one, other)) {
      return false;
    }
  }
}

bool Factors::Equate(FactorId a, FactorId b) {
  ++steps_;
  const FactorId one = Find(a);
  const FactorId other = Find(b);
  if (one == other) return true;
  // Nearly all pairs: neither is split, and the sizes agree.
  const bool is_simple = !nodes_[one].major && !nodes_[other].major && size(one) != 1 && size(one) == size(other);
  return is_simple ? UnifyOrSplit(one, other) : Equate(FactorIds{a}, FactorIds{b});
}

void Factors::Relate(FactorId a, FactorId b) {
  steps_ += kStepsOfRelation;
  relations_.emplace_back(a, b);
}

void Factors::JoinGroups() {
  for (const FactorId factor : nodes_.ids()) groups_.push_back(factor);
  const auto smaller = [&](FactorId x, FactorId y) { return size(x) < size(y); };
  for (const auto& [a, b] : relations_) {
    FactorIds left = Expand({a});
    FactorIds right = Expand({b});
    if (left.empty() || right.empty()) continue;
    const GroupId one = GroupOf(*std::ranges::max_element(left, smaller));
    const GroupId other = GroupOf(*std::ranges::max_element(right, smaller));
    groups_[FactorId(std::max(one, other).value)] = FactorId(std::min(one, other).value);
  }
}

GroupId Factors::GroupOf(FactorId factor) const {
  FactorId group = Find(factor);
  while (groups_[group] != group) group = groups_[group] = groups_[groups_[group]];
  return GroupId(group.value);
}

std::set<ComputationId> WithFusions(const HloModule& module, ComputationId computation) {
  std::set<ComputationId> found = {computation};
  for (std::vector<ComputationId> open = {computation}; !open.empty();) {
    const std::vector<InstructionId>& instructions = module.computations[open.back()].instructions;
    open.pop_back();
    for (const InstructionId id : instructions) {
      if (module.instructions[id].opcode != "fusion") continue;
      for (const ComputationId call : module.instructions[id].calls) {
        if (found.insert(call).second) open.push_back(call);
      }
    }
  }
  return found;
}

Dimensions::Dimensions(const HloModule& module) : module_(module) {
  for (const HloShape& shape : module_.shapes) {  // elements have smaller numbers than their tuple
    Arrays found;
    if (!shape.is_tuple) found.shapes.push_back(static_cast<int>(arrays_.size()));
    for (const int element : shape.elements) {
      found.starts.push_back(static_cast<int>(found.shapes.size()));
      if (std::cmp_less(element, arrays_.size()))
        found.shapes.insert(found.shapes.end(), arrays_[element].shapes.begin(), arrays_[element].shapes.end());
    }
    arrays_.push_back(std::move(found));
  }
  first_.resize(module.instructions.size());
  for (const InstructionId id : module.instructions.ids()) {
    for (const int shape : ArraysOf(id).shapes) {
      first_[id].push_back(factors.next());
      for (const std::int64_t dim : module.shapes[shape].array.dims) factors.Add(dim);
    }
    whole = whole && factors.next().value <= kMost;
    if (!whole) return;
  }
  ApplyRules();
  factors.JoinGroups();
  for (Loop& loop : loops) {
    if (loop.factor) loop.groups = GroupsOf(FactorIds{loop.factor});
  }
}

ArrayId Dimensions::ArrayAt(InstructionId instruction, std::string_view index) const {
  int shape = module_.instructions[instruction].shape;
  ArrayId array{instruction, 0};
  for (const std::int64_t element : Integers(index)) {
    const HloShape& is = module_.shapes[shape];
    if (!is.is_tuple || element < 0 || std::cmp_greater_equal(element, is.elements.size())) return {instruction};
    array.leaf += arrays_[shape].starts[element];
    shape = is.elements[element];
  }
  return module_.shapes[shape].is_tuple ? ArrayId{instruction} : array;
}

ArrayId Dimensions::TupleElementOf(const HloInstruction& instruction) const {
  if (instruction.opcode != "get-tuple-element" || instruction.operands.empty()) return {};
  return ArrayAt(instruction.operands[0], "{" + std::string(Attribute(instruction.attributes, "index")) + "}");
}

std::vector<FactorIds> Dimensions::FactorsOf(ArrayId array) const {
  std::vector<FactorIds> dims;
  FactorId factor = FirstFactor(array);
  for (std::size_t dim = 0; dim < ShapeOf(array).dims.size(); ++dim, ++factor.value)
    dims.push_back(factors.Expand({factor}));
  return dims;
}

Groups Dimensions::GroupsOf(const FactorIds& ids) const {
  Groups groups;
  for (const FactorId factor : factors.Expand(ids)) groups.push_back(GroupOf(factor));
  return groups;
}

ArrayGroups Dimensions::GroupsOf(ArrayId array) const {
  ArrayGroups groups;
  for (const FactorIds& dimension : FactorsOf(array)) groups.push_back(GroupsOf(dimension));
  return groups;
}

ArrayDims SortedDims(ArrayDims dims) {
  std::erase(dims, 1);
  std::ranges::sort(dims);
  return dims;
}

}  // namespace whyoom
