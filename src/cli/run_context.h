// State shared by the commands that print a report.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/output.h"
#include "diagnose/report.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

struct Diff;  // report/command_documents.h

struct RunContext {
  // Borrows the options and outputs. `added`: the rules including the user's files, or nullopt for the built-in rules,
  // which are then loaded only if more than their literals is needed. Throws Error if an option names an unknown
  // failure or framework.
  RunContext(const Options& options, const OutputFiles& outputs, std::optional<RuleSet> added);

  // The value of --hbm; nullopt without the option. Throws Error if it is invalid.
  std::optional<double> Limit() const;

  // Adds facts from the dump to the failures in the table of the report, which must exist, and then the failures of
  // the dump's own modules that are inputs.
  void AddDump(const XlaDump& dump, const std::optional<double>& limit, Report* found) const;

  // Draws the conclusions.
  Report MakeReport(Report found) const;

  // Hides failures and writes the others. Returns the exit status.
  int Print(Report* report) const;

  // Removes the failures of --ignore. A scenario hides only failures of which it is known.
  void Hide(Report* report) const;
  // Returns 0, 1 or 3 for the report after Hide.
  int ExitStatus(const Report& report) const;

  const Options& options;
  const OutputFiles& outputs;
  const std::optional<RuleSet> added;
  const RuleSource rules;
  const Engine engine;
  const std::string framework;  // id of the framework whose steps are shown; empty: the log's framework

 private:
  std::set<std::string> hidden_names_;  // of --ignore: "E1000", "E1000.3", ids of failures
};

// The id of the framework of --framework; empty if the option is not used. Throws Error, which lists the frameworks, if
// there is no framework of that id or name.
std::string SelectedFramework(const Options& options, const RuleSource& rules);

// The commands return the exit status. They throw Error if a list, the folder of --resume or an output cannot be used.

// Prints explanations from the rules. Throws Error for an unknown topic or framework.
int RunExplain(const RuleSet& rules, const Options& options);

// With --follow, reads growing files and pipes until every pipe is closed or a signal arrives. As text on standard
// output, prints each diagnosis as soon as its message is complete; otherwise, prints the report at the end.
int RunDiagnose(const RunContext& run);

// Combines reports written with --format ndjson into the report of a single run over all inputs.
int RunMerge(const RunContext& run);

// Compares the two runs of the options. Throws Error if a run cannot be read at all, or if an input is one of
// `outputs`. Borrows the engine's rules.
Diff MakeDiff(const Engine& engine, const Options& options, const OutputFiles& outputs);

// Writes that. Returns the exit status: 0 AFTER fits, 1 it needs too much or fails, 3 some input could not be read
// completely, 4 no evidence whether AFTER fits.
int RunDiff(const RuleSet& rules, const Options& options, const OutputFiles& outputs);

// Runs the job and returns its exit status. Keeps up to 64 MiB of its output in memory (JobLog) and reads that only
// after the job has failed, or has ended if a report goes to a file, so the job never waits for whyoom. Prints the
// report to standard error or the file of --output. With --exit-retry, returns another status if a retry would fail the
// same way.
int RunAndDiagnose(const RunContext& run);

// The name of the job's output in the report, "run: python train.py ...": the program and its first path argument only.
std::string NameOfJob(const std::vector<std::string>& command);

// Adds to each diagnosis the lines of Python files that its first reason, its first remedy or its largest allocation
// names, at most three. A log may be hostile, so only regular .py files are read whose real path, after links, is below
// the folder `root`. A path of another machine is looked up by its last parts. Reads at most 4 MiB of a file. Does
// nothing if `root` is empty or does not exist.
void AddSourceLines(const std::string& root, Report* report);

}  // namespace whyoom
