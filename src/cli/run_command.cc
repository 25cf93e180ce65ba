#include "cli/run_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/byte_queue.h"
#include "cli/dump_folder.h"
#include "cli/exit_retry.h"
#include "cli/explain_command.h"
#include "cli/interrupt.h"
#include "cli/job.h"
#include "cli/print_report.h"
#include "cli/report_filter.h"
#include "cli/terminal.h"
#include "cli/told.h"
#include "diagnose/readings.h"
#include "read/engine.h"
#include "report/unknown_errors.h"
#include "text/regex_options.h"
#include "text/secrets.h"
#include "text/utf8.h"

#ifdef __APPLE__
extern char** environ;  // which its unistd.h does not declare
#endif

namespace whyoom {
namespace {

constexpr std::size_t kLongestName = 120;

// Whether a word of a command line is the path of a script or a file rather than text, a setting or an option. Such
// text and settings may contain secrets.
bool IsPathArgument(const std::string& word) {
  static const Regex ending(R"([\w./@+-]+\.[a-z][a-z0-9]{0,4})");
  if (word.empty() || word.front() == '-' || word.find_first_of("=: \t\n\"'") != std::string::npos) return false;
  std::error_code error;
  return re2::RE2::FullMatch(word, ending) || std::filesystem::exists(word, error);
}

// What the diagnosis calls the job's output: "run: python train.py". Only the program and its first path are named.
std::string Name(const std::vector<std::string>& command) {
  std::string line = kJobPrefix + std::filesystem::path(command.front()).filename().string();
  for (std::size_t i = 1; i < command.size(); ++i) {
    const std::string beside = command[i - 1] + " " + command[i];
    if (!IsPathArgument(command[i]) || MaskSecrets(beside) != beside) continue;
    line += " " + command[i];
    break;
  }
  return CutBytes(MaskSecrets(Printable(line)), kLongestName);
}

std::vector<std::string> Environment(const DumpFolder& dump) {
  constexpr std::string_view kName = "XLA_FLAGS=";
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!dump.flags() || std::string_view(*entry).substr(0, kName.size()) != kName) environment.emplace_back(*entry);
  }
  if (dump.flags()) environment.push_back(std::string(kName) + *dump.flags());
  return environment;
}

// Reads a log on a thread of its own while it is being written.
class LogReader {
 public:
  LogReader(const RuleSet& rules, std::string name) : artifact_{std::move(name), ""} {
    // Signals are for the thread that waits for the job.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    thread_ = std::thread([this, &rules] { Run(rules); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~LogReader() { Join(); }
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  void Add(std::string_view bytes) { queue_.Push(bytes); }

  // Waits for the last line; throws what went wrong. Then the rest may be asked for.
  void Finish() {
    Join();
    if (problem_) std::rethrow_exception(problem_);
  }
  Readings Take() { return std::move(readings_); }

 private:
  void Run(const RuleSet& rules) {
    try {
      const Engine engine(rules);
      readings_ = ReadArtifact(engine, artifact_, queue_);
    } catch (...) {
      problem_ = std::current_exception();
    }
    queue_.Abandon();
  }
  void Join() {
    queue_.Close();
    if (thread_.joinable()) thread_.join();
  }

  ByteQueue queue_;
  const Artifact artifact_;
  Readings readings_;
  std::exception_ptr problem_;
  std::thread thread_;
};

// Whether a compile failed of which a dump could tell more.
bool LacksList(const Report& report) {
  return std::any_of(report.findings.begin(), report.findings.end(), [](const Diagnosis& finding) {
    return finding.failure->phase == "compile" && finding.allocations.empty() && !finding.remedies.empty() &&
           finding.remedies.front().remedy->inquiry;
  });
}

void Print(const Options& options, const Report& report, bool line_open) {
  const bool to_file = !options.output.empty();
  const bool has_notes = !UnknownErrors(report).empty() || !report.passed_over.known.empty();
  const bool says_nothing = report.findings.empty() && (!has_notes || options.quiet);
  // Who asked for a file is to find the report of this job there, and none of an earlier one.
  WriteExtraOutputs(report, options);
  if (says_nothing && !to_file) return;
  const bool as_text = options.format == Format::kText;
  const TextOptions style = StyleOf(options, to_file, STDERR_FILENO);
  const std::string text = PrintReport(report, options.format, style, options.source_root);
  const std::string apart = to_file ? "" : std::string(line_open ? "\n" : "") + (as_text ? "\n" : "");
  WriteOutput(apart + text, options.output, STDERR_FILENO);
}

// A job that succeeded leaves a record in the JSON files that the options name: `whyoom diff` takes it as evidence.
void RecordSuccess(Options options, const Report& report) {
  const auto is_record = [](Format format) { return format == Format::kJson || format == Format::kNdjson; };
  std::erase_if(options.extra_outputs, [&](const ExtraOutput& extra) { return !is_record(extra.format); });
  options.step_summary = false;
  WriteExtraOutputs(report, options);
  if (!options.output.empty() && is_record(options.format))
    WriteOutput(PrintReport(report, options.format, StyleOf(options, true, STDERR_FILENO), ""), options.output,
                STDERR_FILENO);
}

// Whose exit status it is would else be nowhere.
void SayStatus(int of_job, int status) {
  if (status == of_job) return;
  WriteError(
      fmt::format("whyoom: the same job will fail the same way again: exit status {} instead of the job's own, {}\n",
                  status, of_job));
}

}  // namespace

