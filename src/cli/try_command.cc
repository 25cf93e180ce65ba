#include "cli/try_command.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#endif

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "cli/embedded.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/run.h"
#include "diagnose/dump_report.h"
#include "diagnose/read_input.h"
#include "input/archive/worker.h"
#include "input/error.h"
#include "report/record/describe.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// argv[0] of a child that is confined or not; its command follows.
constexpr const char* kConfinedName = "whyoom: compiles";
constexpr const char* kFreeName = "whyoom: runs";

#if defined(__linux__)
// Only local sockets remain. Other calls fail with an error that Python can report.
void Confine() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  close_range(3, ~0U, 0);
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) _exit(1);
  const scmp_arg_cmp not_local{0, SCMP_CMP_NE, AF_UNIX, 0};
  seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1, &not_local);
  for (const int call :
       {SCMP_SYS(io_uring_setup), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev)})
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
  if (seccomp_load(filter) != 0) _exit(1);
  seccomp_release(filter);
}
#endif

// Replaces this process by the command, which ends when the parent ends.
[[noreturn]] void Become(char** command) {
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  execvp(command[0], command);
  std::fprintf(stderr, "cannot run %s: %s\n", command[0], strerror(errno));
  _exit(127);
}

// Starts a command, looked up in PATH, which ends when whyoom ends. There must be no other thread.
pid_t StartFree(const std::vector<std::string>& command) {
#if defined(__linux__)
  if (!kSanitized) prctl(PR_SET_DUMPABLE, 0);  // a confined process must not read our environment; LeakSanitizer has to
#endif
  const pid_t child = fork();
  if (child == 0) Become(Pointers(command).data());
  if (child < 0) throw Error(std::string("cannot start a process: ") + strerror(errno));
  return child;
}

}  // namespace

void BecomeCompileIfAsked(int argc, char** argv) {
  const std::string_view name = argv[0] == nullptr ? "" : argv[0];
  if (argc < 2 || (name != kConfinedName && name != kFreeName)) return;
#if defined(__linux__)
  if (name == kConfinedName) Confine();
#endif
  Become(argv + 1);
}

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr double kSecondsAfterInterrupt = 5;  // for estimates
constexpr std::size_t kMostTextBytes = 300;   // of a problem

void WriteText(const fs::path& path, std::string_view text) {
  std::ofstream file(path);
  if (!(file << text).flush())
    throw Error(fmt::format("cannot write {}: {} (set TMPDIR to a folder with more space)", Printable(path.string()),
                            strerror(errno)));
}

// An object in a file; empty if there is none, because a job may have changed the folder.
json ReadJson(const fs::path& path) {
  std::error_code ignored;
  std::ifstream file;
  if (fs::is_regular_file(path, ignored)) file.open(path);
  json found = json::parse(file, nullptr, false);
  return found.is_object() ? found : json::object();
}

bool HasAttempts(const json& results) { return !results.value("attempts", json()).empty(); }

// `path`: the file, for the error.
Recompilation ToRecompilation(const json& written, const std::string& path) {
  std::optional<Recompilation> results = FromRecord<Recompilation>(written);
  if (!results) throw Error(Printable(path) + ": not the results of remedies");
  for (CompiledAttempt& attempt : results->attempts) {
    if (attempt.need_bytes.value_or(0) <= 0) attempt.need_bytes.reset();
    attempt.problem = CutBytes(Printable(attempt.problem), kMostTextBytes);
  }
  return *std::move(results);
}

// The interpreter of --python, or of the job if it is a Python.
std::string PythonOf(const Options& options) {
  if (!options.attempts.python.empty()) return options.attempts.python;
  if (options.job.empty()) return "python3";
  const std::string name = fs::path(options.job.front()).filename().string();
  return name.starts_with("python") ? options.job.front() : "python3";
}

