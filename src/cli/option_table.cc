#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <type_traits>
#include <utility>

#include "cli/commands.h"
#include "cli/exit_status.h"
#include "rules/suggest.h"
#include "text/numbers.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

struct OptionRow {
  const char* name;
  const char* type;  // of its value; empty for a flag
  const char* group;
  unsigned commands;  // that have it
  const char* about;
  CLI::Option* (*add)(CLI::App& app, const OptionRow& row, Options* options);
};

constexpr unsigned Bits(auto... commands) { return ((1U << static_cast<unsigned>(commands)) | ...); }

// The member of a member of the options.
template <auto... kMembers>
auto& Member(Options& options) {
  return (options.*....*kMembers);
}

// How an option is added. Set: its value goes to a member. The next word is not a second value.
template <auto... kMembers>
CLI::Option* Set(CLI::App& app, const OptionRow& row, Options* options) {
  auto& value = Member<kMembers...>(*options);
  if constexpr (std::is_same_v<decltype(value), bool&>) {
    return app.add_flag(row.name, value, row.about);
  } else {
    const auto complaint = [](const std::string& text) { return std::string(text.empty() ? "missing value" : ""); };
    return app.add_option(row.name, value, row.about)->allow_extra_args(false)->check(complaint);
  }
}

// Several values separated by commas.
template <auto... kMembers>
CLI::Option* List(CLI::App& app, const OptionRow& row, Options* options) {
  return Set<kMembers...>(app, row, options)->delimiter(',');
}

template <auto... kMembers>
CLI::Option* Named(CLI::App& app, const OptionRow& row, Options* options) {
  return Set<kMembers...>(app, row, options)->check([](const std::string& text) {
    return std::string(text == "-" ? "missing file name" : "");
  });
}

template <int kLeast, int kMost, auto... kMembers>
CLI::Option* Between(CLI::App& app, const OptionRow& row, Options* options) {
  return Set<kMembers...>(app, row, options)->check(CLI::Range(kLeast, kMost).description(""));
}

template <auto... kMembers>
CLI::Option* Seconds(CLI::App& app, const OptionRow& row, Options* options) {
  return Set<kMembers...>(app, row, options)->check(CLI::Range(0.0, 1e9).description(""));
}

// A function takes its value, or is called for the flag.
template <auto kTake>
CLI::Option* Call(CLI::App& app, const OptionRow& row, Options* options) {
  if constexpr (std::is_invocable_v<decltype(kTake), Options*>) {
    return app.add_flag_callback(
        row.name, [options] { kTake(options); }, row.about);
  } else {
    const auto take = [options, name = row.name](const std::string& text) { kTake(name, text, options); };
    return app.add_option_function<std::string>(row.name, take, row.about);
  }
}

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

template <const auto& kChoices, auto... kMembers>
CLI::Option* Choose(CLI::App& app, const OptionRow& row, Options* options) {
  auto& value = Member<kMembers...>(*options);
  const auto take = [&value, name = row.name](const std::string& given) { value = ToChoice(name, kChoices, given); };
  return app.add_option_function<std::string>(row.name, take, Listing(NamesIn(kChoices)));
}

const std::vector<Choice<Format>> kTextOrJson = {{"text", Format::kText}, {"json", Format::kJson}};
const std::vector<Choice<Format>> kExplainFormats = {{"text", Format::kText}, {"markdown", Format::kMarkdown}};
const std::vector<Choice<ColorMode>> kColors = {
    {"auto", ColorMode::kAuto}, {"always", ColorMode::kAlways}, {"never", ColorMode::kNever}};
const std::vector<Choice<ProgressMode>> kProgress = {
    {"auto", ProgressMode::kAuto}, {"always", ProgressMode::kAlways}, {"never", ProgressMode::kNever}};

// "FORMAT" selects the format of standard output or --output; "FORMAT=FILE" adds another output.
template <const auto& kFormats>
CLI::Option* Formats(CLI::App& app, const OptionRow& row, Options* options) {
  const auto take = [options](const std::vector<std::string>& given) {
    bool is_set = false;
    for (const std::string& word : given) {
      const std::string name = word.substr(0, word.find('='));
      const Format format = ToChoice("--format", kFormats, name);
      const std::string file = word.substr(std::min(name.size() + 1, word.size()));
      if (name == word) {
        if (std::exchange(is_set, true))
          throw CLI::ValidationError(
              "only one --format may write to standard output; give the others a file: --format FORMAT=FILE");
        options->format = format;
      } else if (file.empty() || file == "-") {
        throw CLI::ValidationError(
            fmt::format("--format {}: missing file name after '=' (for standard output: {})", Printable(word), name));
      } else {
        options->extra_outputs.push_back({format, file});
      }
    }
  };
  return app.add_option_function<std::vector<std::string>>(row.name, take, Listing(NamesIn(kFormats)) + row.about)
      ->allow_extra_args(false);
}

