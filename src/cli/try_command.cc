#include "cli/try_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "cli/dump_folder.h"
#include "cli/embedded.h"
#include "cli/exit_status.h"
#include "cli/file_writer.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "diagnose/dump_report.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "input/error.h"
#include "rules/suggest.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr double kSecondsAfterInterrupt = 5;  // for estimates
constexpr std::size_t kMostTextBytes = 300;   // of a problem
constexpr std::string_view kDriver = "from whyoom_try.attempts import main\n\nmain()\n";

void WriteText(const fs::path& path, std::string_view text) {
  std::ofstream file(path);
  if (!(file << text).flush())
    throw Error(fmt::format("cannot write {}: {} (set TMPDIR to a folder with more space)", Printable(path.string()),
                            strerror(errno)));
}

json ReadJson(const fs::path& path) {
  std::ifstream file(path);
  return json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, false);
}

// The interpreter of --python, or of the job if it is a Python.
std::string PythonOf(const Options& options) {
  if (!options.attempts.python.empty()) return options.attempts.python;
  if (options.job.empty()) return "python3";
  const std::string name = fs::path(options.job.front()).filename().string();
  return name.starts_with("python") ? options.job.front() : "python3";
}

std::string CacheFolder() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  if (cache != nullptr && *cache != '\0') return std::string(cache) + "/whyoom/compiles";
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache/whyoom/compiles" : "";
}

// What the Python part needs to know in any case.
json RequestOf(const RunContext& run, const fs::path& folder) {
  const TryOptions& options = run.options.attempts;
  json limits = {{"attempt", options.attempt_seconds},
                 {"total", options.total_seconds},
                 {"memory", options.memory},
                 {"jobs", run.options.jobs},
                 {"whole", options.whole}};
  json chips = json::object();
  for (const Chip& chip : run.rules.rules().chips) chips[chip.id] = chip.limits.front();
  json request = {
      {"results", (folder / "results.json").string()},   {"python", options.python},    {"remedies", options.remedies},
      {"cache", options.use_cache ? CacheFolder() : ""}, {"limits", std::move(limits)}, {"chips", std::move(chips)}};
  if (const std::optional<double> limit = run.Limit()) request["limit_bytes"] = static_cast<std::int64_t>(*limit);
  if (!options.topology.empty()) request["topology"] = options.topology;
  return request;
}

CompiledAttempt ToAttempt(const json& record) {
  CompiledAttempt attempt;
  attempt.remedy = record.at("remedy").get<std::string>();
  attempt.setting = record.at("setting").get<std::string>();
  attempt.seconds = record.at("seconds").get<double>();
  if (record.contains("need_bytes")) attempt.need_bytes = record["need_bytes"].get<std::int64_t>();
  if (record.contains("verified_bytes")) attempt.verified_bytes = record["verified_bytes"].get<std::int64_t>();
  attempt.problem = CutBytes(Printable(record.value("problem", "")), kMostTextBytes);
  attempt.patch = record.value("patch", "");
  return attempt;
}

// "3 attempts, 12 s, best: 15.01 GiB".
std::string ProgressText(const fs::path& results, Clock::time_point begin, std::size_t columns) {
  const json found = ReadJson(results);
  std::size_t made = 0;
  std::int64_t best = 0;
  for (const json& record : found.is_object() ? found.value("attempts", json::array()) : json::array()) {
    ++made;
    const std::int64_t need = record.value("need_bytes", std::int64_t{0});
    if (need > 0 && (best == 0 || need < best)) best = need;
  }
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin).count();
  std::string line = fmt::format("{} attempts, {} s", made, seconds);
  if (best > 0) line += ", best: " + FormatSize(best);
  return CutBytes(line, columns);
}

// Waits for the child, and shows the progress.
void Await(CompileChild* child, const fs::path& results, const ReadControl& control, const Options& options) {
  const Clock::time_point begin = Clock::now();
  const ProgressBar bar(ProgressOf(options),
                        [&](std::size_t columns) { return ProgressText(results, begin, columns); });
  while (!child->HasEnded() && !control.stopped()) std::this_thread::sleep_for(kPoll);
}

