#include "cli/run.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <iterator>
#include <optional>
#include <utility>

#include "cli/complete.h"
#include "cli/diff.h"
#include "cli/follow.h"
#include "cli/man_page.h"
#include "cli/merge.h"
#include "cli/options.h"
#include "cli/output_files.h"
#include "cli/print_report.h"
#include "cli/read_batch.h"
#include "cli/run_command.h"
#include "cli/shell_scripts.h"
#include "cli/terminal.h"
#include "diagnose/dump_report.h"
#include "diagnose/finding_table.h"
#include "diagnose/rule_test.h"
#include "input/error.h"
#include "input/walk.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "report/explain_printer.h"
#include "rules/new_rule.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr int kNothing = 0;
constexpr int kFound = 1;
constexpr int kCouldNotRun = 2;
constexpr int kNotAllRead = 3;
constexpr int kSignalled = 128;  // and the signal

std::vector<RuleFile> RuleFiles(const Options& options) {
  std::vector<RuleFile> files;
  for (const std::string& path : options.rules) {
    std::vector<RuleFile> more = RuleSet::ReadFiles(path);
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

std::string Listing(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += Printable(fault.ToString()) + "\n";
  return text;
}

// Throws Error that lists every fault.
RuleSet LoadRules(const Options& options, RuleSet::BuiltInData built_in = RuleSet::BuiltInData::kTrusted) {
  std::vector<Fault> faults;
  RuleSet rules = RuleSet::Load(RuleFiles(options), &faults, built_in);
  if (!faults.empty())
    throw Error(fmt::format("the rule data has {} {}:\n{}", faults.size(), faults.size() == 1 ? "fault" : "faults",
                            Listing(faults)));
  return rules;
}

std::string ReadUpTo(ByteSource& source, std::size_t most) {
  std::string text(most, '\0');
  std::size_t size = 0;
  while (size < most) {
    const std::size_t got = source.Read(text.data() + size, most - size);
    if (got == 0) break;
    size += got;
  }
  text.resize(size);
  return text;
}

TextOptions ForText(const Options& options) {
  const bool to_file = !options.output.empty();
  return {TextWidth(to_file), UseColour(options.color, to_file)};
}

// Where no path is given: standard input, unless that is a terminal.
void CompletePaths(Options* options) {
  if (!options->paths.empty() || !options->files_from.empty()) return;
  if (InputIsTerminal()) throw Error("nothing to read: give a file, or pipe one in (whyoom --help)");
  options->paths = {"-"};
}

int ExitStatus(const Options& options, const Report& report) {
  if (options.exit_zero) return kNothing;
  if (!report.problems.empty()) return kNotAllRead;
  return report.findings.empty() ? kNothing : kFound;
}

// Prints the report; gives the exit status.
int PrintAndEnd(const Options& options, const Report& report) {
  WriteOutput(PrintReport(report, options.format, ForText(options), options.source_root), options.output);
  WriteExtraOutputs(report, options);
  return ExitStatus(options, report);
}

int RunMerge(Options options, const OutputFiles& outputs) {
  CompletePaths(&options);
  const RuleSet rules = LoadRules(options);
  return PrintAndEnd(options, MakeReport(rules.fingerprint(), ReadReports(rules, options, outputs), XlaDump()));
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

// The dumps among the inputs, which speak for themselves.
void AddDumps(const RuleSource& rules, const std::optional<double>& limit, const XlaDump& dump, Readings* readings) {
  if (!dump.has_inputs()) return;
  if (!readings->table) readings->table.emplace(rules.rules());
  const DumpCount count = ReportDumps(dump, rules.rules(), limit, &*readings->table, &readings->problems);
  readings->artifacts += count.modules;
  readings->bytes += count.bytes;
}

int RunDiagnose(Options options, const OutputFiles& outputs) {
  CompletePaths(&options);
  std::optional<RuleSet> given;
  if (!options.rules.empty()) given = LoadRules(options);
  const RuleSource rules = given ? RuleSource(*given) : RuleSource();
  const std::optional<double> limit = LimitOf(options, rules);
  const Engine engine(rules);
  std::vector<Problem> problems;
  XlaDump dump;
  if (!options.xla_dump.empty()) {
    Walk(
        {options.xla_dump},
        [&](const Artifact& artifact) {
          outputs.Keep(artifact.path);
          dump.AddFile(artifact.path);
        },
        [&](const Problem& problem) {
          // Told once of all shards.
          if (options.shard.Takes(problem.path)) problems.push_back(problem);
        });
  }
  BatchResult batch = ReadBatch(engine, rules, options, outputs, &dump);
  std::move(problems.begin(), problems.end(), std::back_inserter(batch.readings.problems));
  AddDumps(rules, limit, dump, &batch.readings);
  const int status = PrintAndEnd(options, MakeReport(rules.fingerprint(), std::move(batch.readings), dump, limit));
  return batch.signal != 0 ? kSignalled + batch.signal : status;
}

int RunFollow(Options options) {
  CompletePaths(&options);
  const RuleSet rules = LoadRules(options);
  const Engine engine(rules);
  ReadControl control;
  const Report report = MakeReport(rules.fingerprint(), Follow(engine, options, ForText(options), &control), XlaDump());
  // In text each diagnosis has been printed already.
  if (options.format != Format::kText || report.findings.empty()) return PrintAndEnd(options, report);
  for (const Problem& problem : report.problems)
    WriteError(fmt::format("whyoom: {}: {}\n", problem.path, problem.what));
  WriteExtraOutputs(report, options);
  return ExitStatus(options, report);
}

int RunExplain(const Options& options) {
  const RuleSet rules = LoadRules(options);
  if (options.topic.empty()) {
    WriteOutput(ListTopics(rules, ForText(options)), options.output);
    return kNothing;
  }
  const std::optional<std::string> text = Explain(rules, options.topic, ForText(options));
  if (!text) {
    const std::string near = SuggestTopic(rules, options.topic);
    throw Error(fmt::format("nothing is known about '{}'{}; `whyoom explain` lists the topics",
                            Printable(options.topic), near.empty() ? "" : fmt::format(", did you mean '{}'?", near)));
  }
  WriteOutput(*text, options.output);
  return kNothing;
}

int RunRulesCheck(const Options& options) {
  std::vector<Fault> faults;
  RuleSet::Load(RuleFiles(options), &faults, RuleSet::BuiltInData::kChecked);
  if (faults.empty()) {
    WriteOutput("The rule data is in order. `whyoom rules test` runs its examples.\n", options.output);
    return kNothing;
  }
  WriteOutput(Listing(faults), options.output);
  return kCouldNotRun;
}

int RunRulesNew(const Options& options) {
  std::vector<std::string> message(options.new_rule.begin() + 1, options.new_rule.end());
  if (message.empty()) {
    if (InputIsTerminal()) throw Error("rules new: give the lines of the message, or pipe them in");
    constexpr std::size_t kMost = std::size_t{64} << 10;  // a message, not a log
    const std::string text = ReadUpTo(*OpenStandardInput(), kMost);
    for (std::size_t begin = 0; begin < text.size(); begin = std::min(text.find('\n', begin), text.size()) + 1)
      message.push_back(text.substr(begin, text.find('\n', begin) - begin));
  }
  for (std::string& line : message) line = Printable(line);
  if (LoadRules(options).FindFailure(options.new_rule[0]) != nullptr)
    throw Error(Printable(options.new_rule[0]) + " is there already: choose a code of your own");
  const std::string rule = NewRule(options.new_rule[0], message);
  std::vector<Fault> faults;
  std::vector<RuleFile> files = RuleFiles(options);
  files.push_back({"the new rule", rule});
  RuleSet::Load(files, &faults, RuleSet::BuiltInData::kTrusted);
  if (!faults.empty()) throw Error("no rule can be made of this message:\n" + Listing(faults));
  WriteOutput(rule, options.output);
  return kNothing;
}

int RunRulesTest(const Options& options) {
  const RuleTestResult result = TestRules(LoadRules(options, RuleSet::BuiltInData::kChecked));
  std::string text;
  for (const std::string& failure : result.failures) text += Printable(failure) + "\n";
  const int examples = result.reported + result.validated + result.noisy + result.missing;
  text += result.ok() ? fmt::format("{} examples, all right ({} that must match, {} that must not)\n", examples,
                                    result.reported, result.validated)
                      : fmt::format(
                            "{} examples: {} reported, {} validated, {} noisy (match and must not), {} missing (do not "
                            "match as they say)\n",
                            examples, result.reported, result.validated, result.noisy, result.missing);
  WriteOutput(text, options.output);
  return result.ok() ? kNothing : kFound;
}

int RunComplete(const Options& options) {
  const auto topics = [&] {
    std::vector<Word> words;
    for (const Topic& topic : Topics(LoadRules(options))) words.push_back({topic.name, topic.title});
    return words;
  };
  WriteOutput(ToText(CompleteLine(options.words, topics)), "");
  return kNothing;
}

int Dispatch(const Options& options) {
  const OutputFiles outputs(options);  // throws where one would cost what is read
  switch (options.command) {
    case Command::kExplain:
      return RunExplain(options);
    case Command::kRun:
      return RunAndDiagnose(options, LoadRules(options));
    case Command::kDiff:
      return RunDiff(LoadRules(options), options, ForText(options));
    case Command::kMerge:
      return RunMerge(options, outputs);
    case Command::kRulesList:
      WriteOutput(ListTopics(LoadRules(options), ForText(options)), options.output);
      return kNothing;
    case Command::kRulesCheck:
      return RunRulesCheck(options);
    case Command::kRulesTest:
      return RunRulesTest(options);
    case Command::kRulesLiterals:
      WriteOutput(ListLiterals(LoadRules(options)), options.output);
      return kNothing;
    case Command::kRulesNew:
      return RunRulesNew(options);
    case Command::kRulesSchema:
      WriteOutput(RuleSet::SchemaText(), options.output);
      return kNothing;
    case Command::kCompletions:
      WriteOutput(CompletionScript(options.shell), options.output);
      return kNothing;
    case Command::kMan:
      WriteOutput(ManPage(), options.output);
      return kNothing;
    case Command::kComplete:
      return RunComplete(options);
    default:
      return options.follow ? RunFollow(options) : RunDiagnose(options, outputs);
  }
}

}  // namespace

int Run(const std::vector<std::string>& arguments) {
  Options options;
  // A closed pipe is told by write, and is no error.
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
  } catch (const std::exception& error) {
    WriteError(fmt::format("whyoom: {}\n", error.what()));
    return kCouldNotRun;
  }
}

}  // namespace whyoom
