#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/dump_folder.h"
#include "cli/output.h"
#include "cli/run.h"
#include "cli/run_context.h"
#include "diagnose/compare.h"
#include "diagnose/read_input.h"
#include "facts/evidence.h"
#include "input/error.h"
#include "input/walk.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "read/progress.h"
#include "report/command_documents.h"
#include "report/printers.h"
#include "report/summary.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// One of the two runs, as given: logs, a dump, or both.
struct Side {
  Run run;
  XlaDump dump;
  std::vector<Failure> failures;
  std::vector<CompiledProgram> stated;  // programs whose memory its logs report
  std::optional<SuccessSign> progress;  // a training step, which shows that it ran
  double progress_reached = 0;          // number of that step, see StreamSigns::reached
  double reached = 0;                   // the highest step that its logs mention
  std::vector<std::pair<std::string, SuccessSign>>
      compiled;                // by their names: programs that its logs report as compiled
  bool unknown_error = false;  // a memory error that matches no rule
};

// Passes the bytes of `source` through, also to `progress`.
class ObservedSource : public ByteSource {
 public:
  ObservedSource(ByteSource& source, ProgressReader& progress) : source_(source), progress_(progress) {}
  std::size_t Read(char* buffer, std::size_t capacity) override {
    const std::size_t got = source_.Read(buffer, capacity);
    progress_.Add({buffer, got});
    return got;
  }
  std::string_view problem() const override { return source_.problem(); }

 private:
  ByteSource& source_;
  ProgressReader& progress_;
};

// Adds the signs of success in an artifact.
void AddSigns(const Artifact& artifact, ProgressReader* progress, Side* side) {
  const std::string path = artifact.member.empty() ? artifact.path : artifact.path + "/" + artifact.member;
  const auto success = [&](SurvivalSign sign) {
    return SuccessSign{SuccessSign::Kind::kProgress, path, sign.line, std::move(sign.text)};
  };
  const StreamSigns signs = progress->Take();
  side->reached = std::max(side->reached, signs.reached);
  const bool ran = signs.proof && signs.proof->since > signs.compiles;  // the program that was compiled last
  if (ran && signs.proof->reached > side->progress_reached) {
    side->progress_reached = signs.proof->reached;
    side->progress = success(signs.proof->sign);
  }
  for (SignCollector::Compiled& compiled : progress->TakeCompiled())
    side->compiled.emplace_back(std::move(compiled.module), success(std::move(compiled.sign)));
}

Side ReadSide(const Engine& engine, const std::string& path, const std::string& dump_folder, const Options& options,
              const OutputFiles& outputs, std::vector<Problem>* problems) {
  Side side;
  side.run.path = BoundedPath(path);
  side.dump.StopAt(nullptr, options.limits);
  if (!dump_folder.empty()) {
    AddDumpFolder(dump_folder, outputs, &side.dump, problems);
    if (side.dump.empty()) problems->push_back({dump_folder, "", "no XLA dump found"});
  }
  Report report;
  ReadControl control;  // so that --max-time can end the wait for a pipe without a writer
  bool is_read = false;
  for (Walk walk({path}); const std::optional<Artifact> artifact = walk.Next(problems);) {
    is_read = true;
    outputs.ThrowIfOutput(artifact->path);
    if (side.dump.AddFile(artifact->path)) continue;
    InputStreams streams(*artifact, options.limits, {1, &control});
    for (Artifact member; ByteSource* part = streams.Next(&member);) {
      ProgressReader progress(engine.rules());
      ObservedSource watched(*part, progress);
      streams.Add(ReadArtifact(engine, member, watched, streams.options()));
      AddSigns(member, &progress, &side);
    }
    report.Join(streams.Finish());
  }
  if (!is_read) {
    const auto problem =
        std::find_if(problems->begin(), problems->end(), [&](const auto& p) { return p.path == path; });
    throw Error("cannot read " + Printable(path) + ": " +
                (problem == problems->end() ? "contains no files" : problem->what));
  }
  for (const Problem& problem : report.problems) side.unknown_error |= problem.is_unknown_error();
  problems->insert(problems->end(), report.problems.begin(), report.problems.end());
  if (report.table) {
    side.stated = report.table->programs().Take();
    report.table->AddDump(side.dump);
    side.failures = report.table->Finish(problems);
  }
  return side;
}

