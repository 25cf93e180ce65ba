// Infers the roles of a program's arguments from their names, and the kinds of values.
#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "program/semantics.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

// Splits the path of a program's argument, "state['opt_state'][0].mu", into words in lower case.
std::vector<std::string> PathWords(const std::string& path) {
  std::vector<std::string> words(1);
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool AnyIn(const std::vector<std::string>& words, const std::set<std::string>& set) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return set.contains(word); });
}

// The role by the name. The name of a tree of arrays (`is_tree`) is weak evidence: "target" is a batch's, or a second
// model.
Role NamedRole(const std::string& path, const std::string& dtype, const RoleWords& role_words, bool may_be_weights,
               bool is_tree) {
  const std::vector<std::string> words = PathWords(path);
  const std::vector<std::string> own(words.begin() + (is_tree && !words.empty() ? 1 : 0), words.end());
  const bool is_weight = AnyIn(words, role_words.weights);
  if (AnyIn(words, role_words.cache)) return Role::kCache;
  if (AnyIn(words, role_words.optimizer_state)) return Role::kOptimizerState;
  if (AnyIn(own, role_words.inputs) && !is_weight) return Role::kInput;
  if (dtype.find('f') == std::string::npos && !(is_weight && IsQuantized(dtype))) return Role::kInput;
  return is_weight || may_be_weights ? Role::kWeights : Role::kOther;
}

}  // namespace

void Semantics::FindRoles(const RoleWords& role_words) {
  const std::vector<ProgramParameter>& parameters = program_.parameters();
  std::set<std::string> returned;  // shapes of outputs
  for (const ProgramOutput& output : program_.outputs()) returned.insert(program_.ShapeOf(output.array).shape);
  std::set<ArrayDims> weights;  // dimensions over all devices
  std::set<std::string> trees;
  std::set<std::string> paths;
  for (const ProgramParameter& parameter : parameters) {
    if (PathWords(parameter.path).size() > 2) trees.insert(parameter.Argument());
    paths.insert(parameter.path);
  }
  for (const ProgramParameter& parameter : parameters) {
    const ArrayShape& shape = program_.ShapeOf(parameter.array);
    const bool is_returned = returned.contains(shape.shape);
    // Adam's second moment "v" comes with the first, "m"; the "v" of attention does not.
    static const Regex second(R"(\bv\b)");
    std::string first = parameter.path;
    const bool is_value = re2::RE2::GlobalReplace(&first, second, "m") > 0 && !paths.contains(first);
    std::string path = parameter.path;
    if (is_value) re2::RE2::GlobalReplace(&path, second, "value");
    roles_.push_back(
        NamedRole(path, shape.dtype, role_words, is_returned && trains_, trees.contains(parameter.Argument())));
    if (roles_.back() == Role::kWeights) weights.insert(parameter.WholeDims(shape.dims));
  }
  for (const ProgramParameter& parameter : parameters) {
    Role& role = roles_[parameter.place];
    const ArrayShape& shape = program_.ShapeOf(parameter.array);
    // Short names ("m", "v") are optimizer state only if weights of the same shape exist.
    if (role == Role::kOptimizerState && shape.dims.size() > 1 && !weights.contains(parameter.WholeDims(shape.dims)) &&
        std::none_of(role_words.optimizer_parts.begin(), role_words.optimizer_parts.end(),
                     [&](const std::string& part) { return Mentions(parameter.path, part); }))
      role = Role::kOther;
  }
}

void Semantics::FindWeightDims() {
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (RoleOf(parameter) != Role::kWeights) continue;
    ArrayDims dims = program_.ShapeOf(parameter.array).dims;
    ArrayDims whole = parameter.WholeDims(dims);
    for (ArrayDims* of : {&dims, &whole}) {
      weight_dims_.insert(SortedDims(*of));
      for (std::size_t d = 0; of->size() > 2 && d < of->size(); ++d) {
        ArrayDims layer = *of;
        layer.erase(layer.begin() + static_cast<std::ptrdiff_t>(d));
        weight_dims_.insert(SortedDims(std::move(layer)));
      }
    }
  }
}

ValueKind Semantics::KindOfArray(const ProgramValue& value) const {
  const InstructionId made_by = value.array.instruction;
  const HloInstruction& is = program_.At(made_by);
  const ArrayGroups& groups = GroupsOf(value.id);
  if (IsScores(value.id)) return ValueKind::kAttentionScores;
  if (IsPerExample(value.id)) {
    if (Has(value.id, vocabulary_)) return ValueKind::kLogits;
    return trains_ && IsForward(made_by) ? ValueKind::kActivations : ValueKind::kTemporaries;
  }
  const bool of_weights = weight_dims_.contains(SortedDims(program_.ShapeOf(value.array).dims));
  const bool has_weight_dims = std::all_of(groups.begin(), groups.end(), [&](const Groups& dimension) {
    return dimension.empty() || AnyIs(dimension, kOfWeights);
  });
  const bool gathers =
      is.opcode.starts_with("all-gather") ||
      ((is.opcode == "fusion" || is.opcode.starts_with("async-")) &&
       std::any_of(is.calls.begin(), is.calls.end(), [&](ComputationId id) { return gathering_.contains(id); }));
  if (gathers && (of_weights || has_weight_dims)) return ValueKind::kGatheredWeights;
  if (of_weights) return IsBackward(made_by) ? ValueKind::kGradients : ValueKind::kTemporaries;
  return trains_ && IsForward(made_by) ? ValueKind::kActivations : ValueKind::kTemporaries;
}

void Semantics::FindKinds() {
  std::map<int, Role> roles;  // by number of the entry computation's parameter: of its last array
  for (const ProgramParameter& parameter : program_.parameters()) roles[parameter.number] = RoleOf(parameter);
  for (const ProgramValue& value : program_.values()) {
    const MemoryAllocation& allocation = program_.AllocationOf(value);
    const bool is_argument = allocation.kind == AllocationKind::kArgument;
    const auto role = roles.find(allocation.parameter);
    ValueKind kind = ValueKind::kInputs;
    if (allocation.kind == AllocationKind::kConstant) {
      kind = ValueKind::kConstants;
    } else if (!value.array || (is_argument && role == roles.end())) {
      kind = ValueKind::kUnknown;
    } else if (!is_argument) {
      kind = KindOfArray(value);
    } else if (role->second == Role::kWeights) {
      kind = ValueKind::kWeights;
    } else if (role->second == Role::kOptimizerState) {
      kind = ValueKind::kOptimizerState;
    }
    kinds_.push_back(kind);
  }
}

}  // namespace whyoom
