#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "input/limits.h"
#include "report/summary.h"
#include "text/numbers.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

Timestamp CurrentTime() {
  using std::chrono::microseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<microseconds>(now).count(), true};
}

std::uint64_t ToSize(const std::string& option, const std::string& text) {
  const std::optional<std::int64_t> size = ParseSize(text);
  if (!size || *size <= 0)
    throw CLI::ValidationError(option, "invalid size '" + Printable(text) + "' (expected, for example, 64M or 2G)");
  return static_cast<std::uint64_t>(*size);
}

}  // namespace

// "FORMAT" selects the format of standard output or --output; "FORMAT=FILE" adds another output.
void AddFormat(CLI::App& app, const Choices<Format>& formats, Options* options) {
  const auto take = [=, seen = std::make_shared<bool>(false)](const std::vector<std::string>& given) {
    for (const std::string& word : given) {
      const std::size_t equals = word.find('=');
      const Format format = ToChoice("--format", "format", formats, word.substr(0, equals));
      if (equals != std::string::npos) {
        if (word.substr(equals) == "=-")
          throw CLI::ValidationError(
              fmt::format("--format {}: to write to standard output, use --format {}", word, word.substr(0, equals)));
        if (equals + 1 == word.size())
          throw CLI::ValidationError(fmt::format("--format {}: missing file name after '='", Printable(word)));
        options->extra_outputs.push_back({format, word.substr(equals + 1)});
      } else if (std::exchange(*seen, true)) {
        throw CLI::ValidationError(
            "only one --format may write to standard output; give the others a file: --format FORMAT=FILE");
      } else {
        options->format = format;
      }
    }
  };
  app.add_option_function<std::vector<std::string>>("--format", take,
                                                    Listing(formats) + "; FORMAT=FILE writes one more report to FILE")
      ->type_name("FORMAT[=FILE]")
      ->allow_extra_args(false)
      ->group(kOutput);
}

void AddForCi(CLI::App& app, Options* options) {
  app.add_option_function<std::string>(
         "--source-root",
         [options](const std::string& folder) {
           if (!folder.empty()) options->source_root = std::filesystem::absolute(folder).lexically_normal().string();
         },
         "Root of your sources, to show the lines that a failure names (default: this folder)")
      ->type_name("DIR")
      ->group(kOutput);
  app.add_flag("--step-summary", options->step_summary, "Append a report to the file in GITHUB_STEP_SUMMARY")
      ->group(kOutput);
}

void AddOutput(CLI::App& app, Options* options) {
  app.add_option_function<std::string>(
         "-o,--output", [options](const std::string& file) { options->output = file == "-" ? "" : file; },
         "Write to FILE instead of standard output")
      ->type_name("FILE")
      ->group(kOutput);
}

void AddDetail(CLI::App& app, Options* options) {
  const auto add = [&](const char* name, Detail detail, const char* other, const char* about) {
    const auto take = [=] {
      const Detail before = std::exchange(options->detail, detail);
      if (before != Detail::kUsual && before != detail) throw CLI::ExcludesError(name, other);
    };
    app.add_flag_callback(name, take, about)->group(kOutput);
  };
  add("--brief", Detail::kBrief, "--all", "Print only the first lines of each failure, or few fields of JSON");
  add("--all", Detail::kAll, "--brief", "Show every failure, remedy and reason in text");
}

void AddVerbose(CLI::App& app, Options* options) {
  app.add_flag("-v,--verbose", options->verbose, "Print what is read and skipped to standard error")->group(kOutput);
}

namespace {

CLI::Option* AddCodes(CLI::App& app, const char* name, std::vector<std::string>* codes, const std::string& about) {
  return app.add_option(name, *codes, about)
      ->type_name("CODE")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kSelection);
}

CLI::Option* AddFile(CLI::App& app, const char* name, std::string* file, const std::string& about) {
  const auto take = [file, name](const std::string& text) {
    if (text.empty() || text == "-") throw CLI::ValidationError(name, "missing file name");
    *file = text;
  };
  return app.add_option_function<std::string>(name, take, about)->type_name("FILE")->group(kSelection);
}

}  // namespace

