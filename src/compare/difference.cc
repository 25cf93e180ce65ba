#include "compare/difference.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

namespace whyoom {
namespace {

constexpr std::int64_t kLanes = 128;  // a dimension that is no multiple is padded to one

std::int64_t BytesOf(const Written& program, const ProgramParameter& parameter) {
  return UnpaddedBytes(program.program().ShapeOf(parameter)).value_or(0);
}

bool IsState(Role role) { return role == Role::kWeights || role == Role::kOptimizerState; }

// What a dimension of an argument is, as far as its user's program tells.
enum class AxisKind { kBatch, kSequence, kWidth, kData };

AxisKind KindOf(const Written& program, std::size_t number, std::size_t dim) {
  const Meaning& meaning = program.meaning();
  const ProgramParameter& parameter = program.program().parameters()[number];
  if (IsState(meaning.RoleOf(number))) return AxisKind::kWidth;
  const Rows rows = meaning.RowsOf(parameter.instruction, parameter.leaf);
  const auto is = [&](const Axis& axis) {
    return axis && std::search(rows[dim].begin(), rows[dim].end(), axis.families.begin(), axis.families.end()) !=
                       rows[dim].end();
  };
  if (dim >= rows.size()) return AxisKind::kData;
  if (is(meaning.batch())) return AxisKind::kBatch;
  if (is(meaning.sequence())) return AxisKind::kSequence;
  // The ids of tokens: their second dimension is a position, also where weights have one for each position.
  const ArrayShape& shape = program.program().ShapeOf(parameter);
  const bool ids = shape.dtype.find('f') == std::string::npos && shape.dims.size() == 2 && dim == 1;
  const bool one_dimension_only = rows[dim].size() == 1;
  return ids && one_dimension_only && meaning.vocabulary() ? AxisKind::kSequence : AxisKind::kData;
}

// A dimension that has one length before and another after, in however many arguments.
struct AxisChange {
  std::vector<ArgumentPair> arguments;
  std::set<AxisKind> kinds;
  bool fed_in = false;  // some are inputs or caches by their names
};

using Lengths = std::pair<std::int64_t, std::int64_t>;

class Arguments {
 public:
  Arguments(const Written& before, const Written& after)
      : before_(before), after_(after), pairs_(MatchArguments(before, after)) {}

  std::vector<Difference> Compare() {
    CollectAxes();
    Data();
    Width();
    Layers();
    Layout();
    Labels();
    Split();
    return std::move(found_);
  }

 private:
  const ProgramParameter& Before(const ArgumentPair& pair) const { return before_.program().parameters()[pair.before]; }
  const ProgramParameter& After(const ArgumentPair& pair) const { return after_.program().parameters()[pair.after]; }
  const ArgumentPair& Largest(const std::vector<ArgumentPair>& pairs) const {
    return *std::max_element(pairs.begin(), pairs.end(), [&](const auto& a, const auto& b) {
      return BytesOf(before_, Before(a)) < BytesOf(before_, Before(b));
    });
  }
  // That the arguments show it, by the largest of them.
  void Show(const std::vector<ArgumentPair>& pairs, Difference* difference) const {
    const ArgumentPair& largest = Largest(pairs);
    difference->arrays = static_cast<std::int64_t>(pairs.size());
    difference->facts["array"] = Before(largest).path;
    difference->facts["shape_before"] = before_.program().ShapeOf(Before(largest)).shape;
    difference->facts["shape_after"] = after_.program().ShapeOf(After(largest)).shape;
  }

  void CollectAxes();
  void Data();
  std::string Classify(const Lengths& lengths, const AxisChange& change) const;
  void Width();
  void Layers();
  void Layout();
  void Labels();
  void Split();

