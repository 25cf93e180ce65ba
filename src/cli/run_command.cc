#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <system_error>

#include "cli/dump_folder.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/run_context.h"
#include "cli/try_command.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "input/error.h"
#include "input/limits.h"
#include "read/engine.h"
#include "report/summary.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {

std::string NameOfJob(const std::vector<std::string>& command) {
  constexpr std::size_t kLongest = 120;
  std::string line = kJobPrefix + std::filesystem::path(command.front()).filename().string();
  // Other words, such as options, settings and code, may contain secrets.
  std::error_code error;
  auto last = std::find_if(command.begin() + 1, command.end(),
                           [&](const std::string& word) { return std::filesystem::is_regular_file(word, error); });
  if (last != command.end()) line += " " + *last;
  if (last == command.end()) last = command.begin();
  if (last + 1 != command.end()) line += " ...";
  return CutBytes(MaskSecrets(Printable(line)), kLongest);
}

namespace {

// The time limit for reading the output, because the user waits for the end of the job.
constexpr double kMaxSeconds = 30;

Report ReadLog(const Engine& engine, const std::string& name, const ReadControl& control, JobLog* log) {
  Limits limits;
  limits.seconds = kMaxSeconds;
  const Stop stop(&control, limits);
  ReadOptions options;
  options.stop = &stop;
  Report found = ReadArtifact(engine, {name, ""}, *log, options);
  if (log->dropped_bytes() > 0)
    found.problems.push_back(
        {name, "",
         fmt::format("{} bytes in the middle of the output were not stored and not read", log->dropped_bytes())});
  const std::string why = control.stopped() ? "interrupted" : fmt::format("stopped after {} s", kMaxSeconds);
  if (stop.IsRequested()) found.problems.push_back({name, "", why + "; the rest was not read"});
  return found;
}

bool FailedToCompile(const FailureTable& table) {
  const std::vector<const Failure*> failures = table.entries();
  return std::any_of(failures.begin(), failures.end(), [](const Failure* failure) {
    return !failure->rule->memory_space.empty() && failure->rule->phase == "compile";
  });
}

struct FinishedJob {
  const JobResult& result;
  const DumpFolder& dump;
  const Trial* trial;  // null without --try
  JobLog& log;

