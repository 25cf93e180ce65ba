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
    "Finds XLA:TPU out-of-memory errors in job logs and XLA dumps, and reports which "
    "error it is, why it happened and what to do first.";

constexpr const char* kFooter =
    "More commands:\n"
    "  whyoom run -- CMD ...               run a job, diagnose it if it fails, return its exit status\n"
    "  whyoom explain [CODE[.SCENARIO]]    what a code means and what helps (works offline)\n"
    "  whyoom diff BEFORE AFTER            compare two runs of one job: what changed, and whether it fits\n"
    "  whyoom try DUMPDIR|-- CMD           compile a program again with remedies, without a TPU\n"
    "  whyoom merge FILE ...               combine reports written with --format ndjson into one\n"
    "  whyoom rules list|check|test|trace|schema   show, check and extend the rules\n"
    "  whyoom skill                        print a SKILL.md for coding agents\n"
    "\n"
    "Exit status: 0 nothing found, 1 something found, 2 could not run, 3 some input could not be read completely "
    "(whether or not something was found), 128 + N stopped by signal N after printing the results so far.\n"
    "Memory errors that match no rule are shown, but count as found only with --strict.\n";

bool IsWholeNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

CommandArguments Begin(const std::string& about, const std::string& name) {
  CommandArguments command = {std::make_unique<CLI::App>(about, name)};
  command.app->get_formatter()->column_width(27);
  command.app->set_help_flag("-h,--help", "Print this");
  return command;
}

// The options of the commands that make a report from a job's logs or dumps.
void AddReport(CLI::App& app, Options* options) {
  AddFormat(app, kReportFormats, options);
  AddDetail(app, options);
  AddFramework(app, options);
  AddForCi(app, options);
  AddCommon(app, options);
  AddVerbose(app, options);
}

CommandArguments BuildDiagnose(Options* options) {
  CommandArguments command = Begin(kAbout, "whyoom");
  CLI::App& app = *command.app;
  app.footer(kFooter);
  app.set_version_flag("--version", VersionText);
  app.add_option("PATH", options->paths, "Files, folders and archives; - or a pipe: standard input")->type_name("");
  AddFilesFrom(app, options);
  app.add_option("--xla-dump", options->xla_dump,
                 "XLA dump of the failed compile, with its allocations (XLA_FLAGS=--xla_dump_to=DIR)")
      ->type_name("DIR")
      ->group(kInputs);
  app.add_option("--tried", options->tried, "Remedies compiled by whyoom.install(try_remedies=True)")
      ->type_name("FILE")
      ->group(kInputs);
  AddHbm(app, options);
  AddTimeRange(app, options);
  app.add_flag("--follow", options->follow, "Keep reading, and print each failure when complete")->group(kInputs);
  AddReport(app, options);
  AddSelection(app, options);
  AddFailOn(app, options);
  AddExitStatus(app, options);
  AddBatches(app, options);
  AddLimits(app, &options->limits);
  return command;
}

CommandArguments BuildMerge(Options* options) {
  CommandArguments command =
      Begin("Combines reports written with --format ndjson into one report, as if a single run had read all the logs.",
            "whyoom merge");
  CLI::App& app = *command.app;
  app.footer(
      "The order of files and lines does not matter. A file may contain several reports. The output of merge "
      "--format ndjson can be merged again. In folders, files named _* and .* are skipped.\n"
      "\n"
      "Examples:\n"
      "  whyoom merge --format ndjson part-*.ndjson > all.ndjson\n"
      "  cat part-* | whyoom merge\n");
  app.add_option("FILE", options->paths, "Reports and folders of reports; - or a pipe: standard input")->type_name("");
  AddFormat(app, kReportFormats, options);
  AddDetail(app, options);
  AddForCi(app, options);
  AddCommon(app, options);
  AddVerbose(app, options);
  AddSelection(app, options);
  AddFailOn(app, options);
  AddExitStatus(app, options);
  options->command = Command::kMerge;
  return command;
}

