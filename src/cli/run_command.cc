#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <system_error>
#include <utility>

#include "cli/dump_folder.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/kill_evidence.h"
#include "cli/print_report.h"
#include "cli/run_context.h"
#include "cli/source_lines.h"
#include "cli/terminal.h"
#include "cli/try_command.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "input/error.h"
#include "input/limits.h"
#include "read/engine.h"
#include "report/summary.h"
#include "text/regex_options.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestName = 120;

// Whether a word of a command line is the path of a script or file. Other words, such as options, settings and code,
// may contain secrets.
bool IsPathArgument(const std::string& word) {
  static const Regex ending(R"([\w./@+-]+\.[a-z][a-z0-9]{0,4})");
  if (word.empty() || word.front() == '-' || word.find_first_of("=: \t\n\"'") != std::string::npos) return false;
  std::error_code error;
  return re2::RE2::FullMatch(word, ending) || std::filesystem::exists(word, error);
}

}  // namespace

std::string NameOfJob(const std::vector<std::string>& command) {
  std::string line = kJobPrefix + std::filesystem::path(command.front()).filename().string();
  std::size_t last = 0;  // the last word shown
  for (std::size_t i = 1; i < command.size() && last == 0; ++i) {
    const std::string beside = command[i - 1] + " " + command[i];
    if (IsPathArgument(command[i]) && MaskSecrets(beside) == beside) last = i;
  }
  if (last > 0) line += " " + command[last];
  if (last + 1 < command.size()) line += " ...";
  return CutBytes(MaskSecrets(Printable(line)), kLongestName);
}

namespace {

// Processes that wait for a failed one give up within minutes.
constexpr std::chrono::minutes kLongestSilence{10};
// The job survived failures with more lines after them: tracebacks of launchers and output at exit are shorter.
constexpr std::uint64_t kMostLinesAfter = 500;
constexpr int kLastSignal = 64;
constexpr std::array kCrashes = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

bool EndedByItself(int exit_status) {
  const int signal = exit_status - kSignalled;
  const bool signalled = signal > 0 && signal <= kLastSignal;
  return !signalled || std::find(kCrashes.begin(), kCrashes.end(), signal) != kCrashes.end();
}

// Line of the failure's last report; 0 if unknown, because only about the first hundred reports are stored.
std::uint64_t LastLine(const Failure& failure) {
  const auto& places = failure.tally.places;
  if (failure.tally.reports > std::max<std::uint64_t>(places.size(), 1)) return 0;
  std::uint64_t last = std::max(failure.where.line, failure.where.last_line);
  for (const Where& place : places) last = std::max({last, place.line, place.last_line});
  return last;
}

// Whether the failure ended the job, see FailsAgain.
bool EndedJob(const Failure& failure, int exit_status, std::uint64_t lines) {
  const std::uint64_t last = LastLine(failure);
  return !failure.recovered && !failure.may_have_recovered && exit_status != 0 && EndedByItself(exit_status) &&
         last > 0 && last + kMostLinesAfter >= lines;
}

}  // namespace

bool FailsAgain(const Report& report, int exit_status, std::uint64_t lines, std::chrono::seconds silence) {
  if (report.failures.empty() || !report.reports_left_out.empty() || silence > kLongestSilence) return false;
  if (!ProblemsByKind(report).unknown.empty()) return false;
  return std::all_of(report.failures.begin(), report.failures.end(), [&](const Failure& failure) {
    return failure.retry.answer == Retry::Answer::kNever && EndedJob(failure, exit_status, lines);
  });
}

namespace {

std::vector<std::string> Environment(const DumpFolder& dump, const Trial* trial) {
  std::map<std::string, std::string> variables;
  if (trial != nullptr) variables = trial->JobVariables();
  if (dump.flags()) variables["XLA_FLAGS"] = *dump.flags();
  return EnvironmentWith(variables);
}

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
  if (control.stopped()) {
    found.problems.push_back({name, "", "interrupted; the rest was not read"});
  } else if (stop.IsRequested()) {
    found.problems.push_back({name, "", fmt::format("stopped after {} s; the rest was not read", kMaxSeconds)});
  }
  return found;
}

