#include "cli/run.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/complete.h"
#include "cli/diff.h"
#include "cli/dump_folder.h"
#include "cli/exit_status.h"
#include "cli/explain_command.h"
#include "cli/follow.h"
#include "cli/interrupt.h"
#include "cli/merge.h"
#include "cli/options.h"
#include "cli/output_files.h"
#include "cli/print_report.h"
#include "cli/read_batch.h"
#include "cli/remote_names.h"
#include "cli/report_filter.h"
#include "cli/rules_command.h"
#include "cli/run_command.h"
#include "cli/skill.h"
#include "cli/terminal.h"
#include "cli/told.h"
#include "diagnose/dump_report.h"
#include "diagnose/finding_table.h"
#include "input/error.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "report/unknown_errors.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

TextOptions ForText(const Options& options) { return StyleOf(options, !options.output.empty()); }

// Where no path is given: standard input, unless that is a terminal.
void SetDefaultPaths(Options* options) {
  if (!options->paths.empty() || !options->files_from.empty()) return;
  if (InputIsTerminal()) throw Error("nothing to read: give a file, or pipe one in (whyoom --help)");
  options->paths = {"-"};
}

// Prints the report; gives the exit status.
int PrintAndEnd(const Options& options, const ReportFilter& filter, Report* report) {
  filter.Apply(report);
  WriteOutput(PrintReport(*report, options.format, ForText(options), options.source_root), options.output);
  WriteExtraOutputs(*report, options);
  return filter.ExitStatus(*report);
}

int RunMerge(Options options, const OutputFiles& outputs) {
  SetDefaultPaths(&options);
  const RuleSet rules = LoadRules(options);
  const ReportFilter filter(options, RuleSource(rules));
  const Told told(options);
  Report report = MakeReport(rules.fingerprint(), ReadReports(rules, options, outputs), XlaDump());
  report.rule_files = rules.extra_files();
  report.strict = options.strict;
  const int status = PrintAndEnd(options, filter, &report);
  told.Sum(report);
  return status;
}

// What --hbm says.
std::optional<double> LimitOf(const Options& options, const RuleSource& rules) {
  if (options.hbm.empty()) return std::nullopt;
  const std::optional<double> limit = ParseLimit(options.hbm, rules.rules());
  if (!limit)
    throw Error(
        fmt::format("--hbm: '{}' is neither a size, such as 15.75G, nor a chip, such as v5e", Printable(options.hbm)));
  return limit;
}

// Names of a list may lie on other machines, too.
void SayWhatReads(std::vector<Problem>* problems) {
  for (Problem& problem : *problems) {
    const std::optional<std::string> command = problem.line > 0 ? std::nullopt : ReadCommand(problem.path);
    if (command && problem.member.empty())
      problem.what = "whyoom reads no network; this does: " + *command + " | whyoom";
  }
}

// The dumps among the inputs, which speak for themselves.
void AddDumps(const RuleSource& rules, const std::optional<double>& limit, const XlaDump& dump, Readings* readings) {
  if (!dump.has_inputs()) return;
  if (!readings->table) readings->table.emplace(rules.rules());
  const DumpCount count = ReportDumps(dump, rules.rules(), limit, &*readings->table, &readings->problems);
  readings->artifacts += count.modules;
  readings->bytes += count.bytes;
}

int RunDiagnose(Options options, const OutputFiles& outputs) {
  SetDefaultPaths(&options);
  const std::optional<RuleSet> given = LoadExtraRules(options);
  const RuleSource rules = given ? RuleSource(*given) : RuleSource();
  const std::optional<double> limit = LimitOf(options, rules);
  const ReportFilter filter(options, rules);
  const std::string framework = AskedFramework(options, rules);
  const Told told(options);
  const Engine engine(rules);
  std::vector<Problem> problems;
  XlaDump dump;
  if (!options.xla_dump.empty()) AddDumpFolder(options.xla_dump, outputs, &dump, &problems);
  std::erase_if(problems,
                [&](const Problem& problem) { return !options.shard.Owns(problem.path); });  // its owner reports it
  int signal = 0;
  Report report;
  {
    ReadControl control;
    const Interrupt interrupt(&control.stop);
    Readings readings = ReadBatch(engine, rules, options, outputs, interrupt, told, &control, &dump);
    std::move(problems.begin(), problems.end(), std::back_inserter(readings.problems));
    SayWhatReads(&readings.problems);
    dump.StopAt(&control, options.limits);
    // Of no failure of a log it can say more: then it speaks for itself, as where it is the input. One shard does not
    // know that.
    const bool any = readings.table && !readings.table->entries().empty();
    if (!any && options.shard.count <= 1) dump.TakeAsInputs();
    AddDumps(rules, limit, dump, &readings);
    if (readings.table) readings.table->SetFramework(framework);
    if (readings.table && !options.xla_dump.empty() && dump.empty()) readings.table->SetNoDump();
    report = MakeReport(rules.fingerprint(), std::move(readings), dump, limit);
    if (options.shard.count > 1) report.shards = {options.shard.Text()};
    report.rule_files = rules.extra_files();
    report.strict = options.strict;
    signal = interrupt.signal();
  }
  const int status = PrintAndEnd(options, filter, &report);
  told.Sum(report);
  return signal != 0 ? kSignalled + signal : status;
}

