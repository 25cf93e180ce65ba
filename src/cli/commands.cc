#include "cli/commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <type_traits>

#include "cli/embedded.h"
#include "cli/exit_status.h"
#include "report/layout.h"
#include "rules/rule_set.h"
#include "rules/suggest.h"
#include "text/numbers.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {

const std::vector<Choice<Format>> kReportFormats = {
    {"text", Format::kText}, {"json", Format::kJson},     {"ndjson", Format::kNdjson}, {"markdown", Format::kMarkdown},
    {"html", Format::kHtml}, {"github", Format::kGithub}, {"sarif", Format::kSarif},   {"junit", Format::kJunit}};

namespace {

// --- Commands.

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
     {{"TOPIC", "E1000, E1000.3, E1000.3.C, 0101.fragmentation, donate_buffers, …", 1}}},
    {"diff",
     Command::kDiff,
     "Compares two runs of one job: what was changed, what became smaller or larger, and whether it fits now.",
     {{"BEFORE", "Run before the change: a log or an XLA dump", 1, true}, {"AFTER", "Run after the change", 1, true}}},
    {"try",
     Command::kTry,
     "Compiles a program that does not fit again, with one remedy after another, and reports what it then needs. "
     "Needs Python with jax and libtpu, but no TPU: whyoom try [OPTIONS] DUMP, or whyoom try [OPTIONS] -- CMD ...",
     {{"DUMP", "The folder of the dump", 1}}},
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
     {{"FILE", "Rule files or folders"}}},
    {"rules check", Command::kRulesCheck, "Report all errors in rule files", {{"FILE", "Rule files or folders"}}},
    {"rules test", Command::kRulesTest, "Run the examples of failures", {{"FILE", "Rule files or folders"}}},
    {"rules schema",
     Command::kRulesSchema,
     "Print the JSON schema of rule files (for editors)",
     {{"FILE", "Rule files or folders"}}},
    {"rules trace",
     Command::kRulesTrace,
     "Show which rules matched a log and why",
     {{"LOG", "A log, and a line of it", 1}}},
    {"skill",
     Command::kSkill,
     "Prints a SKILL.md for coding agents in the Agent Skills format: when to call whyoom, how to read its JSON, and "
     "what never to do.",
     {}}};

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

// --- Options.

// Headings in --help.
constexpr const char* kOptions = "Options";
constexpr const char* kInputs = "Inputs";
constexpr const char* kOutput = "Output";
constexpr const char* kSelection = "Which failures count";
constexpr const char* kBatches = "Batches";
constexpr const char* kLimits = "Limits per input";

