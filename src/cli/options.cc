#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "cli/rules_command.h"
#include "cli/terminal.h"
#include "report/layout.h"
#include "rules/suggest.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr const char* kMoreHelp = "Run with --help for more information.\n";

EarlyExit UsageError(const std::string& what) { return {2, fmt::format("whyoom: {}\n{}", what, kMoreHelp)}; }

bool IsCommand(const std::string& word) { return !word.empty() && *FindCommand({word}).name != '\0'; }

// The error for an argument that `app` does not accept.
EarlyExit UnknownArgument(const CLI::App& app, const std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  if (!given.starts_with("-")) return UsageError("unexpected argument '" + Printable(given) + "'");
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& each : option->get_lnames()) known.push_back("--" + each);
  }
  std::string meant = DidYouMean(name, known);
  const std::string command = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  if (IsCommand(command)) meant = "did you mean 'whyoom " + command + "'?";
  return UsageError(fmt::format("unknown option '{}'{}", Printable(name), meant.empty() ? "" : ", " + meant));
}

// "missing AFTER (Run after the change)".
std::string MissingText(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() && option->get_required() && option->count() == 0)
      return fmt::format("missing {} ({})", option->get_name(true), option->get_description());
  }
  return {};
}

// Wraps the lines of CLI11's help at 80 columns, below their last column, and removes double empty lines.
std::string InColumns(const std::string& help) {
  constexpr std::size_t kColumns = 80;
  std::string text;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() && text.ends_with("\n\n")) continue;
    const std::size_t gap = line.rfind("  ");
    const std::size_t column = gap == line.npos ? 0 : gap + 2;
    text += Hanging(line.substr(0, column), column, line.substr(column), kColumns);
  }
  return text;
}

// Parses the arguments with CLI11, which throws for help and errors. Returns the text to print then.
std::optional<EarlyExit> Parse(CLI::App& app, std::vector<std::string> arguments) {
  // CLI11 would take the next argument as the value.
  const auto is_empty = [](const std::string& each) {
    return each.starts_with("--") && each.find('=') == each.size() - 1;
  };
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (const auto empty = std::find_if(arguments.begin(), end, is_empty); empty != end)
    return UsageError("missing value: " + Printable(*empty));
  std::reverse(arguments.begin(), arguments.end());  // CLI11 expects the last argument first
  try {
    app.parse(arguments);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return EarlyExit{0, InColumns(app.help())};
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> unknown = app.remaining(true);
    return UnknownArgument(app, unknown.empty() ? "" : unknown.front());
  } catch (const CLI::ParseError& error) {
    const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    if (const std::string missing = is_missing ? MissingText(app) : ""; !missing.empty()) return UsageError(missing);
    std::ostringstream out;
    std::ostringstream err;
    const int status = app.exit(error, out, err);
    return EarlyExit{status == 0 ? 0 : 2, status == 0 ? out.str() : "whyoom: " + err.str()};
  }
}

// Not done with CLI11's own checks, because they clutter --help.
std::optional<EarlyExit> CheckCombinations(const Options& options) {
  const TimeRange& range = options.range;
  if (range.since && range.until && range.until->zone_known == range.since->zone_known && *range.until <= *range.since)
    return EarlyExit{2, "whyoom: --until must be later than --since\n"};
  if (options.follow && !options.xla_dump.empty())
    return UsageError("--follow and --xla-dump cannot be used together: a dump describes a compile that has ended");
  if (options.nulls && options.files_from.empty()) return UsageError("--null requires --files-from");
  return std::nullopt;
}

bool HasBriefForm(Format format) { return format == Format::kText || format == Format::kJson; }

// whyoom does not access the network.
std::optional<EarlyExit> CheckRemote(const Options& options) {
  for (const std::string& path : options.paths) {
    std::error_code error;
    const std::size_t scheme = path.find("://");
    if (scheme == path.npos || scheme == 0 || path.starts_with("file:") || std::filesystem::exists(path, error))
      continue;
    return EarlyExit{2, fmt::format("whyoom: {}: whyoom cannot read remote files; pipe the file in, for example: "
                                    "gcloud storage cat {} | whyoom\n",
                                    Printable(path), Printable(path))};
  }
  return std::nullopt;
}

std::optional<EarlyExit> CheckForms(const Options& options) {
  if (std::optional<EarlyExit> remote = CheckRemote(options)) return remote;
  if (std::isnan(options.limits.seconds)) return UsageError("--max-time: expected a number of seconds");
  const bool any_brief =
      HasBriefForm(options.format) || std::any_of(options.extra_outputs.begin(), options.extra_outputs.end(),
                                                  [](const ExtraOutput& extra) { return HasBriefForm(extra.format); });
  if (options.detail == Detail::kBrief && !any_brief) return UsageError("--brief requires --format text or json");
  return std::nullopt;
}

// The index at which the job's command begins: the "--", or the first word that is neither an option of `run` nor an
// option's value. If the value is optional, only a number counts, so that a command is never mistaken for a value.
std::size_t JobBegin(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::size_t i = 0;
  for (; i < arguments.size() && arguments[i] != "--" && arguments[i].starts_with('-'); ++i) {
    const CLI::Option* option = app.get_option_no_throw(arguments[i]);
    const std::string next = i + 1 < arguments.size() ? arguments[i + 1] : "";
    if (option == nullptr || option->get_items_expected_max() == 0) continue;
    if (option->get_items_expected_min() > 0 || ParseWholeNumber(next)) ++i;
  }
  return std::min(i, arguments.size());
}

