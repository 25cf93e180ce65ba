#include "program/meaning.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "facts/op_name.h"

namespace whyoom {
namespace {

constexpr std::int64_t kShortestSequence = 16;  // a shorter axis may be a batch of one device

// The words of "state['opt_state'][0].mu['blocks']['wq']", in lower case.
std::vector<std::string> Words(std::string_view path) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

bool AnyOf(const std::vector<std::string>& words, const std::set<std::string>& wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) { return wanted.contains(word); });
}

// Whether a reduction looks for the largest of an array's elements.
bool TakesLargest(const HloModule& module, const HloInstruction& instruction) {
  if (instruction.opcode != "reduce" || instruction.operands.empty() || instruction.calls.empty()) return false;
  const HloComputation& reducer = module.computations[static_cast<std::size_t>(instruction.calls[0])];
  if (reducer.root < 0 || module.ShapeOf(instruction.operands[0]).is_tuple) return false;
  // Of numbers of 64 bits, which are pairs, it is no single operation.
  return module.instructions[static_cast<std::size_t>(reducer.root)].opcode == "maximum" ||
         instruction.op_name.ends_with("reduce_max");
}

// Whether the result is the operand in another place, order or type.
bool Carries(const HloModule& module, const HloInstruction& instruction) {
  static const std::set<std::string_view> kCarriers = {
      "bitcast",           "convert",   "copy",    "copy-start",      "copy-done",
      "get-tuple-element", "transpose", "reshape", "all-gather-done", "async-done"};
  if (kCarriers.contains(instruction.opcode)) return true;
  if (instruction.opcode != "fusion" || instruction.calls.empty()) return false;
  const HloComputation& fused = module.computations[static_cast<std::size_t>(instruction.calls[0])];
  return std::all_of(fused.instructions.begin(), fused.instructions.end(), [&](int at) {
    const std::string_view opcode = module.instructions[static_cast<std::size_t>(at)].opcode;
    return opcode == "parameter" || kCarriers.contains(opcode);
  });
}

constexpr std::int64_t kLargeEnough = std::int64_t{1} << 20;
constexpr std::size_t kMostKinds =
    1000;  // of attention, or of dimensions that are fed in: more are looked for by nobody

}  // namespace

Meaning::Meaning(const Program& program, const RoleWords& role_words) : program_(program) {
  for (const HloInstruction& instruction : program.module().instructions) {
    if (IsGradient(instruction.op_name)) {
      trains_ = true;
      break;
    }
  }
  for (const ProgramValue& value : program.values())
    rows_.push_back(value.leaf < 0 ? Rows() : RowsOf(value.instruction, value.leaf));
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (program.values()[i].leaf >= 0 && program.values()[i].size >= kLargeEnough) large_.push_back(i);
  }
  FindRoles(role_words);
  has_weights_ = std::any_of(roles_.begin(), roles_.end(),
                             [](Role role) { return role == Role::kWeights || role == Role::kCache; });
  FindBatch();
  FindSequence();
  FindAttention();
  FindVocabulary();
  FindWeightDims();
  gathered_ = FindGathered();
  FindKinds();
}

bool Meaning::IsBackward(int instruction) const {
  return IsGradient(program_.module().instructions[static_cast<std::size_t>(instruction)].op_name);
}

bool Meaning::IsForward(int instruction) const {
  const std::string_view name = program_.module().instructions[static_cast<std::size_t>(instruction)].op_name;
  return IsDifferentiated(name) && !IsTransposed(name);
}

Rows Meaning::RowsOf(int instruction, int leaf) const {
  Rows rows = program_.dimensions().Of(instruction, leaf);
  for (std::vector<int>& row : rows) {
    for (int& factor : row) factor = program_.dimensions().Family(factor);
  }
  return rows;
}

bool HoldsWhole(const std::vector<int>& row, const std::vector<int>& families) {
  return std::search(row.begin(), row.end(), families.begin(), families.end()) != row.end();
}

int Occurs(const Rows& rows, const Axis& axis) {
  int whole = 0;
  int parts = 0;
  for (const std::vector<int>& row : rows) {
    if (HoldsWhole(row, axis.families)) {
      ++whole;
    } else if (std::find(row.begin(), row.end(), axis.families.front()) != row.end()) {
      ++parts;
    }
  }
  return whole > 0 ? whole : parts;
}