void AddSelection(CLI::App& app, Options* options) {
  AddCodes(app, "--select", &options->select, "Report only these: E1000, E1000.3, E3, tpu.*");
  AddCodes(app, "--ignore", &options->ignore, "Do not report these, even if selected");
  AddFile(app, "--baseline", &options->baseline, "Hide the failures recorded in FILE");
  AddFile(app, "--write-baseline", &options->write_baseline, "Record the failures found in FILE, and hide them");
}

void AddFailOn(CLI::App& app, Options* options) {
  AddCodes(app, "--fail-on", &options->fail_on, "Exit with 1 only for these, as in --select");
}

void AddFramework(CLI::App& app, Options* options) {
  app.add_option("--framework", options->framework, "Show the steps of maxtext, keras, PyTorch/XLA, …")
      ->type_name("FRAMEWORK")
      ->group(kOutput);
}

void AddCommon(CLI::App& app, Options* options) {
  app.add_option("--rules", options->rules,
                 "Add rules, and replace those of the same id")
      ->type_name("FILE|DIR")
      ->allow_extra_args(false);  // the next word is an input, not a second rule file
  app.add_flag_callback(
      "--no-project-rules", [options] { options->project_rules = false; },
      "Ignore .whyoom/rules of this folder and its parents");
  AddOutput(app, options);
  AddChoice(app, "--color", "choice", "WHEN", kColors, &options->color)->group(kOutput);
  app.add_flag("-q,--quiet", options->quiet, "Print only the result and fatal errors")->group(kOutput);
}

void AddExitStatus(CLI::App& app, Options* options) {
  app.add_flag("--strict", options->strict, "Count memory errors that match no rule as found")->group(kOutput);
  app.add_flag("--exit-zero", options->exit_zero, "Exit with 0 instead of 1 or 3")->group(kOutput);
}

void AddFilesFrom(CLI::App& app, Options* options) {
  app.add_option("--files-from", options->files_from, "Read the inputs listed in FILE, or standard input (-)")
      ->type_name("FILE")
      ->group(kInputs);
  AddChoice(app, "--files-format", "list format", "FORM", kListForms, &options->files_form)->group(kInputs);
  app.add_flag_callback(
         "-0,--null", [options] { options->files_form = PathListForm::kNull; }, "Same as --files-format null")
      ->group(kInputs);
}

