#include "cli/try_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "cli/dump_folder.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "diagnose/dump_report.h"
#include "input/error.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::string_view kDonate = "donate";
constexpr std::string_view kShard = "shard";
constexpr std::string_view kFittingLevel = "JAX_MEMORY_FITTING_LEVEL=";
constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;  // of an argument that is worth splitting
constexpr std::size_t kMostPairs = 6;

// The user's name of the argument that a value belongs to: "state" of "state.params['embed']".
std::string RootOf(const std::string& name) { return name.substr(0, name.find_first_of(".[")); }

// The rest of the path: ".params['embed']". Results are named "result[0].params['embed']".
std::string LeafOf(const std::string& name) {
  std::size_t at = name.find_first_of(".[");
  if (at == std::string::npos) return "";
  const bool is_result = name.starts_with("result[");
  if (is_result) at = std::min(name.find(']') + 1, name.size());
  return name.substr(at);
}

bool IsSameArray(const ModuleValue& a, const ModuleValue& b) { return a.dtype == b.dtype && a.dims == b.dims; }

// The arguments of each root that a result could reuse: of the same type and shape, each result for one argument.
std::map<std::string, std::vector<std::size_t>> DonatableArguments(const ModuleDescription& module) {
  std::vector<bool> used(module.results.size());
  const auto take_result = [&](const ModuleValue& argument) {
    for (std::size_t i = 0; i < used.size(); ++i) {
      if (used[i] || !IsSameArray(module.results[i], argument)) continue;
      used[i] = true;
      return true;
    }
    return false;
  };
  for (const ModuleValue& argument : module.arguments) {
    if (argument.donated) take_result(argument);
  }
  std::map<std::string, std::vector<std::size_t>> by_root;
  std::map<std::string, std::int64_t> matched;
  std::map<std::string, std::int64_t> whole;
  for (std::size_t i = 0; i < module.arguments.size(); ++i) {
    const ModuleValue& argument = module.arguments[i];
    const std::string root = RootOf(argument.name);
    if (argument.donated || root.empty()) continue;
    whole[root] += argument.bytes();
    if (!take_result(argument)) continue;
    matched[root] += argument.bytes();
    by_root[root].push_back(i);
  }
  // An argument of which little comes back is read again by the caller.
  std::erase_if(by_root, [&](const auto& entry) { return matched[entry.first] < whole[entry.first] / 2; });
  return by_root;
}

void AddDonations(const Remedy& remedy, const ModuleDescription& module, std::vector<Attempt>* attempts) {
  const std::map<std::string, std::vector<std::size_t>> by_root = DonatableArguments(module);
  Attempt all{remedy.id, "", {}};
  std::vector<std::string> roots;
  for (const auto& [root, arguments] : by_root) {
    roots.push_back("'" + root + "'");
    all.change.donated.insert(all.change.donated.end(), arguments.begin(), arguments.end());
    if (by_root.size() > 1) {
      attempts->push_back({remedy.id, fmt::format("donate_argnames=('{}',)", root), {}});
      attempts->back().change.donated = arguments;
    }
  }
  if (roots.empty()) return;
  all.setting = fmt::format("donate_argnames=({}{})", fmt::join(roots, ", "), roots.size() == 1 ? "," : "");
  attempts->push_back(std::move(all));
}

// The longest dimension that the axis divides and that nothing splits yet.
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

// Splits the arguments of each root that are whole along a mesh axis, and the results of the same path.
void AddSplits(const Remedy& remedy, const ModuleDescription& module, std::vector<Attempt>* attempts) {
  for (const auto& [axis, size] : module.mesh) {
    if (size < 2) continue;
    std::map<std::string, ModuleChange> by_root;
    for (std::size_t i = 0; i < module.arguments.size(); ++i) {
      const ModuleValue& argument = module.arguments[i];
      if (argument.bytes() < kLeastBytes || IsSplitOver(argument, axis)) continue;
      const std::optional<std::size_t> dimension = DimensionFor(argument, size);
      if (!dimension || RootOf(argument.name).empty()) continue;
      ModuleChange& change = by_root[RootOf(argument.name)];
      change.split_arguments[i] = {*dimension, axis};
      for (std::size_t j = 0; j < module.results.size(); ++j) {
        const ModuleValue& result = module.results[j];
        if (IsSameArray(result, argument) && LeafOf(result.name) == LeafOf(argument.name) && !IsSplitOver(result, axis))
          change.split_results[j] = {*dimension, axis};
      }
    }
    Attempt all{remedy.id, "", {}};
    std::vector<std::string> roots;
    for (auto& [root, change] : by_root) {
      attempts->push_back({remedy.id, fmt::format("in_shardings: {} over mesh axis '{}'", root, axis), change});
      all.change.Add(change);
      roots.push_back(root);
    }
    if (roots.size() < 2) continue;
    all.setting = fmt::format("in_shardings: {} over mesh axis '{}'", fmt::join(roots, ", "), axis);
    attempts->push_back(std::move(all));
  }
}

