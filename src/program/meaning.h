// What people call the parts of a program: the role of each parameter, the name of each dimension, the kind of each
// value. Derived from what the user's framework left in the program (names of arguments, shardings, the path of each
// operation) and from how dimensions are used. What neither shows has no name.
#pragma once

#include <algorithm>
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

// A dimension that changes as a whole: its groups, major first. Several if a reshape splits it somewhere.
struct Axis {
  Groups groups;          // empty: there is no such axis
  std::int64_t size = 0;  // on one device
  explicit operator bool() const { return !groups.empty(); }
  friend bool operator==(const Axis&, const Axis&) = default;
};

// Whether a dimension contains this group, or these groups side by side, in their order.
inline bool Contains(const Groups& dimension, GroupId group) {
  return std::find(dimension.begin(), dimension.end(), group) != dimension.end();
}
bool Contains(const Groups& dimension, const Groups& groups);

// How many dimensions of the array are the axis: whole, or the part that is left if it is spread over several.
int Occurrences(const ArrayGroups& dimensions, const Axis& axis);

class Meaning {
 public:
  // Borrows the program. `role_words` are words in names of arguments that show their roles.
  Meaning(const Program& program, const RoleWords& role_words);

  Role RoleOf(const ProgramParameter& parameter) const { return roles_[parameter.place]; }
  bool IsState(const ProgramParameter& parameter) const {  // weights or optimizer state
    return RoleOf(parameter) == Role::kWeights || RoleOf(parameter) == Role::kOptimizerState;
  }
  ValueKind KindOf(ValueId value) const { return kinds_[value]; }
  bool trains() const { return trains_; }  // the program has a backward pass

  // Whether it works on examples, with weights that are kept: otherwise the batch is not one as people say it, but a
  // side of a field or a table of points.
  bool has_examples() const { return trains_ || has_weights_; }

  Axis batch() const { return batch_; }
  Axis sequence() const { return sequence_; }
  Axis vocabulary() const { return vocabulary_; }

  const ArrayGroups& GroupsOf(ValueId value) const { return groups_[value]; }  // empty unless the value is an array
  ArrayGroups GroupsOf(const ProgramParameter& parameter) const {
    return program_.dimensions().GroupsOf(parameter.array);
  }
  bool Has(ValueId value, const Axis& axis) const { return axis && Occurrences(groups_[value], axis) > 0; }
  bool Has(const ProgramParameter& parameter, const Axis& axis) const {
    return axis && Occurrences(GroupsOf(parameter), axis) > 0;
  }
  bool IsPerExample(ValueId value) const { return Has(value, batch_) || Has(value, sequence_); }
  // Whether the value may have the axis though it is not known to: it has a dimension that is neither a weight's nor
  // the batch or the sequence.
  bool MayHave(ValueId value, const Axis& axis) const;
  bool has_attention() const { return !attention_.empty(); }
  bool IsScores(ValueId value) const;  // has query and key positions
  bool IsBackward(InstructionId instruction) const;
  bool IsForward(InstructionId instruction) const;  // of a pass whose values a backward pass needs

 private:
  void FindRoles(const RoleWords& role_words);
  Role NamedRole(const ProgramParameter& parameter, const RoleWords& role_words, bool is_returned) const;
  std::set<GroupId> Features(const std::set<GroupId>& fed_in) const;
  std::set<GroupId> LearnedPositions(const std::set<GroupId>& fed_in) const;
  void FindBatch();
  void JoinBatches();
  std::vector<Axis> SequenceCandidates() const;
  void FindSequence();
  void FindAttention();
  Groups Positions(const FactorIds& factors) const;
  struct Softmax {
    Groups along;  // it looks for the largest along these dimensions
    ArrayGroups array;
    friend bool operator==(const Softmax&, const Softmax&) = default;
  };
  std::vector<Softmax> FindSoftmaxes() const;
  void FindVocabulary();
  void FindWeightDims();
  void FindKinds();
  ValueKind KindOfArgument(const MemoryAllocation& allocation) const;
  ValueKind KindOfArray(const ProgramValue& value) const;
  void FindGathered();
  std::int64_t BytesWith(const Axis& axis) const;  // of values large enough to matter that have it
  Axis Restored(const Axis& axis) const;           // if its trail is lost, an axis of its size whose trail is not
  Axis MakeAxis(const FactorIds& factors) const;
  bool InWeights(const Axis& axis) const;
  bool IsOfWeights(const ArrayGroups& dimensions) const;  // each dimension is one of a weight

  const Program& program_;
  Indexed<ValueId, ArrayGroups> groups_;
  std::vector<ValueId> large_;    // arrays that are large enough to matter
  std::vector<Role> roles_;       // by parameter
  std::vector<char> comes_back_;  // by parameter: an output has its shape, and nothing is trained
  Indexed<ValueId, ValueKind> kinds_;
  std::set<ArrayDims> weight_dims_;        // sorted: of weights, on a device and whole, and of one layer
  Indexed<InstructionId, char> gathered_;  // made by an all-gather, or a copy or cast of that
  mutable std::map<std::int64_t, std::map<Groups, std::int64_t>> of_size_;  // what Restored found
  std::set<GroupId> weight_groups_;
  std::set<GroupId> stacked_groups_;               // of weights with more than two dimensions
  std::set<std::pair<Groups, Groups>> attention_;  // positions of queries and of keys; equal for self-attention
  Axis batch_;
  Axis sequence_;
  Axis vocabulary_;
  bool trains_ = false;
  bool has_weights_ = false;
};

}  // namespace whyoom