// Whether a compile failed without a list of its allocations, which a dump would add.
bool LacksList(const Report& report) {
  return std::any_of(report.failures.begin(), report.failures.end(), [](const Failure& failure) {
    return failure.rule->phase == "compile" && failure.allocations.empty() && !failure.remedies.empty() &&
           failure.remedies.front().remedy->inquiry;
  });
}

// Reports in a format for programs are always printed. `is_notable`: the job was killed, or some output was not read,
// which is reported even if nothing was found.
void Print(const Options& options, const Report& report, bool line_open, bool is_notable) {
  const bool has_notes = is_notable || !ProblemsByKind(report).unknown.empty();
  const bool as_text = options.format == Format::kText;
  const bool nothing_to_print = as_text && report.failures.empty() && (!has_notes || options.quiet);
  // Always writes requested files, so that they never contain the report of an earlier job.
  if (nothing_to_print && options.output.empty()) return WriteExtraOutputs(report, options);
  WriteReport(report, options, STDERR_FILENO, std::string(line_open ? "\n" : "") + (as_text ? "\n" : ""));
}

// Writes a record of a job that ended with status 0 to the JSON files of the options, as evidence for `whyoom diff`.
// The log may contain a failure all the same: of a pipe, only the last command's status counts.
void RecordSuccess(const RunContext& run, JobLog* log) {
  Options options = run.options;
  const auto is_record = [](Format format) { return format == Format::kJson || format == Format::kNdjson; };
  std::erase_if(options.extra_outputs, [&](const ExtraOutput& extra) { return !is_record(extra.format); });
  const bool to_file = !options.output.empty() && is_record(options.format);
  if (options.extra_outputs.empty() && !to_file) return;
  Report report = run.MakeReport(ReadLog(run.engine, NameOfJob(options.job), ReadControl(), log));
  report.exit_status = 0;
  WriteExtraOutputs(report, options);
  if (to_file)
    WriteOutput(PrintReport(report, options.format, StyleOf(options, true, STDERR_FILENO), ""), options.output,
                STDERR_FILENO);
}

// Explains an exit status that is not the job's own.
void PrintStatusNote(int of_job, int status) {
  if (status == of_job) return;
  WriteError(
      fmt::format("whyoom: a retry would fail the same way; exiting with {} instead of the job's exit status {}\n",
                  status, of_job));
}

bool FailedToCompile(const FailureTable& table) {
  const std::vector<const Failure*> failures = table.entries();
  return std::any_of(failures.begin(), failures.end(), [](const Failure* failure) {
    return !failure->rule->memory_space.empty() && failure->rule->phase == "compile";
  });
}

struct FailedJob {
  const JobResult& result;
  std::uint64_t lines;           // that it printed
  std::chrono::seconds silence;  // before its end
  DumpFolder& dump;
  Trial* trial;  // null without --try
  JobLog& log;
  std::string kill;  // how the job was killed, if nothing shows that memory ran out
};

// Prints why the job failed and returns the exit status. A signal ends it early; what was found so far is printed.
int Diagnose(const RunContext& run, const FailedJob& job) {
  const Options& options = run.options;
  ReadControl control;
  const Interrupt interrupt(&control.stop);
  Report found = ReadLog(run.engine, NameOfJob(options.job), control, &job.log);
  const bool is_incomplete = !found.problems.empty() && !found.problems.back().is_unknown_error();
  XlaDump modules = job.dump.Read(run.outputs);
  modules.StopAt(&control, options.limits);
  if (found.table && !job.dump.path().empty() && modules.empty()) found.table->settings.no_dump = true;
  const bool is_tried = job.trial != nullptr && job.trial->has_results();
  if (is_tried && (!found.table || found.table->entries().empty())) modules.MarkAsInputs();  // it hid its error
  if (is_tried && !found.table) found.table.emplace(run.rules.rules());
  if (is_tried || (job.trial != nullptr && found.table && FailedToCompile(*found.table))) {
    try {
      job.trial->Finish(job.dump, modules, &control, &found);
    } catch (const Error& error) {
      found.problems.push_back({"--try", "", error.what(), true});
    }
  }
  if (found.table) run.AddDump(modules, std::nullopt, &found);
  Report report = run.MakeReport(std::move(found));
  report.exit_status = job.result.exit_status;
  const bool again = options.exit_retry && FailsAgain(report, job.result.exit_status, job.lines, job.silence);
  const int status = again ? *options.exit_retry : job.result.exit_status;
  run.filter.Apply(&report);
  if (job.trial != nullptr) job.trial->AddRoom(&report);
  if (job.dump.temporary() && !options.keep_dump) ForgetFolder(job.dump.path(), &report);
  AddSourceLines(options.source_root.empty() ? "." : options.source_root, &report);
  if (job.dump.temporary() && modules.empty() && LacksList(report))
    report.problems.push_back({"XLA dump", "", std::string("the job wrote no dump: ") + kWhyNoDump, true});
  const bool is_kill_unexplained = !job.kill.empty() && report.failures.empty();
  if (is_kill_unexplained) report.problems.push_back({"whyoom run", "", job.kill, true, Problem::kNote});
  try {
    Print(options, report, job.result.line_open, is_incomplete || is_kill_unexplained);
    WritePatch(report, options);
  } catch (const Error& error) {
    WriteError(fmt::format("whyoom: {}\n", error.what()));
  }
  if (options.exit_retry && !options.quiet) PrintStatusNote(job.result.exit_status, status);
  return status;
}

