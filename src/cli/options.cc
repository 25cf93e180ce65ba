#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "input/quota.h"
#include "text/quantity.h"
#include "text/utf8.h"

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
    "  whyoom rules list|check|test|literals|schema   the rule data: see it, check it, run its examples\n"
    "\n"
    "Exit status: 0 nothing found, 1 something found, 2 could not run, 3 some input could not be read whole,\n"
    "130 and 143 interrupted: what is done was printed.\n"
    "\n"
    "Examples:\n"
    "  whyoom train.log\n"
    "  kubectl logs job/train | whyoom\n"
    "  whyoom --format json logs/ | jq '.diagnoses[].code'\n"
    "  find /logs -name '*.log' -print0 | whyoom --files-from - -0 --resume state\n";

template <typename T>
struct Choice {
  const char* name;
  T value;
  const char* about;  // for --help
};

using Formats = std::vector<Choice<Format>>;

const Formats kReportFormats = {{"text", Format::kText, "for people"},
                                {"json", Format::kJson, "one object, schema whyoom.report/1"},
                                {"ndjson", Format::kNdjson, "one object a line, for batches and whyoom merge"},
                                {"markdown", Format::kMarkdown, "to paste into an issue"},
                                {"html", Format::kHtml, "one page with charts"},
                                {"github", Format::kGithub, "annotations of GitHub Actions"},
                                {"sarif", Format::kSarif, "2.1.0, for code scanning"},
                                {"junit", Format::kJunit, "XML, for CI servers"}};
const Formats kDiffFormats = {{"text", Format::kText, "for people"},
                              {"json", Format::kJson, "one object, schema whyoom.diff/1"}};
const std::vector<Choice<ColorMode>> kColors = {{"auto", ColorMode::kAuto, "on a terminal, unless NO_COLOR is set"},
                                                {"always", ColorMode::kAlways, ""},
                                                {"never", ColorMode::kNever, ""}};

const std::vector<Choice<ProgressMode>> kProgress = {
    {"auto", ProgressMode::kAuto, "a bar where standard error is a terminal and it takes a while"},
    {"always", ProgressMode::kAlways, ""},
    {"never", ProgressMode::kNever, ""},
    {"json", ProgressMode::kJson, "one object a line each second"}};
const std::vector<Choice<PathListForm>> kListForms = {{"lines", PathListForm::kLines, "one path or file: URI a line"},
                                                      {"null", PathListForm::kNull, "as find -print0"},
                                                      {"jsonl", PathListForm::kJsonl, "one JSON string a line"}};

// What groups of options --help shows.
constexpr const char* kInputs = "Inputs";
constexpr const char* kOutput = "Output";
constexpr const char* kBatches = "Batches";

// "text, json or ndjson"; with what each is where `about`.
template <typename T>
std::string Listing(const std::vector<Choice<T>>& choices, bool about) {
  std::string list;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    list += i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
    list += choices[i].name;
    if (about && *choices[i].about != '\0') list += std::string(" (") + choices[i].about + ")";
  }
  return list;
}

template <typename T>
T ToChoice(const char* option, const char* kind, const std::vector<Choice<T>>& choices, const std::string& given) {
  for (const Choice<T>& choice : choices) {
    if (given == choice.name) return choice.value;
  }
  throw CLI::ValidationError(
      fmt::format("{} {}: no such {}; {}", option, Printable(given), kind, Listing(choices, false)));
}

// An option with one of a few words as its value; `kind` is what an error calls them.
template <typename T>
CLI::Option* AddChoice(CLI::App& app, const char* option, const char* kind, const char* type_name,
                       const std::vector<Choice<T>>& choices, T* value) {
  const auto take = [=](const std::string& given) { *value = ToChoice(option, kind, choices, given); };
  return app.add_option_function<std::string>(option, take, Listing(choices, true))->type_name(type_name);
}