const std::vector<Choice<Format>> kDiffFormats = {{"text", Format::kText}, {"json", Format::kJson}};
const std::vector<Choice<Format>> kExplainFormats = {{"text", Format::kText}, {"markdown", Format::kMarkdown}};
const std::vector<Choice<ColorMode>> kColors = {
    {"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}};
const std::vector<Choice<ProgressMode>> kProgress = {
    {"auto", ProgressMode::kAuto}, {"always", ProgressMode::kAlways}, {"never", ProgressMode::kNever}};

template <typename T>
std::vector<std::string> NamesIn(const std::vector<Choice<T>>& choices) {
  std::vector<std::string> names;
  for (const Choice<T>& choice : choices) names.emplace_back(choice.name);
  return names;
}

// Throws CLI::ValidationError, which lists the choices, if `given` is none of them.
template <typename T>
T ToChoice(const char* option, const std::vector<Choice<T>>& choices, const std::string& given) {
  for (const Choice<T>& choice : choices) {
    if (given == choice.name) return choice.value;
  }
  const std::vector<std::string> names = NamesIn(choices);
  const std::string meant = DidYouMean(given, names);
  throw CLI::ValidationError(fmt::format("{} {}: unknown {}{} (expected {})", option, Printable(given),
                                         std::is_same_v<T, Format> ? "format" : "choice",
                                         meant.empty() ? "" : ", " + meant, Listing(names)));
}

std::string NeedValue(const std::string& text) { return text.empty() ? "missing value" : ""; }
std::string NeedFileName(const std::string& text) { return text == "-" ? "missing file name" : ""; }

// Checks without a description, which --help would show.
CLI::Validator Between(auto least, auto most) { return CLI::Range(least, most).description(""); }

// Adds the options of one command.
struct Adder {
  CLI::App& app;
  const Command command;
  Options& options;
  const char* group = kOptions;  // heading of the next options

  bool Is(auto... commands) const { return ((command == commands) || ...); }

  // The value goes to `target`. The next word is not a second value.
  CLI::Option* Value(const char* name, const char* type, auto& target, const std::string& about) const {
    CLI::Option* option = app.add_option(name, target, about)->allow_extra_args(false)->check(NeedValue);
    return option->type_name(type)->group(group);
  }
  void List(const char* name, const char* type, std::vector<std::string>& target, const std::string& about) const {
    Value(name, type, target, about)->delimiter(',');
  }
  void Flag(const char* name, bool& target, const std::string& about) const {
    app.add_flag(name, target, about)->group(group);
  }
  // Calls `take` with the value.
  CLI::Option* Call(const char* name, const char* type, const std::function<void(const std::string&)>& take,
                    const std::string& about) const {
    return app.add_option_function<std::string>(name, take, about)->type_name(type)->group(group);
  }
  void CallFlag(const char* name, const std::function<void()>& take, const std::string& about) const {
    app.add_flag_callback(name, take, about)->group(group);
  }
  template <typename T>
  void Choose(const char* name, const std::vector<Choice<T>>& choices, T& target) const {
    const auto take = [=, &choices, &target](const std::string& given) { target = ToChoice(name, choices, given); };
    Call(name, "WHEN", take, Listing(NamesIn(choices)));
  }
  CLI::Option* Size(const char* name, auto& target, const std::string& about) const {
    const auto take = [=, &target](const std::string& text) {
      const std::optional<std::int64_t> size = ParseSize(text);
      if (!size || *size <= 0)
        throw CLI::ValidationError(name, "invalid size '" + Printable(text) + "' (expected, for example, 64M or 2G)");
      target = static_cast<std::size_t>(*size);
    };
    return Call(name, "SIZE", take, about);
  }
  void Time(const char* name, std::optional<Timestamp>& target, const std::string& about) const {
    const auto take = [=, &target](const std::string& text) {
      const auto now = std::chrono::system_clock::now().time_since_epoch();
      target = ParseTimeBound(text, {std::chrono::duration_cast<std::chrono::microseconds>(now).count(), true});
      if (!target)
        throw CLI::ValidationError(name, "invalid time '" + Printable(text) +
                                             "' (expected 2026-11-20, \"2026-11-20 12:00\", 2026-11-20T12:00:00Z, or "
                                             "an age such as 30m, 2h or 7d)");
    };
    Call(name, "TIME", take, about);
  }
  // "FORMAT" selects the format of standard output or --output; "FORMAT=FILE" adds another output.
  void Formats(const std::vector<Choice<Format>>& formats, const std::string& about) const {
    const auto take = [&formats, &to = options](const std::vector<std::string>& given) {
      for (const std::string& word : given) {
        const std::string name = word.substr(0, word.find('='));
        const Format format = ToChoice("--format", formats, name);
        const std::string file = word.substr(std::min(name.size() + 1, word.size()));
        if (name == word) {
          to.format = format;
        } else if (file.empty() || file == "-") {
          throw CLI::ValidationError(
              fmt::format("--format {}: missing file name after '=' (for standard output: {})", Printable(word), name));
        } else {
          to.extra_outputs.push_back({format, file});
        }
      }
    };
    const std::string text = Listing(NamesIn(formats)) + about;
    CLI::Option* option = app.add_option_function<std::vector<std::string>>("--format", take, text);
    option->allow_extra_args(false)->type_name("FORMAT[=FILE]")->group(group);
  }
};

using enum Command;

void AddInputs(Adder add) {
  Options& to = add.options;
  add.group = kInputs;
  if (add.Is(kDiagnose)) {
    add.Value("--files-from", "FILE", to.files_from, "Read the inputs listed in FILE, or standard input (-)");
    add.Flag("-0,--null", to.nulls, "Names in that list end with NUL bytes: find -print0");
    add.Value("--xla-dump", "DIR", to.xla_dump,
              "XLA dump of the failed compile, with its allocations (XLA_FLAGS=--xla_dump_to=DIR)");
    add.Value("--tried", "FILE", to.tried, "Remedies compiled by whyoom.install(try_remedies=True)");
  }
  if (add.Is(kDiff)) {
    add.Value("--xla-dump-before", "DIR", to.xla_dump_before, "XLA dump of BEFORE, if BEFORE is a log");
    add.Value("--xla-dump-after", "DIR", to.xla_dump_after, "XLA dump of AFTER, if AFTER is a log");
  }
  if (add.Is(kDiagnose, kTry))
    add.Value("--hbm", "SIZE|CHIP", to.hbm, "HBM of a device (15.75G) or its chip (v5e), if the input does not tell");
  if (add.Is(kDiagnose)) {
    add.Time("--since", to.range.since,
             "Only failures since TIME: 2026-11-20, \"2026-11-20 12:00\" or an age such as 2h");
    add.Time("--until", to.range.until, "Only failures before TIME");
    add.Flag("--follow", to.follow, "Keep reading, and print each failure when complete");
  }
}

void AddFormats(Adder add) {
  Options& to = add.options;
  add.group = kOutput;
  if (add.Is(kExplain)) {
    add.Value("--framework", "FRAMEWORK|all", to.framework, "Show the steps of this framework, or of all");
    add.Formats(kExplainFormats, "");
  }
  if (add.Is(kDiff)) add.Formats(kDiffFormats, "");
  if (!add.Is(kDiagnose, kRun, kTry, kMerge)) return;
  add.Formats(kReportFormats, "; FORMAT=FILE writes one more report to FILE");
  add.CallFlag(
      "--brief", [&to] { to.detail = Detail::kBrief; },
      "Print only the first lines of each failure, or few fields of JSON");
  add.CallFlag(
      "--all", [&to] { to.detail = Detail::kAll; }, "Show every failure, remedy and reason in text");
  if (!add.Is(kMerge))
    add.Value("--framework", "FRAMEWORK", to.framework, "Show the steps of maxtext, keras, PyTorch/XLA, …");
  const auto take_root = [&to](const std::string& folder) {
    if (!folder.empty()) to.source_root = std::filesystem::absolute(folder).lexically_normal().string();
  };
  add.Call("--source-root", "DIR", take_root,
           "Root of your sources, to show the lines that a failure names (default: this folder)");
}

void AddOutput(Adder add) {
  Options& to = add.options;
  if (add.Is(kRules)) return;
  if (!add.Is(kSkill)) {
    // The option's files, or those of the variable, which separates them by colons like PATH.
    add.Value("--rules", "FILE|DIR", to.rules, "Add rules, and replace those of the same id")
        ->delimiter(':')
        ->envname("WHYOOM_RULES");
  }
  add.group = kOutput;
  const char* about = add.Is(kRun) ? "Write the diagnosis to FILE instead of standard error"
                                   : "Write to FILE instead of standard output";
  const auto take = [&to](const std::string& file) { to.output = file == "-" ? "" : file; };
  add.Call("-o,--output", "FILE", take, about);
  if (add.Is(kSkill)) return;
  add.Choose("--color", kColors, to.color);
  add.Flag("-q,--quiet", to.quiet, "Print only the result and fatal errors");
  if (add.Is(kDiagnose, kMerge)) {
    add.Flag("--strict", to.strict, "Count memory errors that match no rule as found");
    add.Flag("--exit-zero", to.exit_zero, "Exit with 0 instead of 1 or 3");
  }
}

void AddJob(Adder add) {
  Options& to = add.options;
  if (!add.Is(kRun)) return;
  add.CallFlag(
      "--no-dump", [&to] { to.dump = false; }, "Do not change XLA_FLAGS");
  add.Value("--exit-retry", "[STATUS]", to.exit_retry, "Exit with STATUS (42) if a retry would fail again")
      ->expected(0, 1)
      ->default_str(std::to_string(kFailsAgain))
      ->check(Between(1, 255));
}

void AddSelection(Adder add) {
  Options& to = add.options;
  add.group = kSelection;
  if (add.Is(kDiagnose, kRun, kMerge)) {
    add.List("--select", "CODE", to.select, "Report only these: E1000, E1000.3, E3*, tpu.*");
    add.List("--ignore", "CODE", to.ignore, "Do not report these, even if selected");
  }
  if (add.Is(kDiagnose, kMerge))
    add.List("--fail-on", "CODE", to.fail_on, "Exit with 1 only for these, as in --select");
  add.group = kBatches;
  if (!add.Is(kDiagnose)) return;
  add.Value("-j,--jobs", "N", to.jobs, "Read N inputs at once (default: one per processor)")->check(Between(1, 1024));
  add.Value("--resume", "JOURNAL", to.resume, "Record results, to continue an interrupted batch")->check(NeedFileName);
  add.Choose("--progress", kProgress, to.progress);
}

void AddTrying(Adder add) {
  Options& to = add.options;
  TryOptions& attempts = to.attempts;
  add.group = kTrying;
  if (!add.Is(kRun, kTry)) return;
  if (add.Is(kRun)) add.Flag("--try", attempts.after_failure, "Compile a program that does not fit with each remedy");
  add.List("--remedy", "ID[=SETTING]", attempts.remedies,
           "Try only these, such as donate_buffers, or one setting, such as shard_tensor=fsdp");
  add.Value("--python", "PATH", attempts.python, "The Python with jax and libtpu");
  add.Value("--attempt-time", "SECONDS", attempts.attempt_seconds, "Stop a compile after this time (default: 300)");
  add.Value("--total-time", "SECONDS", attempts.total_seconds, "Stop after this time (default: 180)");
  add.Size("--memory", attempts.memory, "Stop a compile that needs more host memory");
  add.Flag("--whole", attempts.whole, "Compile to the end, not only until the need is known");
  add.Value("--patch", "FILE", attempts.patch, "Write the patch of the first remedy that fits")->check(NeedFileName);
  add.CallFlag(
      "--no-cache", [&attempts] { attempts.use_cache = false; }, "Compile again what was compiled before");
  add.Value("-j,--jobs", "N", to.jobs, "Compiles at once (default: half the processors)")->check(Between(1, 64));
  if (!add.Is(kTry)) return;
  add.Value("--topology", "CHIPS", attempts.topology, "Run CMD without a TPU, for chips such as v5e-8");
  add.Choose("--progress", kProgress, to.progress);
  add.group = "";                                  // not in --help
  add.Value("--finish", "", attempts.finish, "");  // for the Python part
}

void AddLimits(Adder add) {
  Limits& limits = add.options.limits;
  add.group = kLimits;
  if (!add.Is(kDiagnose, kDiff, kRulesTrace)) return;
  add.Size("--max-bytes", limits.bytes, "Unpack at most SIZE (default: 1 TiB)")->each([&limits](const std::string&) {
    limits.suspicious_ratio = 0;
  });  // the user knows what to expect
  add.Size("--max-memory", limits.memory, "Memory of each decoder (default: 128 MiB)");
  add.Value("--max-depth", "N", limits.depth, "Nested levels to unpack (default: 8)")
      ->check(Between(0, 64));  // each level needs a decoder's memory
  add.Value("--max-members", "N", limits.members, "Archive members to read (default: 1000000)")
      ->check(Between(1, 1000000000));
  add.Value("--max-time", "SECONDS", limits.seconds, "Stop after this time (default: no limit)")
      ->check(Between(0.0, 1e9));
  add.CallFlag(
      "--no-sandbox", [&limits] { limits.sandbox = false; }, "Unpack in this process, not in a sandboxed child");
}

// Returns the microseconds of "45s", "30m", "2h" or "7d".
std::optional<std::int64_t> ParseAgo(std::string_view text) {
  constexpr std::string_view kUnits = "smhd";
  constexpr std::array<std::int64_t, kUnits.size()> kSeconds = {1, 60, 3600, 86400};
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  // Five digits are enough for any log and cannot overflow.
  if (digits == 0 || digits > 5 || digits + 1 != text.size()) return std::nullopt;
  const std::size_t unit = kUnits.find(text.back());
  if (unit == std::string_view::npos) return std::nullopt;
  return static_cast<std::int64_t>(ParseWholeNumber(text.substr(0, digits)).value_or(0)) * kSeconds[unit] * 1000000;
}

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

std::optional<Timestamp> ParseTimeBound(std::string_view text, const Timestamp& now) {
  if (const std::optional<std::int64_t> ago = ParseAgo(text)) return Timestamp{now.microseconds - *ago, now.zone_known};
  for (const char* rest : {"", ":00", " 00:00:00"}) {
    if (const std::optional<Timestamp> time = ParseTimestamp(std::string(text) + rest)) return time;
  }
  return std::nullopt;
}

std::unique_ptr<CLI::App> MakeParser(const CommandDefinition& command, Options* options) {
  const std::string words = command.name;
  auto app = std::make_unique<CLI::App>(command.about, words.empty() ? "whyoom" : "whyoom " + words);
  app->get_formatter()->column_width(27);
  app->set_help_flag("-h,--help", "Print this");
  if (words.empty()) app->set_version_flag("--version", VersionText);
  app->footer(std::string(HelpOf(words)));
  for (const Positional& one : command.positionals) {
    const auto take = [options](const std::vector<std::string>& given) {
      options->paths.insert(options->paths.end(), given.begin(), given.end());
    };
    app->add_option_function<std::vector<std::string>>(one.name, take, one.about)
        ->expected(one.most)
        ->allow_extra_args(one.most < 0)
        ->required(one.required)
        ->type_name("");
  }
  const Adder add{*app, command.command, *options};
  for (const auto& part : {AddInputs, AddFormats, AddOutput, AddJob, AddSelection, AddTrying, AddLimits}) part(add);
  options->command = command.command;
  return app;
}

}  // namespace whyoom