// Reports what is known of the job after its end, and returns the exit status.
int ReportJob(const RunContext& run, FailedJob job, const KillEvidence& evidence) {
  const JobResult& result = job.result;
  if (result.undelivered_bytes > 0)
    WriteError(fmt::format("{}whyoom: {} bytes of the job's output could not be written: {}\n",
                           result.line_open ? "\n" : "", result.undelivered_bytes, result.undelivered_reason));
  if (result.exit_status == 0 && (job.trial == nullptr || !job.trial->has_results())) {
    RecordSuccess(run, &job.log);
    return 0;
  }
  KillEvidence::Kill kill = evidence.Describe(result.exit_status);
  if (kill.by_memory) {
    job.log.Add(fmt::format("{}whyoom run: {}\n", result.line_open ? "\n" : "", std::exchange(kill.line, "")));
  } else if (!kill.line.empty()) {
    kill.line += "; nothing shows that memory ran out";
  }
  job.kill = kill.line;
  return Diagnose(run, job);
}

}  // namespace

int RunAndDiagnose(const RunContext& run) {
  const Options& options = run.options;
  std::optional<Trial> trial;
  CheckRemedies(run);
  try {
    if (options.attempts.after_failure) trial.emplace(run);
  } catch (const Error& error) {  // the job must run all the same
    WriteError(fmt::format("whyoom: {}\n", error.what()));
  }
  const JobSignals signals;  // first, so that no signal prevents the removal of the dump folder
  DumpFolder dump(std::getenv("XLA_FLAGS"), options.dump);
  JobLog log;
  std::uint64_t line_count = 0;
  auto last_output = std::chrono::steady_clock::now();
  const KillEvidence evidence;
  const JobResult result =
      RunJob({options.job, Environment(dump, trial ? &*trial : nullptr), options.ignore_broken_pipe}, signals,
             [&](std::string_view lines) {
               last_output = std::chrono::steady_clock::now();
               line_count += static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
               log.Add(lines);
             });
  const auto silence = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - last_output);
  if (!result.problem.empty()) {
    WriteError(fmt::format("whyoom: cannot run {}: {}\n", Printable(options.job[0]), result.problem));
    return result.exit_status;
  }
  // From here on, errors must not change the job's exit status.
  const std::optional<int> status = RunApart([&] {
    try {
      return ReportJob(run, {result, line_count, silence, dump, trial ? &*trial : nullptr, log, ""}, evidence);
    } catch (const std::bad_alloc&) {
      WriteError("whyoom: not enough memory to diagnose the job\n");
    } catch (const std::exception& error) {
      WriteError(fmt::format("whyoom: {}\n", error.what()));
    }
    return result.exit_status;
  });
  if (!status) WriteError("whyoom: the diagnosis crashed or was killed\n");
  std::error_code ignored;
  if (options.keep_dump && dump.temporary() && !std::filesystem::is_empty(dump.path(), ignored)) {
    dump.Keep();
    if (!options.quiet) WriteError(fmt::format("whyoom: the XLA dump is in {}\n", dump.path()));
  }
  return status.value_or(result.exit_status);
}

}  // namespace whyoom
