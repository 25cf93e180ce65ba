// What each kind of instruction does with dimensions; the inside of program/dimensions.h.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "program/dimensions.h"

namespace whyoom {

class DimensionRules {
 public:
  // Borrows both; fills in `dimensions`.
  DimensionRules(const HloModule& module, Dimensions* dimensions) : module_(module), dimensions_(*dimensions) {}

  void Apply();

 private:
  // An array: an instruction's result or a part of it.
  struct Array {
    int instruction = 0;
    int leaf = 0;
  };
  const HloInstruction& At(int instruction) const {
    return module_.instructions[static_cast<std::size_t>(instruction)];
  }
  const ArrayShape& Shape(Array array) const { return dimensions_.Leaf(array.instruction, array.leaf); }
  int Rank(Array array) const { return static_cast<int>(Shape(array).dims.size()); }
  std::int64_t Size(Array array, int dim) const { return Shape(array).dims[static_cast<std::size_t>(dim)]; }
  int Dim(Array array, int dim) const { return dimensions_.Node(array.instruction, array.leaf, dim); }
  // To be asked before each step of what may take many. False once there were too many: the module is not gone through
  // any further.
  bool Look(std::size_t times = 1);

  // Operand number `number` as an array; false where it is absent or a tuple.
  bool Operand(int instruction, std::size_t number, Array* array) const;

  void Same(Array a, int a_dim, Array b, int b_dim);                // equal sizes are equated, others passed over
  void Kin(Array a, int a_dim, Array b, int b_dim);                 // equal sizes are equated, others related
  void SameArrays(Array a, Array b);                                // of equal dimensions
  void Add(Array array, int dim, std::vector<int>* factors) const;  // what is no dimension of the array is passed over
  void SameLeaves(int a, int a_first, int b, int b_first, int count);
  void SameResults(int a, int b);  // all leaves, as far as they pair up

  // An array's dimensions in the order of its layout, major first.
  std::vector<int> InMemory(Array array) const;
  // Whether two arrays of the same bytes differ only in how the dimensions above their tiles are written.
  bool SameTiles(Array a, const std::vector<int>& a_row, Array b, const std::vector<int>& b_row) const;

  void Instruction(int instruction);
  void Elementwise(int instruction);
  void Broadcast(int instruction);
  void Reshape(int instruction);
  void Bitcast(int instruction);
  void Transpose(int instruction);
  void Dot(int instruction);
  void Convolution(int instruction);
  void Reduce(int instruction);
  void Gather(int instruction);
  void Scatter(int instruction);
  void Resized(int instruction);  // slice, pad, reduce-window, collectives: dimension by dimension
  void DynamicSlice(int instruction);
  void DynamicUpdateSlice(int instruction);
  void Concatenate(int instruction);
  void TupleElement(int instruction);
  void Tuple(int instruction);
  void Calls(int instruction);  // fusion, call, async-start: the computation's parameters are the operands
  void While(int instruction);
  std::int64_t Steps(int condition);
  // The factor of what an instruction reads or writes one of `steps` of; -1: it does not.
  int StackedDim(int instruction, std::int64_t steps) const;
  void Stacks(int instruction);  // of a loop: what it reads or writes one step at a time is as long as it runs
  void Conditional(int instruction);
  void Start(int instruction);  // copy-start, all-gather-start, …
  void Done(int instruction);

  const HloModule& module_;
  Dimensions& dimensions_;
  std::size_t looks_ = 0;
};

}  // namespace whyoom
