#include "cli/try_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "cli/attempts.h"
#include "cli/dump_folder.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/recompile.h"
#include "cli/terminal.h"
#include "diagnose/dump_report.h"
#include "input/error.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the failed module, or else the one that needs most, of those with a module.mlir. Throws Error if there is
// none.
XlaDump::InputModule FindModule(const XlaDump& dump) {
  std::optional<XlaDump::InputModule> best;
  std::int64_t most = -1;
  for (const XlaDump::InputModule& module : dump.InputModules()) {
    if (!Recompiler::CanCompile(module.key)) continue;
    Problem problem;
    const std::int64_t need = dump.NeedOf(module, &problem);
    if (best && (best->failed != module.failed ? best->failed : most >= need)) continue;
    best = module;
    most = need;
  }
  if (!best) {
    throw Error(
        "cannot try remedies: the dump contains no module.mlir (compilers since 2026 write it; update jax and libtpu, "
        "and run the job again)");
  }
  return *best;
}

// The limit of --hbm, or of the chip that the dump names.
std::optional<double> LimitOf(const RunContext& run, const XlaDump::InputModule& module) {
  if (const std::optional<double> limit = run.Limit()) return limit;
  const std::optional<DumpTarget> target = TargetOfModule(run.rules.rules(), module);
  return target ? std::optional(target->limit_bytes) : std::nullopt;
}

std::size_t JobsOf(const Options& options) {
  return options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency() / 2);
}

CompileLimits LimitsOf(const Options& options) {
  CompileLimits limits = options.attempts.limits;
  if (limits.memory == 0) {
    const auto machine = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
    limits.memory = machine / 4 * 3 / JobsOf(options);
  }
  return limits;
}

// Compiles attempts, several at once, and shows the progress.
class Trials {
 public:
  Trials(const RunContext& run, const Recompiler& recompiler, std::optional<double> limit, const ReadControl& control)
      : run_(run), recompiler_(recompiler), limit_(limit), control_(control) {}

  // Returns the results in the order of the attempts. Those that were not made have a problem and no need.
  std::vector<CompiledAttempt> Run(const std::vector<Attempt>& attempts) {
    known_ += attempts.size();
    std::vector<CompiledAttempt> results;
    for (const Attempt& attempt : attempts) results.push_back({attempt.remedy, attempt.setting, {}, kNotMade, 0});
    const ProgressBar bar(ProgressOf(run_.options),
                          {[&](std::size_t columns) { return ProgressText(columns); }, [&] { return ProgressJson(); }});
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < attempts.size() && !IsOver(); i = next++) {
        const CompileResult compiled = recompiler_.Compile(attempts[i].change);
        Add(compiled);
        results[i] = {attempts[i].remedy, attempts[i].setting, compiled.need_bytes, compiled.problem, compiled.seconds};
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(JobsOf(run_.options), attempts.size()); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return results;
  }

  bool IsOver() const { return control_.stopped() || Clock::now() - begin_ > run_.options.attempts.limits.total; }

  bool Fits(const std::optional<std::int64_t>& need) const {
    return limit_ && need && static_cast<double>(*need) <= *limit_;
  }

 private:
  static constexpr const char* kNotMade = "not tried: out of time";

  void Add(const CompileResult& result) {
    const std::lock_guard lock(mutex_);
    ++made_;
    if (result.need_bytes && (!best_ || *result.need_bytes < *best_)) best_ = result.need_bytes;
  }

  std::int64_t Seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
  }

  // "3 of 16 attempts, 12 s, best: 15.01 GiB, fits".
  std::string ProgressText(std::size_t columns) {
    const std::lock_guard lock(mutex_);
    std::string line = fmt::format("{} of {} attempts, {} s", made_, known_, Seconds());
    if (best_) line += fmt::format(", best: {}{}", FormatSize(*best_), Fits(best_) ? ", fits" : "");
    return CutBytes(line, columns);
  }

  std::string ProgressJson() {
    const std::lock_guard lock(mutex_);
    nlohmann::ordered_json json = {
        {"type", "progress"}, {"attempts_done", made_}, {"attempts", known_}, {"seconds", Seconds()}};
    if (best_) json["best_bytes"] = *best_;
    return json.dump() + "\n";
  }

  const RunContext& run_;
  const Recompiler& recompiler_;
  const std::optional<double> limit_;
  const ReadControl& control_;
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  std::size_t known_ = 0;
  std::size_t made_ = 0;
  std::optional<std::int64_t> best_;
};

bool AnyFits(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(), [](const Diagnosis& finding) {
    if (!finding.recompilation) return false;
    const std::vector<CompiledAttempt>& attempts = finding.recompilation->attempts;
    return std::any_of(attempts.begin(), attempts.end(), [&](const CompiledAttempt& attempt) {
      return finding.recompilation->Fits(attempt, finding.facts);
    });
  });
}

}  // namespace

Recompilation Recompile(const RunContext& run, const std::string& python, const XlaDump& dump, ReadControl* control) {
  const Options& options = run.options;
  XlaDump inputs = dump;
  inputs.MarkAsInputs();
  const XlaDump::InputModule module = FindModule(inputs);
  const std::optional<double> limit = LimitOf(run, module);
  Problem problem;
  if (!module.failed && (!limit || static_cast<double>(inputs.NeedOf(module, &problem)) <= *limit))
    throw Error(fmt::format("cannot try remedies: {} fits", module.name));
  Recompiler recompiler(python, module.key, options.attempts.use_cache ? CompileCacheFolder() : "", LimitsOf(options),
                        *control);
  const ModuleDescription description = recompiler.Describe();
  const std::vector<Attempt> attempts = MakeAttempts(run.rules.rules(), description, options.attempts.remedies);
  const CompileResult unchanged = recompiler.Compile({});
  if (!unchanged.need_bytes)
    throw Error("cannot try remedies: the unchanged program does not compile: " + unchanged.problem);
  Recompilation recompilation{module.name,           module.assignment, description.compiler,
                              *unchanged.need_bytes, unchanged.seconds, {}};
  Trials trials(run, recompiler, limit, *control);
  recompilation.attempts = trials.Run(attempts);
  const bool any_fits = std::any_of(recompilation.attempts.begin(), recompilation.attempts.end(),
                                    [&](const CompiledAttempt& attempt) { return trials.Fits(attempt.need_bytes); });
  if (!any_fits && !trials.IsOver()) {
    const std::vector<Attempt> pairs = MakePairs(attempts, recompilation.attempts, recompilation.unchanged_bytes);
    std::vector<CompiledAttempt> together = trials.Run(pairs);
    std::move(together.begin(), together.end(), std::back_inserter(recompilation.attempts));
  }
  control->stop = false;
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
  if (dump.empty())
    throw Error(Printable(options.paths.front()) + ": no XLA dump (expected the folder of --xla_dump_to)");
  const std::string python = options.attempts.python.empty() ? "python3" : options.attempts.python;
  readings.table->SetRecompilation(Recompile(run, python, dump, &control));
  dump.MarkAsInputs();
  dump.StopAt(&control, options.limits);
  run.AddDump(dump, run.Limit(), &readings);
  Report report = run.MakeReport(std::move(readings), dump);
  const int status = run.Print(&report);
  return status == kFound && AnyFits(report) ? kNothing : status;
}

}  // namespace whyoom