// The facts that the Python part always needs.
json RequestOf(const RunContext& run, const fs::path& folder) {
  const TryOptions& options = run.options.attempts;
  json limits = {{"attempt", options.attempt_seconds},
                 {"total", options.total_seconds},
                 {"memory", options.memory},
                 {"jobs", run.options.jobs},
                 {"whole", options.whole}};
  json chips = json::object();
  for (const Chip& chip : run.rules.rules().chips) chips[chip.id] = chip.limits.front();
  json request = {{"results", (folder / "results.json").string()},
                  {"whyoom", fs::read_symlink("/proc/self/exe").string()},
                  {"python", PythonOf(run.options)},
                  {"remedies", options.remedies},
                  {"cache", options.use_cache},
                  {"limits", std::move(limits)},
                  {"chips", std::move(chips)},
                  {"progress", ShowsProgress(run.options)}};
  if (const std::optional<double> limit = run.Limit()) request["limit_bytes"] = static_cast<std::int64_t>(*limit);
  if (!options.topology.empty()) request["topology"] = options.topology;
  return request;
}

// Whether a change fits, and whether any was compiled. `nothing_failed`: the status of a report without failures.
int StatusOf(const Report& report, int nothing_failed) {
  bool is_tried = false;
  for (const Failure& failure : report.failures) {
    if (!failure.recompilation) continue;
    is_tried = true;
    for (const CompiledAttempt& attempt : failure.recompilation->attempts) {
      if (failure.recompilation->Fits(attempt, failure.facts)) return kNothing;
    }
  }
  if (is_tried) return kFound;
  return report.failures.empty() && nothing_failed != kUnreadInput ? nothing_failed : kCouldNotRun;
}

// The limit of --hbm, or of the chip of --topology. Throws Error if that is unknown.
std::optional<double> LimitOf(const RunContext& run) {
  const std::string& chips = run.options.attempts.topology;
  const std::optional<double> limit = run.Limit();
  if (limit || chips.empty()) return limit;
  if (const auto of_chip = ParseLimit(chips.substr(0, chips.find_first_of("-:")), run.rules.rules())) return of_chip;
  throw Error(fmt::format("--topology: unknown chips '{}'", Printable(chips)));
}

}  // namespace

void CheckRemedies(const RunContext& run) {
  std::vector<std::string> known;
  for (const Remedy& remedy : run.rules.rules().remedies) known.push_back(remedy.id);
  for (const std::string& each : run.options.attempts.remedies) {
    const std::string id = each.substr(0, each.find('='));
    if (run.rules.rules().FindRemedy(id) != nullptr) continue;
    const std::string meant = DidYouMean(id, known);
    throw Error(fmt::format("--remedy: unknown remedy '{}'{}", Printable(id), meant.empty() ? "" : ", " + meant));
  }
}

void ForgetFolder(const std::string& folder, Report* report) {
  const auto shorten = [&](std::string* path) {
    if (path->starts_with(folder)) *path = fs::path(*path).filename().string();
  };
  for (Failure& failure : report->failures) {
    shorten(&failure.where.artifact.path);
    std::string dump = failure.facts.Text("dump");
    if (!dump.starts_with(folder)) continue;
    failure.tally.places = {};
    shorten(&dump);
    failure.facts.Set("dump", dump, {}, true);
  }
  for (CompiledProgram& program : report->programs) shorten(&program.where.artifact.path);
  for (Problem& problem : report->problems) shorten(&problem.path);
}

Recompilation ReadResults(const std::string& path) { return ToRecompilation(ReadJson(path), path); }

Trial::Trial(const RunContext& run) : run_(run) {
  const fs::path package = folder() / "whyoom_try";
  fs::create_directory(package);
  for (const EmbeddedFile& file : TryScripts()) WriteText(package / file.name, file.text);
  fs::rename(package / "sitecustomize.py", folder() / "sitecustomize.py");
  WriteText(folder() / "__main__.py", "from whyoom_try.driver import main\n\nmain()\n");
  WriteText(folder() / "request.json", RequestOf(run, folder()).dump());
}

std::map<std::string, std::string> Trial::JobVariables() const {
  const char* paths = std::getenv("PYTHONPATH");
  const std::string more = paths == nullptr || *paths == '\0' ? "" : ":" + std::string(paths);
  return {{"PYTHONPATH", folder().string() + more}, {"WHYOOM_TRY", (folder() / "request.json").string()}};
}