  const Written& before_;
  const Written& after_;
  std::vector<ArgumentPair> pairs_;
  std::map<Lengths, AxisChange> axes_;
  std::vector<ArgumentPair> labels_;    // one-hot before, numbers now
  std::vector<ArgumentPair> reshaped_;  // as many elements in other dimensions
  std::vector<Difference> found_;
};

// Whether a row of as many numbers as there are classes became the number of one class.
bool TakesNumbers(const ArrayShape& one, const ArrayShape& other) {
  constexpr std::int64_t kClasses = 128;
  return one.dims.size() == other.dims.size() + 1 && one.dims.back() >= kClasses &&
         std::equal(other.dims.begin(), other.dims.end(), one.dims.begin()) &&
         other.dtype.find('f') == std::string::npos;
}

void Arguments::CollectAxes() {
  for (const ArgumentPair& pair : pairs_) {
    const ArrayShape& one = before_.program().ShapeOf(Before(pair));
    const ArrayShape& other = after_.program().ShapeOf(After(pair));
    if (one.dims == other.dims) continue;
    if (ElementCount(one) == ElementCount(other)) {
      reshaped_.push_back(pair);
      continue;
    }
    if (TakesNumbers(one, other)) labels_.push_back(pair);
    if (one.dims.size() != other.dims.size()) continue;
    for (std::size_t dim = 0; dim < one.dims.size(); ++dim) {
      if (one.dims[dim] == other.dims[dim]) continue;
      AxisChange& change = axes_[{one.dims[dim], other.dims[dim]}];
      change.arguments.push_back(pair);
      const Role role = before_.meaning().RoleOf(pair.before);
      change.fed_in = change.fed_in || role == Role::kInput || role == Role::kCache;
      for (const AxisKind kind : {KindOf(before_, pair.before, dim), KindOf(after_, pair.after, dim)}) {
        if (kind != AxisKind::kData) change.kinds.insert(kind);
      }
    }
  }
}

// Which change it is; empty where that cannot be told.
std::string Arguments::Classify(const Lengths& lengths, const AxisChange& change) const {
  std::set<AxisKind> kinds = change.kinds;
  if (kinds.contains(AxisKind::kBatch) || kinds.contains(AxisKind::kSequence)) kinds.erase(AxisKind::kWidth);
  if (kinds.size() != 1) return "";
  // What is neither fed in nor trained on is a state, such as the points of a grid.
  if (!before_.meaning().trains() && !change.fed_in && !kinds.contains(AxisKind::kWidth)) return "";
  if (kinds.contains(AxisKind::kBatch)) return "half_batch";
  if (kinds.contains(AxisKind::kSequence)) return "half_sequence";
  const bool rounded = lengths.first % kLanes != 0 && lengths.second % kLanes == 0 &&
                       std::abs(lengths.second - lengths.first) < kLanes &&
                       std::abs(lengths.second - lengths.first) < lengths.first / 4;
  return rounded ? "no_tiny_dimensions" : "smaller_model";
}

// Dimensions of what is fed in. What changed by the same ratio is made of the same.
void Arguments::Data() {
  std::map<std::pair<std::string, double>, std::pair<Difference, std::vector<ArgumentPair>>> by_ratio;
  for (const auto& [lengths, change] : axes_) {
    const std::string name = Classify(lengths, change);
    if (name == "smaller_model" || name == "no_tiny_dimensions") continue;
    const double ratio =
        static_cast<double>(lengths.second) / static_cast<double>(std::max<std::int64_t>(1, lengths.first));
    auto& [difference, arguments] = by_ratio[{name, ratio}];
    arguments.insert(arguments.end(), change.arguments.begin(), change.arguments.end());
    if (difference.from && *difference.from >= lengths.first) continue;
    difference.change = name;
    difference.from = lengths.first;
    difference.to = lengths.second;
  }
  // A dimension without a name that changed as the batch did is made of it.
  for (auto entry = by_ratio.begin(); entry != by_ratio.end();) {
    const auto named = std::find_if(by_ratio.begin(), by_ratio.end(), [&](const auto& other) {
      return !other.first.first.empty() && other.first.second == entry->first.second;
    });
    const bool joins = entry->first.first.empty() && named != by_ratio.end();
    if (joins) {
      auto& more = named->second.second;
      more.insert(more.end(), entry->second.second.begin(), entry->second.second.end());
    }
    entry = joins ? by_ratio.erase(entry) : std::next(entry);
  }
  for (auto& [key, value] : by_ratio) {
    auto& [difference, arguments] = value;
    Show(arguments, &difference);
    difference.undone = !difference.change.empty() && *difference.to > *difference.from;
    found_.push_back(std::move(difference));
  }
}

void Arguments::Width() {
  for (const char* name : {"smaller_model", "no_tiny_dimensions"}) {
    Difference difference;
    std::vector<ArgumentPair> arguments;
    std::int64_t most = -1;
    for (const auto& [lengths, change] : axes_) {
      if (Classify(lengths, change) != name) continue;
      std::int64_t bytes = 0;
      for (const ArgumentPair& pair : change.arguments) bytes += BytesOf(before_, Before(pair));
      arguments.insert(arguments.end(), change.arguments.begin(), change.arguments.end());
      if (bytes <= most) continue;
      most = bytes;
      difference.change = name;
      difference.from = lengths.first;
      difference.to = lengths.second;
    }
    if (arguments.empty()) continue;
    Show(arguments, &difference);
    difference.undone = difference.change == "smaller_model" && *difference.to > *difference.from;
    found_.push_back(std::move(difference));
  }
}

// Weights of one program that the other has not, while it has nothing of its own.
void Arguments::Layers() {
  const auto lacks = [&](const Written& one, bool first, std::vector<const ProgramParameter*>* gone) {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < one.program().parameters().size(); ++i) {
      const bool matched = std::any_of(pairs_.begin(), pairs_.end(), [&](const ArgumentPair& pair) {
        return (first ? pair.before : pair.after) == i;
      });
      if (matched || one.meaning().RoleOf(i) != Role::kWeights) continue;
      gone->push_back(&one.program().parameters()[i]);
      bytes += BytesOf(one, *gone->back());
    }
    return bytes;
  };
  std::vector<const ProgramParameter*> gone;
  std::vector<const ProgramParameter*> added;
  const std::int64_t less = lacks(before_, true, &gone);
  const std::int64_t more = lacks(after_, false, &added);
  if (pairs_.empty() || gone.empty() == added.empty() || less + more < kLargeBytes) return;
  const std::vector<const ProgramParameter*>& weights = gone.empty() ? added : gone;
  Difference difference;
  difference.change = "smaller_model";
  difference.arrays = static_cast<std::int64_t>(weights.size());
  difference.facts["array"] = weights.front()->path;
  difference.undone = gone.empty();
  found_.push_back(std::move(difference));
}

// The same elements in other dimensions, of what is large.
void Arguments::Layout() {
  std::vector<ArgumentPair> large;
  for (const ArgumentPair& pair : reshaped_) {
    const ArrayShape& one = before_.program().ShapeOf(Before(pair));
    const ArrayShape& other = after_.program().ShapeOf(After(pair));
    if (UnpaddedBytes(one).value_or(0) < kLargeBytes || one.dims.empty() || other.dims.empty()) continue;
    if (one.dims.back() % kLanes != 0 && other.dims.back() % kLanes == 0) large.push_back(pair);
  }
  if (large.empty()) return;
  Difference difference;
  difference.change = "no_tiny_dimensions";
  difference.facts["is_reshaped"] = true;
  difference.from = before_.program().ShapeOf(Before(large[0])).dims.back();
  difference.to = after_.program().ShapeOf(After(large[0])).dims.back();
  Show(large, &difference);
  found_.push_back(std::move(difference));
}

void Arguments::Labels() {
  if (labels_.empty()) return;
  Difference difference;
  difference.change = "labels_as_numbers";
  Show(labels_, &difference);
  found_.push_back(std::move(difference));
}

std::int64_t Parts(const ProgramParameter& parameter) {
  std::int64_t parts = 1;
  for (const std::int64_t shards : parameter.shards) parts *= std::max<std::int64_t>(1, shards);
  return parts;
}

void Arguments::Split() {
  const int devices = before_.program().partitions();
  const int devices_after = after_.program().partitions();
  std::vector<ArgumentPair> split;
  std::vector<ArgumentPair> joined;
  for (const ArgumentPair& pair : pairs_) {
    const std::int64_t parts = Parts(Before(pair));
    const std::int64_t parts_after = Parts(After(pair));
    if (parts_after != parts) (parts_after > parts ? split : joined).push_back(pair);
  }
  if (devices == devices_after && (split.empty() == joined.empty())) return;
  Difference difference;
  difference.undone = devices == devices_after ? split.empty() : devices_after < devices;
  const std::vector<ArgumentPair>& changed = difference.undone ? joined : split;
  difference.change = devices != devices_after && std::min(devices, devices_after) > 1 ? "more_devices" : "shard";
  difference.arrays = static_cast<std::int64_t>(changed.size());
  if (devices != devices_after) {
    difference.from = devices;
    difference.to = devices_after;
  }
  if (!changed.empty()) {
    const ArgumentPair& largest = Largest(changed);
    difference.facts["array"] = After(largest).path;
    difference.facts["parts_before"] = static_cast<double>(Parts(Before(largest)));
    difference.facts["parts_after"] = static_cast<double>(Parts(After(largest)));
  }
  found_.push_back(std::move(difference));
}

}  // namespace