Axis Meaning::MakeAxis(const std::vector<int>& factors) const {
  Axis axis;
  axis.size = 1;
  for (const int factor : factors) {
    axis.families.push_back(program_.dimensions().Family(factor));
    axis.size *= program_.dimensions().factors().size(factor);
  }
  return axis;
}

bool Meaning::InWeights(const Axis& axis) const {
  return std::any_of(axis.families.begin(), axis.families.end(),
                     [&](int family) { return weight_families_.contains(family); });
}

bool Meaning::IsOfWeights(const Rows& rows) const {
  return std::all_of(rows.begin(), rows.end(), [&](const std::vector<int>& row) {
    return row.empty() || InWeights({row, 0});
  });
}

bool Meaning::MayHave(std::size_t value, const Axis& axis) const {
  const ProgramValue& is = program_.values()[value];
  if (is.leaf < 0 || Has(value, axis) || gathered_[static_cast<std::size_t>(is.instruction)] != 0) return false;
  if (weight_dims_.contains(SortedDims(program_.ShapeOf(is).dims))) return false;
  return std::any_of(rows_[value].begin(), rows_[value].end(), [&](const std::vector<int>& row) {
    if (row.empty() || InWeights({row, 0})) return false;
    return (!batch_ || Occurs({row}, batch_) == 0) && (!sequence_ || Occurs({row}, sequence_) == 0);
  });
}

std::int64_t Meaning::BytesWith(const Axis& axis) const {
  std::int64_t bytes = 0;
  for (const std::size_t i : large_) {
    if (Has(i, axis)) bytes += program_.values()[i].size;
  }
  return bytes;
}

Axis Meaning::Restored(const Axis& axis) const {
  const auto [known, is_new] = of_size_.try_emplace(axis.size);
  std::map<std::vector<int>, std::int64_t>& found = known->second;
  for (const std::size_t i : is_new ? large_ : std::vector<std::size_t>()) {
    const ProgramValue& value = program_.values()[i];
    const ArrayShape& shape = program_.ShapeOf(value);
    for (std::size_t dim = 0; dim < rows_[i].size(); ++dim) {
      if (shape.dims[dim] == axis.size && !InWeights({rows_[i][dim], axis.size})) found[rows_[i][dim]] += value.size;
    }
  }
  Axis best = axis;
  std::int64_t most = 10 * BytesWith(axis);
  for (const auto& [families, bytes] : found) {
    if (bytes <= most) continue;
    most = bytes;
    best.families = families;
  }
  return best;
}

void Meaning::FindRoles(const RoleWords& role_words) {
  const std::vector<ProgramParameter>& parameters = program_.parameters();
  std::map<std::string, int> returned;  // shapes that come back as outputs
  for (const ProgramOutput& output : program_.outputs()) ++returned[program_.ShapeOf(output).shape];
  for (const ProgramParameter& parameter : parameters) {
    const std::vector<std::string> words = Words(parameter.path);
    const ArrayShape& shape = program_.ShapeOf(parameter);
    const bool is_float = shape.dtype.find('f') != std::string::npos;
    Role role = Role::kOther;
    if (AnyOf(words, role_words.cache)) {
      role = Role::kCache;
    } else if (AnyOf(words, role_words.optimizer_state)) {
      role = Role::kOptimizerState;
    } else if (AnyOf(words, role_words.inputs) && !AnyOf(words, role_words.weights)) {
      role = Role::kInput;
    } else if (AnyOf(words, role_words.weights) && is_float) {
      role = Role::kWeights;
    } else if (!is_float) {
      role = Role::kInput;
    } else if (returned[shape.shape] > 0 && trains_) {
      role = Role::kWeights;
    }
    roles_.push_back(role);
    comes_back_.push_back(returned[shape.shape] > 0 && !trains_ && !shape.dims.empty() ? 1 : 0);
  }
  // Short names ("m", "v") are optimizer state only beside weights of the same shape.
  std::set<std::string> weights;
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    if (roles_[i] == Role::kWeights) weights.insert(program_.ShapeOf(parameters[i]).shape);
  }
  std::set<int> fed_in;
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    const Rows rows = RowsOf(parameters[i].instruction, parameters[i].leaf);
    const ArrayShape& shape = program_.ShapeOf(parameters[i]);
    if (roles_[i] == Role::kOptimizerState && shape.dims.size() > 1 && !weights.contains(shape.shape) &&
        !weights.empty() && parameters[i].path.find("opt") == std::string::npos)
      roles_[i] = Role::kOther;
    if (roles_[i] == Role::kInput && !rows.empty()) fed_in.insert(rows[0].begin(), rows[0].end());
  }
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    const Rows rows = RowsOf(parameters[i].instruction, parameters[i].leaf);
    // What has a row for each example is no weight, whatever its name.
    if (roles_[i] == Role::kWeights && !rows.empty() && !rows[0].empty() && fed_in.contains(rows[0].front()))
      roles_[i] = Role::kInput;
    if (roles_[i] != Role::kWeights && roles_[i] != Role::kOptimizerState) continue;
    for (const std::vector<int>& row : rows) {
      weight_families_.insert(row.begin(), row.end());
      if (rows.size() > 2) stacked_families_.insert(row.begin(), row.end());
    }
  }
  for (const int family : LearnedPositions(fed_in)) weight_families_.erase(family);
}