  bool HasResults() const { return trial != nullptr && trial->HasResults(); }
};

// Prints the report to standard error or the file of --output. As text only if it is about something, see `is_notable`:
// the job was killed, or some output was not read. Always writes the requested files, so that they never contain the
// report of an earlier job; those of a job that succeeded are evidence for `whyoom diff`.
void Print(const RunContext& run, const Report& report, const FinishedJob& job, bool is_notable) {
  const Options& options = run.options;
  const bool has_notes = is_notable || !ProblemsByKind(report).unknown.empty();
  const bool as_text = options.format == Format::kText;
  const bool succeeded = job.result.exit_status == 0 && !job.HasResults();
  const bool is_silent = succeeded || (as_text && report.failures.empty() && (!has_notes || options.quiet));
  try {
    WriteReport(report, options, is_silent ? -1 : STDERR_FILENO,
                std::string(job.result.line_open ? "\n" : "") + (as_text ? "\n" : ""));
    WritePatch(report, options);
  } catch (const Error& error) {
    WriteError(fmt::format("whyoom: {}\n", error.what()));
  }
}

// Adds the results of the trial, if the process has tried remedies or failed to compile.
void AddTrial(const RunContext& run, const FinishedJob& job, ReadControl* control, XlaDump* modules, Report* found) {
  if (job.trial == nullptr) return;
  const bool has_results = job.HasResults();
  if (has_results) {
    if (!found->table) found->table.emplace(run.rules.rules());
    if (found->table->entries().empty()) modules->MarkAsInputs();  // it hid its error
  } else if (!found->table || !FailedToCompile(*found->table)) {
    return;
  }
  try {
    if (!has_results)
      job.trial->Run({{"command", nlohmann::json::array()}, {"dump", job.dump.path()}, {"since", job.dump.since()}},
                     *control);
    job.trial->AddResults(*modules, control->stopped(), found);
    control->stop = false;  // an interrupt ends the compiles only
  } catch (const Error& error) {
    found->problems.push_back({"--try", "", error.what(), true});
  }
}

// Reports what the job's output shows and returns the exit status. A signal ends the reading early; what was found so
// far is printed. `kill`: how the job was killed, if nothing shows that memory ran out.
int Diagnose(const RunContext& run, const FinishedJob& job, const std::string& kill) {
  const Options& options = run.options;
  ReadControl control;
  const Interrupt interrupt(&control.stop);
  Report found = ReadLog(run.engine, NameOfJob(options.job), control, &job.log);
  bool is_notable = !found.problems.empty() && !found.problems.back().is_unknown_error();
  XlaDump modules = job.dump.Read(run.outputs);
  modules.StopAt(&control, options.limits);
  if (found.table && !job.dump.path().empty() && modules.empty()) found.table->settings.no_dump = true;
  AddTrial(run, job, &control, &modules, &found);
  if (found.table) run.AddDump(modules, std::nullopt, &found);
  Report report = run.MakeReport(std::move(found));
  report.exit_status = job.result.exit_status;
  const bool again = options.exit_retry && FailsAgain(report);
  run.Hide(&report);
  if (job.trial != nullptr) job.trial->AddRoom(&report);
  if (job.dump.temporary()) ForgetFolder(job.dump.path(), &report);
  AddSourceLines(options.source_root.empty() ? "." : options.source_root, &report);
  if (!kill.empty() && report.failures.empty()) {
    report.problems.push_back({"whyoom run", "", kill, true, Problem::kNote});
    is_notable = true;
  }
  Print(run, report, job, is_notable);
  const int status = again ? *options.exit_retry : job.result.exit_status;
  if (status != job.result.exit_status && !options.quiet)
    WriteError(
        fmt::format("whyoom: a retry would fail the same way; exiting with {} instead of the job's exit status {}\n",
                    status, job.result.exit_status));
  return status;
}

// Reports what is known of the job after its end, and returns the exit status.
int ReportJob(const RunContext& run, const FinishedJob& job, const std::optional<std::uint64_t>& kills_before) {
  const JobResult& result = job.result;
  const char* const before = result.line_open ? "\n" : "";
  if (!result.undelivered.empty())
    WriteError(
        fmt::format("{}whyoom: a part of the job's output could not be written: {}\n", before, result.undelivered));
  const bool has_files = !run.options.output.empty() || !run.options.extra_outputs.empty();
  if (result.exit_status == 0 && !has_files && !job.HasResults()) return 0;
  if (result.exit_status != kSignalled + SIGKILL) return Diagnose(run, job, "");
  const Kill kill = DescribeKill(kills_before);
  if (!kill.by_memory) return Diagnose(run, job, kill.line + "; nothing shows that memory ran out");
  job.log.Add(fmt::format("{}whyoom run: {}\n", before, kill.line));
  return Diagnose(run, job, "");
}

// Runs the job. Errors must not change its exit status.
int RunWithTrial(const RunContext& run, const Trial* trial) {
  const Options& options = run.options;
  const JobSignals signals;  // first, so that no signal prevents the removal of the dump folder
  const DumpFolder dump(std::getenv("XLA_FLAGS"), options.dump);
  std::map<std::string, std::string> variables;
  if (trial != nullptr) variables = trial->JobVariables();
  if (dump.flags()) variables["XLA_FLAGS"] = *dump.flags();
  JobLog log;
  const std::optional<std::uint64_t> kills_before = OomKills();
  const JobResult result = RunJob({options.job, variables, options.ignore_broken_pipe}, signals,
                                  [&](std::string_view lines) { log.Add(lines); });
  if (!result.problem.empty()) {
    WriteError(fmt::format("whyoom: cannot run {}: {}\n", Printable(options.job[0]), result.problem));
    return result.exit_status;
  }
  const std::optional<int> status = RunApart(signals, [&] {
    try {
      return ReportJob(run, {result, dump, trial, log}, kills_before);
    } catch (const std::exception& error) {
      WriteError(fmt::format("whyoom: the job was not diagnosed: {}\n", error.what()));
    }
    return result.exit_status;
  });
  if (!status) WriteError("whyoom: the diagnosis crashed or was killed\n");
  return status.value_or(result.exit_status);
}

}  // namespace

int RunAndDiagnose(const RunContext& run) {
  std::optional<Trial> trial;
  CheckRemedies(run);
  try {
    if (run.options.attempts.after_failure) trial.emplace(run);
  } catch (const Error& error) {  // the job must run all the same
    WriteError(fmt::format("whyoom: {}\n", error.what()));
  }
  return RunWithTrial(run, trial ? &*trial : nullptr);
}

}  // namespace whyoom