std::vector<ArgumentPair> MatchArguments(const Written& before, const Written& after) {
  const auto& one = before.program().parameters();
  const auto& other = after.program().parameters();
  std::map<std::string_view, std::vector<std::size_t>> by_path;
  for (std::size_t i = 0; i < other.size(); ++i) by_path[other[i].path].push_back(i);
  std::map<std::string_view, int> times;
  for (const ProgramParameter& parameter : one) ++times[parameter.path];
  std::vector<ArgumentPair> pairs;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto found = by_path.find(one[i].path);
    if (times[one[i].path] == 1 && found != by_path.end() && found->second.size() == 1)
      pairs.push_back({i, found->second[0]});
  }
  // Programs whose arguments have no names: by their places, if these are as many.
  if (pairs.empty() && one.size() == other.size()) {
    for (std::size_t i = 0; i < one.size(); ++i) pairs.push_back({i, i});
  }
  return pairs;
}

std::vector<Difference> ArgumentDifferences(const Written& before, const Written& after) {
  return Arguments(before, after).Compare();
}

// A weight whose name says something else has no named dimension, but changes as the others do.
void DropWeights(std::vector<Difference>* found) {
  const bool smaller =
      std::any_of(found->begin(), found->end(), [](const Difference& one) { return one.change == "smaller_model"; });
  if (smaller) std::erase_if(*found, [](const Difference& one) { return one.change.empty(); });
}

