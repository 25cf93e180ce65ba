// Finds which dimensions of which arrays are the same: factors (class Factors) are passed through a module from operand
// to result, into fusions, loops and branches, as sharding propagation passes shardings.
//
// Works on modules before and after optimization. What an instruction does with dimensions follows from its opcode and
// attributes alone (dimension_rules.cc); an unknown opcode passes on the dimensions that have the shape of its result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "program/hlo.h"

namespace whyoom {

// An array: an instruction's result or a part of it.
struct ArrayId {
  InstructionId instruction;
  int leaf = -1;  // among the arrays of the result, depth first; -1: not an array, such as a tuple's table of pointers

  explicit operator bool() const { return leaf >= 0; }
  friend auto operator<=>(const ArrayId&, const ArrayId&) = default;
};

using FactorId = Index<struct Factor>;
// A dimension's factors, or those of several dimensions, major first.
using FactorIds = std::vector<FactorId>;

// Dimensions that must have the same size or vary together: a batch and its shards or slices are one group.
using GroupId = Index<struct DimensionGroup>;
// The groups of a dimension's factors, major first.
using Groups = std::vector<GroupId>;
// By dimension of an array.
using ArrayGroups = std::vector<Groups>;

// Which dimensions are one and the same: a union-find whose members can be split.
//
// A dimension is a sequence of factors, major first. It begins as one factor; if a reshape joins two dimensions or
// splits one, the factor of the joined dimension is split into two, everywhere at once:
//
//   x: [b, s, d]   y = reshape(x): [n, d]      Equate({n}, {b, s}) splits n into b and s.
class Factors {
 public:
  // A new factor of that size, different from all others so far.
  FactorId Add(std::int64_t size);

  // What the factors consist of now: representatives, without those of size 1.
  FactorIds Expand(FactorIds factors) const;

  std::int64_t size(FactorId factor) const { return nodes_[factor].size; }
  std::int64_t size(GroupId group) const { return nodes_[FactorId(group.value)].size; }  // of its representative
  FactorId next() const { return nodes_.next_id(); }                                     // that is added next

  // The cost of all calls so far.
  std::size_t steps() const { return steps_; }

  // Both are the same dimension, or the same dimensions written one after another. Returns false if their sizes do not
  // agree; what agrees from the major side on stays equated.
  bool Equate(const FactorIds& a, const FactorIds& b);
  bool Equate(FactorId a, FactorId b);

  // The two vary together, whatever their sizes: a slice of a dimension, a padded one, one shard of it.
  void Relate(FactorId a, FactorId b);

  // Call JoinGroups once, after the last Equate and Relate, and before GroupOf.
  void JoinGroups();
  GroupId GroupOf(FactorId factor) const;

 private:
  struct Node {
    std::int64_t size = 1;
    FactorId parent;  // none: represents itself
    FactorId major;   // of a split factor: its two parts
    FactorId minor;
  };
  FactorId Find(FactorId factor) const;
  void Split(FactorId factor, std::int64_t major_size);
  bool BringTogether(FactorId one, FactorId other);
  // The first of the factors that are still to be visited, last in `open`, where it stays; none if nothing is left.
  FactorId Next(FactorIds* open) const;

  mutable Indexed<FactorId, Node> nodes_;
  std::vector<std::pair<FactorId, FactorId>> relations_;
  std::size_t steps_ = 0;
  mutable Indexed<FactorId, FactorId> groups_;
};

// How a dot or convolution uses a factor.
struct Product {
  InstructionId instruction;
  FactorIds batch;       // in both operands and the result
  FactorIds left;        // of the left operand and the result only
  FactorIds right;       // of the right operand and the result only
  FactorIds contracted;  // of both operands, summed over
};

// A loop that runs a known number of times, and reads or writes stacks of that length one step at a time.
struct Loop {
  InstructionId instruction;  // the while
  std::int64_t steps = 0;
  FactorId factor;  // the stacks' dimension, if there are stacks
};

class Dimensions {
 public:
  // How many dimensions all results of a module have together. Modules with more than kMost take too long; one of 150
  // layers without a loop has two million.
  static constexpr std::size_t kMost = 8000000;
  static std::size_t Count(const HloModule& module);

  // Borrows the module.
  explicit Dimensions(const HloModule& module);

  int LeafCount(InstructionId instruction) const { return static_cast<int>(ArraysOf(instruction).shapes.size()); }
  const ArrayShape& ShapeOf(ArrayId array) const {
    return module_.shapes[ArraysOf(array.instruction).shapes[array.leaf]].array;
  }
  // The array at "{1}" or "{0,2}" of an instruction's result ("" or "{}": the whole result), none if that is no array.
  ArrayId ArrayAt(InstructionId instruction, std::string_view index) const;

  // The array of its operand that a get-tuple-element returns, if it returns an array.
  ArrayId TakenBy(const HloInstruction& get_tuple_element) const;

  // The factors of each dimension of an array; of a dimension of 1 there are none.
  std::vector<FactorIds> FactorsOf(ArrayId array) const;
  ArrayGroups GroupsOf(ArrayId array) const;
  Groups GroupsOf(const FactorIds& factors) const;
  GroupId GroupOf(FactorId factor) const { return factors_.GroupOf(factor); }

  // False if the propagation would have taken too long; then only some equal dimensions are known.
  bool whole() const { return whole_; }

  // How many products of some computations, or among some instructions, have results of which dimensions, sorted.
  std::map<ArrayDims, int> ProductsIn(const std::set<ComputationId>& computations,
                                      const std::set<InstructionId>& instructions = {}) const;

  const Factors& factors() const { return factors_; }
  const std::vector<Product>& products() const { return products_; }
  const std::vector<Loop>& loops() const { return loops_; }

 private:
  friend class DimensionRules;
  struct Arrays {
    std::vector<int> shapes;  // depth first
    std::vector<int> starts;  // of each element of the tuple: its first array
  };
  const Arrays& ArraysOf(InstructionId instruction) const { return arrays_[module_.instructions[instruction].shape]; }
  void FindArrays();
  void ApplyRules();
  FactorId FirstFactor(ArrayId array) const { return first_[array.instruction][array.leaf]; }

  const HloModule& module_;
  std::vector<Arrays> arrays_;               // by shape
  Indexed<InstructionId, FactorIds> first_;  // by leaf: the factor of its first dimension
  Factors factors_;
  std::vector<Product> products_;
  std::vector<Loop> loops_;
  bool whole_ = true;
};

}  // namespace whyoom
