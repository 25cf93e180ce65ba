// What the commands that end in a report share: the rules, what to report, and the log of --verbose.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "cli/file_writer.h"
#include "cli/options.h"
#include "cli/report_filter.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "report/report.h"
#include "rules/rule_set.h"

namespace whyoom {

// The lines of --verbose, on standard error. Threads may call it concurrently.
class VerboseLog {
 public:
  explicit VerboseLog(const Options& options) : options_(options) {}  // borrows the options; starts the clock

  // "read train.log: 1.20 MiB, 2 failures, 0.004 s".
  void Read(const std::string& path, const Readings& readings, std::chrono::steady_clock::time_point begin) const;
  // "passed over FILE: why".
  void PassedOver(const std::string& path, const char* why) const;
  // The rules, how much was read in which time, and what was found.
  void Sum(const Report& report) const;

 private:
  void Say(const std::string& line) const;

  const Options& options_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

struct RunContext {
  // Borrows the options and outputs. `added`: the rules with the user's files; absent: the built-in ones, which are
  // loaded when something asks for more than their literals. Throws Error if an option names a failure, framework or
  // baseline that does not exist.
  RunContext(const Options& options, const OutputFiles& outputs, std::optional<RuleSet> added);

  // Adds what the dump tells of the findings, then concludes them.
  Report MakeReport(Readings readings, const XlaDump& dump = {}) const;

  // Takes out what the options do not ask for and writes the rest. Returns the exit status.
  int Print(Report* report) const;
  void Write(const Report& report) const;  // as it is

  const Options& options;
  const OutputFiles& outputs;
  const std::optional<RuleSet> added;
  const RuleSource rules;
  const Engine engine;
  const ReportFilter filter;
  const std::string framework;  // id of the framework whose steps are shown; empty: the log's
  const VerboseLog log;
};

// The commands. All return the exit status; all throw Error if a list, a journal or an output cannot be used.

int RunDiagnose(const RunContext& run);

// Reads files and pipes while they are written and prints a diagnosis as soon as its report is complete, until every
// pipe is closed or a signal comes. Throws Error if a folder is named.
int RunFollow(const RunContext& run);

// Joins reports of --format ndjson to the report that one run over all of their inputs would have made.
int RunMerge(const RunContext& run);

// Runs the job of the options and returns its exit status. What it prints is kept in memory, up to 64 MiB
// (cli/job_log.h), and read only after the job has failed, so that the job never waits for whyoom. What is found then
// goes to standard error, or to the file of --output. With --exit-retry its status replaces the job's if the job will
// fail again, see cli/exit_retry.h.
int RunAndDiagnose(const RunContext& run);

}  // namespace whyoom