// What to try of the remedy: all, or the settings of `only` ("xla_flags_remat=--xla_tpu_…=true"), or nothing.
std::vector<std::string> TextsOf(const Remedy& remedy, const std::vector<std::string>& only) {
  if (only.empty()) return remedy.attempts;
  std::vector<std::string> texts;
  for (const std::string& one : only) {
    if (one == remedy.id) return remedy.attempts;
    if (one.starts_with(remedy.id + "=")) texts.push_back(one.substr(remedy.id.size() + 1));
  }
  return texts;
}

// The module of the dump that is worth compiling: one that failed, else the one that needs most.
std::optional<XlaDump::InputModule> FindModule(const XlaDump& dump) {
  std::optional<XlaDump::InputModule> best;
  std::int64_t most = -1;
  for (const XlaDump::InputModule& module : dump.InputModules()) {
    std::error_code ignored;
    if (!std::filesystem::exists(module.key + "/module.mlir", ignored)) continue;
    Problem problem;
    const std::int64_t need = dump.NeedOf(module, &problem);
    if (best && (best->failed != module.failed ? best->failed : most >= need)) continue;
    best = module;
    most = need;
  }
  return best;
}

// What the device has: by --hbm, or by the chip that the dump was compiled for.
std::optional<double> LimitOf(const RunContext& run, const XlaDump::InputModule& module) {
  if (!run.options.hbm.empty()) return ParseLimit(run.options.hbm, run.rules.rules());
  std::ifstream file(module.target);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::optional<DumpTarget> target = TargetOfDump(run.rules.rules(), text);
  return target ? std::optional(target->limit_bytes) : std::nullopt;
}

// Runs the attempts, several at once.
class Trials {
 public:
  Trials(const RunContext& run, const Recompiler& recompiler, const ReadControl& control)
      : run_(run), recompiler_(recompiler), control_(control) {}

  std::vector<CompiledAttempt> Run(const std::vector<Attempt>& attempts) {
    std::vector<CompiledAttempt> results(attempts.size());
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < attempts.size() && !control_.stopped(); i = next++) {
        const CompileResult compiled = recompiler_.Compile(attempts[i].change);
        results[i] = {attempts[i].remedy, attempts[i].setting, compiled.need_bytes, compiled.problem, compiled.seconds};
        Report(results[i]);
      }
    };
    const std::size_t jobs = run_.options.jobs > 0 ? run_.options.jobs : 1;
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(jobs, attempts.size()); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    std::erase_if(results, [](const CompiledAttempt& result) { return result.setting.empty(); });
    return results;
  }

 private:
  void Report(const CompiledAttempt& result) {
    if (run_.options.quiet) return;
    const std::lock_guard lock(mutex_);
    WriteError(fmt::format("whyoom: {:5.1f} s  {:>10}  {}\n", result.seconds,
                           result.need_bytes ? FormatSize(*result.need_bytes) : "failed", Printable(result.setting)));
  }

  const RunContext& run_;
  const Recompiler& recompiler_;
  const ReadControl& control_;
  std::mutex mutex_;
};

