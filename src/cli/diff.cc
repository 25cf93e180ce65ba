#include "cli/diff.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/diff_runs.h"
#include "cli/dump_folder.h"
#include "cli/exit_status.h"
#include "cli/print_report.h"
#include "cli/terminal.h"
#include "compare/compare.h"
#include "diagnose/finding_table.h"
#include "diagnose/read_input.h"
#include "facts/masking.h"
#include "input/error.h"
#include "input/read_control.h"
#include "input/walk.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "report/diff.h"
#include "report/record/diff_json.h"
#include "report/text/diff_printer.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// One of the two, as given: logs, a dump, or both.
struct Side {
  std::string path;
  XlaDump dump;
  std::vector<Diagnosis> findings;
  bool read = false;  // anything at all
};

Side ReadSide(const Engine& engine, const std::string& path, const std::string& dump_folder, const Limits& limits,
              const OutputFiles& outputs, std::vector<Problem>* problems) {
  Side side;
  side.path = path;
  side.dump.StopAt(nullptr, limits);
  if (!dump_folder.empty()) {
    AddDumpFolder(dump_folder, outputs, &side.dump, problems);
    if (side.dump.empty()) problems->push_back({dump_folder, "", "it holds no XLA dump"});
  }
  Readings readings;
  ReadControl control;  // for a pipe that nobody writes to, which --max-time is to end
  for (Walk walk({path}); const std::optional<Artifact> artifact = walk.Next(problems);) {
    outputs.ThrowIfOutput(artifact->path);
    side.read = true;
    if (side.dump.AddFile(artifact->path)) continue;
    readings.Join(ReadInput(engine, *artifact, limits, {{}, 1, &control}));
  }
  problems->insert(problems->end(), readings.problems.begin(), readings.problems.end());
  if (readings.table) side.findings = readings.table->Finish(side.dump, problems);
  return side;
}

Run ToRun(const Side& side, std::optional<std::size_t> finding) {
  Run run;
  if (finding) run = MakeRun(side.path, side.findings[*finding]);
  run.path = BoundedPath(side.path);
  run.other_failures = side.findings.size() - (finding ? 1 : 0);
  return run;
}

// Where no log tells of a failure, the dump says what the compile came to.
void AddDump(const Side& side, const std::string& module, Run* run, std::vector<Problem>* problems) {
  if (run->failed || side.dump.empty()) return;
  Problem problem;
  std::optional<DumpReading> reading = side.dump.ReadAny(module, &problem);
  if (problem.path == "XLA dump") problem.path = side.path;
  if (!problem.what.empty()) problems->push_back(problem);
  if (!reading) return;
  run->facts.Add(reading->facts);
  run->allocations = std::move(reading->rows);
  MaskSecretsOf(&run->facts);
  MaskSecretsOf(&run->allocations);
  run->compiles = true;
  run->failed = reading->failed;
  run->measured = !reading->failed;
}

void AddProgram(const Side& side, const RuleSet& rules, Run* run, std::vector<Problem>* problems) {
  const std::string path = run->facts.Text("dump");
  if (path.empty()) return;
  Problem problem;
  run->written = side.dump.ReadWritten(path, rules.role_words(), &problem);
  if (!problem.what.empty()) problems->push_back(problem);
}

}  // namespace

Diff MakeDiff(const Engine& engine, const Options& options, const OutputFiles& outputs) {
  const RuleSet& rules = engine.rules();
  Diff diff;
  const Side before =
      ReadSide(engine, options.paths[0], options.xla_dump_before, options.limits, outputs, &diff.problems);
  const Side after =
      ReadSide(engine, options.paths[1], options.xla_dump_after, options.limits, outputs, &diff.problems);
  const FindingPair pair = MatchFindings(before.findings, after.findings);
  diff.before = ToRun(before, pair.before);
  diff.after = ToRun(after, pair.after);
  AddDump(before, diff.after.facts.Text("module"), &diff.before, &diff.problems);
  AddDump(after, diff.before.facts.Text("module"), &diff.after, &diff.problems);
  // Nothing was read, so nothing can be said: not even that it does not fail.
  for (const Side* side : {&before, &after}) {
    if (side->read) continue;
    for (const Problem& problem : diff.problems) {
      if (problem.path == side->path && !problem.is_unknown_error())
        throw Error("cannot read " + Printable(side->path) + ": " + problem.what);
    }
    throw Error("cannot read " + Printable(side->path) + ": it holds no file");
  }
  AddProgram(before, rules, &diff.before, &diff.problems);
  AddProgram(after, rules, &diff.after, &diff.problems);
  MaskSecretsOf(&diff.problems);
  diff.comparison = Compare(diff.before, diff.after, rules);
  return diff;
}

int RunDiff(const RuleSet& rules, const Options& options, const TextOptions& text, const OutputFiles& outputs) {
  if (options.paths[0] == "-" && options.paths[1] == "-") throw Error("BEFORE and AFTER cannot both be standard input");
  const Engine engine(rules);
  const Diff diff = MakeDiff(engine, options, outputs);
  const auto print = [&](Format format, const TextOptions& style) {
    return format == Format::kJson ? PrintDiffJson(diff, WHYOOM_VERSION, rules) : PrintDiffText(diff, rules, style);
  };
  WriteOutput(print(options.format, text), options.output);
  WriteExtraOutputs(options, print);
  const auto is_unread = [](const Problem& problem) { return !problem.is_unknown_error(); };
  if (std::any_of(diff.problems.begin(), diff.problems.end(), is_unread)) return kNotAllRead;
  return diff.after.failed ? kFound : kNothing;
}

}  // namespace whyoom
