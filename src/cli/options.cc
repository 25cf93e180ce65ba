#include "cli/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>

#include "cli/embedded.h"
#include "cli/rules_command.h"
#include "input/error.h"
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

using enum Command;

[[noreturn]] void Refuse(const std::string& what) { throw Error(what + "\nRun with --help for more information."); }

// --- Commands.

struct CommandDefinition {
  const char* name;  // the first words: "rules list"; empty for the default command
  Command command;
  const char* argument = "";  // without "--"; goes to Options::paths
  const char* about_argument = "";
  int most = -1;   // arguments; -1: any number
  int needed = 0;  // arguments
};

// In display order; the default command is first.
const std::vector<CommandDefinition> kCommands = {
    {"", kDiagnose, "PATH", "Files, folders, archives; - or a pipe: standard input"},
    {"run", kRun},
    {"explain", kExplain, "TOPIC", "E1000, E1000.3, 0101.fragmentation, bf16, …", 1},
    {"diff", kDiff, "RUN", "BEFORE and AFTER, each a log or an XLA dump", 2, 2},
    {"try", kTry, "DUMP", "The folder of the dump", 1},
    {"merge", kMerge, "FILE", "Reports, folders of them; - or a pipe: standard input"},
    {"rules", kRules},
    {"rules list", kRulesList, "FILE", "Rule files or folders"},
    {"rules check", kRulesCheck, "FILE", "Rule files or folders"},
    {"rules test", kRulesTest, "FILE", "Rule files or folders"},
    {"rules schema", kRulesSchema, "FILE", "Rule files or folders"},
    {"rules trace", kRulesTrace, "LOG", "A log, and a line of it", 1},
    {"skill", kSkill}};

// Returns the command that the arguments begin with, or the default command. A file that has the name of a command
// must be written ./explain.
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

// The first line is only "whyoom X.Y.Z", for scripts.
std::string VersionText() {
  const BuildFacts& build = TheBuild();
  return fmt::format("whyoom {}\ncommit     {}\nbuilt by   {}\nwith       {}\nrules      {}", WHYOOM_VERSION,
                     build.commit, build.compiler, fmt::join(build.libraries, "\n           "),
                     RuleSource().head().fingerprint);
}

// resources/help: what a command does and, after an empty line, what its help says below its options.
std::string HelpOf(const std::string& words) {
  std::string name = (words.empty() ? "diagnose" : words) + ".txt";
  std::replace(name.begin(), name.end(), ' ', '-');
  for (const EmbeddedFile& file : EmbeddedHelp()) {
    if (file.name == name) return std::string(file.text);
  }
  return {};
}

// --- Options.

// Headings in --help.
constexpr const char* kOptions = "Options";
constexpr const char* kInputs = "Inputs";
constexpr const char* kOutput = "Output";
constexpr const char* kBatches = "Batches";
constexpr const char* kTrying = "Compiling remedies";  // these options need --try
constexpr const char* kLimits = "Limits per input";

const std::vector<Choice<Format>> kDiffFormats = {{"text", Format::kText}, {"json", Format::kJson}};
const std::vector<Choice<Format>> kExplainFormats = {{"text", Format::kText}, {"markdown", Format::kMarkdown}};
const std::vector<Choice<When>> kWhen = {{"auto", When::kAuto}, {"always", When::kAlways}, {"never", When::kNever}};

template <typename T>
std::string NamesIn(const std::vector<Choice<T>>& choices) {
  std::vector<std::string> names;
  for (const Choice<T>& choice : choices) names.emplace_back(choice.name);
  return Listing(names);
}

// Throws CLI::ValidationError, which lists the choices, if `given` is none of them.
template <typename T>
T ToChoice(const char* option, const std::vector<Choice<T>>& choices, const std::string& given) {
  for (const Choice<T>& choice : choices) {
    if (given == choice.name) return choice.value;
  }
  throw CLI::ValidationError(fmt::format("{} {}: expected one of {}", option, Printable(given), NamesIn(choices)));
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
  void Flag(const char* name, bool& target, const std::string& about) const {
    app.add_flag(name, target, about)->group(group);
  }
  // Calls `take` with the value.
  CLI::Option* Call(const char* name, const char* type, const std::function<void(const std::string&)>& take,
                    const std::string& about) const {
    return app.add_option_function<std::string>(name, take, about)->type_name(type)->group(group);
  }
  // Sets `target` to `value`.
  template <typename T>
  void Set(const char* name, T& target, T value, const std::string& about) const {
    app.add_flag_callback(
           name, [&target, value] { target = value; }, about)
        ->group(group);
  }
  void Choose(const char* name, When& target) const {
    const auto take = [=, &target](const std::string& given) { target = ToChoice(name, kWhen, given); };
    Call(name, "WHEN", take, NamesIn(kWhen));
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
          throw CLI::ValidationError("--format " + Printable(word) + ": missing file name after '='");
        } else {
          to.extra_outputs.push_back({format, file});
        }
      }
    };
    CLI::Option* option = app.add_option_function<std::vector<std::string>>("--format", take, about);
    option->allow_extra_args(false)->type_name("FORMAT[=FILE]")->group(group);
  }
};