// Removes the job's command before CLI11 parses the options of `run`.
std::optional<EarlyExit> ParseRun(CLI::App& app, const std::vector<std::string>& arguments, Options* options) {
  const auto command = arguments.begin() + static_cast<std::ptrdiff_t>(JobBegin(app, arguments));
  options->job.assign(command, arguments.end());
  if (!options->job.empty() && options->job[0] == "--") options->job.erase(options->job.begin());
  std::optional<EarlyExit> early = Parse(app, {arguments.begin(), command});
  if (!early) early = CheckForms(*options);
  if (early) return early;
  if (options->job.empty()) return EarlyExit{2, "whyoom: missing command, usage: whyoom run -- CMD ...\n"};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == kTrying && option->count() > 0 && !options->attempts.after_failure)
      return UsageError(option->get_name() + " requires --try");
  }
  return std::nullopt;
}

// `try` takes a dump folder, or a command after "--".
std::optional<EarlyExit> ParseTry(CLI::App& app, const std::vector<std::string>& arguments, Options* options) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) options->job.assign(dashes + 1, arguments.end());
  std::optional<EarlyExit> early = Parse(app, {arguments.begin(), dashes});
  if (!early) early = CheckForms(*options);
  if (early || !options->attempts.finish.empty()) return early;
  if (!options->attempts.topology.empty() && options->job.empty())
    return UsageError("--topology requires a command: whyoom try --topology CHIPS -- CMD ...");
  if (options->paths.empty() == options->job.empty())
    return UsageError("usage: whyoom try [OPTIONS] DUMPDIR, or whyoom try [OPTIONS] -- CMD ...");
  return std::nullopt;
}

// The error for a first word that is no file but resembles a command's name.
std::optional<EarlyExit> MisspeltCommand(const std::string& word) {
  std::error_code error;
  if (word.empty() || word[0] == '-' || std::filesystem::exists(word, error)) return std::nullopt;
  std::vector<std::string> known;
  for (const CommandDefinition& command : Commands()) {
    if (*command.name != '\0') known.emplace_back(command.name);
  }
  std::string meant = DidYouMean(word, known);
  if (word == "help" || word == "version") meant = "did you mean '--" + word + "'?";
  if (meant.empty()) return std::nullopt;
  return UsageError(fmt::format("no file or command '{}', {}", Printable(word), meant));
}

// The error for a command's name after options, if no file of that name exists.
std::optional<EarlyExit> MisplacedCommand(const std::vector<std::string>& paths) {
  std::error_code error;
  if (paths.empty() || !IsCommand(paths[0]) || std::filesystem::exists(paths[0], error)) return std::nullopt;
  return UsageError(fmt::format("the command {} must come first: whyoom {} [OPTIONS] ... (there is no file '{}')",
                                paths[0], paths[0], paths[0]));
}

// The error for `rules` without one of its commands.
std::optional<EarlyExit> ParseRules(CLI::App& app, const std::vector<std::string>& arguments) {
  constexpr std::string_view kPrefix = "rules ";
  std::vector<std::string> known;
  for (const CommandDefinition& command : Commands()) {
    if (std::string_view(command.name).starts_with(kPrefix)) known.emplace_back(command.name + kPrefix.size());
  }
  if (arguments.empty()) return UsageError("rules: missing command (expected one of " + Listing(known) + ")");
  if (arguments[0].starts_with('-')) {
    std::optional<EarlyExit> early = Parse(app, arguments);
    return early ? early : ParseRules(app, {});
  }
  return UsageError(fmt::format("rules: unknown command '{}', {}", Printable(arguments[0]),
                                DidYouMean(arguments[0], known, "expected one of ")));
}

}  // namespace

std::optional<EarlyExit> ParseOptions(const std::vector<std::string>& arguments, Options* options) {
  const CommandDefinition& command = FindCommand(arguments);
  const std::unique_ptr<CLI::App> app = MakeParser(command, options);
  const std::string name = command.name;
  const std::ptrdiff_t words = name.empty() ? 0 : 1 + std::count(name.begin(), name.end(), ' ');
  const std::vector<std::string> rest(arguments.begin() + words, arguments.end());
  if (command.command == Command::kRun) return ParseRun(*app, rest, options);
  if (command.command == Command::kTry) return ParseTry(*app, rest, options);
  if (command.command == Command::kRules) return ParseRules(*app, rest);
  std::optional<EarlyExit> early = name.empty() && !rest.empty() ? MisspeltCommand(rest[0]) : std::nullopt;
  if (!early) early = Parse(*app, rest);
  if (!early) early = CheckForms(*options);
  if (!early && command.command == Command::kRulesTrace && !options->paths.empty()) SetTracedPlace(options);
  if (!early && name.empty()) early = MisplacedCommand(options->paths);
  return early ? early : CheckCombinations(*options);
}

}  // namespace whyoom
