#include "cli/commands.h"

#include <algorithm>
#include <map>
#include <utility>

#include "cli/embedded.h"
#include "cli/exit_status.h"
#include "cli/rules_command.h"

namespace whyoom {
namespace {

constexpr const char* kAbout =
    "Reads job logs, finds XLA TPU out-of-memory errors, and says which one it is, why it happened and what to do "
    "first.";

constexpr const char* kFooter =
    "More commands:\n"
    "  whyoom run -- CMD ...               run a job, diagnose it when it fails, keep its exit status\n"
    "  whyoom explain [CODE[.SCENARIO]]    what a code means and what helps, offline\n"
    "  whyoom diff BEFORE AFTER            two runs of one job: what a change did, what is still over\n"
    "  whyoom merge FILE ...               one report from many that --format ndjson printed\n"
    "  whyoom rules list|check|test|new|trace|literals|schema   the rule data: see it, check it, add to it\n"
    "  whyoom completions bash|zsh|fish    completion for a shell\n"
    "  whyoom skill                        how a coding agent uses whyoom: a SKILL.md for it\n"
    "\n"
    "Exit status: 0 nothing found, 1 something found, 2 could not run, 3 some input could not be read whole,\n"
    "130 and 143 interrupted: what is done was printed. An error about memory that no rule knows is shown, and\n"
    "counts as found with --strict only.\n"
    "\n"
    "Examples:\n"
    "  whyoom run -- python train.py       run a job; where it fails, say why\n"
    "  whyoom train.log logs/              read logs: files, folders, archives\n"
    "  kubectl logs job/train | whyoom     read what is piped in\n"
    "  whyoom diff before.log after.log    what a change did, what is still over\n"
    "  whyoom explain E1000.3              what a code means and what helps\n";

bool IsWholeNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

CommandArguments Begin(const std::string& about, const std::string& name) {
  CommandArguments command = {std::make_unique<CLI::App>(about, name), {}, ""};
  command.app->set_help_flag("-h,--help", "What is used most, on one screen (-h), or all there is (--help)");
  return command;
}

CommandArguments BuildDiagnose(Options* options) {
  CommandArguments command = Begin(kAbout, "whyoom");
  CLI::App& app = *command.app;
  app.footer(kFooter);
  app.set_version_flag("--version", VersionText);
  app.add_option("path", options->paths, "Files and folders to read; - or none on a pipe: standard input")
      ->type_name("PATH");
  AddFilesFrom(app, options, &command.words);
  app.add_option("--xla-dump", options->xla_dump,
                 "The XLA dump of the failed compile (XLA_FLAGS=--xla_dump_to=DIR): gives the allocations that new "
                 "compilers do not print")
      ->type_name("DIR")
      ->group(kInputs);
  app.add_option("--hbm", options->hbm,
                 "What a device has of HBM, as messages print it (15.75G), or its chip (v5e): for programs given as an "
                 "XLA dump or stated in a log that do not say themselves")
      ->type_name("SIZE|CHIP")
      ->group(kInputs);
  AddTimeRange(app, options);
  app.add_flag("--follow", options->follow,
               "Wait for what is still written to the files or the pipe, also where a file is replaced, and print each "
               "diagnosis as soon as its report is complete; ends with the pipe, or when interrupted")
      ->group(kInputs);
  AddFormat(app, kReportFormats, options, &command.words);
  AddDetail(app, options);
  AddFramework(app, options);
  AddForCi(app, options);
  AddCommon(app, options, &command.words);
  AddVerbose(app, options);
  AddSelection(app, options);
  AddFailOn(app, options);
  AddExitStatus(app, options);
  AddBatches(app, options, &command.words);
  AddLimits(app, &options->limits);
  return command;
}

CommandArguments BuildMerge(Options* options) {
  CommandArguments command = Begin(
      "One report from many: puts together what --format ndjson printed, to what one whyoom reading all of the logs "
      "would have said.",
      "whyoom merge");
  CLI::App& app = *command.app;
  app.footer(
      "The order of files and lines does not matter, reports may stand one behind the other, and what merge prints\n"
      "with --format ndjson can be merged again. A folder's files are read, but for those named _* and .*.\n"
      "\n"
      "Examples:\n"
      "  whyoom merge --format ndjson part-*.ndjson > all.ndjson\n"
      "  cat part-* | whyoom merge\n");
  app.add_option("file", options->paths, "Reports and folders of them; - or none on a pipe: standard input")
      ->type_name("FILE");
  AddFormat(app, kReportFormats, options, &command.words);
  AddDetail(app, options);
  AddForCi(app, options);
  AddCommon(app, options, &command.words);
  AddVerbose(app, options);
  AddSelection(app, options);
  AddFailOn(app, options);
  AddExitStatus(app, options);
  options->command = Command::kMerge;
  return command;
}

CommandArguments BuildExplain(Options* options) {
  CommandArguments command =
      Begin("What a code, scenario or remedy means and what to do. Without a topic: a list of them.", "whyoom explain");
  CLI::App& app = *command.app;
  app.footer(
      "Examples:\n"
      "  whyoom explain E1000                 an overview, each scenario, each remedy\n"
      "  whyoom explain 0101.fragmentation    one scenario, and how to mend it\n"
      "  whyoom explain donate_buffers --framework keras\n");
  app.add_option("topic", options->topic, "E1000, E1000.3, E1000.3.C, 0101.fragmentation, donate_buffers, …")
      ->type_name("TOPIC");
  app.add_option("--framework", options->framework,
                 "Show the steps for this framework, by its id or name (pytorch_xla, MaxText), and the default one's "
                 "where it has none of its own; all for those of every framework")
      ->type_name("FRAMEWORK|all");
  app.add_option(
         "--pages", options->pages,
         "Write everything into this folder, as pages that are linked with each other: an index, a page for each "
         "failure, and one for each remedy, with the steps for every framework, in Markdown")
      ->type_name("DIR");
  AddFormat(app, kExplainFormats, options, &command.words);
  AddCommon(app, options, &command.words);
  options->command = Command::kExplain;
  return command;
}

CommandArguments BuildDiff(Options* options) {
  CommandArguments command = Begin(
      "Compares two runs of one job: which change was made, what became smaller and larger, and what is still over.",
      "whyoom diff");
  CLI::App& app = *command.app;
  app.footer(
      "A run is a log, or the folder of an XLA dump (XLA_FLAGS=--xla_dump_to=DIR), of a compile that fitted or not.\n"
      "The dumps of both prove which change was made; lists of allocations only hint at it.\n"
      "\n"
      "AFTER fits only if something shows that its program compiled or ran: training steps after the compile, a dump\n"
      "that fits, CompiledMemoryStats, or the JSON that `whyoom run --format json=FILE -- CMD` writes of a job that\n"
      "succeeded, given as AFTER. A log without a failure shows nothing by itself. Other reports of whyoom are "
      "refused.\n"
      "\n"
      "Exit status: 0 AFTER fits, 1 it is still over or fails, 2 could not run, 3 some input could not be read whole,\n"
      "4 nothing shows whether AFTER fits.\n"
      "\n"
      "Examples:\n"
      "  whyoom diff before.log after.log\n"
      "  whyoom diff dump-before/ dump-after/\n");
  app.add_option_function<std::string>(
         "before", [options](const std::string& path) { options->paths.insert(options->paths.begin(), path); },
         "The run before the change: a log or an XLA dump; - for standard input")
      ->type_name("BEFORE")
      ->required();
  app.add_option_function<std::string>(
         "after", [options](const std::string& path) { options->paths.push_back(path); }, "The run after it")
      ->type_name("AFTER")
      ->required();
  app.add_option("--xla-dump-before", options->xla_dump_before, "The XLA dump of BEFORE, where that is a log")
      ->type_name("DIR");
  app.add_option("--xla-dump-after", options->xla_dump_after, "The XLA dump of AFTER, where that is a log")
      ->type_name("DIR");
  AddFormat(app, kDiffFormats, options, &command.words);
  AddCommon(app, options, &command.words);
  AddLimits(app, &options->limits);
  options->command = Command::kDiff;
  return command;
}

int ToExitStatus(const std::string& text) {
  const bool short_number = IsWholeNumber(text) && text.size() <= 3;
  const int status = short_number ? std::stoi(text) : 0;
  if (status < 1 || status > 255)
    throw CLI::ValidationError("--exit-retry", "'" + Printable(text) + "' is no exit status of a failure: 1 to 255");
  return status;
}

void AddExitRetry(CLI::App& app, Options* options) {
  app.add_option_function<std::string>(
         "--exit-retry", [options](const std::string& text) { options->exit_retry = ToExitStatus(text); },
         "Where the job will fail the same way when it is started again, end with STATUS instead of its own exit "
         "status, so that a scheduler can tell")
      ->type_name("[STATUS]")
      ->expected(0, 1)
      ->default_str(std::to_string(kFailsAgain));
}

CommandArguments BuildRun(Options* options) {
  CommandArguments command = Begin(
      "Runs a job with its output passed through, and where it fails, says on standard error why it ran out of memory: "
      "whyoom run [OPTIONS] -- CMD ...",
      "whyoom run");
  CLI::App& app = *command.app;
  app.footer(
      "The exit status is the job's (128 + N where signal N ended it, 127 not found, 126 cannot be run).\n"
      "After a success nothing is printed, nor where nothing is found. --xla_dump_to is added to the job's\n"
      "XLA_FLAGS, where new compilers leave what the diagnosis needs; a dump folder set there already is used\n"
      "and left alone.\n"
      "\n"
      "With --exit-retry it ends with 42, or the STATUS that is given, where all that was found says that the same "
      "job\n"
      "will fail the same way, and that is what ended the job: no signal from outside, and neither 500 lines nor ten\n"
      "minutes of output after it. In doubt the exit status is the job's.\n"
      "\n"
      "Examples:\n"
      "  whyoom run -- python train.py --steps 10\n"
      "  whyoom run --format json --output report.json -- python train.py\n"
      "  whyoom run --exit-retry -- python train.py\n");
  AddFormat(app, kReportFormats, options, &command.words);
  AddDetail(app, options);
  AddFramework(app, options);
  AddForCi(app, options);
  AddCommon(app, options, &command.words);
  AddVerbose(app, options);
  AddSelection(app, options);
  app.get_option("--output")->description("Write the diagnosis to FILE instead of standard error");
  app.add_flag_callback(
      "--no-dump", [options] { options->dump = false; }, "Leave XLA_FLAGS alone");
  app.add_flag("--keep-dump", options->keep_dump, "Do not remove the XLA dump, and say where it is");
  AddExitRetry(app, options);
  options->command = Command::kRun;
  command.trailer = "-- CMD ...";
  return command;
}

void AddRuleTest(CLI::App& app, Options* options, ValueWords* words) {
  CLI::App& sub = *app.add_subcommand("test", "Check, then run each rule's own examples (exit status 1: some failed)");
  sub.add_option("file", options->rules, "Rule files or folders")->type_name("FILE|DIR");
  sub.add_option("--healthy", options->rule_test.healthy,
                 "Logs, or a folder of them, in which nothing is to be found (may be repeated)")
      ->type_name("PATH")
      ->allow_extra_args(false);
  sub.add_flag("--untried", options->rule_test.untried, "List what of the rules no example shows");
  AddFormat(sub, kRuleTestFormats, options, words);
  AddCommon(sub, options, words);
  sub.callback([options] { options->command = Command::kRulesTest; });
}

void AddTrace(CLI::App& app, Options* options, ValueWords* words) {
  CLI::App* sub = app.add_subcommand(
      "trace", "How far each rule got in a log, what it saw, and why the advice stands in its order");
  sub->footer(
      "With a line, counted from 1, it tells of each head whose literal is near that line: where its pattern stops, "
      "or\n"
      "what became of it; where none is near, which heads are nearest. Without one, of the lines in which a head's\n"
      "literal is. Then of each finding: its facts, conditions with the values they saw, and the remedies' order.\n"
      "\n"
      "Exit status: 0 traced, also where nothing is found, 2 could not run, 3 some input could not be read whole.\n"
      "\n"
      "Examples:\n"
      "  whyoom rules trace train.log:812\n"
      "  whyoom rules trace --rules my-rules.json --rule my.pool train.log\n"
      "  whyoom rules trace --format json train.log | jq '.findings[].scenarios[]'\n");
  sub->add_option_function<std::string>(
         "log", [options](const std::string& word) { SetTraced(word, options); },
         "The log, and one of its lines; - or none on a pipe: standard input")
      ->type_name("LOG[:LINE]");
  sub->add_option("--rule", options->trace_rules,
                  "Tell of this failure's heads, too, wherever their literals are (may be repeated)")
      ->type_name("CODE")
      ->allow_extra_args(false);
  AddFormat(*sub, kTraceFormats, options, words);
  AddCommon(*sub, options, words);
  AddLimits(*sub, &options->limits);
  sub->callback([options] { options->command = Command::kRulesTrace; });
}

CommandArguments BuildRules(Options* options) {
  CommandArguments command =
      Begin("The rule data as a product. Files given after the command are added to what is built in.", "whyoom rules");
  CLI::App& app = *command.app;
  app.footer(
      "Examples:\n"
      "  whyoom rules list                          what is known, and from which file\n"
      "  whyoom rules new my.pool --from train.log:41 > my-rules.json\n"
      "  whyoom rules test my-rules.json\n"
      "  whyoom rules trace train.log:812           why a line is found, or is not\n");
  const std::map<std::string, std::pair<Command, std::string>> commands = {
      {"list",
       {Command::kRulesList,
        "Name all failures, remedies and other entries, where each is from, and what files change of it"}},
      {"check", {Command::kRulesCheck, "Find everything wrong in rule files"}},
      {"literals",
       {Command::kRulesLiterals,
        "Print what a log must hold one of to be looked at, one a line: zgrep -ilF -f <(whyoom rules literals)"}},
      {"schema", {Command::kRulesSchema, "Print the JSON schema of rule files, for editors"}},
  };
  app.require_subcommand(0, 1);  // that one is missing is told in our own words
  for (const auto& [name, what] : commands) {
    CLI::App* sub = app.add_subcommand(name, what.second);
    const bool lists = what.first == Command::kRulesList;
    sub->add_option("file", options->rules,
                    lists ? "Sections to name alone (remedies, contexts, …), and rule files or folders"
                          : "Rule files or folders")
        ->type_name(lists ? "SECTION|FILE" : "FILE|DIR");
    if (lists) AddChoice(*sub, "--format", "format", "FORMAT", kListFormats, &options->format, &command.words);
    AddCommon(*sub, options, &command.words);
    sub->callback([options, code = what.first] { options->command = code; });
  }
  AddRuleTest(app, options, &command.words);
  CLI::App* sub = app.add_subcommand(
      "new",
      "Print a rule file to begin with, for a message that is not known yet: whyoom rules new CODE --from LOG:LINE");
  sub->add_option("message", options->new_rule,
                  "The code that the failure is to have (my.pool), or that of a known one, which then gets one more "
                  "wording; and the lines of the message as they stand in the log; without lines and --from they are "
                  "read from standard input")
      ->type_name("CODE LINE")
      ->required();
  sub->add_option(
         "--from", options->new_rule_from,
         "Take the message from this line of a log, as train.log:41, or from lines, as train.log:41-44; the "
         "log may be packed, and - is standard input. Given twice, the two messages are compared: what differs "
         "is no part of the rule")
      ->allow_extra_args(false)
      ->type_name("LOG:LINE");
  AddCommon(*sub, options, &command.words);
  sub->callback([options] { options->command = Command::kRulesNew; });
  AddTrace(app, options, &command.words);
  return command;
}

CommandArguments BuildCompletions(Options* options) {
  CommandArguments command = Begin(
      "Prints a script that teaches a shell to complete whyoom's commands, options and values. It asks whyoom itself, "
      "so that it need not be made again for another version.",
      "whyoom completions");
  CLI::App& app = *command.app;
  app.footer(
      "Examples:\n"
      "  eval \"$(whyoom completions bash)\"        in ~/.bashrc\n"
      "  whyoom completions zsh > ~/.zfunc/_whyoom   with ~/.zfunc in $fpath\n"
      "  whyoom completions fish > ~/.config/fish/completions/whyoom.fish\n");
  CLI::Option* shell = app.add_option_function<std::string>(
      "shell", [options](const std::string& name) { options->shell = ToChoice("completions", "shell", kShells, name); },
      Listing(kShells, false));
  shell->type_name("SHELL")->required();
  command.words[shell] = ToWords(kShells);
  AddOutput(app, options);
  options->command = Command::kCompletions;
  return command;
}

CommandArguments BuildSkill(Options* options) {
  CommandArguments command = Begin(
      "Prints what a coding agent has to know to use whyoom: when to call it, how to read its JSON, what never to do. "
      "It is a SKILL.md as the Agent Skills format asks for.",
      "whyoom skill");
  CLI::App& app = *command.app;
  app.footer(
      "An agent finds it in a folder whyoom among its skills:\n"
      "\n"
      "Examples:\n"
      "  mkdir -p skills/whyoom && whyoom skill > skills/whyoom/SKILL.md\n");
  AddOutput(app, options);
  options->command = Command::kSkill;
  return command;
}

}  // namespace

const std::vector<CommandDefinition>& Commands() {
  static const std::vector<CommandDefinition> commands = {
      {"", BuildDiagnose},   {"run", BuildRun},     {"explain", BuildExplain},         {"diff", BuildDiff},
      {"merge", BuildMerge}, {"rules", BuildRules}, {"completions", BuildCompletions}, {"skill", BuildSkill}};
  return commands;
}

const CommandDefinition& FindCommand(const std::string& first_word) {
  const std::vector<CommandDefinition>& commands = Commands();
  const auto found = std::find_if(commands.begin(), commands.end(),
                                  [&](const CommandDefinition& command) { return command.name == first_word; });
  return found == commands.end() ? commands.front() : *found;
}

bool TakesNextWord(const CLI::Option& option, const std::string& next) {
  if (option.get_items_expected_min() > 0) return true;
  return option.get_items_expected_max() > 0 && IsWholeNumber(next);
}

std::size_t JobBegin(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") return i;
    if (arguments[i].rfind("-", 0) != 0) return i;
    const CLI::Option* option = app.get_option_no_throw(arguments[i]);
    if (option != nullptr && TakesNextWord(*option, i + 1 < arguments.size() ? arguments[i + 1] : "")) ++i;
  }
  return arguments.size();
}

}  // namespace whyoom
