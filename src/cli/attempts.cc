#include "cli/attempts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "facts/argument_path.h"
#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::string_view kDonate = "donate";
constexpr std::string_view kShard = "shard";
constexpr std::string_view kHost = "host";
constexpr std::string_view kFittingLevel = "JAX_MEMORY_FITTING_LEVEL=";
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;  // of an argument that is worth splitting
constexpr std::size_t kMostPairs = 6;

// The name of the user's argument: "state" of "state.params['embed']".
std::string RootOf(const std::string& name) { return name.substr(0, name.find_first_of(".[")); }

// The rest of the path: ".params['embed']". Results are named "result[0].params['embed']".
std::string LeafOf(const std::string& name) {
  std::size_t at = name.find_first_of(".[");
  if (at == std::string::npos) return "";
  if (name.starts_with("result[")) at = std::min(name.find(']') + 1, name.size());
  return name.substr(at);
}

bool IsSameArray(const ModuleValue& a, const ModuleValue& b) { return a.dtype == b.dtype && a.dims == b.dims; }

// Assigns results to donated arguments. Each result can reuse the memory of one argument of its type and shape.
class ResultPool {
 public:
  explicit ResultPool(const std::vector<ModuleValue>& results) : results_(results), used_(results.size()) {}

  bool Take(const ModuleValue& argument) {
    for (std::size_t i = 0; i < used_.size(); ++i) {
      if (used_[i] || !IsSameArray(results_[i], argument)) continue;
      used_[i] = true;
      return true;
    }
    return false;
  }

 private:
  const std::vector<ModuleValue>& results_;
  std::vector<bool> used_;
};

// Returns the arguments that can be donated, by root. Skips a root of which most bytes do not come back as a result:
// its arrays are inputs that the caller uses again.
std::map<std::string, std::vector<std::size_t>> DonatableArguments(const ModuleDescription& module) {
  ResultPool pool(module.results);
  for (const ModuleValue& argument : module.arguments) {
    if (argument.donated) pool.Take(argument);
  }
  std::map<std::string, std::vector<std::size_t>> by_root;
  std::map<std::string, std::int64_t> unmatched;  // bytes
  for (std::size_t i = 0; i < module.arguments.size(); ++i) {
    const ModuleValue& argument = module.arguments[i];
    const std::string root = RootOf(argument.name);
    if (argument.donated || root.empty()) continue;
    const bool taken = pool.Take(argument);
    unmatched[root] += taken ? -argument.bytes() : argument.bytes();
    if (taken) by_root[root].push_back(i);
  }
  std::erase_if(by_root, [&](const auto& entry) { return unmatched[entry.first] > 0; });
  return by_root;
}

std::string DonateSetting(const std::vector<std::string>& roots) {
  return fmt::format("donate_argnames=('{}'{})", fmt::join(roots, "', '"), roots.size() == 1 ? "," : "");
}

// The longest dimension that the axis divides and that is not split yet.
std::optional<std::size_t> DimensionFor(const ModuleValue& value, std::int64_t size) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < value.dims.size(); ++i) {
    const bool is_split = i < value.splits.size() && !value.splits[i].empty();
    if (!is_split && value.dims[i] % size == 0 && (!best || value.dims[i] > value.dims[*best])) best = i;
  }
  return best;
}

bool IsSplitOver(const ModuleValue& value, const std::string& axis) {
  return std::any_of(value.splits.begin(), value.splits.end(), [&](const std::vector<std::string>& axes) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  });
}

// Returns the indexes of the results that have the argument's path and shape.
std::vector<std::size_t> ResultsOf(const ModuleDescription& module, const ModuleValue& argument) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < module.results.size(); ++i) {
    const ModuleValue& result = module.results[i];
    if (IsSameArray(result, argument) && LeafOf(result.name) == LeafOf(argument.name)) found.push_back(i);
  }
  return found;
}

// Splits an argument and its results.
ModuleChange SplitOf(const ModuleDescription& module, std::size_t index, const Split& split) {
  ModuleChange change;
  change.split_arguments[index] = split;
  for (const std::size_t result : ResultsOf(module, module.arguments[index])) {
    if (!IsSplitOver(module.results[result], split.second)) change.split_results[result] = split;
  }
  return change;
}