// The changes of different remedies that saved most, two at a time; for a program that no change makes fit alone.
std::vector<Attempt> Pairs(const std::vector<Attempt>& attempts, const std::vector<CompiledAttempt>& results,
                           std::int64_t unchanged) {
  std::vector<std::pair<std::int64_t, const Attempt*>> saving;
  for (const CompiledAttempt& result : results) {
    const auto attempt = std::find_if(attempts.begin(), attempts.end(),
                                      [&](const Attempt& one) { return one.setting == result.setting; });
    if (result.need_bytes && *result.need_bytes < unchanged) saving.emplace_back(*result.need_bytes, &*attempt);
  }
  std::sort(saving.begin(), saving.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Attempt> pairs;
  for (std::size_t i = 0; i < saving.size() && pairs.size() < kMostPairs; ++i) {
    for (std::size_t j = 0; j < i && pairs.size() < kMostPairs; ++j) {
      const Attempt& one = *saving[j].second;
      const Attempt& other = *saving[i].second;
      const bool same_kind = one.change.options.empty() && other.change.options.empty() && one.remedy == other.remedy;
      if (same_kind) continue;
      Attempt pair{one.remedy + "+" + other.remedy, one.setting + " and " + other.setting, one.change};
      pair.change.Add(other.change);
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

}  // namespace

std::vector<Attempt> MakeAttempts(const RuleSet& rules, const ModuleDescription& module,
                                  const std::vector<std::string>& only) {
  std::vector<Attempt> attempts;
  std::vector<const Remedy*> remedies;
  for (const auto& [id, remedy] : rules.remedies()) remedies.push_back(&remedy);
  std::stable_sort(remedies.begin(), remedies.end(),
                   [](const Remedy* a, const Remedy* b) { return a->cost < b->cost; });
  for (const Remedy* each : remedies) {
    const Remedy& remedy = *each;
    const std::vector<std::string> texts = TextsOf(remedy, only);
    for (const std::string& text : texts) {
      if (text == kDonate) {
        AddDonations(remedy, module, &attempts);
      } else if (text == kShard) {
        AddSplits(remedy, module, &attempts);
      } else if (text.starts_with(kFittingLevel)) {
        attempts.push_back({remedy.id, text, {}});
        attempts.back().change.fitting_level = text.substr(kFittingLevel.size());
      } else if (const std::size_t equals = text.find('='); text.starts_with("--") && equals != std::string::npos) {
        attempts.push_back({remedy.id, "LIBTPU_INIT_ARGS=" + text, {}});
        attempts.back().change.options[text.substr(2, equals - 2)] = text.substr(equals + 1);
      }
    }
  }
  return attempts;
}

std::optional<Recompilation> Recompile(const RunContext& run, const std::string& python, const XlaDump& dump,
                                       const ReadControl& control, std::string* problem) {
  XlaDump inputs = dump;
  inputs.MarkAsInputs();
  const std::optional<XlaDump::InputModule> module = FindModule(inputs);
  if (!module) {
    *problem =
        "the dump contains no module.mlir, which compilers write since 2026: update jax and libtpu, and dump again";
    return std::nullopt;
  }
  const Options& options = run.options;
  const Recompiler recompiler(python, module->key, options.compile_limits, control);
  const ModuleDescription description = recompiler.Describe();
  Recompilation recompilation;
  recompilation.module = module->name;
  recompilation.compiler = description.compiler;
  const CompileResult unchanged = recompiler.Compile({});
  if (!unchanged.need_bytes) {
    *problem = "the unchanged program could not be compiled again: " + unchanged.problem;
    return std::nullopt;
  }
  recompilation.unchanged_bytes = *unchanged.need_bytes;
  recompilation.seconds = unchanged.seconds;
  const std::vector<Attempt> attempts = MakeAttempts(run.rules.rules(), description, options.try_remedies);
  Trials trials(run, recompiler, control);
  recompilation.attempts = trials.Run(attempts);
  const std::optional<double> limit = LimitOf(run, *module);
  const bool fits =
      limit &&
      std::any_of(recompilation.attempts.begin(), recompilation.attempts.end(), [&](const CompiledAttempt& attempt) {
        return attempt.need_bytes && static_cast<double>(*attempt.need_bytes) <= *limit;
      });
  if (!fits && !control.stopped()) {
    const std::vector<Attempt> pairs = Pairs(attempts, recompilation.attempts, recompilation.unchanged_bytes);
    std::vector<CompiledAttempt> together = trials.Run(pairs);
    std::move(together.begin(), together.end(), std::back_inserter(recompilation.attempts));
  }
  return recompilation;
}

int RunTry(const RunContext& run) {
  const Options& options = run.options;
  ReadControl control;
  const Interrupt interrupt(&control.stop);
  Readings readings;
  readings.table.emplace(run.rules.rules());
  XlaDump dump;
  AddDumpFolder(options.paths.front(), run.outputs, &dump, &readings.problems);
  dump.MarkAsInputs();
  dump.StopAt(&control, options.limits);
  if (dump.empty())
    throw Error(Printable(options.paths.front()) + ": no XLA dump (expected the folder of --xla_dump_to)");
  std::string problem;
  std::optional<Recompilation> recompilation = Recompile(run, options.python, dump, control, &problem);
  if (!recompilation) throw Error(problem);
  readings.table->SetRecompilation(*std::move(recompilation));
  const DumpCount count = ReportDumps(dump, run.rules.rules(), std::nullopt, &*readings.table, &readings.problems);
  readings.artifacts += count.modules;
  readings.bytes += count.bytes;
  Report report = run.MakeReport(std::move(readings), dump);
  return run.Print(&report);
}

}  // namespace whyoom