void AddInputs(Adder add) {
  Options& to = add.options;
  add.group = kInputs;
  if (add.Is(kDiagnose)) {
    add.Value("--files-from", "FILE", to.files_from, "Read the inputs listed in FILE (-: standard input)");
    add.Flag("-0,--null", to.nulls, "Names in that list end with NUL bytes: find -print0");
    add.Value("--xla-dump", "DIR", to.xla_dump,
              "XLA dump of the failed compile, with its arrays\n"
              "(XLA_FLAGS=--xla_dump_to=DIR)");
    add.Value("--tried", "FILE", to.tried, "Remedies compiled by whyoom.install in Python");
  }
  if (add.Is(kDiff)) {
    add.Value("--xla-dump-before", "DIR", to.xla_dump_before, "XLA dump of BEFORE, if BEFORE is a log");
    add.Value("--xla-dump-after", "DIR", to.xla_dump_after, "XLA dump of AFTER, if AFTER is a log");
  }
  if (add.Is(kDiagnose, kTry))
    add.Value("--hbm", "SIZE|CHIP", to.hbm, "HBM of a device (15.75G) or its chip (v5e), if\nthe input lacks it");
  if (add.Is(kDiagnose)) add.Flag("--follow", to.follow, "Keep reading, and print each failure when complete");
}

void AddFormats(Adder add) {
  Options& to = add.options;
  add.group = kOutput;
  if (add.Is(kExplain)) {
    add.Value("--framework", "FRAMEWORK|all", to.framework, "Show the steps of this framework, or of all");
    add.Formats(kExplainFormats, NamesIn(kExplainFormats));
  }
  if (add.Is(kDiff)) add.Formats(kDiffFormats, NamesIn(kDiffFormats));
  if (!add.Is(kDiagnose, kRun, kTry, kMerge)) return;
  add.Formats(kReportFormats,
              "text, json, ndjson, markdown, html, github, sarif,\n"
              "junit; FORMAT=FILE writes one more report to FILE");
  add.Set("--brief", to.detail, Detail::kBrief, "Print only the first lines of each failure, or few\nfields of JSON");
  add.Set("--all", to.detail, Detail::kAll,
          "Show every failure, remedy and reason in text\n(each fits three screens of a terminal)");
  if (!add.Is(kMerge))
    add.Value("--framework", "FRAMEWORK", to.framework, "Show the steps of maxtext, keras, PyTorch/XLA, …");
  const auto take_root = [&to](const std::string& folder) {
    if (!folder.empty()) to.source_root = std::filesystem::absolute(folder).lexically_normal().string();
  };
  add.Call("--source-root", "DIR", take_root,
           "Root of your sources, whose lines the report shows\n"
           "(default: this folder)");
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
  const auto take = [&to](const std::string& file) { to.output = file == "-" ? "" : file; };
  add.Call("-o,--output", "FILE", take, "Write the result to FILE");
  if (add.Is(kSkill)) return;
  add.Choose("--color", to.color);
  add.Flag("-q,--quiet", to.quiet, "Print only the result and fatal errors");
  if (add.Is(kDiagnose, kRun, kMerge)) {
    add.Value("--ignore", "CODE", to.ignore, "Hide these failures: E1000, E1000.3, or the id of one")->delimiter(',');
  }
  if (add.Is(kDiagnose, kMerge)) {
    add.Flag("--strict", to.strict, "Count memory errors that match no rule as found");
    add.Flag("--exit-zero", to.exit_zero, "Exit with 0 instead of 1 or 3");
  }
}