CommandArguments BuildExplain(Options* options) {
  CommandArguments command =
      Begin("Explains a code, scenario or remedy and what to do. Without a topic, lists all topics.", "whyoom explain");
  CLI::App& app = *command.app;
  app.footer(
      "Examples:\n"
      "  whyoom explain E1000                 overview, scenarios and remedies\n"
      "  whyoom explain 0101.fragmentation    one scenario and how to fix it\n"
      "  whyoom explain donate_buffers --framework keras\n");
  app.add_option("TOPIC", options->topic, "E1000, E1000.3, E1000.3.C, 0101.fragmentation, donate_buffers, …")
      ->type_name("");
  app.add_option("--framework", options->framework, "Show the steps of this framework, or of all")
      ->type_name("FRAMEWORK|all");
  AddFormat(app, kExplainFormats, options);
  AddCommon(app, options);
  options->command = Command::kExplain;
  return command;
}

CommandArguments BuildDiff(Options* options) {
  CommandArguments command =
      Begin("Compares two runs of one job: what was changed, what became smaller or larger, and whether it fits now.",
            "whyoom diff");
  CLI::App& app = *command.app;
  app.footer(
      "A run is a log or an XLA dump folder (XLA_FLAGS=--xla_dump_to=DIR), whether or not its program fitted. "
      "Dumps of both runs show what was changed; logs list only the largest allocations.\n"
      "\n"
      "AFTER counts as fitting only if there is evidence that its program compiled or ran: training steps after the "
      "compile, a dump that fits, CompiledMemoryStats, or, given as AFTER, the JSON that `whyoom run --format "
      "json=FILE -- CMD` writes for a job that succeeded. A log without a failure is not evidence. Other whyoom "
      "reports are rejected.\n"
      "\n"
      "Exit status: 0 AFTER fits, 1 AFTER still needs too much or fails, 2 could not run, 3 some input could not be "
      "read completely, 4 no evidence whether AFTER fits.\n"
      "\n"
      "Examples:\n"
      "  whyoom diff before.log after.log\n"
      "  whyoom diff dump-before/ dump-after/\n");
  app.add_option_function<std::string>(
         "BEFORE", [options](const std::string& path) { options->paths.insert(options->paths.begin(), path); },
         "Run before the change: a log or an XLA dump")
      ->type_name("")
      ->required();
  app.add_option_function<std::string>(
         "AFTER", [options](const std::string& path) { options->paths.push_back(path); }, "Run after the change")
      ->type_name("")
      ->required();
  app.add_option("--xla-dump-before", options->xla_dump_before, "XLA dump of BEFORE, if BEFORE is a log")
      ->type_name("DIR");
  app.add_option("--xla-dump-after", options->xla_dump_after, "XLA dump of AFTER, if AFTER is a log")->type_name("DIR");
  AddFormat(app, kTextOrJson, options);
  AddCommon(app, options);
  AddLimits(app, &options->limits);
  options->command = Command::kDiff;
  return command;
}

int ToExitStatus(const std::string& text) {
  const bool short_number = IsWholeNumber(text) && text.size() <= 3;
  const int status = short_number ? std::stoi(text) : 0;
  if (status < 1 || status > 255)
    throw CLI::ValidationError("--exit-retry", "invalid exit status '" + Printable(text) + "' (expected 1 to 255)");
  return status;
}

void AddExitRetry(CLI::App& app, Options* options) {
  app.add_option_function<std::string>(
         "--exit-retry", [options](const std::string& text) { options->exit_retry = ToExitStatus(text); },
         "Exit with STATUS (42) if a retry would fail again")
      ->type_name("[STATUS]")
      ->expected(0, 1)
      ->default_str(std::to_string(kFailsAgain));
}