// Dimensions that arrays are multiplied with weights along: summed over, or made by the weight.
std::set<int> Meaning::Features(const std::set<int>& fed_in) const {
  std::set<int> features;
  const Dimensions& dimensions = program_.dimensions();
  const auto families = [&](const std::vector<int>& factors) {
    std::set<int> found;
    for (const int factor : dimensions.factors().Expand(factors)) found.insert(dimensions.Family(factor));
    return found;
  };
  for (const Product& product : dimensions.products()) {
    if (IsBackward(product.instruction) || !product.batch.empty()) continue;
    features.merge(families(product.contracted));
    for (const std::vector<int>* free : {&product.left, &product.right}) {
      std::set<int> of_operand = families(*free);
      const bool has_examples =
          std::any_of(of_operand.begin(), of_operand.end(), [&](int family) { return fed_in.contains(family); });
      if (!has_examples) features.merge(of_operand);
    }
  }
  return features;
}

std::set<int> Meaning::Layers() const {
  std::set<int> layers;
  for (const Loop& loop : program_.dimensions().loops()) {
    if (loop.factor < 0) continue;
    for (const int factor : program_.dimensions().factors().Expand(loop.factor))
      layers.insert(program_.dimensions().Family(factor));
  }
  return layers;
}

// A table of learned positions has a row for each place in the sequence; it is added, never multiplied with, and the
// sequence is no dimension of the weights for that.
std::set<int> Meaning::LearnedPositions(const std::set<int>& fed_in) const {
  constexpr int kTables = 2;  // of an encoder and a decoder
  const std::vector<ProgramParameter>& parameters = program_.parameters();
  std::set<int> features = Features(fed_in);
  features.merge(Layers());
  std::map<int, int> weights;     // by family: how many have it
  std::set<int> beside_features;  // families
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    if (roles_[i] != Role::kWeights) continue;
    std::set<int> of_weight;
    for (const std::vector<int>& row : RowsOf(parameters[i].instruction, parameters[i].leaf))
      of_weight.insert(row.begin(), row.end());
    const bool has_features =
        std::any_of(of_weight.begin(), of_weight.end(), [&](int family) { return features.contains(family); });
    for (const int family : of_weight) {
      ++weights[family];
      if (has_features) beside_features.insert(family);
    }
  }
  std::set<int> positions;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf < 0 || value.size < kLargeEnough) continue;
    for (std::size_t dim = 0; dim < rows_[i].size(); ++dim) {
      const std::vector<int>& row = rows_[i][dim];
      if (program_.ShapeOf(value).dims[dim] < kShortestSequence) continue;
      const bool only_added = std::all_of(row.begin(), row.end(), [&](int family) {
        const auto of = weights.find(family);
        return of != weights.end() && of->second <= kTables && beside_features.contains(family) &&
               !features.contains(family);
      });
      if (only_added) positions.insert(row.begin(), row.end());
    }
  }
  return positions;
}

