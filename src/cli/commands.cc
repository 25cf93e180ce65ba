#include "cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/embedded.h"
#include "report/layout.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace {

// At most 80 columns wide. The first line is only "whyoom X.Y.Z", for scripts.
std::string VersionText() {
  const BuildFacts& build = TheBuild();
  return "whyoom " WHYOOM_VERSION "\ncommit     " + build.commit + "\nbuilt by   " + build.compiler + '\n' +
         Hanging("with       ", 11, fmt::format("{}", fmt::join(build.libraries, ", ")), 80) + "rules      " +
         RuleSource().head().fingerprint;
}

// resources/help: the rest of a command's help, below its options.
std::string_view HelpOf(const std::string& words) {
  std::string name = (words.empty() ? "diagnose" : words) + ".txt";
  std::replace(name.begin(), name.end(), ' ', '-');
  const auto& files = EmbeddedHelp();
  const auto found =
      std::find_if(files.begin(), files.end(), [&](const EmbeddedFile& file) { return file.name == name; });
  return found == files.end() ? std::string_view() : found->text;
}

using enum Positional::Count;

const std::vector<CommandDefinition> kCommands = {
    {"",
     Command::kDiagnose,
     "Finds XLA:TPU out-of-memory errors in job logs and XLA dumps, and reports which "
     "error it is, why it happened and what to do first.",
     {{"PATH", "Files, folders and archives; - or a pipe: standard input"}}},
    {"run",
     Command::kRun,
     "Runs a job and passes its output through. If the job runs out of memory, prints the diagnosis to standard "
     "error: whyoom run [OPTIONS] -- CMD ...",
     {}},
    {"explain",
     Command::kExplain,
     "Explains a code, scenario or remedy and what to do. Without a topic, lists all topics.",
     {{"TOPIC", "E1000, E1000.3, E1000.3.C, 0101.fragmentation, donate_buffers, …", kAtMostOne}}},
    {"diff",
     Command::kDiff,
     "Compares two runs of one job: what was changed, what became smaller or larger, and whether it fits now.",
     {{"BEFORE", "Run before the change: a log or an XLA dump", kOne}, {"AFTER", "Run after the change", kOne}}},
    {"try",
     Command::kTry,
     "Compiles a program that does not fit again, with one remedy after another, and reports what it then needs. "
     "Needs Python with jax and libtpu, but no TPU: whyoom try [OPTIONS] DUMP, or whyoom try [OPTIONS] -- CMD ...",
     {{"DUMP", "The folder of the dump", kAtMostOne}}},
    {"merge",
     Command::kMerge,
     "Combines reports written with --format ndjson into one report, as if a single run had read all the logs.",
     {{"FILE", "Reports and folders of reports; - or a pipe: standard input"}}},
    {"rules",
     Command::kRules,
     "Shows, checks and extends the rules. Files given after the command are added to the built-in rules.",
     {}},
    {"rules list",
     Command::kRulesList,
     "List all entries, and what user files change",
     {{"FILE", "Sections (remedies, …), rule files and folders"}}},
    {"rules check", Command::kRulesCheck, "Report all errors in rule files", {{"FILE", "Rule files or folders"}}},
    {"rules test", Command::kRulesTest, "Run the examples of failures", {{"FILE", "Rule files or folders"}}},
    {"rules schema",
     Command::kRulesSchema,
     "Print the JSON schema of rule files (for editors)",
     {{"FILE", "Rule files or folders"}}},
    {"rules trace",
     Command::kRulesTrace,
     "Show which rules matched a log and why",
     {{"LOG", "A log, and a line of it", kAtMostOne}}},
    {"skill",
     Command::kSkill,
     "Prints a SKILL.md for coding agents in the Agent Skills format: when to call whyoom, how to read its JSON, and "
     "what never to do.",
     {}}};

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
  app->footer(std::string(HelpOf(words)));
  for (const Positional& one : command.positionals) {
    const auto take = [options](const std::string& given) { options->paths.push_back(given); };
    const auto take_all = [options](const std::vector<std::string>& given) { options->paths = given; };
    CLI::Option* option =
        one.count == kAny
            ? app->add_option_function<std::vector<std::string>>(one.name, take_all, one.about)
            : app->add_option_function<std::string>(one.name, take, one.about)->required(one.count == kOne);
    option->type_name("");
  }
  AddOptions(*app, command.command, options);
  options->command = command.command;
  return app;
}

}  // namespace whyoom
