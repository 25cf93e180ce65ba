// What people call the parts of a program: the role of each parameter, the name of each dimension, the kind of each
// value. Told from what the user's framework left in the program (the names of arguments, shardings, the path of each
// operation) and from how dimensions are used; what neither tells has no name.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "program/program.h"

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

// A dimension that changes as one: a family of factors.
struct Axis {
  int family = -1;  // -1: there is none
  std::int64_t size = 0;  // of its largest factor, on one device
  explicit operator bool() const { return family >= 0; }
};

class Meaning {
 public:
  // Borrows the program.
  explicit Meaning(const Program& program);

  Role RoleOf(std::size_t parameter) const { return roles_[parameter]; }
  ValueKind KindOf(std::size_t value) const { return kinds_[value]; }
  bool trains() const { return trains_; }  // the program holds a backward pass

  Axis batch() const { return batch_; }
  Axis sequence() const { return sequence_; }
  Axis vocabulary() const { return vocabulary_; }

  // Whether an array has a dimension of the family.
  bool Has(int instruction, int leaf, int family) const;
  int Count(int instruction, int leaf, int family) const;  // dimensions of an array that are of the family
  bool InWeights(int family) const { return weight_families_.contains(family); }
  // Query and key positions of attention: pairs of families, equal for self-attention.
  const std::set<std::pair<int, int>>& attention() const { return attention_; }
  bool IsBackward(int instruction) const;
  bool IsForward(int instruction) const;  // of a program that trains: of the pass whose values the backward pass needs

 private:
  void FindRoles();
  void FindBatch();
  void FindSequence();
  void FindAttention();
  void FindVocabulary();
  void FindKinds();
  std::vector<int> FamiliesOf(int instruction, int leaf) const;
  std::int64_t BytesWith(int family) const;  // of values large enough to matter that have the family
  std::int64_t SizeOf(int family) const;

  const Program& program_;
  std::vector<Role> roles_;
  std::vector<ValueKind> kinds_;
  std::set<int> weight_families_;
  std::set<std::pair<int, int>> attention_;
  Axis batch_;
  Axis sequence_;
  Axis vocabulary_;
  bool trains_ = false;
};

}  // namespace whyoom
