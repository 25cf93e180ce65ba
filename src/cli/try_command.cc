#include "cli/try_command.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "cli/embedded.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/output.h"
#include "diagnose/dump_report.h"
#include "diagnose/read_input.h"
#include "input/error.h"
#include "report/record/describe.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr double kSecondsAfterInterrupt = 5;  // for estimates
constexpr std::size_t kMostTextBytes = 300;   // of a problem
constexpr std::string_view kDriver =
    "import os\nimport sys\n\nsys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))\n"
    "from whyoom_try.driver import main\n\nmain()\n";

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

json ReadResultsIn(const fs::path& folder) { return ReadJson(folder / "results.json"); }

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

}  // namespace

bool HasResults(const fs::path& folder) { return !ReadResultsIn(folder).value("attempts", json()).empty(); }

namespace {

// Why there are no results; empty if that is unknown.
std::string ProblemOf(const fs::path& folder) {
  const json found = ReadResultsIn(folder);
  const std::string error = found.value("error", "");
  return Printable(error.empty() ? found.value("stopped", "") : error);
}

// Adds the results to the report, which must have a table. Throws Error if there are none.
void AddResults(const fs::path& folder, XlaDump inputs, bool was_interrupted, Report* found) {
  if (!HasResults(folder)) {
    const std::string why = ProblemOf(folder);
    throw Error("cannot try remedies: " + (why.empty() ? "the job has not shown the function that failed" : why));
  }
  const std::string error = Printable(ReadResultsIn(folder).value("error", ""));
  if (!error.empty()) found->problems.push_back({"--try", "", error, true});
  Recompilation results = ReadResults((folder / "results.json").string());
  if (was_interrupted) results.stopped = "interrupted";
  inputs.MarkAsInputs();
  for (const XlaDump::Module& module : inputs.InputModules()) {
    if (module.name == results.module && (results.dump.empty() || module.failed)) results.dump = module.assignment;
  }
  found->table->settings.recompilation = std::move(results);
}

}  // namespace

void AddRoom(const fs::path& folder, Report* report) {
  constexpr std::string_view kPrefix = "room-";  // then the module's name
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const json found = name.starts_with(kPrefix) ? ReadJson(entry.path()) : json::object();
    const auto replace = [&](const Evidence& facts, std::optional<ProgramEstimates>* estimates) {
      if (found.empty() || !*estimates || kPrefix.data() + facts.Text("module") != name) return;
      RecordReader reader(found);
      Describe(reader, (*estimates)->room);
    };
    for (Failure& failure : report->failures) replace(failure.facts, &failure.estimates);
    for (CompiledProgram& program : report->programs) replace(program.facts, &program.estimates);
  }
}

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

Recompilation ReadResults(const std::string& path) {
  std::optional<Recompilation> results = FromRecord<Recompilation>(ReadJson(path));
  if (!results) throw Error(Printable(path) + ": not the results of remedies");
  for (CompiledAttempt& attempt : results->attempts) {
    if (attempt.need_bytes.value_or(0) <= 0) attempt.need_bytes.reset();
    attempt.problem = CutBytes(Printable(attempt.problem), kMostTextBytes);
  }
  return *std::move(results);
}

namespace {

// The limit of --hbm, or of the chip of --topology.
std::optional<double> LimitOf(const RunContext& run) {
  const std::string& chips = run.options.attempts.topology;
  const std::optional<double> limit = run.Limit();
  return limit || chips.empty() ? limit : ParseLimit(chips.substr(0, chips.find_first_of("-:")), run.rules.rules());
}

}  // namespace

Trial::Trial(const RunContext& run) : run_(run) {
  const fs::path package = folder_.path() / "whyoom_try";
  fs::create_directory(package);
  WriteText(package / "__init__.py", "");
  for (const EmbeddedFile& file : TryScripts()) WriteText(package / file.name, file.text);
  fs::rename(package / "sitecustomize.py", folder_.path() / "sitecustomize.py");
  WriteText(folder_.path() / "driver.py", kDriver);
  WriteText(folder_.path() / "request.json", RequestOf(run, folder_.path()).dump());
}

std::map<std::string, std::string> Trial::JobVariables() const {
  const char* paths = std::getenv("PYTHONPATH");
  const std::string more = paths == nullptr || *paths == '\0' ? "" : ":" + std::string(paths);
  return {{"PYTHONPATH", folder_.path().string() + more}, {"WHYOOM_TRY", (folder_.path() / "request.json").string()}};
}

// Runs the Python part with more keys in its request. It ignores variables that name other Python files.
json Trial::Run(const json& more, const ReadControl& control) const {
  json request = RequestOf(run_, folder_.path());
  request.update(more);
  const std::string path = (folder_.path() / "request.json").string();
  try {
    WriteText(path, request.dump());
  } catch (const json::exception&) {
    throw Error("cannot try remedies: the command or the name of the dump is not in UTF-8");
  }
  const auto python = request["python"].get<std::string>();
  const pid_t child = StartFree({python, "-I", (folder_.path() / "driver.py").string(), path});
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
  return request;
}

void Trial::Finish(const DumpFolder& folder, const XlaDump& dump, ReadControl* control, Report* found) const {
  if (!HasResults(folder_.path()))
    Run({{"command", json::array()}, {"dump", folder.path()}, {"since", folder.since()}}, *control);
  AddResults(folder_.path(), dump, control->stopped(), found);
  control->stop = false;
}