void Meaning::FindBatch() {
  // The leading dimension of what is fed in that no weight shares; among several the one that most of the memory has.
  const std::vector<ProgramParameter>& parameters = program_.parameters();
  std::int64_t best = -1;
  // First what is called an input and only goes in, then also what comes back, then whatever is left.
  for (const int lenience : {0, 1, 2}) {
    const bool strict = lenience < 2;
    if (best > 0) break;
    std::set<std::pair<std::vector<int>, std::int64_t>> looked_at;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (roles_[i] == Role::kWeights || roles_[i] == Role::kOptimizerState) continue;
      if (lenience == 0 && (roles_[i] != Role::kInput || comes_back_[i] != 0)) continue;
      const std::vector<std::vector<int>> dims =
          program_.dimensions().Of(parameters[i].instruction, parameters[i].leaf);
      if (dims.empty() || dims[0].empty()) continue;  // a scalar, or a batch of 1
      const Axis axis = MakeAxis(dims[0]);
      if (strict && InWeights(axis)) continue;
      if (looked_at.size() >= kMostKinds || !looked_at.emplace(axis.families, axis.size).second) continue;
      const Axis restored = Restored(axis);
      const std::int64_t bytes = BytesWith(restored);
      if (bytes <= best) continue;
      best = bytes;
      batch_ = restored;
    }
  }
  std::size_t lost = 0;
  // Where the trail between two arguments is lost, what is as long as the batch and leads, too, is the batch.
  for (std::size_t i = 0; batch_ && i < parameters.size(); ++i) {
    if (roles_[i] == Role::kWeights || roles_[i] == Role::kOptimizerState) continue;
    const std::vector<std::vector<int>> dims = program_.dimensions().Of(parameters[i].instruction, parameters[i].leaf);
    if (dims.empty() || dims[0].size() != batch_.families.size()) continue;
    const Axis axis = MakeAxis(dims[0]);
    if (axis.size != batch_.size || axis == batch_ || InWeights(axis) || ++lost > kMostKinds) continue;
    of_size_.clear();
    for (Rows& rows : rows_) {
      for (std::vector<int>& row : rows) {
        const auto at = std::search(row.begin(), row.end(), axis.families.begin(), axis.families.end());
        if (at != row.end()) std::copy(batch_.families.begin(), batch_.families.end(), at);
      }
    }
  }
}

void Meaning::FindSequence() {
  // Of the other dimensions that are fed in and that no weight has, or that a loop stacks, the one most of the memory
  // has.
  std::vector<Axis> candidates;
  std::set<std::pair<std::vector<int>, std::int64_t>> looked_at;
  const std::vector<ProgramParameter>& parameters = program_.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (roles_[i] == Role::kWeights || roles_[i] == Role::kOptimizerState) continue;
    const std::vector<std::vector<int>> dims = program_.dimensions().Of(parameters[i].instruction, parameters[i].leaf);
    for (std::size_t dim = 1; dim < dims.size(); ++dim) {
      if (dims[dim].empty() || looked_at.size() >= kMostKinds) continue;
      const Axis axis = MakeAxis(dims[dim]);
      if (looked_at.emplace(axis.families, axis.size).second) candidates.push_back(Restored(axis));
    }
  }
  std::set<std::pair<std::vector<int>, std::int64_t>> stacked;
  for (std::size_t i = 0; i < program_.values().size(); ++i) {
    const ProgramValue& value = program_.values()[i];
    if (value.leaf < 0 || program_.InstructionOf(value).target != "AllocateBuffer") continue;
    const std::vector<std::vector<int>> dims = program_.dimensions().Of(value.instruction, value.leaf);
    if (dims.empty() || dims[0].empty()) continue;
    const Axis axis = MakeAxis(dims[0]);
    if (candidates.size() < 2 * kMostKinds && stacked.emplace(axis.families, axis.size).second)
      candidates.push_back(axis);
  }
  std::int64_t best = 0;
  for (const Axis& axis : candidates) {
    if (axis == batch_ || axis.size < kShortestSequence || InWeights(axis)) continue;
    const std::int64_t bytes = BytesWith(axis);
    if (bytes <= best) continue;
    best = bytes;
    sequence_ = axis;
  }
}

std::vector<std::pair<std::vector<int>, Rows>> Meaning::FindSoftmaxes() const {
  std::vector<std::pair<std::vector<int>, Rows>> softmaxes;
  const HloModule& module = program_.module();
  for (const HloInstruction& instruction : module.instructions) {
    if (softmaxes.size() >= kMostKinds) break;
    if (!TakesLargest(module, instruction)) continue;
    Rows rows = RowsOf(instruction.operands[0], 0);
    std::vector<int> along;
    for (const std::int64_t dim : Integers(Attribute(instruction.attributes, "dimensions"))) {
      if (dim < 0 || dim >= static_cast<std::int64_t>(rows.size())) continue;
      const std::vector<int>& row = rows[static_cast<std::size_t>(dim)];
      along.insert(along.end(), row.begin(), row.end());
    }
    std::pair<std::vector<int>, Rows> softmax{std::move(along), std::move(rows)};
    if (std::find(softmaxes.begin(), softmaxes.end(), softmax) == softmaxes.end())
      softmaxes.push_back(std::move(softmax));
  }
  return softmaxes;
}

