#include "program/dimensions.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <string>

#include "program/dimension_rules.h"

namespace whyoom {

void Dimensions::FindLeaves() {
  // A tuple's shapes are numbered before or after it, so each is worked out when it is first asked for.
  leaves_.resize(module_.shapes.size());
  std::vector<char> state(module_.shapes.size(), 0);  // 1: being worked out, 2: done
  const auto work_out = [&](const auto& self, int shape) -> void {
    char& here = state[static_cast<std::size_t>(shape)];
    if (here != 0) return;
    here = 1;
    const HloShape& is = module_.shapes[static_cast<std::size_t>(shape)];
    Leaves found;
    if (!is.is_tuple) found.shapes.push_back(shape);
    for (const int element : is.elements) {
      self(self, element);
      const Leaves& inner = leaves_[static_cast<std::size_t>(element)];
      found.starts.push_back(static_cast<int>(found.shapes.size()));
      found.shapes.insert(found.shapes.end(), inner.shapes.begin(), inner.shapes.end());
    }
    leaves_[static_cast<std::size_t>(shape)] = std::move(found);
    here = 2;
  };
  for (std::size_t shape = 0; shape < module_.shapes.size(); ++shape) work_out(work_out, static_cast<int>(shape));
}

std::size_t Dimensions::Count(const HloModule& module) {
  std::vector<std::size_t> of_shape;  // elements come before their tuple
  for (const HloShape& shape : module.shapes) {
    std::size_t count = 1 + shape.array.dims.size();
    for (const int element : shape.elements) {
      if (static_cast<std::size_t>(element) < of_shape.size()) count += of_shape[static_cast<std::size_t>(element)];
    }
    of_shape.push_back(count);
  }
  std::size_t count = 0;
  for (const HloInstruction& instruction : module.instructions)
    count += of_shape[static_cast<std::size_t>(instruction.shape)];
  return count;
}

Dimensions::Dimensions(const HloModule& module) : module_(module) {
  FindLeaves();
  first_.resize(module.instructions.size());
  for (std::size_t i = 0; i < module.instructions.size(); ++i) {
    const Leaves& leaves = LeavesOf(module.instructions[i].shape);
    for (const int shape : leaves.shapes) {
      first_[i].push_back(static_cast<int>(factors_.count()));
      for (const std::int64_t dim : module.shapes[static_cast<std::size_t>(shape)].array.dims) factors_.Add(dim);
    }
  }
  DimensionRules(module, this).Apply();
  factors_.JoinFamilies();
}

int Dimensions::LeafCount(int instruction) const {
  return static_cast<int>(LeavesOf(module_.instructions[static_cast<std::size_t>(instruction)].shape).shapes.size());
}

const ArrayShape& Dimensions::Leaf(int instruction, int leaf) const {
  const Leaves& leaves = LeavesOf(module_.instructions[static_cast<std::size_t>(instruction)].shape);
  return module_.shapes[static_cast<std::size_t>(leaves.shapes[static_cast<std::size_t>(leaf)])].array;
}

int Dimensions::LeafAt(int instruction, std::string_view index) const {
  int shape = module_.instructions[static_cast<std::size_t>(instruction)].shape;
  int leaf = 0;
  for (const std::int64_t element : Integers(index)) {
    const HloShape& is = module_.shapes[static_cast<std::size_t>(shape)];
    if (!is.is_tuple || element < 0 || element >= static_cast<std::int64_t>(is.elements.size())) return -1;
    leaf += LeavesOf(shape).starts[static_cast<std::size_t>(element)];
    shape = is.elements[static_cast<std::size_t>(element)];
  }
  return module_.shapes[static_cast<std::size_t>(shape)].is_tuple ? -1 : leaf;
}

int Dimensions::Node(int instruction, int leaf, int dim) const {
  return first_[static_cast<std::size_t>(instruction)][static_cast<std::size_t>(leaf)] + dim;
}

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

}  // namespace whyoom