// Chooses the failed module, or else one that did not fail, that needs most. `with_source`: of those that can be
// compiled again.
std::optional<XlaDump::InputModule> FindModule(const XlaDump& dump, bool with_source) {
  std::optional<XlaDump::InputModule> best;
  std::int64_t most = 0;
  for (const XlaDump::InputModule& module : dump.InputModules()) {
    std::error_code ignored;
    if (with_source && !fs::is_regular_file(fs::path(module.key) / "module.mlir", ignored)) continue;
    Problem problem;
    const std::int64_t need = dump.NeedOf(module, &problem);
    if (best && (best->failed != module.failed ? best->failed : most >= need)) continue;
    best = module;
    most = need;
  }
  return best;
}

// The module, its need and its limit: as the failure in the failures states them, or else the dump.
json FactsOf(const RunContext& run, const XlaDump& dump, const XlaDump::InputModule& module, const Report& found) {
  Problem problem;
  json facts = {{"module", module.key}, {"name", module.name}, {"stated_bytes", dump.NeedOf(module, &problem)}};
  const std::optional<double> usable = TargetOfModule(run.rules.rules(), module).Number("limit_bytes");
  if (usable) facts["limit_bytes"] = *usable;
  if (const std::optional<double> limit = run.Limit()) facts["limit_bytes"] = *limit;
  for (const Failure* each : found.table->entries()) {
    const Failure& failure = *each;
    const std::string& name = failure.facts.Text("module");
    if (failure.rule->phase != "compile" || (!name.empty() && name != module.name)) continue;
    if (const std::optional<double> need = failure.facts.Number("need_bytes")) facts["stated_bytes"] = *need;
    if (const std::optional<double> limit = failure.facts.Number("limit_bytes")) facts["limit_bytes"] = *limit;
  }
  const bool fits = facts["stated_bytes"].get<double>() <= facts.value("limit_bytes", 0.0);
  if (!module.failed && (fits || !facts.contains("limit_bytes")))
    throw Error(fmt::format("cannot try remedies: {} fits", module.name));
  return facts;
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

bool Trial::has_results() const {
  const json found = ReadJson(folder_.path() / "results.json");
  return found.contains("attempts") && !found["attempts"].empty();
}

std::string Trial::problem() const {
  const json found = ReadJson(folder_.path() / "results.json");
  if (!found.is_object()) return "";
  const std::string error = found.value("error", "");
  return Printable(error.empty() ? found.value("stopped", "") : error);
}

void Trial::AddDump(XlaDump* dump, std::vector<Problem>* problems) const {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
    if (entry.path().filename().string().starts_with("unchanged-"))
      AddDumpFolder(entry.path().string(), run_.outputs, dump, problems);
  }
}

// Runs the Python part with more keys in its request.
void Trial::Run(const json& more, bool confined, const ReadControl& control) {
  json request = RequestOf(run_, folder_.path());
  request["python"] = PythonOf(run_.options);
  request.update(more);
  const fs::path path = folder_.path() / "driver.json";
  WriteText(path, request.dump());
  const std::vector<std::string> command = {request["python"], (folder_.path() / "driver.py").string(), path.string()};
  const fs::path output = folder_.path() / "driver.txt";
  const ChildProgram program = confined ? Confined(command, folder_.path()) : Free(command, EnvironmentWith({}));
  CompileChild child(program, output);
  Await(&child, folder_.path() / "results.json", control, run_.options);
  if (!child.HasEnded() || fs::exists(folder_.path() / "results.json")) return;
  throw Error(fmt::format("cannot try remedies: {}: {} ({})", Printable(command.front()), LastLine(output),
                          child.HowItEnded()));
}