// What a report that was printed bit by bit has not told.
void SayNotes(const Report& report) {
  for (const Problem& problem : report.problems)
    WriteError(fmt::format("whyoom: {}: {}\n", Printable(problem.path), Printable(problem.what)));
  if (const std::string text = PassedOverText(report); !text.empty()) WriteError("whyoom: " + text + "\n");
}

int RunFollow(Options options) {
  SetDefaultPaths(&options);
  const RuleSet rules = LoadRules(options);
  const RuleSource source(rules);
  const ReportFilter filter(options, source);
  const std::string framework = AskedFramework(options, source);
  const Told told(options);
  const Engine engine(rules);
  ReadControl control;
  Readings readings = Follow(engine, options, filter, framework, ForText(options), &control);
  if (readings.table) readings.table->SetFramework(framework);
  Report report = MakeReport(rules.fingerprint(), std::move(readings), XlaDump());
  report.rule_files = rules.extra_files();
  report.strict = options.strict;
  told.Sum(report);
  filter.Apply(&report);
  // In text each diagnosis has been printed already.
  if (options.format != Format::kText || report.findings.empty()) {
    WriteOutput(PrintReport(report, options.format, ForText(options), options.source_root), options.output);
  } else if (!options.quiet) {
    SayNotes(report);
  }
  WriteExtraOutputs(report, options);
  return filter.ExitStatus(report);
}

int RunComplete(const Options& options) {
  Options quiet = options;
  quiet.project_rules = false;  // what is passed over would be told in the midst of a command line
  WriteOutput(ToText(CompleteLine(options.words, {[&] { return TopicWords(LoadRules(quiet)); },
                                                  [&] { return CodeWords(LoadRules(quiet)); },
                                                  [&] { return FrameworkWords(LoadRules(quiet)); }})),
              "");
  return kNothing;
}

int Dispatch(const Options& options) {
  ThrowIfRemote(options);
  const OutputFiles outputs(options);  // throws where one would cost what is read
  switch (options.command) {
    case Command::kExplain:
      return RunExplain(LoadRules(options), options, ForText(options));
    case Command::kRun:
      return RunAndDiagnose(options, LoadRulesForJob(options), outputs);
    case Command::kDiff:
      return RunDiff(LoadRules(options), options, ForText(options), outputs);
    case Command::kMerge:
      return RunMerge(options, outputs);
    case Command::kRulesList:
    case Command::kRulesCheck:
    case Command::kRulesTest:
    case Command::kRulesLiterals:
    case Command::kRulesNew:
    case Command::kRulesSchema:
    case Command::kRulesTrace:
      return RunRules(options, ForText(options), outputs);
    case Command::kCompletions:
      WriteOutput(CompletionScript(options.shell), options.output);
      return kNothing;
    case Command::kSkill:
      WriteOutput(Skill(), options.output);
      return kNothing;
    case Command::kComplete:
      return RunComplete(options);
    default:
      return options.follow ? RunFollow(options) : RunDiagnose(options, outputs);
  }
}

// Destructors on the way out of a function that found no memory may need some themselves. Untouched, it costs nothing.
constexpr std::size_t kKeptMemory = std::size_t{1} << 20;
std::atomic<void*> kept_memory{nullptr};

void OnShortMemory() {
  if (void* const kept = kept_memory.exchange(nullptr)) {
    std::free(kept);
    throw std::bad_alloc();
  }
  constexpr std::string_view kWords = "whyoom: not enough memory\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kWords.data(), kWords.size());
  _exit(kCouldNotRun);
}

// Where an exception passes through the C library, it loads what unwinds the stack, and ends the process where there is
// no memory left for that. So it is loaded now.
void PrepareForShortMemory() {
  void* frame = nullptr;
  backtrace(&frame, 1);
  kept_memory = std::malloc(kKeptMemory);
  std::set_new_handler(OnShortMemory);
}

}  // namespace

int Run(const std::vector<std::string>& arguments) {
  PrepareForShortMemory();
  Options options;
  // What write, or making a file larger, cannot do is told by them.
  std::signal(SIGXFSZ, SIG_IGN);
  // A closed pipe is no error.
  options.ignore_broken_pipe = std::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  try {
    if (const std::optional<EarlyExit> early = ParseOptions(arguments, &options)) {
      if (early->exit_status == 0) {
        WriteOutput(early->text, "");
      } else {
        WriteError(early->text);
      }
      return early->exit_status;
    }
    return Dispatch(options);
  } catch (const std::bad_alloc&) {
    WriteError("whyoom: not enough memory\n");
    return kCouldNotRun;
  } catch (const std::exception& error) {
    WriteError(fmt::format("whyoom: {}\n", error.what()));
    return kCouldNotRun;
  }
}

}  // namespace whyoom