int RunAndDiagnose(const Options& options, const RuleSet& rules, const OutputFiles& outputs) {
  const ReportFilter filter(options, RuleSource(rules));
  const std::string framework = AskedFramework(options, RuleSource(rules));
  const Told told(options);
  const JobSignals signals;  // first, so that no signal leaves the folder behind
  DumpFolder dump(std::getenv("XLA_FLAGS"), options.dump);
  LogReader log(rules, Name(options.job));
  PrintedLines printed;
  const JobResult result =
      RunJob({options.job, Environment(dump), options.ignore_broken_pipe}, signals, [&](std::string_view lines) {
        printed.Add(lines, std::chrono::steady_clock::now());
        log.Add(lines);
      });
  const auto end = std::chrono::steady_clock::now();
  if (!result.problem.empty()) {
    WriteError(fmt::format("whyoom: cannot run {}: {}\n", Printable(options.job[0]), result.problem));
    return result.exit_status;
  }
  int status = result.exit_status;
  try {
    if (result.undelivered > 0)
      WriteError(fmt::format("{}whyoom: {} bytes of the job's output could not be written: {}\n",
                             result.line_open ? "\n" : "", result.undelivered, result.undelivered_because));
    log.Finish();
    if (result.exit_status == 0) {
      Report report = MakeReport(rules.fingerprint(), log.Take(), {});
      report.rule_files = rules.extra_files();
      report.exit_status = 0;
      filter.Apply(&report);
      RecordSuccess(options, report);
    } else {
      ReadControl control;
      const Interrupt interrupt(&control.stop);
      XlaDump modules = dump.Read(outputs);
      modules.StopAt(&control, options.limits);
      Readings readings = log.Take();
      if (readings.table) readings.table->SetFramework(framework);
      if (readings.table && !dump.path().empty() && modules.empty()) readings.table->SetNoDump();
      Report report = MakeReport(rules.fingerprint(), std::move(readings), modules);
      report.rule_files = rules.extra_files();
      report.exit_status = result.exit_status;
      if (options.exit_retry && FailsAgain(report, result.exit_status, printed, end)) status = *options.exit_retry;
      filter.Apply(&report);
      if (dump.temporary() && modules.empty() && LacksList(report))
        report.problems.push_back({"XLA dump", "", std::string("the job wrote none: ") + kWhyNoDump, true});
      Print(options, report, result.line_open);
      told.Sum(report);
      if (options.exit_retry && !options.quiet) SayStatus(result.exit_status, status);
    }
  } catch (const std::exception& error) {
    // The job has run; what it ended with is what counts.
    WriteError(fmt::format("whyoom: {}\n", error.what()));
  }
  std::error_code ignored;
  if (options.keep_dump && dump.temporary() && !std::filesystem::is_empty(dump.path(), ignored)) {
    dump.Keep();
    if (!options.quiet) WriteError(fmt::format("whyoom: the XLA dump is in {}\n", dump.path()));
  }
  return status;
}

}  // namespace whyoom
