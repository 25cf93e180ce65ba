#include "cli/try_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
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
#include "report/finding_view.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr double kSecondsAfterInterrupt = 5;  // for estimates

struct ChosenModule {
  XlaDump::InputModule module;
  std::int64_t need_bytes = 0;
  std::size_t others = 0;  // failed modules of other names
};

// Chooses the failed module, or else one that did not fail, that needs most. `with_source`: of those with a
// module.mlir. Throws Error if there is none.
ChosenModule FindModule(const XlaDump& dump, bool with_source) {
  std::optional<ChosenModule> best;
  std::set<std::string> failed;
  for (const XlaDump::InputModule& module : dump.InputModules()) {
    if (with_source && !Recompiler::CanCompile(module.key)) continue;
    if (module.failed) failed.insert(module.name);
    Problem problem;
    const std::int64_t need = dump.NeedOf(module, &problem);
    if (best && (best->module.failed != module.failed ? best->module.failed : best->need_bytes >= need)) continue;
    best = {module, need};
  }
  if (!best) {
    throw Error(
        "cannot try remedies: the dump contains no module.mlir (compilers since 2026 write it; update jax and libtpu, "
        "and run the job again)");
  }
  failed.erase(best->module.name);
  best->others = failed.size();
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

// The need and the limit: of the failed compile in the findings, or else of the dump.
Evidence StatedFacts(const RunContext& run, const FindingTable& findings, const ChosenModule& chosen) {
  Evidence facts;
  if (chosen.need_bytes > 0) facts.Set("need_bytes", static_cast<double>(chosen.need_bytes), {});
  if (const std::optional<double> limit = LimitOf(run, chosen.module)) facts.Set("limit_bytes", *limit, {});
  for (const FindingTable::Entry* entry : findings.entries()) {
    const Finding& finding = FindingOf(*entry);
    const std::string& module = finding.facts.Text("module");
    if (finding.failure->phase != "compile" || (!module.empty() && module != chosen.module.name)) continue;
    for (const char* name : {"need_bytes", "limit_bytes"}) {
      if (const std::optional<double> figure = finding.facts.Number(name)) facts.Set(name, *figure, {});
    }
  }
  return facts;
}

// The interpreter of --python, or of the job if it is a Python.
std::string PythonOf(const Options& options) {
  if (!options.attempts.python.empty()) return options.attempts.python;
  if (options.job.empty()) return "python3";
  const std::string name = fs::path(options.job.front()).filename().string();
  return name.starts_with("python") ? options.job.front() : "python3";
}

// Compiles attempts, several at once, adds the results to a recompilation, and shows the progress.
class Trials {
 public:
  using Compile = std::function<CompileResult(const Attempt&)>;

  // `facts`: the stated need and limit.
  Trials(const RunContext& run, const Evidence& facts, const ReadControl& control, Recompilation* recompilation)
      : run_(run), facts_(facts), control_(control), recompilation_(*recompilation) {}

  // Adds the results in the order of the attempts. Those that were not made have a problem and no need. If none fits,
  // also compiles pairs.
  void Run(const std::vector<Attempt>& attempts, const Compile& compile) {
    const std::vector<CompiledAttempt> results = Compiled(attempts, compile);
    Keep(results);
    const bool any_fits =
        std::any_of(results.begin(), results.end(), [&](const CompiledAttempt& attempt) { return Fits(attempt); });
    if (any_fits || IsOver()) return;
    const double share = run_.rules.rules().Threshold("next_to_nothing");
    const auto least = static_cast<std::int64_t>(share * static_cast<double>(recompilation_.unchanged_bytes));
    Keep(Compiled(MakePairs(attempts, results, recompilation_.unchanged_bytes, least), compile));
  }

  // Searches by bisection. Adds the results, the largest value first.
  void Search(const SettingSearch& search, const Compile& compile) {
    std::map<std::int64_t, CompiledAttempt, std::greater<>> tried;
    std::int64_t fitting = 0;
    for (std::int64_t too_large = search.value; too_large - fitting > 1 && !IsOver();) {
      const std::int64_t value = fitting + (too_large - fitting) / 2;
      const CompiledAttempt attempt = Compiled({search.With(value)}, compile).front();
      tried[value] = attempt;
      (Fits(attempt) ? fitting : too_large) = value;
    }
    for (auto& [value, attempt] : tried) recompilation_.attempts.push_back(std::move(attempt));
  }

 private:
  std::vector<CompiledAttempt> Compiled(const std::vector<Attempt>& attempts, const Compile& compile) {
    known_ += attempts.size();
    std::vector<CompiledAttempt> results;
    for (const Attempt& attempt : attempts)
      results.push_back({attempt.remedy, attempt.setting, {}, std::string(kNotTried), 0});
    const ProgressBar bar(ProgressOf(run_.options), [&](std::size_t columns) { return ProgressText(columns); });
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < attempts.size() && !IsOver(); i = next++) {
        const CompileResult compiled = compile(attempts[i]);
        results[i] = {attempts[i].remedy, attempts[i].setting, compiled.need_bytes, compiled.problem, compiled.seconds};
        Add(results[i]);
      }
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < std::min(JobsOf(run_.options), attempts.size()); ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    return results;
  }

  bool Fits(const CompiledAttempt& attempt) const { return recompilation_.Fits(attempt, facts_); }

  bool IsOver() {
    const std::lock_guard lock(mutex_);
    if (control_.stopped()) {
      recompilation_.stopped = "interrupted";
    } else if (Clock::now() - begin_ > run_.options.attempts.limits.total) {
      recompilation_.stopped = "out of time";
    }
    return !recompilation_.stopped.empty();
  }

  void Keep(const std::vector<CompiledAttempt>& results) {
    recompilation_.attempts.insert(recompilation_.attempts.end(), results.begin(), results.end());
  }

  void Add(const CompiledAttempt& result) {
    const std::lock_guard lock(mutex_);
    ++made_;
    if (result.need_bytes && (!best_ || *result.need_bytes < *best_->need_bytes)) best_ = result;
  }

  std::int64_t Seconds() const {
    return std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin_).count();
  }

  // "3 of 16 attempts, 12 s, best: 15.01 GiB, fits".
  std::string ProgressText(std::size_t columns) {
    const std::lock_guard lock(mutex_);
    std::string line = fmt::format("{} of {} attempts, {} s", made_, known_, Seconds());
    if (best_) line += fmt::format(", best: {}{}", FormatSize(*best_->need_bytes), Fits(*best_) ? ", fits" : "");
    return CutBytes(line, columns);
  }

  const RunContext& run_;
  const Evidence& facts_;
  const ReadControl& control_;
  Recompilation& recompilation_;
  const Clock::time_point begin_ = Clock::now();
  std::mutex mutex_;
  std::size_t known_ = 0;
  std::size_t made_ = 0;
  std::optional<CompiledAttempt> best_;
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