// "FORMAT" is the one of standard output or --output, "FORMAT=FILE" one more, in a file.
void AddFormat(CLI::App& app, const Formats& formats, Options* options) {
  const auto take = [=, seen = std::make_shared<bool>(false)](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      const std::size_t equals = word.find('=');
      const Format format = ToChoice("--format", "format", formats, word.substr(0, equals));
      if (equals != std::string::npos) {
        if (equals + 1 == word.size())
          throw CLI::ValidationError(fmt::format("--format {}: name a file after the =", Printable(word)));
        options->extra_outputs.push_back({format, word.substr(equals + 1)});
      } else if (std::exchange(*seen, true)) {
        throw CLI::ValidationError("--format is given twice: all but one need a file, --format FORMAT=FILE");
      } else {
        options->format = format;
      }
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--format", take, Listing(formats, true) + "; with =FILE that format goes to FILE as well, may be repeated")
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false)
      ->group(kOutput);
}

Timestamp Now() {
  using std::chrono::microseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<microseconds>(now).count(), true};
}

void AddCommon(CLI::App& app, Options* options) {
  app.add_option("--rules", options->rules,
                 "Add rule data: a file, or a folder's *.json; an id that exists is replaced (may be repeated)")
      ->type_name("FILE|DIR")
      ->allow_extra_args(false);  // the next word is a path to read, not a second rule file
  app.add_option("--output", options->output, "Write to FILE instead of standard output")
      ->type_name("FILE")
      ->group(kOutput);
  AddChoice(app, "--color", "choice", "WHEN", kColors, &options->color)->group(kOutput);
}

std::uint64_t ToSize(const std::string& text) {
  const std::optional<std::int64_t> size = ParseSize(text);
  if (!size || *size <= 0) throw CLI::ValidationError("'" + text + "' is no size, such as 64M or 2G");
  return static_cast<std::uint64_t>(*size);
}

// Of each path, with all that is packed in it.
void AddLimits(CLI::App& app, Limits* limits) {
  const std::string group = "Limits of each input (one that is met is reported, exit status 3)";
  const Limits usual;
  const auto add_size = [&](const char* name, const std::string& about, auto set) {
    app.add_option_function<std::string>(
           name, [set](const std::string& text) { set(ToSize(text)); }, about)
        ->type_name("SIZE")
        ->group(group);
  };
  add_size("--max-bytes",
           "Unpack no more than SIZE (" + WholeSize(usual.bytes) + ", or " + WholeSize(usual.suspicious_bytes) +
               " where that is over " + std::to_string(usual.suspicious_ratio) + " times what is packed)",
           [limits](std::uint64_t size) {
             limits->bytes = size;
             limits->suspicious_ratio = 0;  // who names a size has thought of it
           });
  add_size("--max-memory", "Let no decoder take more than SIZE (" + WholeSize(usual.memory) + ")",
           [limits](std::uint64_t size) { limits->memory = static_cast<std::size_t>(size); });
  constexpr int kDeepest = 64;  // each depth takes a decoder's memory
  app.add_option("--max-depth", limits->depth, "Unpack no more than N packings in each other (8)")
      ->check(CLI::Range(0, kDeepest).description(""))
      ->type_name("N")
      ->group(group);
  app.add_option("--max-members", limits->members, "Read no more than N members of archives (1000000)")
      ->type_name("N")
      ->group(group);
  app.add_option("--max-time", limits->seconds, "Stop after SECONDS (no limit)")
      ->check(CLI::NonNegativeNumber.description(""))
      ->type_name("SECONDS")
      ->group(group);
}