CommandArguments BuildRun(Options* options) {
  CommandArguments command = Begin(
      "Runs a job and passes its output through. If the job runs out of memory, prints the diagnosis to standard "
      "error: whyoom run [OPTIONS] -- CMD ...",
      "whyoom run");
  CLI::App& app = *command.app;
  app.footer(
      "The exit status is the job's (128 + N if signal N ended it, 127 if CMD was not found, 126 if it cannot run). "
      "Nothing is printed if the job succeeds or nothing is found. whyoom adds --xla_dump_to to the job's "
      "XLA_FLAGS, because newer compilers write the allocations only to the dump. If XLA_FLAGS already names a "
      "dump folder, whyoom reads that one and does not remove it.\n"
      "\n"
      "With --exit-retry, whyoom exits with 42, or STATUS, if every failure found ended the job and would occur "
      "again in a retry. A failure ended the job if no signal from outside did, if no later line shows that "
      "the job went on or met another error, and if the job printed at most 500 lines, for at most ten minutes, "
      "after it. In doubt, whyoom returns the job's exit status.\n"
      "\n"
      "Examples:\n"
      "  whyoom run -- python train.py --steps 10\n"
      "  whyoom run --format json --output report.json -- python train.py\n"
      "  whyoom run --exit-retry -- python train.py\n");
  AddReport(app, options);
  AddSelection(app, options);
  app.get_option("--output")->description("Write the diagnosis to FILE instead of standard error");
  app.add_flag_callback(
      "--no-dump", [options] { options->dump = false; }, "Do not change XLA_FLAGS");
  app.add_flag("--keep-dump", options->keep_dump, "Keep the XLA dump and print its path");
  AddExitRetry(app, options);
  app.add_flag("--try", options->attempts.after_failure, "Compile a program that does not fit with each remedy")
      ->group(kTrying);
  AddTry(app, options);
  options->command = Command::kRun;
  return command;
}

CommandArguments BuildTry(Options* options) {
  CommandArguments command = Begin(
      "Compiles a program that does not fit again, with one remedy after another, and reports what it then needs. "
      "Needs Python with jax and libtpu, but no TPU: whyoom try [OPTIONS] DUMP, or whyoom try [OPTIONS] -- CMD ...",
      "whyoom try");
  CLI::App& app = *command.app;
  app.footer(
      "CMD runs a Python program that uses jax.jit. When a compile runs out of memory, whyoom traces the same "
      "function with a smaller batch, micro-batches, jax.checkpoint, donation, shardings or bfloat16, compiles the "
      "results, and writes a patch for the cheapest change that fits. It never changes your files: it runs CMD again "
      "with the patch in memory, up to that compile, and reports the need that it really had. Commands such as "
      "MaxText's train_compile are also run with other settings.\n"
      "\n"
      "DUMPDIR is the folder of XLA_FLAGS=--xla_dump_to=DIR, written by a compiler since 2026. A dump contains no "
      "source, so only compiler options, donation, shardings and host memory can be tried.\n"
      "\n"
      "Each compile stops as soon as the memory need is known. Interrupt it (Ctrl-C) to see the results so far. "
      "Results are kept in ~/.cache/whyoom.\n"
      "\n"
      "Exit status: 0 a change fits, 1 none does, 2 could not run, 128 + N stopped by signal N.\n"
      "\n"
      "Examples:\n"
      "  whyoom try -- python train.py\n"
      "  whyoom try --topology v5e-8 --patch fits.patch -- python train.py\n"
      "  whyoom try dump/ --python venv/bin/python --remedy donate_buffers\n"
      "  whyoom try -- python3 -m maxtext...train_compile compile_topology=v5e-16\n");
  app.add_option("DUMP", options->paths, "The folder of the dump")->type_name("")->expected(0, 1);
  AddTry(app, options);
  app.add_option("--finish", options->attempts.finish)->group("");  // for the Python part
  app.add_option("--topology", options->attempts.topology, "Run CMD without a TPU, for chips such as v5e-8")
      ->type_name("CHIPS")
      ->group(kTrying);
  AddChoice(app, "--progress", "choice", "WHEN", kProgress, &options->progress)->group(kTrying);
  AddHbm(app, options);
  AddReport(app, options);
  options->command = Command::kTry;
  return command;
}