namespace {

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

std::optional<Timestamp> ParseTimeBound(std::string_view text, const Timestamp& now) {
  if (const std::optional<std::int64_t> ago = ParseAgo(text)) return Timestamp{now.microseconds - *ago, now.zone_known};
  for (const char* rest : {"", ":00", " 00:00:00"}) {
    if (const std::optional<Timestamp> time = ParseTimestamp(std::string(text) + rest)) return time;
  }
  return std::nullopt;
}

void AddTimeRange(CLI::App& app, Options* options) {
  const auto bound = [&app](const std::string& name, std::optional<Timestamp>* to, const std::string& what) {
    app.add_option_function<std::string>(
           name,
           [to, name](const std::string& text) {
             *to = ParseTimeBound(text, CurrentTime());
             if (!*to)
               throw CLI::ValidationError(name, "invalid time '" + Printable(text) +
                                                    "' (expected 2026-11-20, \"2026-11-20 12:00\", "
                                                    "2026-11-20T12:00:00Z, or an age such as 30m, 2h or 7d)");
           },
           what)
        ->type_name("TIME")
        ->group(kInputs);
  };
  bound("--since", &options->range.since,
        "Only failures since TIME: 2026-11-20, \"2026-11-20 12:00\" or an age such as 2h");
  bound("--until", &options->range.until, "Only failures before TIME");
}

void AddBatches(CLI::App& app, Options* options) {
  app.add_option("-j,--jobs", options->jobs, "Read N inputs at once (default: one per processor)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""))
      ->group(kBatches);
  app.add_option_function<std::string>(
         "--shard", [options](const std::string& text) { options->shard = ParseShard(text); },
         "Read only part I (from 0) of N parts of the inputs")
      ->type_name("I/N")
      ->group(kBatches);
  app.add_option("--resume", options->resume, "Record results, to continue an interrupted batch")
      ->type_name("JOURNAL")
      ->group(kBatches);
  AddChoice(app, "--progress", "choice", "WHEN", kProgress, &options->progress)->group(kBatches);
}

void AddHbm(CLI::App& app, Options* options) {
  app.add_option("--hbm", options->hbm, "HBM of a device (15.75G) or its chip (v5e), if the input does not tell")
      ->check([](const std::string& text) { return std::string(text.empty() ? "missing size" : ""); })
      ->type_name("SIZE|CHIP")
      ->group(kInputs);
}

void AddTry(CLI::App& app, Options* all) {
  TryOptions* options = &all->attempts;
  const auto take = [options](const std::string& given) {
    for (std::size_t at = 0; at <= given.size();) {
      const std::size_t end = std::min(given.find(',', at), given.size());
      if (end == at) throw CLI::ValidationError("--remedy", "missing name of a remedy");
      options->remedies.push_back(given.substr(at, end - at));
      at = end + 1;
    }
  };
  app.add_option_function<std::vector<std::string>>(
         "--remedy",
         [take](const std::vector<std::string>& all_given) { std::for_each(all_given.begin(), all_given.end(), take); },
         "Try only these, such as donate_buffers, or one setting, such as shard_tensor=fsdp")
      ->type_name("ID[=SETTING]")
      ->allow_extra_args(false)
      ->group(kTrying);
  app.add_option("--python", options->python, "The Python with jax and libtpu")->type_name("PATH")->group(kTrying);
  const auto add_seconds = [&](const char* name, std::uint32_t* seconds, const char* about) {
    app.add_option(name, *seconds, fmt::format("{} (default: {})", about, *seconds))
        ->type_name("SECONDS")
        ->group(kTrying);
  };
  add_seconds("--attempt-time", &options->attempt_seconds, "Stop a compile after this time");
  add_seconds("--total-time", &options->total_seconds, "Stop after this time");
  app.add_option_function<std::string>(
         "--memory", [options](const std::string& text) { options->memory = ToSize("--memory", text); },
         "Stop a compile that needs more host memory")
      ->type_name("SIZE")
      ->group(kTrying);
  app.add_flag("--whole", options->whole, "Compile to the end, not only until the need is known")->group(kTrying);
  app.add_option("--patch", options->patch, "Write the patch of the first remedy that fits")
      ->type_name("FILE")
      ->group(kTrying);
  app.add_flag_callback(
         "--no-cache", [options] { options->use_cache = false; }, "Compile again what was compiled before")
      ->group(kTrying);
  app.add_option("-j,--jobs", all->jobs, "Compiles at once (default: half the processors)")
      ->type_name("N")
      ->check(CLI::Range(1, 64).description(""))
      ->group(kTrying);
}

void AddLimits(CLI::App& app, Limits* limits) {
  const std::string group = "Limits per input";
  const Limits usual;
  const auto add_size = [&](const char* name, const std::string& about, auto set) {
    app.add_option_function<std::string>(
           name, [set, option = std::string(name)](const std::string& text) { set(ToSize(option, text)); }, about)
        ->type_name("SIZE")
        ->group(group);
  };
  add_size("--max-bytes", "Unpack at most SIZE (default: " + WholeSize(usual.bytes) + ")",
           [limits](std::uint64_t size) {
             limits->bytes = size;
             limits->suspicious_ratio = 0;  // an explicit --max-bytes turns the ratio check off
           });
  add_size("--max-memory", "Memory of each decoder (default: " + WholeSize(usual.memory) + ")",
           [limits](std::uint64_t size) { limits->memory = static_cast<std::size_t>(size); });
  constexpr int kDeepest = 64;  // each level needs a decoder's memory
  app.add_option("--max-depth", limits->depth, "Nested levels to unpack (default: 8)")
      ->check(CLI::Range(0, kDeepest).description(""))
      ->type_name("N")
      ->group(group);
  app.add_option("--max-members", limits->members, "Archive members to read (default: 1000000)")
      ->check(CLI::Range(1, 1000000000).description(""))
      ->type_name("N")
      ->group(group);
  app.add_option("--max-time", limits->seconds, "Stop after this time (default: no limit)")
      ->check(CLI::Range(0.0, 1e9).description(""))
      ->type_name("SECONDS")
      ->group(group);
  app.add_flag_callback(
         "--no-sandbox", [limits] { limits->sandbox = false; }, "Unpack in this process, not in a sandboxed child")
      ->group(group);
}

}  // namespace whyoom
