#include "cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/embedded.h"
#include "cli/rules_command.h"
#include "report/layout.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace {

void AddPaths(CLI::App& app, Options* options) {
  app.add_option("PATH", options->paths, "Files, folders and archives; - or a pipe: standard input")->type_name("");
}

void AddReports(CLI::App& app, Options* options) {
  app.add_option("FILE", options->paths, "Reports and folders of reports; - or a pipe: standard input")->type_name("");
}

void AddTopic(CLI::App& app, Options* options) {
  app.add_option("TOPIC", options->topic, "E1000, E1000.3, E1000.3.C, 0101.fragmentation, donate_buffers, …")
      ->type_name("");
}

void AddRuns(CLI::App& app, Options* options) {
  const auto add = [&](const char* name, const char* about) {
    const auto take = [options](const std::string& path) { options->paths.push_back(path); };
    app.add_option_function<std::string>(name, take, about)->type_name("")->required();
  };
  add("BEFORE", "Run before the change: a log or an XLA dump");
  add("AFTER", "Run after the change");
}

void AddDump(CLI::App& app, Options* options) {
  app.add_option("DUMP", options->paths, "The folder of the dump")->type_name("")->expected(0, 1);
}

void AddSections(CLI::App& app, Options* options) {
  app.add_option("FILE", options->paths, "Sections (remedies, …), rule files and folders")->type_name("");
}

void AddRuleFiles(CLI::App& app, Options* options) {
  app.add_option("FILE", options->paths, "Rule files or folders")->type_name("");
}

void AddTraced(CLI::App& app, Options* options) {
  app.add_option_function<std::string>(
         "LOG", [options](const std::string& word) { SetTracedPlace(word, options); }, "A log, and a line of it")
      ->type_name("");
}

// At most 80 columns wide. The first line is only "whyoom X.Y.Z", for scripts.
std::string VersionText() {
  const BuildFacts& build = TheBuild();
  return "whyoom " WHYOOM_VERSION "\ncommit     " + build.commit + "\nbuilt by   " + build.compiler + '\n' +
         Hanging("with       ", 11, fmt::format("{}", fmt::join(build.libraries, ", ")), 80) + "rules      " +
         RuleSource().head().fingerprint;
}

void AddNothing(CLI::App& /*app*/, Options* /*options*/) {}