void AddTimeRange(CLI::App& app, Options* options) {
  const auto bound = [&app](const std::string& name, std::optional<Timestamp>* to, const std::string& what) {
    app.add_option_function<std::string>(
           name,
           [to, name](const std::string& text) {
             *to = ParseTimeBound(text, Now());
             if (!*to)
               throw CLI::ValidationError(name, "'" + Printable(text) +
                                                    "' is no time; write 2026-11-20, \"2026-11-20 12:00\", "
                                                    "2026-11-20T12:00:00Z, or 30m, 2h, 7d before now");
           },
           what)
        ->type_name("TIME")
        ->group(kInputs);
  };
  bound("--since", &options->range.since,
        "Only failures from TIME on, where the prefix or record of their line says when: a date, a date and time, or "
        "how long ago (30m, 2h, 7d, counted from the start of this command). A TIME without a zone is compared with "
        "each stamp as it stands, in UTC where the stamp has a zone; one with a zone only with stamps that have one. "
        "What cannot be compared is kept, and a note says how much that is");
  bound("--until", &options->range.until, "Only failures before TIME, likewise");
}

// Runs CLI11 over the arguments; its own words for help and errors come back as text.
std::optional<EarlyExit> Parse(CLI::App& app, std::vector<std::string> arguments) {
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them last first
  try {
    app.parse(arguments);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int status = app.exit(error, out, err);
    return EarlyExit{status == 0 ? 0 : 2, status == 0 ? out.str() : "whyoom: " + err.str()};
  }
}

void AddForCi(CLI::App& app, Options* options) {
  app.add_option("--source-root", options->source_root,
                 "Where your sources lie: in the formats github and sarif, files below DIR are named relative to it")
      ->type_name("DIR")
      ->group(kOutput);
  app.add_flag("--step-summary", options->step_summary,
               "Append the report in Markdown to the file that GITHUB_STEP_SUMMARY names")
      ->group(kOutput);
}

void AddExitZero(CLI::App& app, Options* options) {
  app.add_flag("--exit-zero", options->exit_zero, "End with 0 also where something was found or not all could be read")
      ->group(kOutput);
}

void AddFilesFrom(CLI::App& app, Options* options) {
  app.add_option("--files-from", options->files_from,
                 "Read also the files and folders that this list names; - for a list on standard input")
      ->type_name("FILE")
      ->group(kInputs);
  AddChoice(app, "--files-format", "form of a list", "FORM", kListForms, &options->files_form)->group(kInputs);
  app.add_flag_callback(
         "-0,--null", [options] { options->files_form = PathListForm::kNull; }, "Short for --files-format null")
      ->group(kInputs);
}

// CLI11 could check this itself, but says so in --help in a way that hides what the options do.
std::optional<EarlyExit> CheckTogether(const CLI::App& app, const Options& options) {
  for (const auto& [option, value] :
       {std::pair("--files-from", &options.files_from), std::pair("--resume", &options.resume)}) {
    if (app.count(option) > 0 && value->empty())
      return EarlyExit{2, fmt::format("whyoom: {}: no name is given\n", option)};
  }
  if (options.range.since && options.range.until &&
      options.range.until->zone_known == options.range.since->zone_known &&
      *options.range.until <= *options.range.since)
    return EarlyExit{2, "whyoom: --until is not after --since: nothing lies between them\n"};
  const std::size_t forms = app.count("--files-format") + app.count("--null");
  if (forms > 1) return EarlyExit{2, "whyoom: --null is a --files-format: give one of them\n"};
  if (forms == 1 && options.files_from.empty())
    return EarlyExit{2, "whyoom: --files-format and --null are of a list: name it with --files-from\n"};
  return std::nullopt;
}