void Trial::Finish(const XlaDump& dump, ReadControl* control, Report* found) {
  XlaDump inputs = dump;
  inputs.MarkAsInputs();
  const bool has_command = !run_.options.job.empty();
  if (!has_results()) {
    const std::optional<XlaDump::InputModule> module = FindModule(inputs, true);
    if (!module && !has_command)
      throw Error(
          "cannot try remedies: the dump contains no module.mlir (compilers since 2026 write it; update jax and "
          "libtpu, and run the job again)");
    if (module) Run(FactsOf(run_, inputs, *module, *found), true, *control);
  }
  // The command of `run --try` is the user's job, which may overwrite its own results if it runs again.
  if (has_command && run_.options.command == Command::kTry && !control->stopped()) RunCommand(inputs, *control, *found);
  AddResults(inputs, *control, found);
  control->stop = false;
}

// Verifies the patches, and runs the command with other settings of its framework.
void Trial::RunCommand(const XlaDump& inputs, const ReadControl& control, const Report& found) {
  json facts;
  if (has_results()) {
    facts = ReadJson(folder_.path() / "results.json");
    facts = {{"name", facts.at("module")}, {"unchanged_bytes", facts.at("unchanged_bytes")}};
  } else if (const std::optional<XlaDump::InputModule> module = FindModule(inputs, false)) {
    facts = FactsOf(run_, inputs, *module, found);
    facts["unchanged_bytes"] = facts["stated_bytes"];
  } else {
    return;
  }
  facts["command"] = run_.options.job;
  Run(facts, false, control);
}

void Trial::AddResults(const XlaDump& inputs, const ReadControl& control, Report* found) const {
  const fs::path path = folder_.path() / "results.json";
  if (!has_results()) {
    const std::string why = problem();
    throw Error("cannot try remedies: " + (why.empty() ? "the job has not shown the function that failed" : why));
  }
  const std::string error = Printable(ReadJson(path).value("error", ""));
  if (!error.empty()) found->problems.push_back({"--try", "", error, true});
  Recompilation results = ReadResults(path.string());
  if (control.stopped()) results.stopped = "interrupted";
  for (const XlaDump::InputModule& module : inputs.InputModules()) {
    if (module.name == results.module && (results.dump.empty() || module.failed)) results.dump = module.assignment;
  }
  found->table->settings.recompilation = std::move(results);
}

void Trial::AddRoom(Report* report) const {
  constexpr std::string_view kPrefix = "room-";  // then the module's name
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_.path())) {
    const std::string name = entry.path().filename().string();
    const json found = name.starts_with(kPrefix) ? ReadJson(entry.path()) : json();
    const auto replace = [&](const Evidence& facts, std::optional<ProgramEstimates>* estimates) {
      if (!found.is_object() || !*estimates || kPrefix.data() + facts.Text("module") != name) return;
      Room& room = (*estimates)->room;
      room.batch = found.value("batch", room.batch);
      room.largest_batch = found.value("largest_batch", room.largest_batch);
      room.sequence = found.value("sequence", room.sequence);
      room.largest_sequence = found.value("largest_sequence", room.largest_sequence);
    };
    for (Failure& failure : report->failures) replace(failure.facts, &failure.estimates);
    for (CompiledProgram& program : report->programs) replace(program.facts, &program.estimates);
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
  try {
    const json found = ReadJson(path);
    Recompilation results;
    results.module = found.at("module").get<std::string>();
    results.compiler = found.at("compiler").get<std::string>();
    results.unchanged_bytes = found.at("unchanged_bytes").get<std::int64_t>();
    results.seconds = found.at("seconds").get<double>();
    results.stopped = found.value("stopped", "");
    for (const json& record : found.at("attempts")) results.attempts.push_back(ToAttempt(record));
    return results;
  } catch (const json::exception&) {
    throw Error(Printable(path) + ": not the results of remedies");
  }
}

