#include "cli/attempts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "facts/argument_path.h"
#include "input/error.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::string_view kDonate = "donate";
constexpr std::string_view kShard = "shard";
constexpr std::string_view kHost = "host";
constexpr std::string_view kFittingLevel = "JAX_MEMORY_FITTING_LEVEL=";
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;  // of an argument that is worth splitting
constexpr std::size_t kMostPairs = 6;

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
    const std::string root = ArgumentOf(argument.name);
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

// Splits an argument and its result.
ModuleChange SplitOf(const ModuleDescription& module, std::size_t index, const Split& split) {
  ModuleChange change;
  change.split_arguments[index] = split;
  const std::optional<std::size_t> result = module.arguments[index].result;
  if (result && !IsSplitOver(module.results[*result], split.second)) change.split_results[*result] = split;
  return change;
}

std::map<std::string, ModuleChange> SplitsByRoot(const ModuleDescription& module, const std::string& axis,
                                                 std::int64_t size) {
  std::map<std::string, ModuleChange> by_root;
  for (std::size_t i = 0; i < module.arguments.size(); ++i) {
    const ModuleValue& argument = module.arguments[i];
    const std::string root = ArgumentOf(argument.name);
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
    const std::string root = ArgumentOf(argument.name);
    if (root.empty() || argument.bytes() < kLeastBytes || !NamesOptimizerState(argument.name, role_words)) continue;
    ModuleChange change;
    change.host_arguments = {i};
    if (argument.result) change.host_results = {*argument.result};
    by_root[root].Add(change);
  }
  return by_root;
}

// "P('fsdp', None)": the mesh axes of each dimension after the split.
std::string PartitionSpec(const ModuleValue& value, const Split& split) {
  std::vector<std::string> dimensions;
  for (std::size_t i = 0; i < value.dims.size(); ++i) {
    std::vector<std::string> axes = i < value.splits.size() ? value.splits[i] : std::vector<std::string>();
    if (i == split.first) axes.push_back(split.second);
    dimensions.push_back(axes.empty()       ? "None"
                         : axes.size() == 1 ? fmt::format("'{}'", axes.front())
                                            : fmt::format("('{}')", fmt::join(axes, "', '")));
  }
  return fmt::format("P({})", fmt::join(dimensions, ", "));
}

