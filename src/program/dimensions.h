// Names nothing yet, but tells which dimension of which value is which: factors (class Factors) are handed through
// a module from operand to result, into fusions, loops and branches, as sharding propagation hands shardings through.
//
// Works on modules before and after optimization; what an instruction does with dimensions follows from its opcode and
// attributes alone, so new ones cost nothing: an unknown opcode passes on what has the shape of its result.
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

// Which dimensions are one and the same: a union-find whose members can be taken apart.
//
// A dimension is a row of factors, major first. At first it is one factor; where a reshape joins two dimensions to one
// or splits one, the factor of the joined dimension is split into two, everywhere at once:
//
//   x: [b, s, d]   y = reshape(x): [n, d]      Equate({n}, {b, s}) splits n into b and s.
class Factors {
 public:
  // A new factor of that size, different from all others so far.
  int Add(std::int64_t size);

  // What `factor` is made of now: representatives, major first.
  std::vector<int> Expand(int factor) const;
  std::vector<int> Expand(const std::vector<int>& factors) const;

  std::int64_t size(int factor) const { return nodes_[factor].size; }
  std::size_t count() const { return nodes_.size(); }

  // What has been said so far cost this many steps.
  std::size_t steps() const { return steps_; }

  // Both rows are the same dimension, or the same dimensions written one after another. False where their sizes cannot
  // be brought together (then what fits from the major side on stays equated).
  bool Equate(const std::vector<int>& a, const std::vector<int>& b);
  bool Equate(int a, int b);

  // The two vary together, whatever their sizes: a slice of a dimension, a padded one, one shard of it.
  void Relate(int a, int b);

  // The same number for factors that are related. Only after all has been said.
  int Family(int factor) const;
  void JoinFamilies();

 private:
  struct Node {
    std::int64_t size = 1;
    int parent = -1;  // -1: represents itself
    int major = -1;   // of a split factor: its two parts
    int minor = -1;
  };
  int Find(int factor) const;
  void Split(int factor, std::int64_t major_size);
  bool BringTogether(int one, int other);
  // The first of what is still to be gone through, last in `open`, where it stays; -1: nothing is left.
  int Next(std::vector<int>* open) const;

  mutable std::vector<Node> nodes_;
  std::vector<std::pair<int, int>> relations_;
  std::size_t steps_ = 0;
  mutable std::vector<int> families_;
};

// How a dot or convolution uses a factor.
struct Product {
  int instruction = 0;
  std::vector<int> batch;       // in both operands and the result: expanded factors
  std::vector<int> left;        // of the left operand and the result only
  std::vector<int> right;       // of the right operand and the result only
  std::vector<int> contracted;  // of both operands, summed over
};

// A loop that runs a known number of times, and reads or writes stacks of that length a step at a time.
struct Loop {
  int instruction = 0;  // the while
  std::int64_t steps = 0;
  int factor = -1;  // the stacks' dimension; -1: it has none
};

class Dimensions {
 public:
  // How many dimensions all results of a module have together: what it costs to tell them apart. It should not be tried
  // of a module with more than kMost; one of 150 layers that are no loop has two million.
  static constexpr std::size_t kMost = 8000000;
  static std::size_t Count(const HloModule& module);

  // Borrows the module, which must outlive this.
  explicit Dimensions(const HloModule& module);

  // The arrays of an instruction's result: one, or those of a tuple, depth first.
  int LeafCount(int instruction) const;
  const ArrayShape& Leaf(int instruction, int leaf) const;
  // Number of the array at "{1}" or "{0,2}" of an instruction's result ("" or "{}": 0 of an array); -1 where that is
  // no array.
  int LeafAt(int instruction, std::string_view index) const;

  // Which array of its operand a get-tuple-element takes; -1 where it takes none.
  int TakenLeaf(const HloInstruction& get_tuple_element) const;

  // Of each dimension of an array its factors, major first; none for a dimension of 1.
  std::vector<std::vector<int>> Of(int instruction, int leaf) const;

  // False where telling them apart would take too long; then only some are known to be the same.
  bool whole() const { return whole_; }

  // How many products of some computations, or among some instructions, have results of which dimensions, sorted.
  std::map<ArrayDims, int> ProductsIn(const std::set<int>& computations, const std::set<int>& instructions = {}) const;

  const Factors& factors() const { return factors_; }
  std::vector<int> FamiliesOf(const std::vector<int>& factors) const;
  int Family(int factor) const { return factors_.Family(factor); }
  const std::vector<Product>& products() const { return products_; }
  const std::vector<Loop>& loops() const { return loops_; }

 private:
  friend class DimensionRules;
  struct Leaves {
    std::vector<int> shapes;  // of arrays, depth first
    std::vector<int> starts;  // of each element of the tuple: its first leaf
  };
  const Leaves& LeavesOf(int shape) const { return leaves_[shape]; }
  void FindLeaves();
  void ApplyRules();
  int Node(int instruction, int leaf, int dim) const;  // the factor made for a dimension

  const HloModule& module_;
  std::vector<Leaves> leaves_;           // by shape
  std::vector<std::vector<int>> first_;  // by instruction and leaf: the factor of its first dimension
  Factors factors_;
  std::vector<Product> products_;
  std::vector<Loop> loops_;
  bool whole_ = true;
};

}  // namespace whyoom