std::vector<Difference> FindDifferences(const Written& before, const Written& after) {
  if (!before.whole() || !after.whole()) return {};
  std::vector<Difference> found = ArgumentDifferences(before, after);
  DropWeights(&found);
  const auto known = [&](const std::string& change) {
    return std::any_of(found.begin(), found.end(),
                       [&](const Difference& difference) { return difference.change == change; });
  };
  for (Difference& difference : WorkDifferences(before, after)) {
    if (!known(difference.change)) found.push_back(std::move(difference));
  }
  for (Difference& difference : WorkDifferences(after, before)) {
    if (known(difference.change)) continue;
    difference.undone = true;
    std::swap(difference.from, difference.to);
    found.push_back(std::move(difference));
  }
  return found;
}

const std::vector<std::string>& DifferenceIds() {
  static const std::vector<std::string> ids = {kUnnamedDifference,
                                               "half_batch",
                                               "batch_in_steps",
                                               "half_sequence",
                                               "pieces",
                                               "donate",
                                               "shard",
                                               "more_devices",
                                               "bfloat16",
                                               "recompute_layers",
                                               "attention_in_blocks",
                                               "loss_in_chunks",
                                               "state_on_host",
                                               "no_host_transfer",
                                               "no_tiny_dimensions",
                                               "smaller_model",
                                               "labels_as_numbers"};
  return ids;
}

}  // namespace whyoom