void AddBatches(CLI::App& app, Options* options) {
  app.add_option("-j,--jobs", options->jobs,
                 "Read this many inputs, or parts of a large one, at once (default: one for each processor)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->group(kBatches);
  app.add_option_function<std::string>(
         "--shard", [options](const std::string& text) { options->shard = ParseShard(text); },
         "Of all inputs read only every Nth, by a digest of the path: shard I, counted from 0 "
         "(Slurm: $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT of --array=0-...)")
      ->type_name("I/N")
      ->group(kBatches);
  app.add_option("--resume", options->resume,
                 "Keep in this file what is done; a batch that was interrupted goes on from there, and files that "
                 "have not changed are not read again")
      ->type_name("STATE")
      ->group(kBatches);
  AddChoice(app, "--progress", "choice", "WHEN", kProgress, &options->progress)->group(kBatches);
}

std::optional<EarlyExit> ParseDiagnose(const std::vector<std::string>& arguments, Options* options) {
  CLI::App app(kAbout, "whyoom");
  app.footer(kFooter);
  app.set_version_flag("--version", "whyoom " WHYOOM_VERSION);
  app.add_option("path", options->paths, "Files and folders to read; - or none on a pipe: standard input")
      ->type_name("PATH");
  AddFilesFrom(app, options);
  app.add_option("--xla-dump", options->xla_dump,
                 "The XLA dump of the failed compile (XLA_FLAGS=--xla_dump_to=DIR): gives the allocations that new "
                 "compilers do not print")
      ->type_name("DIR")
      ->group(kInputs);
  AddTimeRange(app, options);
  app.add_flag("--follow", options->follow,
               "Wait for what is still written to the files or the pipe, also where a file is replaced, and print each "
               "diagnosis as soon as its report is complete; ends with the pipe, or when interrupted")
      ->group(kInputs);
  AddFormat(app, kReportFormats, options);
  AddForCi(app, options);
  AddCommon(app, options);
  AddExitZero(app, options);
  AddBatches(app, options);
  AddLimits(app, &options->limits);
  std::optional<EarlyExit> early = Parse(app, arguments);
  return early ? early : CheckTogether(app, *options);
}

std::optional<EarlyExit> ParseMerge(const std::vector<std::string>& arguments, Options* options) {
  CLI::App app(
      "One report from many: puts together what --format ndjson printed, to what one whyoom reading all of the logs "
      "would have said.",
      "whyoom merge");
  app.footer(
      "The order of files and lines does not matter, reports may stand one behind the other, and what merge prints\n"
      "with --format ndjson can be merged again. A folder's files are read, but for those named _* and .*.\n"
      "\n"
      "Examples:\n"
      "  whyoom merge --format ndjson part-*.ndjson > all.ndjson\n"
      "  cat part-* | whyoom merge\n");
  app.add_option("file", options->paths, "Reports and folders of them; - or none on a pipe: standard input")
      ->type_name("FILE");
  AddFormat(app, kReportFormats, options);
  AddForCi(app, options);
  AddCommon(app, options);
  AddExitZero(app, options);
  options->command = Command::kMerge;
  return Parse(app, arguments);
}

std::optional<EarlyExit> ParseExplain(const std::vector<std::string>& arguments, Options* options) {
  CLI::App app("What a code, scenario or remedy means and what to do. Without a topic: a list of them.",
               "whyoom explain");
  app.add_option("topic", options->topic, "E1000, E1000.3, E1000.3.C, 0101.fragmentation, donate_buffers, …")
      ->type_name("TOPIC");
  AddCommon(app, options);
  options->command = Command::kExplain;
  return Parse(app, arguments);
}

std::optional<EarlyExit> ParseDiff(const std::vector<std::string>& arguments, Options* options) {
  CLI::App app(
      "Compares two runs of one job: what became smaller and larger, what is still over, and which remedy seems to "
      "have "
      "been applied.",
      "whyoom diff");
  app.footer(
      "A run is a log, or the folder of an XLA dump (XLA_FLAGS=--xla_dump_to=DIR), of a compile that fitted or not.\n"
      "\n"
      "Exit status: 0 AFTER does not fail, 1 it still fails, 2 could not run, 3 some input could not be read whole.\n");
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
  AddFormat(app, kDiffFormats, options);
  AddCommon(app, options);
  AddLimits(app, &options->limits);
  options->command = Command::kDiff;
  return Parse(app, arguments);
}

// The command begins after "--", or with the first word that is no option of ours; its own options are left to it.
std::size_t CommandBegin(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--") return i;
    if (arguments[i].rfind("-", 0) != 0) return i;
    const CLI::Option* option = app.get_option_no_throw(arguments[i]);
    if (option != nullptr && option->get_items_expected_min() > 0) ++i;  // the next word is its value
  }
  return arguments.size();
}