void TakeOutput(const char* /*name*/, const std::string& file, Options* options) {
  options->output = file == "-" ? "" : file;
}

void TakeSourceRoot(const char* /*name*/, const std::string& folder, Options* options) {
  if (!folder.empty()) options->source_root = std::filesystem::absolute(folder).lexically_normal().string();
}

void TakeDetail(Options* options, Detail detail, const char* name, const char* other) {
  const Detail before = std::exchange(options->detail, detail);
  if (before != Detail::kUsual && before != detail) throw CLI::ExcludesError(name, other);
}
void TakeBrief(Options* options) { TakeDetail(options, Detail::kBrief, "--brief", "--all"); }
void TakeAll(Options* options) { TakeDetail(options, Detail::kAll, "--all", "--brief"); }
void TakeNoDump(Options* options) { options->dump = false; }
void TakeNoCache(Options* options) { options->attempts.use_cache = false; }
void TakeNoSandbox(Options* options) { options->limits.sandbox = false; }

std::uint64_t ToSize(const char* option, const std::string& text) {
  const std::optional<std::int64_t> size = ParseSize(text);
  if (!size || *size <= 0)
    throw CLI::ValidationError(option, "invalid size '" + Printable(text) + "' (expected, for example, 64M or 2G)");
  return static_cast<std::uint64_t>(*size);
}

void TakeMaxBytes(const char* name, const std::string& text, Options* options) {
  options->limits.bytes = ToSize(name, text);
  options->limits.suspicious_ratio = 0;  // an explicit --max-bytes turns the ratio check off
}

template <auto... kMembers>
void TakeSize(const char* name, const std::string& text, Options* options) {
  Member<kMembers...>(*options) = ToSize(name, text);
}

template <auto... kMembers>
void TakeTime(const char* name, const std::string& text, Options* options) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  auto& bound = Member<kMembers...>(*options);
  bound = ParseTimeBound(text, {std::chrono::duration_cast<std::chrono::microseconds>(now).count(), true});
  if (!bound)
    throw CLI::ValidationError(name, "invalid time '" + Printable(text) +
                                         "' (expected 2026-11-20, \"2026-11-20 12:00\", 2026-11-20T12:00:00Z, or an "
                                         "age such as 30m, 2h or 7d)");
}

void TakeExitRetry(const char* name, const std::string& text, Options* options) {
  const std::optional<std::uint64_t> status = ParseWholeNumber(text);
  if (!status || *status < 1 || *status > 255)
    throw CLI::ValidationError(name, "invalid exit status '" + Printable(text) + "' (expected 1 to 255)");
  options->exit_retry = static_cast<int>(*status);
}

// Of the option, or of the variable, which separates several by colons like PATH.
CLI::Option* Rules(CLI::App& app, const OptionRow& row, Options* options) {
  return Set<&Options::rules>(app, row, options)->delimiter(':')->envname("WHYOOM_RULES");
}
CLI::Option* ExitRetry(CLI::App& app, const OptionRow& row, Options* options) {
  return Call<TakeExitRetry>(app, row, options)->expected(0, 1)->default_str(std::to_string(kFailsAgain));
}

using enum Command;
constexpr unsigned kReports = Bits(kDiagnose, kRun, kTry, kMerge);
constexpr unsigned kOfRules = Bits(kRulesList, kRulesCheck, kRulesTest, kRulesSchema, kRulesTrace);
constexpr unsigned kPrinting = kReports | kOfRules | Bits(kExplain, kDiff);
constexpr unsigned kTries = Bits(kRun, kTry);
constexpr unsigned kReading = Bits(kDiagnose, kDiff, kRulesTrace);