json Trial::Results() const { return ReadJson(folder() / "results.json"); }

bool Trial::HasResults() const { return HasAttempts(Results()); }

// The Python part ignores variables that name other Python files.
void Trial::Run(const json& more, const ReadControl& control) const {
  json request = RequestOf(run_, folder());
  request.update(more);
  const std::string path = (folder() / "request.json").string();
  try {
    WriteText(path, request.dump());
  } catch (const json::exception&) {
    throw Error("cannot try remedies: the command or the name of the dump is not in UTF-8");
  }
  const std::string python = PythonOf(run_.options);
  const pid_t child = StartFree({python, "-I", folder().string(), path});
  bool is_told = false;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (control.stopped() && !std::exchange(is_told, true)) kill(child, SIGINT);
    std::this_thread::sleep_for(kPoll);
  }
  if (status != 0 && !control.stopped())
    throw Error(fmt::format("cannot try remedies: {}: {} {} (Python 3.9 or newer is needed)", Printable(python),
                            WIFSIGNALED(status) ? "signal" : "exit status",
                            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)));
}

void Trial::AddResults(XlaDump dump, bool was_interrupted, Report* found) const {
  const json written = Results();
  const std::string error = Printable(written.value("error", ""));
  if (!HasAttempts(written)) {
    const std::string why = error.empty() ? Printable(written.value("stopped", "")) : error;
    throw Error("cannot try remedies: " + (why.empty() ? "the job has not shown the function that failed" : why));
  }
  if (!error.empty()) found->problems.push_back({"--try", "", error, true});
  Recompilation results = ToRecompilation(written, (folder() / "results.json").string());
  if (was_interrupted) results.stopped = "interrupted";
  dump.MarkAsInputs();
  for (const XlaDump::Module& module : dump.InputModules()) {
    if (module.name == results.module && (results.dump.empty() || module.failed)) results.dump = module.assignment;
  }
  found->table->settings.recompilation = std::move(results);
}

void Trial::AddRoom(Report* report) const {
  const json rooms = Results().value("rooms", json::object());
  const auto replace = [&](const Evidence& facts, std::optional<ProgramEstimates>* estimates) {
    const auto room = rooms.find(facts.Text("module"));
    if (room == rooms.end() || !*estimates) return;
    RecordReader reader(*room);
    Describe(reader, (*estimates)->room);
  };
  for (Failure& failure : report->failures) replace(failure.facts, &failure.estimates);
  for (CompiledProgram& program : report->programs) replace(program.facts, &program.estimates);
}

namespace {

// Reads what the command printed, and adds the steps that were compiled for --topology to what it dumped. Throws Error
// if nothing could be compiled.
Report ReadCommand(const RunContext& run, const Trial& trial, XlaDump* dump) {
  const std::string name = NameOfJob(run.options.job);
  const bool is_virtual = !run.options.attempts.topology.empty();
  Report found = ReadArtifact(run.engine, {name, ""}, *OpenFile((trial.folder() / "output.txt").string()));
  for (const fs::directory_entry& entry : fs::directory_iterator(trial.folder())) {
    if (entry.path().filename().string().starts_with("unchanged-"))
      AddDumpFolder(entry.path().string(), run.outputs, dump, &found.problems);
  }
  const json written = trial.Results();
  if ((found.table && !found.table->entries().empty()) || !written.contains("ended")) return found;
  const std::string why = Printable(written.value("error", ""));
  if (is_virtual && !why.empty() && !HasAttempts(written)) throw Error("cannot try remedies: " + why);
  const std::string end = Printable(written["ended"].value("end", ""));
  if (dump->empty())
    throw Error(fmt::format("cannot try remedies: the command {}: {}",
                            is_virtual ? "compiled no large step" : "wrote no XLA dump", end));
  // Without a TPU, a command usually ends at a value that was not computed.
  if (written["ended"].value("failed", false) && !HasAttempts(written))
    found.problems.push_back({name, "", end, !is_virtual, is_virtual ? Problem::kNote : ""});
  return found;
}

// Adds the results to what the command printed and dumped. `dump`: also the user's own. `signal`: the one that ended
// the Python part, or 0.
Report ReadTrial(const RunContext& run, const Trial& trial, XlaDump dump, int signal, ReadControl* control) {
  const bool has_command = !run.options.job.empty();
  Report found;
  if (has_command) found = ReadCommand(run, trial, &dump);
  if (!found.table) found.table.emplace(run.rules.rules());
  const std::optional<double> limit = LimitOf(run);
  if (limit) dump.FailAbove(*limit);
  try {
    trial.AddResults(dump, signal != 0, &found);
  } catch (const Error& error) {
    if (signal == 0 && !has_command) throw;
    const std::string why = signal == 0 ? error.what() : "interrupted before a change was compiled";
    found.problems.push_back({"--try", "", why, true});
  }
  dump.MarkAsInputs();
  Limits limits = run.options.limits;
  if (signal != 0) limits.seconds = kSecondsAfterInterrupt;
  dump.StopAt(control, limits);
  run.AddDump(dump, limit, &found);
  Report report = run.MakeReport(std::move(found));
  trial.AddRoom(&report);
  if (!report.failures.empty()) report.programs.clear();  // small steps that fit
  ForgetFolder(trial.folder().string(), &report);
  return report;
}

}  // namespace