std::optional<EarlyExit> ParseRun(const std::vector<std::string>& arguments, Options* options) {
  CLI::App app(
      "Runs a job with its output passed through, and where it fails, says on standard error why it ran out of memory: "
      "whyoom run [OPTIONS] -- CMD ...",
      "whyoom run");
  app.footer(
      "The exit status is the job's (128 + N where signal N ended it, 127 not found, 126 cannot be run).\n"
      "After a success nothing is printed, nor where nothing is found. --xla_dump_to is added to the job's\n"
      "XLA_FLAGS, where new compilers leave what the diagnosis needs; a dump folder set there already is used\n"
      "and left alone.\n"
      "\n"
      "Examples:\n"
      "  whyoom run -- python train.py --steps 10\n"
      "  whyoom run --format json --output report.json -- python train.py\n");
  AddFormat(app, kReportFormats, options);
  AddForCi(app, options);
  AddCommon(app, options);
  app.get_option("--output")->description("Write the diagnosis to FILE instead of standard error");
  app.add_flag_callback(
      "--no-dump", [options] { options->dump = false; }, "Leave XLA_FLAGS alone");
  app.add_flag("--keep-dump", options->keep_dump, "Do not remove the XLA dump, and say where it is");
  options->command = Command::kRun;
  const std::size_t begin = CommandBegin(app, arguments);
  const auto command = arguments.begin() + static_cast<std::ptrdiff_t>(begin);
  options->job.assign(command, arguments.end());
  if (!options->job.empty() && options->job[0] == "--") options->job.erase(options->job.begin());
  std::optional<EarlyExit> early = Parse(app, {arguments.begin(), command});
  if (!early && options->job.empty()) return EarlyExit{2, "whyoom: no command to run: whyoom run -- CMD ...\n"};
  return early;
}

std::optional<EarlyExit> ParseRules(const std::vector<std::string>& arguments, Options* options) {
  CLI::App app("The rule data as a product. Files given after the command are added to what is built in.",
               "whyoom rules");
  const std::map<std::string, std::pair<Command, std::string>> commands = {
      {"list", {Command::kRulesList, "Name all failures, remedies and other entries"}},
      {"check", {Command::kRulesCheck, "Find everything wrong in rule files"}},
      {"test", {Command::kRulesTest, "Check, then run each rule's own examples (exit status 1: some failed)"}},
      {"literals",
       {Command::kRulesLiterals,
        "Print what a log must hold one of to be looked at, one a line: zgrep -ilF -f <(whyoom rules literals)"}},
      {"schema", {Command::kRulesSchema, "Print the JSON schema of rule files, for editors"}},
  };
  app.require_subcommand(1);
  for (const auto& [name, command] : commands) {
    CLI::App* sub = app.add_subcommand(name, command.second);
    sub->add_option("file", options->rules, "Rule files or folders")->type_name("FILE|DIR");
    AddCommon(*sub, options);
    sub->callback([options, code = command.first] { options->command = code; });
  }
  return Parse(app, arguments);
}

}  // namespace

std::optional<EarlyExit> ParseOptions(const std::vector<std::string>& arguments, Options* options) {
  // A file of the name of a command is given as ./explain; so a path can never hide a command, nor the other way round.
  const std::string first = arguments.empty() ? "" : arguments[0];
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (first == "explain") return ParseExplain(rest, options);
  if (first == "diff") return ParseDiff(rest, options);
  if (first == "merge") return ParseMerge(rest, options);
  if (first == "run") return ParseRun(rest, options);
  if (first == "rules") return ParseRules(rest, options);
  return ParseDiagnose(arguments, options);
}

}  // namespace whyoom