const OptionRow kTable[] = {
    {"--files-from", "FILE", kInputs, Bits(kDiagnose), "Read the inputs listed in FILE, or standard input (-)",
     Set<&Options::files_from>},
    {"-0,--null", "", kInputs, Bits(kDiagnose), "Names in that list end with NUL bytes: find -print0",
     Set<&Options::nulls>},
    {"--xla-dump", "DIR", kInputs, Bits(kDiagnose),
     "XLA dump of the failed compile, with its allocations (XLA_FLAGS=--xla_dump_to=DIR)", Set<&Options::xla_dump>},
    {"--xla-dump-before", "DIR", kInputs, Bits(kDiff), "XLA dump of BEFORE, if BEFORE is a log",
     Set<&Options::xla_dump_before>},
    {"--xla-dump-after", "DIR", kInputs, Bits(kDiff), "XLA dump of AFTER, if AFTER is a log",
     Set<&Options::xla_dump_after>},
    {"--tried", "FILE", kInputs, Bits(kDiagnose), "Remedies compiled by whyoom.install(try_remedies=True)",
     Set<&Options::tried>},
    {"--hbm", "SIZE|CHIP", kInputs, Bits(kDiagnose, kTry),
     "HBM of a device (15.75G) or its chip (v5e), if the input does not tell", Set<&Options::hbm>},
    {"--since", "TIME", kInputs, Bits(kDiagnose),
     "Only failures since TIME: 2026-11-20, \"2026-11-20 12:00\" or an age such as 2h",
     Call<TakeTime<&Options::range, &TimeRange::since>>},
    {"--until", "TIME", kInputs, Bits(kDiagnose), "Only failures before TIME",
     Call<TakeTime<&Options::range, &TimeRange::until>>},
    {"--follow", "", kInputs, Bits(kDiagnose), "Keep reading, and print each failure when complete",
     Set<&Options::follow>},
    {"--framework", "FRAMEWORK|all", kOutput, Bits(kExplain), "Show the steps of this framework, or of all",
     Set<&Options::framework>},
    {"--format", "FORMAT[=FILE]", kOutput, kReports, "; FORMAT=FILE writes one more report to FILE",
     Formats<kReportFormats>},
    {"--format", "FORMAT[=FILE]", kOutput, Bits(kExplain), "", Formats<kExplainFormats>},
    {"--format", "FORMAT[=FILE]", kOutput, Bits(kDiff), "", Formats<kTextOrJson>},
    {"--format", "FORMAT", kOutput, Bits(kRulesList), "", Choose<kTextOrJson, &Options::format>},
    {"--brief", "", kOutput, kReports, "Print only the first lines of each failure, or few fields of JSON",
     Call<TakeBrief>},
    {"--all", "", kOutput, kReports, "Show every failure, remedy and reason in text", Call<TakeAll>},
    {"--framework", "FRAMEWORK", kOutput, kReports & ~Bits(kMerge), "Show the steps of maxtext, keras, PyTorch/XLA, …",
     Set<&Options::framework>},
    {"--source-root", "DIR", kOutput, kReports,
     "Root of your sources, to show the lines that a failure names (default: this folder)", Call<TakeSourceRoot>},
    {"--rules", "FILE|DIR", kOptions, kPrinting, "Add rules, and replace those of the same id", Rules},
    {"-o,--output", "FILE", kOutput, (kPrinting | Bits(kSkill)) & ~Bits(kRun),
     "Write to FILE instead of standard output", Call<TakeOutput>},
    {"-o,--output", "FILE", kOutput, Bits(kRun), "Write the diagnosis to FILE instead of standard error",
     Call<TakeOutput>},
    {"--color", "WHEN", kOutput, kPrinting, "", Choose<kColors, &Options::color>},
    {"-q,--quiet", "", kOutput, kPrinting, "Print only the result and fatal errors", Set<&Options::quiet>},
    {"--no-dump", "", kOptions, Bits(kRun), "Do not change XLA_FLAGS", Call<TakeNoDump>},
    {"--exit-retry", "[STATUS]", kOptions, Bits(kRun), "Exit with STATUS (42) if a retry would fail again", ExitRetry},
    {"--select", "CODE", kSelection, kReports & ~Bits(kTry), "Report only these: E1000, E1000.3, E3, tpu.*",
     List<&Options::select>},
    {"--ignore", "CODE", kSelection, kReports & ~Bits(kTry), "Do not report these, even if selected",
     List<&Options::ignore>},
    {"--fail-on", "CODE", kSelection, Bits(kDiagnose, kMerge), "Exit with 1 only for these, as in --select",
     List<&Options::fail_on>},
    {"--strict", "", kOutput, Bits(kDiagnose, kMerge), "Count memory errors that match no rule as found",
     Set<&Options::strict>},
    {"--exit-zero", "", kOutput, Bits(kDiagnose, kMerge), "Exit with 0 instead of 1 or 3", Set<&Options::exit_zero>},
    {"-j,--jobs", "N", kBatches, Bits(kDiagnose), "Read N inputs at once (default: one per processor)",
     Between<1, 1024, &Options::jobs>},
    {"--resume", "JOURNAL", kBatches, Bits(kDiagnose), "Record results, to continue an interrupted batch",
     Named<&Options::resume>},
    {"--progress", "WHEN", kBatches, Bits(kDiagnose), "", Choose<kProgress, &Options::progress>},
    {"--try", "", kTrying, Bits(kRun), "Compile a program that does not fit with each remedy",
     Set<&Options::attempts, &TryOptions::after_failure>},
    {"--remedy", "ID[=SETTING]", kTrying, kTries,
     "Try only these, such as donate_buffers, or one setting, such as shard_tensor=fsdp",
     List<&Options::attempts, &TryOptions::remedies>},
    {"--python", "PATH", kTrying, kTries, "The Python with jax and libtpu",
     Set<&Options::attempts, &TryOptions::python>},
    {"--attempt-time", "SECONDS", kTrying, kTries, "Stop a compile after this time (default: 300)",
     Set<&Options::attempts, &TryOptions::attempt_seconds>},
    {"--total-time", "SECONDS", kTrying, kTries, "Stop after this time (default: 180)",
     Set<&Options::attempts, &TryOptions::total_seconds>},
    {"--memory", "SIZE", kTrying, kTries, "Stop a compile that needs more host memory",
     Call<TakeSize<&Options::attempts, &TryOptions::memory>>},
    {"--whole", "", kTrying, kTries, "Compile to the end, not only until the need is known",
     Set<&Options::attempts, &TryOptions::whole>},
    {"--patch", "FILE", kTrying, kTries, "Write the patch of the first remedy that fits",
     Named<&Options::attempts, &TryOptions::patch>},
    {"--no-cache", "", kTrying, kTries, "Compile again what was compiled before", Call<TakeNoCache>},
    {"-j,--jobs", "N", kTrying, kTries, "Compiles at once (default: half the processors)",
     Between<1, 64, &Options::jobs>},
    {"--finish", "", "", Bits(kTry), "", Set<&Options::attempts, &TryOptions::finish>},  // for the Python part
    {"--topology", "CHIPS", kTrying, Bits(kTry), "Run CMD without a TPU, for chips such as v5e-8",
     Set<&Options::attempts, &TryOptions::topology>},
    {"--progress", "WHEN", kTrying, Bits(kTry), "", Choose<kProgress, &Options::progress>},
    {"--max-bytes", "SIZE", kLimits, kReading, "Unpack at most SIZE (default: 1 TiB)", Call<TakeMaxBytes>},
    {"--max-memory", "SIZE", kLimits, kReading, "Memory of each decoder (default: 128 MiB)",
     Call<TakeSize<&Options::limits, &Limits::memory>>},
    {"--max-depth", "N", kLimits, kReading, "Nested levels to unpack (default: 8)",
     Between<0, 64, &Options::limits, &Limits::depth>},  // each level needs a decoder's memory
    {"--max-members", "N", kLimits, kReading, "Archive members to read (default: 1000000)",
     Between<1, 1000000000, &Options::limits, &Limits::members>},
    {"--max-time", "SECONDS", kLimits, kReading, "Stop after this time (default: no limit)",
     Seconds<&Options::limits, &Limits::seconds>},
    {"--no-sandbox", "", kLimits, kReading, "Unpack in this process, not in a sandboxed child", Call<TakeNoSandbox>},
};

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

const std::vector<Choice<Format>> kReportFormats = {
    {"text", Format::kText}, {"json", Format::kJson},     {"ndjson", Format::kNdjson}, {"markdown", Format::kMarkdown},
    {"html", Format::kHtml}, {"github", Format::kGithub}, {"sarif", Format::kSarif},   {"junit", Format::kJunit}};

std::optional<Timestamp> ParseTimeBound(std::string_view text, const Timestamp& now) {
  if (const std::optional<std::int64_t> ago = ParseAgo(text)) return Timestamp{now.microseconds - *ago, now.zone_known};
  for (const char* rest : {"", ":00", " 00:00:00"}) {
    if (const std::optional<Timestamp> time = ParseTimestamp(std::string(text) + rest)) return time;
  }
  return std::nullopt;
}

void AddOptions(CLI::App& app, Command command, Options* options) {
  for (const OptionRow& row : kTable) {
    if ((row.commands & Bits(command)) == 0) continue;
    CLI::Option* option = row.add(app, row, options);
    option->group(row.group);
    if (*row.type != '\0') option->type_name(row.type);
  }
}

}  // namespace whyoom
