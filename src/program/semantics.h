// Infers roles of parameters, names of dimensions and kinds of values. The evidence is argument names, shardings and op
// names from the user's framework, and how dimensions are used. Without evidence the result is unknown.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "program/program.h"
#include "rules/rule_set.h"

namespace whyoom {

enum class Role { kWeights, kOptimizerState, kInput, kCache, kOther };

// The kinds of memory in the JSON contract, except padding and fragmentation.
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
  kConstants,
  kUnknown,
};

// A dimension that is resized as a whole: its groups, major first. Several groups if a reshape splits it somewhere.
struct Axis {
  Groups groups;          // empty if there is no such axis
  std::int64_t size = 0;  // on one device
  GroupId longest = {};   // the group of the longest factor, which slices and gathered copies of the axis have
  explicit operator bool() const { return !groups.empty(); }
  friend bool operator==(const Axis&, const Axis&) = default;
};

// Values of the same shape, size and dimensions. A program has many times more values, since its layers are alike.
struct ValueClass {
  const ArrayShape* shape = nullptr;  // null: not an array
  ArrayGroups groups;
  std::int64_t size = 0;   // of each value
  std::int64_t count = 0;  // of values
};
using ClassId = Index<ValueClass>;

// Whether a dimension contains this group, or these groups consecutively.
inline bool Contains(const Groups& dimension, GroupId group) {
  return std::ranges::find(dimension, group) != dimension.end();
}
bool Contains(const Groups& dimension, const Groups& groups);

// The dimensions of the array that are the axis (none if it is empty): a bit for each. They contain the whole axis, or
// are a slice or a gathered copy of it.
std::uint32_t DimensionsWith(const ArrayGroups& dimensions, const Axis& axis);
static_assert(kMaxRank <= 32);

struct Semantics {
  Role RoleOf(const ProgramParameter& parameter) const { return roles[parameter.place]; }
  bool IsState(const ProgramParameter& parameter) const {  // weights or optimizer state
    return RoleOf(parameter) == Role::kWeights || RoleOf(parameter) == Role::kOptimizerState;
  }
  ValueKind KindOf(ValueId value) const { return kinds[value]; }

  // Whether the program processes independent examples with weights. If not, the dimension found as the batch is not a
  // batch in the usual sense, but for example a side of a field or the length of a table of points.
  bool has_examples() const { return trains || has_weights; }

  const ArrayGroups& GroupsOf(ValueId value) const { return classes[class_of[value]].groups; }
  const ArrayGroups& GroupsOf(const ProgramParameter& parameter) const { return parameter_groups[parameter.place]; }
  // The dimensions that are the axis, or whose size the program computes from it: a bit for each.
  std::uint32_t DimensionsOf(const ArrayGroups& array, const Axis& axis) const;
  std::uint32_t DimensionsOf(ValueId value, const Axis& axis) const { return DimensionsOf(GroupsOf(value), axis); }
  bool Has(ValueId value, const Axis& axis) const { return DimensionsOf(value, axis) != 0; }
  bool Has(const ProgramParameter& parameter, const Axis& axis) const {
    return DimensionsWith(GroupsOf(parameter), axis) != 0;
  }
  // False if the sequence is a side of images or fields rather than positions of tokens.
  bool is_of_tokens() const;
  bool IsPerExample(ValueId value) const { return Has(value, batch) || Has(value, sequence); }
  bool has_attention() const { return !attention.empty(); }
  bool IsScores(ValueId value) const;  // has query and key positions: attention scores
  bool IsBackward(InstructionId instruction) const { return IsGradient(program.At(instruction).op_name); }
  // In a pass whose values a backward pass uses.
  bool IsForward(InstructionId instruction) const {
    const std::string_view name = program.At(instruction).op_name;
    return IsDifferentiated(name) && !IsTransposed(name);
  }

  const Program& program;
  Indexed<ClassId, ValueClass> classes;
  Indexed<ValueId, ClassId> class_of;
  std::vector<ArrayGroups> parameter_groups;
  std::vector<Role> roles;  // by parameter
  Indexed<ValueId, ValueKind> kinds;
  std::set<GroupId> slots;                        // of experts: their number is computed from that of the tokens
  std::set<std::pair<Groups, Groups>> attention;  // groups of query and key positions; equal for self-attention
  Axis batch;
  Axis sequence;
  Axis vocabulary;
  bool trains = false;       // has a backward pass
  bool has_weights = false;  // or a cache
};

// Borrows the program. `role_words` are words in argument names that identify roles.
Semantics FindSemantics(const Program& program, const RoleWords& role_words);

}  // namespace whyoom