namespace {

// Reads what the command printed, and adds to what it dumped. Throws Error if nothing could be compiled.
Report ReadCommand(const RunContext& run, const fs::path& folder, const json& request, const json& state,
                   XlaDump* dump) {
  const std::string name = NameOfJob(request["command"]);
  Report found = ReadArtifact(run.engine, {name, ""}, *OpenFile((folder / "output.txt").string()));
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("unchanged-"))  // a step compiled for --topology
      AddDumpFolder(entry.path().string(), run.outputs, dump, &found.problems);
  }
  if ((found.table && !found.table->entries().empty()) || !state.value("ran", false)) return found;
  const bool is_virtual = request.contains("topology");
  if (const std::string why = ProblemOf(folder); is_virtual && !why.empty() && !HasResults(folder))
    throw Error("cannot try remedies: " + why);
  const std::string end = Printable(state.value("end", ""));
  if (dump->empty())
    throw Error(fmt::format("cannot try remedies: the command {}: {}",
                            is_virtual ? "compiled no large step" : "wrote no XLA dump", end));
  // Without a TPU, a command usually ends at a value that was not computed.
  if (state.value("failed", false) && !HasResults(folder))
    found.problems.push_back({name, "", end, !is_virtual, is_virtual ? Problem::kNote : ""});
  return found;
}

// Prints the report of what the Python part wrote to `folder`. Before that, with --finish, it asks for the facts of the
// programs. `signal`: the one that ended it, or 0.
int PrintTry(const RunContext& run, const fs::path& folder, const json& request, int signal, ReadControl* control) {
  const bool is_done = run.options.attempts.finish.empty();
  const json state = ReadJson(folder / "state.json");
  const bool has_command = !request.at("command").empty();
  if (signal != 0 && has_command && !state.contains("ran") && !HasResults(folder)) {
    WriteError("whyoom: interrupted before anything was compiled\n");
    return 128 + signal;
  }
  // A job's dump has no files older than the job; that of the command line may be of any age.
  XlaDump dump = ReadDump(request.at("dump"), request.value("since", std::time_t{0}), run.outputs);
  Report found;
  if (has_command) found = ReadCommand(run, folder, request, state, &dump);
  if (!found.table) found.table.emplace(run.rules.rules());
  const std::optional<double> limit = LimitOf(run);
  if (limit) dump.FailAbove(*limit);
  if (is_done) {
    try {
      AddResults(folder, dump, signal != 0, &found);
    } catch (const Error& error) {
      if (signal == 0 && !has_command) throw;
      const std::string why = signal == 0 ? error.what() : "interrupted before a change was compiled";
      found.problems.push_back({"--try", "", why, true});
    }
  }
  dump.MarkAsInputs();
  Limits limits = run.options.limits;
  if (signal != 0) limits.seconds = kSecondsAfterInterrupt;
  dump.StopAt(control, limits);
  run.AddDump(dump, limit, &found);
  Report report = run.MakeReport(std::move(found));
  AddRoom(folder, &report);
  if (!report.failures.empty()) report.programs.clear();  // small steps that fit
  if (is_done && request.value("temporary", false)) ForgetFolder(request["dump"], &report);
  if (is_done) ForgetFolder(folder.string(), &report);
  const int status = run.Print(&report);
  WritePatch(report, run.options);
  return signal != 0 ? 128 + signal : StatusOf(report, status);
}

}  // namespace

int RunTry(const RunContext& run) {
  const Options& options = run.options;
  ReadControl control;
  const Interrupt interrupt(&control.stop);
  const fs::path& asked = options.attempts.finish;
  if (!asked.empty()) return PrintTry(run, asked, ReadJson(asked / "request.json"), 0, &control);
  CheckRemedies(run);
  if (!options.attempts.topology.empty() && !LimitOf(run))
    throw Error(fmt::format("--topology: unknown chips '{}'", Printable(options.attempts.topology)));
  const Trial trial(run);
  json more = {{"command", options.job}};
  std::optional<DumpFolder> folder;
  if (options.job.empty()) {
    if (ReadDump(options.paths.front(), 0, run.outputs).empty())
      throw Error(Printable(options.paths.front()) + ": no XLA dump (expected the folder of --xla_dump_to)");
    more["dump"] = options.paths.front();
  } else {
    folder.emplace(std::getenv("XLA_FLAGS"), options.attempts.topology.empty());
    std::map<std::string, std::string> variables = trial.JobVariables();
    if (folder->flags()) variables["XLA_FLAGS"] = *folder->flags();
    variables["JAX_ENABLE_COMPILATION_CACHE"] = "false";  // a compile from JAX's cache would write no dump
    more.update({{"environment", variables},
                 {"dump", folder->path()},
                 {"temporary", folder->temporary()},
                 {"since", folder->since()}});
  }
  const json request = trial.Run(more, control);
  control.stop = false;
  try {
    return PrintTry(run, trial.folder(), request, interrupt.signal(), &control);
  } catch (const json::exception&) {
    throw Error("cannot try remedies: the command has changed the private folder of whyoom");
  }
}

void WritePatch(const Report& report, const Options& options) {
  if (options.attempts.patch.empty() || report.failures.empty()) return;
  for (const Failure& failure : report.failures) {
    for (const RankedRemedy& ranked : failure.remedies) {
      if (ranked.patch.empty()) continue;
      WriteOutput(ranked.patch, options.attempts.patch);
      WriteError(fmt::format("whyoom: {} has the patch of remedy {}: {}\n", Printable(options.attempts.patch),
                             ranked.rank, ranked.remedy->title));
      return;
    }
  }
  WriteError(
      fmt::format("whyoom: {} was not written: no change that fits has a patch\n", Printable(options.attempts.patch)));
}

}  // namespace whyoom