// Compiles the module itself, unchanged and with attempts. Sets the need of the unchanged program. `must_apply`: each
// remedy must have an attempt.
void TryOnModule(const RunContext& run, const ChosenModule& chosen, const std::vector<WantedRemedy>& wanted,
                 bool must_apply, const ReadControl& control, Trials* trials, Recompilation* recompilation) {
  const Options& options = run.options;
  Recompiler recompiler(PythonOf(options), chosen.module.key, options.attempts.use_cache ? CompileCacheFolder() : "",
                        LimitsOf(options), control);
  const ModuleDescription description = recompiler.Describe();
  const std::vector<Attempt> attempts = MakeAttempts(run.rules.rules(), description, wanted);
  if (must_apply) ThrowIfUnused(wanted, attempts);
  const CompileResult unchanged = recompiler.Compile({});
  if (!unchanged.need_bytes)
    throw Error("cannot try remedies: the unchanged program does not compile: " + unchanged.problem);
  recompilation->compiler = description.compiler;
  recompilation->unchanged_bytes = *unchanged.need_bytes;
  recompilation->seconds = unchanged.seconds;
  trials->Run(attempts, [&](const Attempt& attempt) { return recompiler.Compile(attempt.change); });
}

// Compiles the user's command with other settings.
void TryOnCommand(const CommandCompiler& command, const std::string& module, const std::vector<WantedRemedy>& wanted,
                  Trials* trials) {
  const auto compile = [&](const Attempt& attempt) { return command.Compile(attempt, module); };
  trials->Run(command.Attempts(wanted), compile);
  for (const SettingSearch& search : command.Searches(wanted)) trials->Search(search, compile);
}

// Names the files of a temporary dump without its folder, which is removed.
void ForgetFolder(const std::string& folder, Report* report) {
  for (Diagnosis& finding : report->findings) {
    if (finding.where.artifact.path.starts_with(folder))
      finding.where.artifact.path = fs::path(finding.where.artifact.path).filename().string();
    finding.tally.places = {};
    finding.facts.Set("dump", fs::path(finding.facts.Text("dump")).filename().string(), {}, true);
  }
  for (Problem& problem : report->problems) {
    if (problem.path.starts_with(folder)) problem.path = fs::path(problem.path).filename().string();
  }
}

}  // namespace