std::map<std::string, ModuleChange> SplitsByRoot(const ModuleDescription& module, const std::string& axis,
                                                 std::int64_t size) {
  std::map<std::string, ModuleChange> by_root;
  for (std::size_t i = 0; i < module.arguments.size(); ++i) {
    const ModuleValue& argument = module.arguments[i];
    const std::string root = RootOf(argument.name);
    if (root.empty() || argument.bytes() < kLeastBytes || IsSplitOver(argument, axis)) continue;
    if (const std::optional<std::size_t> dimension = DimensionFor(argument, size))
      by_root[root].Add(SplitOf(module, i, {*dimension, axis}));
  }
  return by_root;
}

// Returns the arguments of each root that are optimizer state, with their results, to be kept in host memory.
std::map<std::string, ModuleChange> StateByRoot(const ModuleDescription& module, const RoleWords& role_words) {
  std::map<std::string, ModuleChange> by_root;
  for (std::size_t i = 0; i < module.arguments.size(); ++i) {
    const ModuleValue& argument = module.arguments[i];
    const std::string root = RootOf(argument.name);
    if (root.empty() || argument.bytes() < kLeastBytes || !NamesOptimizerState(argument.name, role_words)) continue;
    ModuleChange change;
    change.host_arguments = {i};
    change.host_results = ResultsOf(module, argument);
    by_root[root].Add(change);
  }
  return by_root;
}

// Makes the attempts of one remedy.
class AttemptMaker {
 public:
  AttemptMaker(const Remedy& remedy, const RoleWords& role_words, const ModuleDescription& module,
               std::vector<Attempt>* attempts)
      : remedy_(remedy), role_words_(role_words), module_(module), attempts_(*attempts) {}

  // Makes all attempts of the rule data, or those for one setting of the user.
  void Make(const std::string& wanted) {
    bool is_usable = wanted.empty();
    for (const std::string& text : remedy_.attempts) {
      if (text == kDonate) {
        is_usable |= AddDonations(wanted);
      } else if (text == kShard) {
        is_usable |= AddSplits(wanted);
      } else if (text == kHost) {
        is_usable |= AddHostState(wanted);
      } else if (wanted.empty()) {
        AddOption(text);
      }
    }
    const bool has_options = std::any_of(remedy_.attempts.begin(), remedy_.attempts.end(),
                                         [](const std::string& text) { return text.find('=') != std::string::npos; });
    if (!is_usable && !(has_options && AddOption(wanted)))
      throw Error(fmt::format("--remedy {}: cannot apply '{}' to this program", remedy_.id, Printable(wanted)));
  }

 private:
  void Add(std::string setting, ModuleChange change) {
    attempts_.push_back({remedy_.id, std::move(setting), std::move(change)});
  }

  bool AddOption(const std::string& text) {
    ModuleChange change;
    if (text.starts_with(kFittingLevel)) {
      change.fitting_level = text.substr(kFittingLevel.size());
      Add(text, std::move(change));
      return true;
    }
    const std::size_t equals = text.find('=');
    if (!text.starts_with("--xla") || equals == std::string::npos) return false;
    change.options[text.substr(2, equals - 2)] = text.substr(equals + 1);
    Add(std::string(kCompilerOptions) + text, std::move(change));
    return true;
  }

  bool AddDonations(const std::string& wanted) {
    std::vector<std::string> roots;
    ModuleChange all;
    const std::map<std::string, std::vector<std::size_t>> by_root = DonatableArguments(module_);
    for (const auto& [root, arguments] : by_root) {
      if (!wanted.empty() && root != wanted) continue;
      ModuleChange one;
      one.donated = arguments;
      all.Add(one);
      roots.push_back(root);
      if (by_root.size() > 1 && wanted.empty()) Add(DonateSetting({root}), std::move(one));
    }
    if (!roots.empty()) Add(DonateSetting(roots), std::move(all));
    return !roots.empty();
  }

  bool AddSplits(const std::string& wanted) {
    bool any = false;
    for (const auto& [axis, size] : module_.mesh) {
      if (size < 2) continue;
      std::vector<std::string> roots;
      ModuleChange all;
      for (auto& [root, change] : SplitsByRoot(module_, axis, size)) {
        if (!wanted.empty() && wanted != root && wanted != axis) continue;
        all.Add(change);
        roots.push_back(root);
        Add(SplitSetting({root}, axis), change);
      }
      if (roots.size() > 1) Add(SplitSetting(roots, axis), std::move(all));
      any = any || !roots.empty();
    }
    return any;
  }

