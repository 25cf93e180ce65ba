// Determines which dimensions of different arrays are the same. Propagates factors (class Factors) through a module,
// from operands to results and into fusions, loops and branches, as sharding propagation does with shardings.
//
// Works on modules before and after optimization. The opcode and attributes of an instruction decide how it propagates
// dimensions (dimension_rules.cc). An unknown opcode equates the dimensions of operands that have the result's shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "program/hlo.h"

namespace whyoom {

// An array: the result of an instruction, or an array within a tuple result.
struct ArrayId {
  InstructionId instruction;
  int leaf = -1;  // index among the result's arrays, depth first; -1: not an array, such as a tuple's pointer table

  explicit operator bool() const { return leaf >= 0; }
  friend auto operator<=>(const ArrayId&, const ArrayId&) = default;
};

using FactorId = Index<struct Factor>;
// The factors of one or several dimensions, major first.
using FactorIds = std::vector<FactorId>;

// Dimensions that must have the same size or vary together: a batch and its shards or slices are one group.
using GroupId = Index<struct DimensionGroup>;
// The groups of a dimension's factors, major first.
using Groups = std::vector<GroupId>;
// The groups of each dimension of an array.
using ArrayGroups = std::vector<Groups>;

// The dimensions other than 1, in ascending order: equal for arrays that differ only in the order of dimensions.
ArrayDims SortedDims(ArrayDims dims);

// A union-find over dimensions whose members can be split.
//
// A dimension is a sequence of factors, major first, and begins as one factor. If a reshape merges two dimensions or
// splits one, the factor of the merged dimension is split in two, in all arrays at once:
//
//   x: [b, s, d]   y = reshape(x): [n, d]      Equate({n}, {b, s}) splits n into b and s.
class Factors {
 public:
  // Adds a factor of that size, different from all others.
  FactorId Add(std::int64_t size);

  // The representatives that the factors consist of now, without those of size 1.
  FactorIds Expand(FactorIds factors) const;

  std::int64_t size(FactorId factor) const { return nodes_[factor].size; }
  // The size of the group's representative.
  std::int64_t size(GroupId group) const { return nodes_[FactorId(group.value)].size; }
  FactorId next() const { return nodes_.next_id(); }  // the next factor to be added

  // The cost of all calls so far, in abstract steps.
  std::size_t steps() const { return steps_; }

  // Records that both are the same dimension, or the same sequence of dimensions. Returns false if their sizes
  // disagree; the major factors up to the disagreement stay equated.
  bool Equate(const FactorIds& a, const FactorIds& b);
  bool Equate(FactorId a, FactorId b);

  // Records that the two vary together although their sizes may differ: a slice, a padded dimension, a shard.
  void Relate(FactorId a, FactorId b);

  // Call JoinGroups once, after the last Equate and Relate, and before GroupOf.
  void JoinGroups();
  GroupId GroupOf(FactorId factor) const;

 private:
  struct Node {
    std::int64_t size = 1;
    FactorId parent;  // empty: this is a representative
    FactorId major;   // of a split factor: its two parts
    FactorId minor;
  };
  FactorId Find(FactorId factor) const;
  void Split(FactorId factor, std::int64_t major_size);
  bool UnifyOrSplit(FactorId one, FactorId other);
  // Expands the last factor of `open` to representatives and returns the next of them, or an empty id at the end.
  FactorId Next(FactorIds* open) const;

  mutable Indexed<FactorId, Node> nodes_;
  std::vector<std::pair<FactorId, FactorId>> relations_;
  std::size_t steps_ = 0;
  mutable Indexed<FactorId, FactorId> groups_;
};

// The factors in a dot or convolution, by how it uses them.
struct Product {
  InstructionId instruction;
  FactorIds batch;       // in both operands and the result
  FactorIds left;        // in the left operand and the result
  FactorIds right;       // in the right operand and the result
  FactorIds contracted;  // in both operands, summed over
};

// A loop with a known number of steps. It may read or write stacked arrays of that length one step at a time.
struct Loop {
  InstructionId instruction;  // the while
  std::int64_t steps = 0;
  FactorId factor;  // of the stacked dimension, if there are stacks
  Groups groups;    // of that dimension; empty if there are no stacks
};

// The computation and those that it fuses, directly or indirectly.
std::set<ComputationId> WithFusions(const HloModule& module, ComputationId computation);

struct Dimensions {
  // Larger modules take too long. A module of 150 layers without a loop has two million dimensions.
  static constexpr int kMost = 8000000;

  // Borrows the module.
  explicit Dimensions(const HloModule& module);

  int LeafCount(InstructionId instruction) const { return static_cast<int>(ArraysOf(instruction).shapes.size()); }
  const ArrayShape& ShapeOf(ArrayId array) const {
    return module_.shapes[ArraysOf(array.instruction).shapes[array.leaf]].array;
  }
  // The array at "{1}" or "{0,2}" of a result ("" or "{}": the whole result); an id without a leaf if it is no array.
  ArrayId ArrayAt(InstructionId instruction, std::string_view index) const;

  // The array of its operand that a get-tuple-element returns, if it is an array; nothing for another instruction.
  ArrayId TupleElementOf(const HloInstruction& instruction) const;

  // The factors of each dimension of an array; a dimension of size 1 has none.
  std::vector<FactorIds> FactorsOf(ArrayId array) const;
  ArrayGroups GroupsOf(ArrayId array) const;
  Groups GroupsOf(const FactorIds& ids) const;
  GroupId GroupOf(FactorId factor) const { return factors.GroupOf(factor); }

  Factors factors;
  std::vector<Product> products;
  std::vector<Loop> loops;
  bool whole =
      true;  // false if propagation was stopped because it took too long; then some equal dimensions are unknown

 private:
  friend struct DimensionRules;
  struct Arrays {
    std::vector<int> shapes;  // depth first
    std::vector<int> starts;  // by element of the tuple: the leaf of its first array
  };
  const Arrays& ArraysOf(InstructionId instruction) const { return arrays_[module_.instructions[instruction].shape]; }
  void ApplyRules();
  FactorId FirstFactor(ArrayId array) const { return first_[array.instruction][array.leaf]; }

  const HloModule& module_;
  std::vector<Arrays> arrays_;               // by shape
  Indexed<InstructionId, FactorIds> first_;  // by leaf: the factor of the array's first dimension
};

}  // namespace whyoom