Recompilation Recompile(const RunContext& run, const XlaDump& dump, const FindingTable& stated,
                        const CommandCompiler* command, ReadControl* control, std::vector<Problem>* problems) {
  XlaDump inputs = dump;
  inputs.MarkAsInputs();
  const ChosenModule chosen = FindModule(inputs, command == nullptr);
  const XlaDump::InputModule& module = chosen.module;
  const Evidence facts = StatedFacts(run, stated, chosen);
  const std::optional<double> limit = facts.Number("limit_bytes");
  if (!module.failed && (!limit || static_cast<double>(chosen.need_bytes) <= *limit))
    throw Error(fmt::format("cannot try remedies: {} fits", module.name));
  if (chosen.others > 0)
    problems->push_back({"--try", "",
                         fmt::format("only {} was tried, which needs most; {} failed, too", module.name,
                                     Counted(chosen.others, "other program", "other programs")),
                         true});
  const std::vector<WantedRemedy> wanted = WantedRemedies(run.rules.rules(), run.options.attempts.remedies);
  Recompilation recompilation{module.name, module.assignment, "the command's compiler", chosen.need_bytes, 0, {}, ""};
  Trials trials(run, facts, *control, &recompilation);
  if (Recompiler::CanCompile(module.key)) {
    try {
      const bool must_apply = command == nullptr && !run.options.attempts.remedies.empty();
      TryOnModule(run, chosen, wanted, must_apply, *control, &trials, &recompilation);
    } catch (const Error& error) {
      if (command == nullptr) throw;
      problems->push_back({"--try", "", error.what(), true});  // the command compiles without this Python
    }
  }
  if (command != nullptr) TryOnCommand(*command, module.name, wanted, &trials);
  if (control->stopped()) {
    recompilation.stopped = "interrupted";
    WriteError("whyoom: interrupted; the report of the compiles so far follows\n");
  }
  if (recompilation.attempts.empty() && !run.options.attempts.remedies.empty())
    throw Error("cannot try remedies: no change of --remedy can be made to this program");
  control->stop = false;
  return recompilation;
}

int RunTry(const RunContext& run) {
  const Options& options = run.options;
  ReadControl control;
  const Interrupt interrupt(&control.stop);
  try {
    WantedRemedies(run.rules.rules(), options.attempts.remedies);  // reports errors before anything is compiled
    std::optional<CommandCompiler> command;
    if (!options.job.empty()) command.emplace(run.rules.rules(), options.job, LimitsOf(options), control);
    const std::string folder = command ? command->RunUnchanged().string() : options.paths.front();
    Readings readings;
    readings.table.emplace(run.rules.rules());
    XlaDump dump;
    AddDumpFolder(folder, run.outputs, &dump, &readings.problems);
    if (dump.empty()) throw Error(Printable(folder) + ": no XLA dump (expected the folder of --xla_dump_to)");
    if (const std::optional<double> limit = run.Limit()) dump.FailAbove(*limit);
    try {
      readings.table->SetRecompilation(
          Recompile(run, dump, *readings.table, command ? &*command : nullptr, &control, &readings.problems));
    } catch (const Error&) {
      if (interrupt.signal() == 0) throw;
      readings.problems.push_back({"--try", "", "interrupted before a change was compiled", true});
      control.stop = false;
    }
    if (command) readings.table->SetFramework(command->framework());
    dump.MarkAsInputs();
    Limits limits = options.limits;
    if (interrupt.signal() != 0) limits.seconds = kSecondsAfterInterrupt;
    dump.StopAt(&control, limits);
    run.AddDump(dump, run.Limit(), &readings);
    Report report = run.MakeReport(std::move(readings));
    if (command) ForgetFolder(folder, &report);
    const int status = run.Print(&report);
    if (interrupt.signal() != 0) return 128 + interrupt.signal();
    const bool is_tried = std::any_of(report.findings.begin(), report.findings.end(),
                                      [](const Diagnosis& finding) { return finding.recompilation.has_value(); });
    return AnyFits(report) ? kNothing : is_tried ? kFound : status;
  } catch (const Error&) {
    if (interrupt.signal() == 0) throw;
    WriteError("whyoom: interrupted before anything was compiled\n");
    return 128 + interrupt.signal();
  }
}

}  // namespace whyoom