void Meaning::FindAttention() {
  // Scores are a product of two activations whose free dimensions, the positions of queries and keys, no weight has;
  // what is summed over is a part of each head. A softmax over the keys follows, or the scope says what it is: else it
  // is another product of pairs, such as one that hands tokens to experts.
  const Dimensions& dimensions = program_.dimensions();
  const std::vector<std::pair<std::vector<int>, Rows>> softmaxes = FindSoftmaxes();
  const auto shares = [](const std::vector<int>& a, const std::vector<int>& b) {
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
  };
  const auto has_softmax = [&](const std::vector<int>& queries, const std::vector<int>& keys) {
    return std::any_of(softmaxes.begin(), softmaxes.end(), [&](const auto& softmax) {
      const auto has_queries = [&](const std::vector<int>& row) { return shares(row, queries); };
      return shares(softmax.first, keys) && std::any_of(softmax.second.begin(), softmax.second.end(), has_queries);
    });
  };
  const auto free_families = [&](const std::vector<int>& row) {
    std::vector<int> found;
    for (const int factor : dimensions.factors().Expand(row)) {
      const int family = dimensions.Family(factor);
      if (std::find(batch_.families.begin(), batch_.families.end(), family) != batch_.families.end()) continue;
      if (weight_families_.contains(family)) return std::vector<int>();
      found.push_back(family);
    }
    return found;
  };
  for (const Product& product : dimensions.products()) {
    if (attention_.size() >= kMostKinds) break;
    if (IsBackward(product.instruction)) continue;
    const std::vector<int> queries = free_families(product.left);
    const std::vector<int> keys = free_families(product.right);
    if (queries.empty() || keys.empty()) continue;
    const std::vector<int> summed = dimensions.factors().Expand(product.contracted);
    const bool over_features = !summed.empty() && std::all_of(summed.begin(), summed.end(), [&](int factor) {
      return weight_families_.contains(dimensions.Family(factor));
    });
    if (!over_features || product.batch.empty() || attention_.contains({queries, keys})) continue;
    const HloInstruction& made = program_.module().instructions[static_cast<std::size_t>(product.instruction)];
    if (IsAttention(made.op_name) || has_softmax(queries, keys)) attention_.insert({queries, keys});
  }
}

bool Meaning::IsScores(std::size_t value) const {
  const auto holds = [&](const std::vector<int>& positions) {
    return std::count_if(rows_[value].begin(), rows_[value].end(),
                         [&](const std::vector<int>& row) { return HoldsWhole(row, positions); });
  };
  return std::any_of(attention_.begin(), attention_.end(), [&](const auto& pair) {
    return pair.first == pair.second ? holds(pair.first) > 1 : holds(pair.first) > 0 && holds(pair.second) > 0;
  });
}

void Meaning::FindVocabulary() {
  // The classes that the loss is taken over: a softmax looks for the largest of them, which nothing does with features.
  // So does a router with its experts; but each of these has a matrix of its own, which the weights of the classes, a
  // row each, do not have.
  const HloModule& module = program_.module();
  for (std::size_t i = 0; i < module.instructions.size(); ++i) {
    const HloInstruction& instruction = module.instructions[i];
    if (!TakesLargest(module, instruction)) continue;
    const int from = instruction.operands[0];
    const std::vector<std::vector<int>> dims = program_.dimensions().Of(from, 0);
    for (const std::int64_t dim : Integers(Attribute(instruction.attributes, "dimensions"))) {
      if (dim < 0 || dim >= static_cast<std::int64_t>(dims.size()) || dims[static_cast<std::size_t>(dim)].empty())
        continue;
      const Axis axis = MakeAxis(dims[static_cast<std::size_t>(dim)]);
      const bool is_stacked = std::any_of(axis.families.begin(), axis.families.end(),
                                          [&](int family) { return stacked_families_.contains(family); });
      if (InWeights(axis) && !is_stacked && axis.size > vocabulary_.size) vocabulary_ = axis;
    }
  }
}