const std::vector<CommandDefinition> kCommands = {
    {"", Command::kDiagnose,
     "Finds XLA:TPU out-of-memory errors in job logs and XLA dumps, and reports which "
     "error it is, why it happened and what to do first.",
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
     "Memory errors that match no rule are shown, but count as found only with --strict.\n",
     AddPaths},
    {"run", Command::kRun,
     "Runs a job and passes its output through. If the job runs out of memory, prints the diagnosis to standard "
     "error: whyoom run [OPTIONS] -- CMD ...",
     "The exit status is the job's (128 + N if signal N ended it, 127 if CMD was not found, 126 if it cannot run). "
     "Nothing is printed if the job succeeds or nothing is found. whyoom adds --xla_dump_to to the job's "
     "XLA_FLAGS, because newer compilers write the allocations only to the dump. If XLA_FLAGS already names a "
     "dump folder, whyoom reads that one and does not remove it.\n"
     "\n"
     "With --exit-retry, whyoom exits with 42, or STATUS, if every failure found ended the job and would occur "
     "again in a retry. A failure ended the job if no signal from outside did, if no later line shows that "
     "the job went on or met another error, and if the job printed at most 500 lines after it and ended within ten "
     "minutes of the last one. In doubt, whyoom returns the job's exit status.\n"
     "\n"
     "Examples:\n"
     "  whyoom run -- python train.py --steps 10\n"
     "  whyoom run --format json --output report.json -- python train.py\n"
     "  whyoom run --exit-retry -- python train.py\n",
     AddNothing},
    {"explain", Command::kExplain,
     "Explains a code, scenario or remedy and what to do. Without a topic, lists all topics.",
     "Examples:\n"
     "  whyoom explain E1000                 overview, scenarios and remedies\n"
     "  whyoom explain 0101.fragmentation    one scenario and how to fix it\n"
     "  whyoom explain donate_buffers --framework keras\n",
     AddTopic},
    {"diff", Command::kDiff,
     "Compares two runs of one job: what was changed, what became smaller or larger, and whether it fits now.",
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
     "  whyoom diff dump-before/ dump-after/\n",
     AddRuns},
    {"try", Command::kTry,
     "Compiles a program that does not fit again, with one remedy after another, and reports what it then needs. "
     "Needs Python with jax and libtpu, but no TPU: whyoom try [OPTIONS] DUMP, or whyoom try [OPTIONS] -- CMD ...",
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
     "  whyoom try -- python3 -m maxtext...train_compile compile_topology=v5e-16\n",
     AddDump},
    {"merge", Command::kMerge,
     "Combines reports written with --format ndjson into one report, as if a single run had read all the logs.",
     "The order of files and lines does not matter. A file may contain several reports. The output of merge "
     "--format ndjson can be merged again. In folders, files named _* and .* are skipped.\n"
     "\n"
     "Examples:\n"
     "  whyoom merge --format ndjson part-*.ndjson > all.ndjson\n"
     "  cat part-* | whyoom merge\n",
     AddReports},
    {"rules", Command::kRules,
     "Shows, checks and extends the rules. Files given after the command are added to the built-in rules.",
     "Commands:\n"
     "  whyoom rules list [FILE ...]        all entries, and what these files change\n"
     "  whyoom rules check FILE ...         all errors in rule files\n"
     "  whyoom rules test FILE ...          run the examples of failures\n"
     "  whyoom rules trace LOG[:LINE]       why a line is or is not found\n"
     "  whyoom rules schema                 the JSON schema of rule files, for editors\n"
     "\n"
     "A rule file:\n"
     "  {\"format\": \"whyoom.rules/1\", \"failures\": [{\n"
     "    \"code\": \"my.pool\", \"title\": \"the pool is full\",\n"
     "    \"category\": \"Run time\", \"phase\": \"run\",\n"
     "    \"heads\": [\"Pool full: %{size:request_bytes}\"],\n"
     "    \"examples\": [\"Pool full: 12.5GiB\"]}]}\n",
     AddNothing},
    {"rules list", Command::kRulesList, "List all entries, and what user files change", "", AddSections},
    {"rules check", Command::kRulesCheck, "Report all errors in rule files", "", AddRuleFiles},
    {"rules test", Command::kRulesTest, "Run the examples of failures", "", AddRuleFiles},
    {"rules schema", Command::kRulesSchema, "Print the JSON schema of rule files (for editors)", "", AddRuleFiles},
    {"rules trace", Command::kRulesTrace, "Show which rules matched a log and why",
     "Shows the lines that whyoom examines, because they contain a fixed text (literal) of a pattern, and what each "
     "header pattern (the start of an error message) and context did there; with LINE (counted from 1), only that "
     "line. Then shows for each failure its facts, the conditions with the values used in them, and the order of the "
     "remedies.\n"
     "\n"
     "Exit status: 0 traced, even if nothing was found, 2 could not run, 3 some input could not be read completely.\n"
     "\n"
     "Examples:\n"
     "  whyoom rules trace train.log:812\n"
     "  whyoom rules trace --rules my-rules.json --rule my.pool train.log\n",
     AddTraced},
    {"skill", Command::kSkill,
     "Prints a SKILL.md for coding agents in the Agent Skills format: when to call whyoom, how to read its JSON, and "
     "what never to do.",
     "Store it in a folder named whyoom in the agent's skills folder:\n"
     "\n"
     "Examples:\n"
     "  mkdir -p skills/whyoom && whyoom skill > skills/whyoom/SKILL.md\n",
     AddNothing}};

}  // namespace

const std::vector<CommandDefinition>& Commands() { return kCommands; }

const CommandDefinition& FindCommand(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "" : arguments[0];
  const std::string two = arguments.size() < 2 ? first : first + " " + arguments[1];
  for (const std::string& words : {two, first}) {
    for (const CommandDefinition& command : kCommands) {
      if (command.name == words && first.find(' ') == first.npos) return command;
    }
  }
  return kCommands.front();
}

std::unique_ptr<CLI::App> MakeParser(const CommandDefinition& command, Options* options) {
  const std::string words = command.name;
  auto app = std::make_unique<CLI::App>(command.about, words.empty() ? "whyoom" : "whyoom " + words);
  app->get_formatter()->column_width(27);
  app->set_help_flag("-h,--help", "Print this");
  if (words.empty()) app->set_version_flag("--version", VersionText);
  app->footer(command.footer);
  command.add_arguments(*app, options);
  AddOptions(*app, command.command, options);
  options->command = command.command;
  return app;
}

}  // namespace whyoom
