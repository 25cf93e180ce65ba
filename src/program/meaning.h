// What people call the parts of a program: the role of each parameter, the name of each dimension, the kind of each
// value. Told from what the user's framework left in the program (the names of arguments, shardings, the path of each
// operation) and from how dimensions are used; what neither tells has no name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "program/program.h"
#include "rules/rule_set.h"

namespace whyoom {

enum class Role { kWeights, kOptimizerState, kInput, kCache, kOther };

// Kinds of what fills the memory, as in the JSON contract.
enum class ValueKind {
  kWeights,
  kGatheredWeights,
  kOptimizerState,
  kGradients,
  kActivations,
  kLogits,
  kAttentionScores,
  kTemporaries,
  kInputs,
  kOutputs,
  kConstants,
  kUnknown,
};

// A dimension that changes as one: its factors' families, major first. Several where some reshape takes it apart.
struct Axis {
  std::vector<int> families;  // empty: there is none
  std::int64_t size = 0;      // on one device
  explicit operator bool() const { return !families.empty(); }
  friend bool operator==(const Axis&, const Axis&) = default;
};

// The families of each dimension of an array, major first.
using Rows = std::vector<std::vector<int>>;

// Whether a dimension is these families, or has them as a part, in their order.
bool HoldsWhole(const std::vector<int>& row, const std::vector<int>& families);

// How many dimensions of the array are the axis, whole or the part of it that is left where it is spread over several.
int Occurs(const Rows& rows, const Axis& axis);

class Meaning {
 public:
  // Borrows the program. `role_words` are what names of arguments say of their roles.
  Meaning(const Program& program, const RoleWords& role_words);

  // By place in Program::parameters().
  Role RoleOf(std::size_t parameter) const { return roles_[parameter]; }
  bool IsState(std::size_t parameter) const {  // weights or optimizer state
    return roles_[parameter] == Role::kWeights || roles_[parameter] == Role::kOptimizerState;
  }
  ValueKind KindOf(std::size_t value) const { return kinds_[value]; }
  bool trains() const { return trains_; }  // the program holds a backward pass

  // Whether it works on examples with weights that are kept: only then its batch is one as people say it, and not a
  // side of a field or a table of points.
  bool has_examples() const { return trains_ || has_weights_; }

  Axis batch() const { return batch_; }
  Axis sequence() const { return sequence_; }
  Axis vocabulary() const { return vocabulary_; }

  // Of a value, by number in Program::values(); empty for what is no array.
  const Rows& RowsOf(std::size_t value) const { return rows_[value]; }
  Rows RowsOf(int instruction, int leaf) const;
  bool Has(std::size_t value, const Axis& axis) const { return axis && Occurs(rows_[value], axis) > 0; }
  bool IsPerExample(std::size_t value) const { return Has(value, batch_) || Has(value, sequence_); }
  // Whether the trail to the axis may be lost: it does not have it, but a dimension that is none of a weight's nor the
  // batch or the sequence.
  bool MayHave(std::size_t value, const Axis& axis) const;
  bool has_attention() const { return !attention_.empty(); }
  bool IsScores(std::size_t value) const;  // has query and key positions
  bool IsBackward(int instruction) const;
  bool IsForward(int instruction) const;  // of a program that trains: of the pass whose values the backward pass needs

 private:
  void FindRoles(const RoleWords& role_words);
  Role NamedRole(const ProgramParameter& parameter, const RoleWords& role_words, bool is_returned) const;
  // Families; `fed_in`: those that lead an input.
  std::set<int> Features(const std::set<int>& fed_in) const;
  std::set<int> LearnedPositions(const std::set<int>& fed_in) const;
  std::vector<std::vector<int>> FactorsOf(const ProgramParameter& parameter) const;  // by dimension
  void FindBatch();
  void JoinBatches();
  std::vector<Axis> SequenceCandidates() const;
  void FindSequence();
  void FindAttention();
  std::vector<int> Positions(const std::vector<int>& factors) const;
  // The dimensions that a softmax looks for the largest along, and those of the array that it looks in; families.
  std::vector<std::pair<std::vector<int>, Rows>> FindSoftmaxes() const;
  void FindVocabulary();
  void FindWeightDims();
  void FindKinds();
  ValueKind KindOfArgument(const MemoryAllocation& allocation) const;
  ValueKind KindOfArray(const ProgramValue& value) const;
  std::vector<char> FindGathered() const;          // by instruction: made by an all-gather, or a copy or cast of that
  std::int64_t BytesWith(const Axis& axis) const;  // of values large enough to matter that have it
  Axis Restored(const Axis& axis) const;           // where the trail of an axis is lost: one of its size that is not
  Axis MakeAxis(const std::vector<int>& factors) const;
  bool InWeights(const Axis& axis) const;
  bool IsOfWeights(const Rows& rows) const;  // each dimension is one of a weight

  const Program& program_;
  std::vector<Rows> rows_;
  std::vector<int> large_;  // values: arrays that are large enough to matter
  std::vector<Role> roles_;
  std::vector<char> comes_back_;  // of a parameter: an output has its shape, and nothing is trained
  std::vector<ValueKind> kinds_;
  std::set<ArrayDims> weight_dims_;  // sorted: of weights, on a device and whole, and of one layer
  std::vector<char> gathered_;       // by instruction: see FindGathered
  mutable std::map<std::int64_t, std::map<std::vector<int>, std::int64_t>> of_size_;  // what Restored found
  std::set<int> weight_families_;
  std::set<int> stacked_families_;  // of weights with more than two dimensions
  // Families of the positions of queries and of keys, major first; equal for self-attention.
  std::set<std::pair<std::vector<int>, std::vector<int>>> attention_;
  Axis batch_;
  Axis sequence_;
  Axis vocabulary_;
  bool trains_ = false;
  bool has_weights_ = false;
};

}  // namespace whyoom