void AddReading(Adder add) {
  Options& to = add.options;
  if (add.Is(kDiagnose)) {
    add.group = kBatches;
    add.Value("-j,--jobs", "N", to.jobs, "Read N inputs at once (default: one per processor)")->check(Between(1, 1024));
    add.Value("--resume", "DIR", to.resume, "Keep results in DIR, to continue an interrupted batch")
        ->check(NeedFileName);
    add.Choose("--progress", to.progress);
  }
  if (!add.Is(kDiagnose, kDiff, kRulesTrace)) return;
  Limits& limits = to.limits;
  add.group = kLimits;
  add.Size("--max-bytes", limits.bytes, "Unpack at most SIZE (default: 1 TiB)")->each([&limits](const std::string&) {
    limits.suspicious_ratio = 0;
  });  // the user knows what to expect
  add.Value("--max-time", "SECONDS", limits.seconds, "Stop after this time (default: no limit)")
      ->check(Between(0.0, 1e9));
  add.Set("--no-sandbox", limits.sandbox, false, "Unpack in this process, not in a sandboxed child");
}

void AddTrying(Adder add) {
  Options& to = add.options;
  TryOptions& attempts = to.attempts;
  if (!add.Is(kRun, kTry)) return;
  if (add.Is(kRun)) {
    add.Set("--no-dump", to.dump, false, "Do not change XLA_FLAGS");
    add.Value("--exit-retry", "STATUS", to.exit_retry, "Exit with STATUS if a retry would fail again")
        ->check(Between(1, 255));
  }
  add.group = kTrying;
  if (add.Is(kRun)) add.Flag("--try", attempts.after_failure, "Compile a program that does not fit with each remedy");
  add.Value("--remedy", "ID[=SETTING]", attempts.remedies,
            "Try only these, such as donate_buffers, or one\n"
            "setting, such as shard_tensor=fsdp")
      ->delimiter(',');
  add.Value("--python", "PATH", attempts.python, "The Python with jax and libtpu");
  add.Value("--attempt-time", "SECONDS", attempts.attempt_seconds, "Stop a compile after this time (default: 300)");
  add.Value("--total-time", "SECONDS", attempts.total_seconds, "Stop after this time (default: 180)");
  add.Size("--memory", attempts.memory, "Stop a compile that needs more host memory");
  add.Flag("--whole", attempts.whole, "Compile to the end, not only until the need is known");
  add.Value("--patch", "FILE", attempts.patch, "Write the patch of the first remedy that fits")->check(NeedFileName);
  add.Set("--no-cache", attempts.use_cache, false, "Compile again what was compiled before");
  add.Value("-j,--jobs", "N", to.jobs, "Compiles at once (default: half the processors)")->check(Between(1, 64));
  if (!add.Is(kTry)) return;
  add.Value("--topology", "CHIPS", attempts.topology, "Run CMD without a TPU, for chips such as v5e-8");
  add.Choose("--progress", to.progress);
}

// The parser of the command's arguments; it writes to `options`.
std::unique_ptr<CLI::App> MakeParser(const CommandDefinition& command, Options* options) {
  const std::string words = command.name;
  const std::string help = HelpOf(words);
  const std::size_t about = std::min(help.find("\n\n"), help.size() - 1);
  auto app = std::make_unique<CLI::App>(help.substr(0, about), words.empty() ? "whyoom" : "whyoom " + words);
  app->get_formatter()->column_width(27);
  app->set_help_flag("-h,--help", "Print this");
  if (words.empty()) app->set_version_flag("--version", VersionText, "Print the version");
  app->footer(help.substr(std::min(about + 2, help.size())));
  if (*command.argument != '\0') {
    CLI::Option* option = app->add_option(command.argument, options->paths, command.about_argument);
    option->expected(command.needed, command.most < 0 ? CLI::detail::expected_max_vector_size : command.most);
    option->required(command.needed > 0)->type_name("");
  }
  const Adder add{*app, command.command, *options};
  for (const auto& part : {AddInputs, AddFormats, AddOutput, AddReading, AddTrying}) part(add);
  options->command = command.command;
  return app;
}

// --- Parsing.

// Parses the arguments. Returns the text of --help or --version, if asked for.
std::optional<std::string> Parse(CLI::App& app, std::vector<std::string> arguments) {
  // CLI11 would take the next argument as the value.
  const auto is_empty = [](const std::string& each) {
    return each.starts_with("--") && each.find('=') == each.size() - 1;
  };
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (const auto empty = std::find_if(arguments.begin(), end, is_empty); empty != end)
    Refuse("missing value: " + Printable(*empty));
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the last argument first
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return CLI::detail::find_and_replace(app.help(), "\n\n\n", "\n\n");
  } catch (const CLI::CallForVersion& version) {
    return version.what() + std::string("\n");
  } catch (const CLI::ParseError& error) {
    Refuse(error.what());
  }
  return std::nullopt;
}

