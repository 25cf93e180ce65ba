#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "input/limits.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

Timestamp CurrentTime() {
  using std::chrono::microseconds;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<microseconds>(now).count(), true};
}

std::uint64_t ToSize(const std::string& text) {
  const std::optional<std::int64_t> size = ParseSize(text);
  if (!size || *size <= 0) throw CLI::ValidationError("'" + text + "' is no size, such as 64M or 2G");
  return static_cast<std::uint64_t>(*size);
}

}  // namespace

// "FORMAT" is the one of standard output or --output, "FORMAT=FILE" one more, in a file.
void AddFormat(CLI::App& app, const Choices<Format>& formats, Options* options, ValueWords* words) {
  const auto take = [=, seen = std::make_shared<bool>(false)](const std::vector<std::string>& given) {
    for (const std::string& word : given) {
      const std::size_t equals = word.find('=');
      const Format format = ToChoice("--format", "format", formats, word.substr(0, equals));
      if (equals != std::string::npos) {
        if (word.substr(equals) == "=-")
          throw CLI::ValidationError(
              fmt::format("--format {}: standard output takes one format, --format {}", word, word.substr(0, equals)));
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
  CLI::Option* option = app.add_option_function<std::vector<std::string>>(
      "--format", take, Listing(formats, true) + "; with =FILE that format goes to FILE as well, may be repeated");
  option->type_name("FORMAT[=FILE]")->allow_extra_args(false)->group(kOutput);
  (*words)[option] = ToWords(formats);
}

void AddForCi(CLI::App& app, Options* options) {
  app.add_option_function<std::string>(
         "--source-root",
         [options](const std::string& folder) {
           if (!folder.empty()) options->source_root = std::filesystem::absolute(folder).lexically_normal().string();
         },
         "Where your sources lie: in the formats github and sarif, files below DIR are named relative to it")
      ->type_name("DIR")
      ->group(kOutput);
  app.add_flag("--step-summary", options->step_summary,
               "Append the report in Markdown to the file that GITHUB_STEP_SUMMARY names")
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
  CLI::Option* brief = app.add_flag_callback(
      "--brief", [options] { options->detail = Detail::kBrief; },
      "One line a failure in text: where, code, scenario, what was needed, what to do first; with --format json a "
      "small "
      "object, schema whyoom.brief/1");
  CLI::Option* all = app.add_flag_callback(
      "--all", [options] { options->detail = Detail::kAll; },
      "Every remedy in full, every row and every failure, in text");
  brief->group(kOutput);
  all->group(kOutput)->excludes(brief);
}

void AddVerbose(CLI::App& app, Options* options) {
  app.add_flag("-v,--verbose", options->verbose,
               "Tell what is read and passed over, with counts and times, on standard error")
      ->group(kOutput);
}

namespace {

CLI::Option* AddCodes(CLI::App& app, const char* name, std::vector<std::string>* codes, const std::string& about) {
  return app.add_option(name, *codes, about)
      ->type_name("CODE,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(kSelection);
}

CLI::Option* AddFile(CLI::App& app, const char* name, std::string* file, const std::string& about) {
  const auto take = [file, name](const std::string& text) {
    if (text.empty() || text == "-") throw CLI::ValidationError(name, "a file has to be named");
    *file = text;
  };
  return app.add_option_function<std::string>(name, take, about)->type_name("FILE")->group(kSelection);
}

}  // namespace

void AddSelection(CLI::App& app, Options* options) {
  AddCodes(app, "--select", &options->select,
           "Tell only of these failures: codes (E1000), with a scenario (E1000.3), the begin of some (E3), or patterns "
           "(tpu.*); may be repeated");
  AddCodes(app, "--ignore", &options->ignore, "Do not tell of these; where both name one, --ignore counts");
  AddFile(app, "--baseline", &options->baseline,
          "Leave out the failures that this file knows, but for their number; --write-baseline makes it");
  AddFile(
      app, "--write-baseline", &options->write_baseline,
      "Write the failures that are found to FILE, with those of --baseline, as known: none of them counts as found");
}

void AddFailOn(CLI::App& app, Options* options) {
  AddCodes(app, "--fail-on", &options->fail_on,
           "Only these count as found for the exit status, named as for --select; all are shown");
}

void AddFramework(CLI::App& app, Options* options) {
  app.add_option("--framework", options->framework,
                 "Advise for this framework (its id or name: maxtext, PyTorch/XLA), where the log does not show it or "
                 "shows another")
      ->type_name("FRAMEWORK")
      ->group(kOutput);
}

void AddCommon(CLI::App& app, Options* options, ValueWords* words) {
  app.add_option("--rules", options->rules,
                 "Add rule data: a file, or a folder's *.json; an id that exists is replaced (may be repeated)")
      ->type_name("FILE|DIR")
      ->allow_extra_args(false);  // the next word is a path to read, not a second rule file
  app.add_flag_callback(
      "--no-project-rules", [options] { options->project_rules = false; },
      "Leave out the rules of the project: the folder .whyoom/rules here or above, within the git repository or the "
      "home");
  AddOutput(app, options);
  AddChoice(app, "--color", "choice", "WHEN", kColors, &options->color, words)->group(kOutput);
  app.add_flag(
         "-q,--quiet", options->quiet,
         "Print nothing beside the result: no notes in text (that nothing was found, what could not be read, what "
         "no rule knows, what is not shown), no progress, no remarks on standard error; only what ends the run "
         "is told. The exit status is the same")
      ->group(kOutput);
}

void AddExitStatus(CLI::App& app, Options* options) {
  app.add_flag("--strict", options->strict,
               "Count errors about memory that no rule knows as found: they end with 1, too")
      ->group(kOutput);
  app.add_flag("--exit-zero", options->exit_zero, "End with 0 also where something was found or not all could be read")
      ->group(kOutput);
}

void AddFilesFrom(CLI::App& app, Options* options, ValueWords* words) {
  app.add_option("--files-from", options->files_from,
                 "Read also the files and folders that this list names; - for a list on standard input")
      ->type_name("FILE")
      ->group(kInputs);
  AddChoice(app, "--files-format", "form of a list", "FORM", kListForms, &options->files_form, words)->group(kInputs);
  app.add_flag_callback(
         "-0,--null", [options] { options->files_form = PathListForm::kNull; }, "Short for --files-format null")
      ->group(kInputs);
}

void AddTimeRange(CLI::App& app, Options* options) {
  const auto bound = [&app](const std::string& name, std::optional<Timestamp>* to, const std::string& what) {
    app.add_option_function<std::string>(
           name,
           [to, name](const std::string& text) {
             *to = ParseTimeBound(text, CurrentTime());
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

void AddBatches(CLI::App& app, Options* options, ValueWords* words) {
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
                 "Record what was read in this journal; a later run takes unchanged inputs from it and reads the rest")
      ->type_name("JOURNAL")
      ->group(kBatches);
  AddChoice(app, "--progress", "choice", "WHEN", kProgress, &options->progress, words)->group(kBatches);
}

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
               " of work where that is over " + std::to_string(usual.suspicious_ratio) + " times what is packed)",
           [limits](std::uint64_t size) {
             limits->bytes = size;
             limits->suspicious_ratio = 0;  // an explicit --max-bytes turns the ratio check off
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
  app.add_flag_callback(
         "--no-sandbox", [limits] { limits->sandbox = false; },
         "Read archives in this process, where the system starts no other that can do nothing else")
      ->group(group);
}

}  // namespace whyoom