// Sets the outcome of the run to `failure`, one of the side or null.
void SetFailure(const Failure* failure, Side* side) {
  Run& run = side->run;
  run.other_failures = side->failures.size() - (failure != nullptr ? 1 : 0);
  if (failure == nullptr) return;
  run.failed = true;
  run.compiles = failure->rule->phase == "compile";
  run.code = failure->rule->code;
  run.title = failure->rule->title;
  run.facts = failure->facts;
  run.allocations = failure->allocations;
}

// If the log contains no failure, the dump determines the outcome of the compile.
void AddDump(const std::string& module, Side* side, std::vector<Problem>* problems) {
  Run& run = side->run;
  if (run.failed || side->dump.empty()) return;
  Problem problem;
  std::optional<DumpReading> reading = side->dump.ReadAny(module, &problem);
  if (problem.path == "XLA dump") problem.path = run.path;
  if (!problem.what.empty()) problems->push_back(problem);
  if (!reading) return;
  run.facts.Add(reading->facts);
  run.allocations = std::move(reading->rows);
  run.facts.MaskSecrets();
  for (Allocation& row : run.allocations) MaskSecretsOf(&row);
  run.compiles = true;
  run.failed = reading->failed;
  if (!run.failed) run.success = SuccessSign{SuccessSign::Kind::kDump, run.path, 0, ""};
}

std::uint64_t Statements(const Side& side) {
  std::uint64_t sum = 0;
  for (const CompiledProgram& program : side.stated) sum += program.occurrences;
  return sum;
}

// Whether the name in a log ("train_step") is the module's ("jit_train_step").
bool IsModule(const std::string& module, const std::string& name) {
  return !module.empty() && (module == name || module.ends_with("_" + name));
}

// Sets the evidence that the program of the run compiled or ran, if its log contains any. If the other run failed, this
// one must have got further: lines that the failed run also printed, such as those of the programs for initialization,
// are no evidence.
void AddSuccess(const Side& other, Side* side) {
  Run& run = side->run;
  if (run.failed || run.success || side->unknown_error) return;
  const std::string module = other.run.facts.Text("module");
  const auto stated = std::find_if(side->stated.begin(), side->stated.end(), [&](const CompiledProgram& program) {
    const std::string name = program.facts.Text("module");
    return name.empty() || module.empty() || name == module;
  });
  if (stated != side->stated.end() && Statements(*side) > (other.run.failed ? Statements(other) : 0)) {
    run.facts.Add(stated->facts);
    run.compiles = true;
    run.success = SuccessSign{SuccessSign::Kind::kStatement, stated->where.artifact.path, stated->where.line, ""};
  }
  for (const auto& [name, sign] : side->compiled) {
    if (IsModule(module, name)) run.success = sign;
  }
  if (side->progress && side->progress_reached > (other.run.failed ? other.reached : 0)) run.success = side->progress;
}

}  // namespace

Diff MakeDiff(const Engine& engine, const Options& options, const OutputFiles& outputs) {
  Diff diff;
  Side before = ReadSide(engine, options.paths[0], options.xla_dump_before, options, outputs, &diff.problems);
  Side after = ReadSide(engine, options.paths[1], options.xla_dump_after, options, outputs, &diff.problems);
  const auto [failure_before, failure_after] = MatchFailures(before.failures, after.failures);
  SetFailure(failure_before, &before);
  SetFailure(failure_after, &after);
  AddDump(after.run.facts.Text("module"), &before, &diff.problems);
  AddDump(before.run.facts.Text("module"), &after, &diff.problems);
  AddSuccess(before, &after);
  AddSuccess(after, &before);
  diff.before = std::move(before.run);
  diff.after = std::move(after.run);
  MaskSecretsOf(&diff.problems);
  diff.comparison = Compare(diff.before, diff.after, engine.rules());
  return diff;
}

int RunDiff(const RuleSet& rules, const Options& options, const OutputFiles& outputs) {
  if (options.paths[0] == "-" && options.paths[1] == "-") throw Error("BEFORE and AFTER cannot both be standard input");
  const Engine engine(rules);
  const Diff diff = MakeDiff(engine, options, outputs);
  WriteFormats(options, [&](Format format, const TextOptions& style) {
    return format == Format::kJson ? PrintDiffJson(diff, WHYOOM_VERSION, rules) : PrintBlocks(DiffBlocks(diff), style);
  });
  if (!AllRead(diff.problems)) return kUnreadInput;
  const DiffVerdict verdict = VerdictOf(diff.comparison.change);
  return verdict == DiffVerdict::kFits ? kNothing : verdict == DiffVerdict::kStillOver ? kFound : kFitUnknown;
}

}  // namespace whyoom