// Adds the files of the command line to those of --rules. One variable for both would keep only the last ones parsed.
void TakeRuleFiles(Options* options, Command command) {
  options->command = command;
  options->rules.insert(options->rules.end(), options->paths.begin(), options->paths.end());
}

void AddTrace(CLI::App& app, Options* options) {
  CLI::App* sub = app.add_subcommand("trace", "Show which rules matched a log and why");
  sub->footer(
      "Shows the lines that whyoom examines, because they contain a fixed text (literal) of a pattern, and what each "
      "header pattern (the start of an error message) and context did there; with LINE (counted from 1), only that "
      "line. Then shows for each failure its facts, the conditions with the values used in them, and the order of the "
      "remedies.\n"
      "\n"
      "Exit status: 0 traced, even if nothing was found, 2 could not run, 3 some input could not be read completely.\n"
      "\n"
      "Examples:\n"
      "  whyoom rules trace train.log:812\n"
      "  whyoom rules trace --rules my-rules.json --rule my.pool train.log\n");
  sub->add_option_function<std::string>(
         "LOG", [options](const std::string& word) { SetTracedPlace(word, options); }, "A log, and a line of it")
      ->type_name("");
  sub->add_option("--rule", options->trace_rules, "Also list patterns of this failure without a match")
      ->type_name("CODE")
      ->allow_extra_args(false);
  AddCommon(*sub, options);
  AddLimits(*sub, &options->limits);
  sub->callback([options] { options->command = Command::kRulesTrace; });
}

CommandArguments BuildRules(Options* options) {
  CommandArguments command =
      Begin("Shows, checks and extends the rules. Files given after the command are added to the built-in rules.",
            "whyoom rules");
  CLI::App& app = *command.app;
  app.footer(
      "Examples:\n"
      "  whyoom rules list                          all entries and their files\n"
      "  whyoom rules test my-rules.json\n"
      "  whyoom rules trace train.log:812           why a line is or is not found\n"
      "\n"
      "A rule file:\n"
      "  {\"format\": \"whyoom.rules/1\", \"failures\": [{\n"
      "    \"code\": \"my.pool\", \"title\": \"the pool is full\",\n"
      "    \"category\": \"Run time\", \"phase\": \"run\",\n"
      "    \"heads\": [\"Pool full: %{size:request_bytes}\"],\n"
      "    \"examples\": [\"Pool full: 12.5GiB\"]}]}\n");
  const std::map<std::string, std::pair<Command, std::string>> commands = {
      {"list", {Command::kRulesList, "List all entries, and what user files change"}},
      {"check", {Command::kRulesCheck, "Report all errors in rule files"}},
      {"test", {Command::kRulesTest, "Run the examples of failures"}},
      {"schema", {Command::kRulesSchema, "Print the JSON schema of rule files (for editors)"}},
  };
  app.require_subcommand(0, 1);  // MissingSubcommand() reports a missing subcommand
  for (const auto& [name, what] : commands) {
    CLI::App* sub = app.add_subcommand(name, what.second);
    const bool lists = what.first == Command::kRulesList;
    sub->add_option("FILE", options->paths,
                    lists ? "Sections (remedies, …), rule files and folders" : "Rule files or folders")
        ->type_name("");
    if (lists) AddChoice(*sub, "--format", "format", "FORMAT", kTextOrJson, &options->format);
    AddCommon(*sub, options);
    sub->callback([options, code = what.first] { TakeRuleFiles(options, code); });
  }
  AddTrace(app, options);
  return command;
}

CommandArguments BuildSkill(Options* options) {
  CommandArguments command = Begin(
      "Prints a SKILL.md for coding agents in the Agent Skills format: when to call whyoom, how to read its JSON, and "
      "what never to do.",
      "whyoom skill");
  CLI::App& app = *command.app;
  app.footer(
      "Store it in a folder named whyoom in the agent's skills folder:\n"
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
      {"", BuildDiagnose}, {"run", BuildRun},     {"explain", BuildExplain}, {"diff", BuildDiff},
      {"try", BuildTry},   {"merge", BuildMerge}, {"rules", BuildRules},     {"skill", BuildSkill}};
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