// "state.mu['w'], 12 arrays of state.params['layers']".
std::string ArgumentsText(const std::vector<std::string>& names) {
  constexpr std::size_t kFew = 2;
  constexpr int kParts = 3;
  std::map<std::string, std::vector<std::string>> by_prefix;
  for (const std::string& name : names) {
    std::size_t end = 0;
    for (int part = 0; part < kParts && end < name.size(); ++part)
      end = std::min(name.find_first_of("[.", end + 1), name.size());
    by_prefix[name.substr(0, end)].push_back(name);
  }
  std::vector<std::string> texts;
  for (auto& [prefix, of_prefix] : by_prefix) {
    if (of_prefix.size() <= kFew) {
      texts.insert(texts.end(), of_prefix.begin(), of_prefix.end());
    } else {
      texts.push_back(fmt::format("{} arrays of {}", of_prefix.size(), prefix));
    }
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// "in_shardings: P('fsdp', None) for state.mu['w'], state.nu['w']; P('fsdp') for state.mu['b']".
std::string SplitSetting(const ModuleDescription& module, const ModuleChange& change) {
  std::map<std::string, std::vector<std::string>> names;
  for (const auto& [index, split] : change.split_arguments)
    names[PartitionSpec(module.arguments[index], split)].push_back(module.arguments[index].name);
  std::vector<std::string> texts;
  for (const auto& [spec, arguments] : names) texts.push_back(fmt::format("{} for {}", spec, ArgumentsText(arguments)));
  return fmt::format("in_shardings: {}", fmt::join(texts, "; "));
}

// Makes the attempts of one remedy.
class AttemptMaker {
 public:
  AttemptMaker(const WantedRemedy& wanted, const RoleWords& role_words, const ModuleDescription& module,
               std::vector<Attempt>* attempts)
      : remedy_(*wanted.remedy),
        wanted_(wanted.setting),
        role_words_(role_words),
        module_(module),
        attempts_(*attempts) {}

  void Make() {
    for (const std::string& text : remedy_.attempts) {
      if (text == kDonate) {
        AddDonations();
      } else if (text == kShard) {
        AddSplits();
      } else if (text == kHost) {
        AddHostState();
      } else if (wanted_.empty()) {
        AddOption(text);
      }
    }
    const bool has_options = std::any_of(remedy_.attempts.begin(), remedy_.attempts.end(),
                                         [](const std::string& text) { return text.find('=') != std::string::npos; });
    if (has_options && !wanted_.empty()) AddOption(wanted_);
  }

 private:
  void Add(std::string setting, ModuleChange change) {
    attempts_.push_back({remedy_.id, std::move(setting), std::move(change)});
  }

  void AddOption(const std::string& text) {
    ModuleChange change;
    const std::size_t equals = text.find('=');
    if (text.starts_with(kFittingLevel)) {
      change.fitting_level = text.substr(kFittingLevel.size());
      Add(text, std::move(change));
    } else if (text.starts_with("--xla") && equals != std::string::npos) {
      change.options[text.substr(2, equals - 2)] = text.substr(equals + 1);
      Add(std::string(kCompilerOptions) + text, std::move(change));
    }
  }

  void AddDonations() {
    std::vector<std::string> roots;
    ModuleChange all;
    const std::map<std::string, std::vector<std::size_t>> by_root = DonatableArguments(module_);
    for (const auto& [root, arguments] : by_root) {
      if (!wanted_.empty() && root != wanted_) continue;
      ModuleChange one;
      one.donated = arguments;
      all.Add(one);
      roots.push_back(root);
      if (by_root.size() > 1 && wanted_.empty()) Add(DonateSetting({root}), std::move(one));
    }
    if (!roots.empty()) Add(DonateSetting(roots), std::move(all));
  }

  void AddSplits() {
    for (const auto& [axis, size] : module_.mesh) {
      if (size < 2) continue;
      std::size_t roots = 0;
      ModuleChange all;
      for (auto& [root, change] : SplitsByRoot(module_, axis, size)) {
        if (!wanted_.empty() && wanted_ != root && wanted_ != axis) continue;
        all.Add(change);
        ++roots;
        Add(SplitSetting(module_, change), change);
      }
      if (roots > 1) Add(SplitSetting(module_, all), all);
    }
  }

  void AddHostState() {
    for (auto& [root, change] : StateByRoot(module_, role_words_)) {
      if (wanted_.empty() || root == wanted_)
        Add(fmt::format("memory_kind='pinned_host' for the optimizer state in {}", root), std::move(change));
    }
  }

  const Remedy& remedy_;
  const std::string& wanted_;
  const RoleWords& role_words_;
  const ModuleDescription& module_;
  std::vector<Attempt>& attempts_;
};

// "LIBTPU_INIT_ARGS='--a=1 --b=2'", the words of a command, or the settings joined by "and".
std::string JoinSettings(const Attempt& one, const Attempt& other) {
  const bool are_options = one.setting.starts_with(kCompilerOptions) && other.setting.starts_with(kCompilerOptions);
  if (!are_options) return one.setting + (one.words.empty() ? " and " : " ") + other.setting;
  return fmt::format("{}'{} {}'", kCompilerOptions, one.setting.substr(kCompilerOptions.size()),
                     other.setting.substr(kCompilerOptions.size()));
}

// Two changes of one remedy overlap, unless they set different compiler options. A module and a command are compiled
// in different ways.
bool CanCombine(const Attempt& one, const Attempt& other) {
  const auto& options = one.change.options;
  const auto& others = other.change.options;
  if (one.words.empty() != other.words.empty()) return false;
  if (one.remedy == other.remedy && (options.empty() || others.empty())) return false;
  const auto names_it = [&](const std::string& word) {
    return std::any_of(other.words.begin(), other.words.end(),
                       [&](const std::string& each) { return SettingName(each) == SettingName(word); });
  };
  return std::none_of(options.begin(), options.end(),
                      [&](const auto& entry) { return others.count(entry.first) > 0; }) &&
         std::none_of(one.words.begin(), one.words.end(), names_it);
}

}  // namespace

std::string SettingName(const std::string& word) { return word.substr(0, word.find('=')); }

std::vector<WantedRemedy> WantedRemedies(const RuleSet& rules, const std::vector<std::string>& only) {
  const auto can_be_tried = [](const Remedy& remedy) { return !remedy.attempts.empty() || !remedy.settings.empty(); };
  std::vector<WantedRemedy> wanted;
  std::vector<std::string> known;
  for (const auto& [id, remedy] : rules.remedies()) {
    if (!can_be_tried(remedy)) continue;
    known.push_back(id);
    if (only.empty()) wanted.push_back({&remedy, ""});
  }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const WantedRemedy& a, const WantedRemedy& b) { return a.remedy->cost < b.remedy->cost; });
  for (const std::string& each : only) {
    const std::string id = SettingName(each);
    const Remedy* remedy = rules.FindRemedy(id);
    if (remedy == nullptr) {
      const std::string meant = DidYouMean(id, known);
      throw Error(fmt::format("--remedy: unknown remedy '{}'{}", Printable(id),
                              meant.empty() ? " (expected one of " + Listing(known) + ")" : ", " + meant));
    }
    if (!can_be_tried(*remedy))
      throw Error(fmt::format("--remedy {}: cannot be tried, because it changes the program's source", id));
    wanted.push_back({remedy, each.size() > id.size() ? each.substr(id.size() + 1) : ""});
  }
  return wanted;
}

std::vector<Attempt> MakeAttempts(const RuleSet& rules, const ModuleDescription& module,
                                  const std::vector<WantedRemedy>& wanted) {
  std::vector<Attempt> attempts;
  for (const WantedRemedy& each : wanted) AttemptMaker(each, rules.role_words(), module, &attempts).Make();
  return attempts;
}

void ThrowIfUnused(const std::vector<WantedRemedy>& wanted, const std::vector<Attempt>& attempts) {
  for (const WantedRemedy& each : wanted) {
    const std::string& id = each.remedy->id;
    if (each.remedy->attempts.empty())
      throw Error(fmt::format("--remedy {}: cannot be tried on a dump, because it changes the program's source", id));
    if (std::any_of(attempts.begin(), attempts.end(), [&](const Attempt& attempt) { return attempt.remedy == id; }))
      continue;
    throw Error(each.setting.empty()
                    ? fmt::format("--remedy {}: nothing in this program can be changed this way", id)
                    : fmt::format("--remedy {}: cannot apply '{}' to this program", id, Printable(each.setting)));
  }
}

std::vector<Attempt> MakePairs(const std::vector<Attempt>& attempts, const std::vector<CompiledAttempt>& results,
                               std::int64_t unchanged_bytes, std::int64_t least_bytes) {
  std::vector<std::size_t> saving;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].need_bytes && unchanged_bytes - *results[i].need_bytes >= least_bytes) saving.push_back(i);
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
      Attempt pair{one.remedy == other.remedy ? one.remedy : one.remedy + "+" + other.remedy, JoinSettings(one, other),
                   one.change, one.words};
      pair.change.Add(other.change);
      pair.words.insert(pair.words.end(), other.words.begin(), other.words.end());
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

}  // namespace whyoom