// Not done with CLI11's own checks, because they clutter --help.
void CheckCombinations(const CLI::App& app, const Options& options) {
  const TryOptions& attempts = options.attempts;
  if (options.follow && !options.xla_dump.empty())
    Refuse("--follow and --xla-dump cannot be used together: a dump describes a compile that has ended");
  if (options.nulls && options.files_from.empty()) Refuse("--null requires --files-from");
  if (options.command == kRun && options.job.empty()) Refuse("missing command, usage: whyoom run -- CMD ...");
  for (const CLI::Option* option : app.get_options()) {
    if (options.command == kRun && option->get_group() == kTrying && option->count() > 0 && !attempts.after_failure)
      Refuse(option->get_name() + " requires --try");
  }
  if (options.command != kTry) return;
  if (!attempts.topology.empty() && options.job.empty())
    Refuse("--topology requires a command: whyoom try --topology CHIPS -- CMD ...");
  if (options.paths.empty() == options.job.empty())
    Refuse("usage: whyoom try [OPTIONS] DUMPDIR, or whyoom try [OPTIONS] -- CMD ...");
}

// whyoom does not access the network.
void CheckRemote(const Options& options) {
  for (const std::string& path : options.paths) {
    std::error_code error;
    const std::size_t scheme = path.find("://");
    if (scheme == path.npos || scheme == 0 || path.starts_with("file:") || std::filesystem::exists(path, error))
      continue;
    Refuse(path + ": whyoom cannot read remote files; pipe the file in: gcloud storage cat " + path + " | whyoom");
  }
}

// The index at which the command of `run` or `try` begins: after "--", or for `run` at the first word that is neither
// an option nor an option's value.
std::size_t JobBegin(const CLI::App& app, const std::vector<std::string>& words, bool needs_dashes) {
  std::size_t i = 0;
  for (; i < words.size() && words[i] != "--" && (needs_dashes || words[i].starts_with('-')); ++i) {
    const CLI::Option* option = app.get_option_no_throw(words[i]);
    if (option != nullptr && option->get_items_expected_max() > 0) ++i;
  }
  return std::min(i, words.size());
}

// Refuses a first word that is no file but resembles a command's name.
void CheckSpelling(const std::string& word, const std::string& prefix) {
  std::error_code error;
  if (word.starts_with('-') || std::filesystem::exists(word, error)) return;
  std::vector<std::string> known;
  for (const CommandDefinition& command : kCommands) {
    const std::string name = command.name;
    if (name.size() > prefix.size() && name.starts_with(prefix)) known.push_back(name.substr(prefix.size()));
  }
  std::string meant = DidYouMean(word, known, prefix.empty() ? "" : "expected one of ");
  if (word == "help" || word == "version") meant = "did you mean '--" + word + "'?";
  if (!meant.empty()) Refuse(fmt::format("no file or command '{}{}', {}", prefix, Printable(word), meant));
}

}  // namespace

std::optional<std::string> ParseOptions(const std::vector<std::string>& arguments, Options* options) {
  const CommandDefinition& command = FindCommand(arguments);
  const std::unique_ptr<CLI::App> app = MakeParser(command, options);
  const std::string name = command.name;
  const std::ptrdiff_t words = name.empty() ? 0 : 1 + std::count(name.begin(), name.end(), ' ');
  std::vector<std::string> rest(arguments.begin() + words, arguments.end());
  if (name.empty() && !rest.empty() && !rest[0].empty()) CheckSpelling(rest[0], "");
  if (command.command == kRules && rest.empty()) Refuse("rules: missing command (list, check, test, trace or schema)");
  if (command.command == kRules) CheckSpelling(rest[0], "rules ");
  if (command.command == kRun || command.command == kTry) {
    const auto job = rest.begin() + static_cast<std::ptrdiff_t>(JobBegin(*app, rest, command.command == kTry));
    options->job.assign(job != rest.end() && *job == "--" ? job + 1 : job, rest.end());
    rest.erase(job, rest.end());
  }
  if (std::optional<std::string> text = Parse(*app, std::move(rest))) return text;
  CheckRemote(*options);
  CheckCombinations(*app, *options);
  if (command.command == kRulesTrace && !options->paths.empty()) SetTracedPlace(options);
  return std::nullopt;
}

}  // namespace whyoom