std::vector<char> Meaning::FindGathered() const {
  const HloModule& module = program_.module();
  std::vector<char> gathers(module.computations.size(), 0);  // holds an all-gather
  std::vector<char> gathered(module.instructions.size(), 0);
  for (const HloInstruction& instruction : module.instructions) {
    if (instruction.opcode.starts_with("all-gather")) gathers[static_cast<std::size_t>(instruction.computation)] = 1;
  }
  for (std::size_t i = 0; i < module.instructions.size(); ++i) {
    const HloInstruction& instruction = module.instructions[i];
    const bool calls = instruction.opcode == "fusion" || instruction.opcode.starts_with("async-");
    const bool makes = instruction.opcode.starts_with("all-gather") ||
                       (calls && std::any_of(instruction.calls.begin(), instruction.calls.end(),
                                             [&](int call) { return gathers[static_cast<std::size_t>(call)] != 0; }));
    const bool carries = !instruction.operands.empty() &&
                         gathered[static_cast<std::size_t>(instruction.operands[0])] != 0 &&
                         Carries(module, instruction);
    gathered[i] = makes || carries ? 1 : 0;  // operands stand before their user
  }
  return gathered;
}

void Meaning::FindWeightDims() {
  for (std::size_t i = 0; i < roles_.size(); ++i) {
    if (roles_[i] != Role::kWeights) continue;
    const ProgramParameter& parameter = program_.parameters()[i];
    std::vector<std::int64_t> dims = program_.ShapeOf(parameter).dims;
    std::vector<std::int64_t> whole = dims;
    for (std::size_t d = 0; d < std::min(dims.size(), parameter.shards.size()); ++d)
      whole[d] = dims[d] > INT64_MAX / parameter.shards[d] ? dims[d] : dims[d] * parameter.shards[d];
    for (std::vector<std::int64_t>* of : {&dims, &whole}) {
      weight_dims_.insert(SortedDims(*of));
      for (std::size_t d = 0; of->size() > 2 && d < of->size(); ++d) {
        std::vector<std::int64_t> layer = *of;
        layer.erase(layer.begin() + static_cast<std::ptrdiff_t>(d));
        weight_dims_.insert(SortedDims(std::move(layer)));
      }
    }
  }
}

void Meaning::FindKinds() {
  const auto& values = program_.values();
  kinds_.assign(values.size(), ValueKind::kUnknown);
  std::map<int, std::size_t> of_number;  // the last array of each parameter
  for (std::size_t p = 0; p < roles_.size(); ++p) of_number[program_.parameters()[p].number] = p;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const ProgramValue& value = values[i];
    const MemoryAllocation& allocation = program_.AllocationOf(value);
    ValueKind& kind = kinds_[i];
    if (allocation.kind == AllocationKind::kConstant) {
      kind = ValueKind::kConstants;
      continue;
    }
    if (value.leaf < 0) continue;
    if (allocation.kind == AllocationKind::kArgument) {
      const auto p = of_number.find(allocation.parameter);
      if (p == of_number.end()) continue;
      kind = roles_[p->second] == Role::kWeights          ? ValueKind::kWeights
             : roles_[p->second] == Role::kOptimizerState ? ValueKind::kOptimizerState
                                                          : ValueKind::kInputs;
      continue;
    }
    const int instruction = value.instruction;
    const bool per_example = Has(i, batch_) || Has(i, sequence_);
    const std::vector<std::int64_t> dims = SortedDims(program_.ShapeOf(value).dims);
    if (IsScores(i)) {
      kind = ValueKind::kAttentionScores;
    } else if (per_example && Has(i, vocabulary_)) {
      kind = ValueKind::kLogits;
    } else if (!per_example && gathered_[static_cast<std::size_t>(instruction)] != 0 &&
               (IsOfWeights(rows_[i]) || weight_dims_.contains(dims))) {
      kind = ValueKind::kGatheredWeights;
    } else if (!per_example && weight_dims_.contains(dims)) {
      kind = IsBackward(instruction) ? ValueKind::kGradients : ValueKind::kTemporaries;
    } else if (trains_ && IsForward(instruction)) {
      kind = ValueKind::kActivations;
    } else {
      kind = ValueKind::kTemporaries;
    }
  }
}

}  // namespace whyoom