namespace {

// The limit of --hbm, or of the chip of --topology.
std::optional<double> LimitOf(const RunContext& run) {
  const std::string& chips = run.options.attempts.topology;
  const std::optional<double> limit = run.Limit();
  return limit || chips.empty() ? limit : ParseLimit(chips.substr(0, chips.find_first_of("-:")), run.rules.rules());
}

// Runs the user's command, and reads what it prints and dumps.
Report RunCommand(const RunContext& run, const Trial& trial, const DumpFolder& dumps, const ReadControl& control,
                  XlaDump* dump) {
  const PrivateFolder folder;
  const fs::path output = folder.path() / "output.txt";
  std::map<std::string, std::string> variables = trial.JobVariables();
  if (dumps.flags()) variables["XLA_FLAGS"] = *dumps.flags();
  variables["JAX_ENABLE_COMPILATION_CACHE"] = "false";  // a compile from JAX's cache would write no dump
  CompileChild job(Free(run.options.job, EnvironmentWith(variables)), output);
  Await(&job, "", control, run.options);
  if (control.stopped() && !trial.has_results()) throw Error("interrupted");
  Report found = ReadArtifact(run.engine, {NameOfJob(run.options.job), ""}, *OpenFile(output.string()));
  if (!found.table) found.table.emplace(run.rules.rules());
  *dump = dumps.Read(run.outputs);
  trial.AddDump(dump, &found.problems);
  if (!found.table->entries().empty() || control.stopped()) return found;
  const bool is_virtual = !run.options.attempts.topology.empty();
  if (const std::string why = trial.problem(); is_virtual && !why.empty()) throw Error("cannot try remedies: " + why);
  const std::string end = fmt::format("{} ({})", LastLine(output), job.HowItEnded());
  if (dump->empty())
    throw Error(fmt::format("cannot try remedies: the command {}: {}",
                            is_virtual ? "compiled no large step" : "wrote no XLA dump", end));
  // Without a TPU, a command usually ends at a value that was not computed.
  if (job.has_failed() && !trial.has_results())
    found.problems.push_back({NameOfJob(run.options.job), "", end, !is_virtual, is_virtual ? Problem::kNote : ""});
  return found;
}

}  // namespace

int RunTry(const RunContext& run) {
  const Options& options = run.options;
  ReadControl control;
  const Interrupt interrupt(&control.stop);
  CheckRemedies(run);
  try {
    Trial trial(run);
    std::optional<DumpFolder> folder;
    Report found;
    XlaDump dump;
    if (options.job.empty()) {
      found.table.emplace(run.rules.rules());
      AddDumpFolder(options.paths.front(), run.outputs, &dump, &found.problems);
      if (dump.empty())
        throw Error(Printable(options.paths.front()) + ": no XLA dump (expected the folder of --xla_dump_to)");
    } else {
      folder.emplace(std::getenv("XLA_FLAGS"), options.attempts.topology.empty());
      found = RunCommand(run, trial, *folder, control, &dump);
    }
    const std::optional<double> limit = LimitOf(run);
    if (limit) dump.FailAbove(*limit);
    try {
      if (options.attempts.topology.empty() || trial.has_results()) trial.Finish(dump, &control, &found);
    } catch (const Error& error) {
      if (interrupt.signal() == 0 && options.job.empty()) throw;
      const std::string why = interrupt.signal() == 0 ? error.what() : "interrupted before a change was compiled";
      found.problems.push_back({"--try", "", why, true});
      control.stop = false;
    }
    dump.MarkAsInputs();
    Limits limits = options.limits;
    if (interrupt.signal() != 0) limits.seconds = kSecondsAfterInterrupt;
    dump.StopAt(&control, limits);
    run.AddDump(dump, limit, &found);
    Report report = run.MakeReport(std::move(found));
    trial.AddRoom(&report);
    if (!report.failures.empty()) report.programs.clear();  // small steps that fit
    if (folder && folder->temporary()) ForgetFolder(folder->path(), &report);
    ForgetFolder(trial.folder(), &report);
    const int status = run.Print(&report);
    WritePatch(report, options);
    return interrupt.signal() != 0 ? 128 + interrupt.signal() : StatusOf(report, status);
  } catch (const Error&) {
    if (interrupt.signal() == 0) throw;
    WriteError("whyoom: interrupted before anything was compiled\n");
    return 128 + interrupt.signal();
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