int RunTry(const RunContext& run) {
  const Options& options = run.options;
  ReadControl control;
  const Interrupt interrupt(&control.stop);
  CheckRemedies(run);
  LimitOf(run);
  const Trial trial(run);
  const std::string given = options.paths.empty() ? "" : options.paths.front();
  std::optional<DumpFolder> folder;
  json more = {{"command", options.job}, {"dump", given}};
  if (given.empty()) {
    folder.emplace(std::getenv("XLA_FLAGS"), options.attempts.topology.empty());
    std::map<std::string, std::string> variables = trial.JobVariables();
    if (folder->flags()) variables["XLA_FLAGS"] = *folder->flags();
    variables["JAX_ENABLE_COMPILATION_CACHE"] = "false";  // a compile from JAX's cache would write no dump
    more.update({{"environment", variables}, {"dump", folder->path()}, {"since", folder->since()}});
  } else if (ReadDump(given, 0, run.outputs).empty()) {
    throw Error(Printable(given) + ": no XLA dump (expected the folder of --xla_dump_to)");
  }
  trial.Run(more, control);
  const int signal = interrupt.signal();
  control.stop = false;
  try {
    if (signal != 0 && folder && !trial.Results().contains("ended") && !trial.HasResults()) {
      WriteError("whyoom: interrupted before anything was compiled\n");
      return kSignalled + signal;
    }
    XlaDump dump = folder ? folder->Read(run.outputs) : ReadDump(given, 0, run.outputs);
    Report report = ReadTrial(run, trial, std::move(dump), signal, &control);
    if (folder && folder->temporary()) ForgetFolder(folder->path(), &report);
    const int status = run.Print(&report);
    WritePatch(report, options);
    return signal != 0 ? kSignalled + signal : StatusOf(report, status);
  } catch (const json::exception&) {
    throw Error("cannot try remedies: the command has changed the private folder of whyoom");
  }
}

void WritePatch(const Report& report, const Options& options) {
  const std::string& path = options.attempts.patch;
  if (path.empty() || report.failures.empty()) return;
  std::string done = "was not written: no change that fits has a patch";
  for (const Failure& failure : report.failures) {
    const auto patched = std::find_if(failure.remedies.begin(), failure.remedies.end(),
                                      [](const RankedRemedy& ranked) { return !ranked.patch.empty(); });
    if (patched == failure.remedies.end()) continue;
    WriteOutput(patched->patch, path);
    done = fmt::format("has the patch of remedy {}: {}", patched->rank, patched->remedy->title);
    break;
  }
  WriteError(fmt::format("whyoom: {} {}\n", Printable(path), done));
}

}  // namespace whyoom