  bool AddHostState(const std::string& wanted) {
    bool any = false;
    for (auto& [root, change] : StateByRoot(module_, role_words_)) {
      if (!wanted.empty() && root != wanted) continue;
      Add(fmt::format("memory_kind='pinned_host' for the optimizer state in {}", root), std::move(change));
      any = true;
    }
    return any;
  }

  static std::string SplitSetting(const std::vector<std::string>& roots, const std::string& axis) {
    return fmt::format("in_shardings: {} over mesh axis '{}'", fmt::join(roots, ", "), axis);
  }

  const Remedy& remedy_;
  const RoleWords& role_words_;
  const ModuleDescription& module_;
  std::vector<Attempt>& attempts_;
};

// "LIBTPU_INIT_ARGS='--a=1 --b=2'", or the settings joined by "and".
std::string JoinSettings(const std::string& one, const std::string& other) {
  if (!one.starts_with(kCompilerOptions) || !other.starts_with(kCompilerOptions)) return one + " and " + other;
  return fmt::format("{}'{} {}'", kCompilerOptions, one.substr(kCompilerOptions.size()),
                     other.substr(kCompilerOptions.size()));
}

// Two changes of one remedy overlap, unless they set different compiler options.
bool CanCombine(const Attempt& one, const Attempt& other) {
  const auto& options = one.change.options;
  const auto& others = other.change.options;
  if (one.remedy == other.remedy && (options.empty() || others.empty())) return false;
  return std::none_of(options.begin(), options.end(), [&](const auto& entry) { return others.count(entry.first) > 0; });
}

}  // namespace

std::vector<Attempt> MakeAttempts(const RuleSet& rules, const ModuleDescription& module,
                                  const std::vector<std::string>& only) {
  std::vector<Attempt> attempts;
  if (only.empty()) {
    std::vector<const Remedy*> remedies;
    for (const auto& [id, remedy] : rules.remedies()) remedies.push_back(&remedy);
    std::stable_sort(remedies.begin(), remedies.end(),
                     [](const Remedy* a, const Remedy* b) { return a->cost < b->cost; });
    for (const Remedy* remedy : remedies) AttemptMaker(*remedy, rules.role_words(), module, &attempts).Make("");
  }
  for (const std::string& each : only) {
    const std::size_t equals = each.find('=');
    const std::string id = each.substr(0, equals);
    const Remedy* remedy = rules.FindRemedy(id);
    if (remedy == nullptr) throw Error(fmt::format("--remedy: unknown remedy '{}'", Printable(id)));
    if (remedy->attempts.empty())
      throw Error(fmt::format("--remedy {}: cannot be tried on a dump, because it changes the program's source", id));
    AttemptMaker(*remedy, rules.role_words(), module, &attempts)
        .Make(equals == std::string::npos ? "" : each.substr(equals + 1));
  }
  return attempts;
}

std::vector<Attempt> MakePairs(const std::vector<Attempt>& attempts, const std::vector<CompiledAttempt>& results,
                               std::int64_t unchanged_bytes) {
  std::vector<std::size_t> saving;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].need_bytes && *results[i].need_bytes < unchanged_bytes) saving.push_back(i);
  }
  std::stable_sort(saving.begin(), saving.end(),
                   [&](std::size_t a, std::size_t b) { return *results[a].need_bytes < *results[b].need_bytes; });
  std::vector<Attempt> pairs;
  for (std::size_t j = 1; j < saving.size(); ++j) {
    for (std::size_t i = 0; i < j; ++i) {
      if (pairs.size() == kMostPairs) return pairs;
      const Attempt& one = attempts[saving[i]];
      const Attempt& other = attempts[saving[j]];
      if (!CanCombine(one, other)) continue;
      Attempt pair{one.remedy == other.remedy ? one.remedy : one.remedy + "+" + other.remedy,
                   JoinSettings(one.setting, other.setting), one.change};
      pair.change.Add(other.change);
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

}  // namespace whyoom
