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
#include "input/error.h"
#include "report/layout.h"
#include "rules/suggest.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

struct TextRequest {  // --help or --version
  std::string text;
};

[[noreturn]] void Refuse(const std::string& what) { throw Error(what + "\nRun with --help for more information."); }

// For an argument that `app` does not accept.
[[noreturn]] void RefuseArgument(const CLI::App& app, const std::string& given) {
  const std::string name = given.substr(0, given.find('='));
  if (!given.starts_with("-")) Refuse("unexpected argument '" + Printable(given) + "'");
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& each : option->get_lnames()) known.push_back("--" + each);
  }
  const std::string meant = DidYouMean(name, known);
  Refuse(fmt::format("unknown option '{}'{}", Printable(name), meant.empty() ? "" : ", " + meant));
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

// Parses the arguments with CLI11, which throws for help and errors.
void Parse(CLI::App& app, std::vector<std::string> arguments) {
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
    throw TextRequest{InColumns(app.help())};
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> unknown = app.remaining(true);
    RefuseArgument(app, unknown.empty() ? "" : unknown.front());
  } catch (const CLI::CallForVersion& version) {
    throw TextRequest{version.what() + std::string("\n")};
  } catch (const CLI::ParseError& error) {
    Refuse(error.what());
  }
}

// Not done with CLI11's own checks, because they clutter --help.
void CheckCombinations(const Options& options) {
  if (std::isnan(options.limits.seconds)) Refuse("--max-time: expected a number of seconds");
  const TimeRange& range = options.range;
  if (range.since && range.until && range.until->zone_known == range.since->zone_known && *range.until <= *range.since)
    Refuse("--until must be later than --since");
  if (options.follow && !options.xla_dump.empty())
    Refuse("--follow and --xla-dump cannot be used together: a dump describes a compile that has ended");
  if (options.nulls && options.files_from.empty()) Refuse("--null requires --files-from");
  if (options.command == Command::kRun && options.job.empty()) Refuse("missing command, usage: whyoom run -- CMD ...");
}

// whyoom does not access the network.
void CheckRemote(const Options& options) {
  for (const std::string& path : options.paths) {
    std::error_code error;
    const std::size_t scheme = path.find("://");
    if (scheme == path.npos || scheme == 0 || path.starts_with("file:") || std::filesystem::exists(path, error))
      continue;
    Refuse(
        fmt::format("{}: whyoom cannot read remote files; pipe the file in, for example: gcloud storage cat {} | "
                    "whyoom",
                    Printable(path), Printable(path)));
  }
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
void ParseRun(CLI::App& app, const std::vector<std::string>& arguments, Options* options) {
  const auto command = arguments.begin() + static_cast<std::ptrdiff_t>(JobBegin(app, arguments));
  options->job.assign(command, arguments.end());
  if (!options->job.empty() && options->job[0] == "--") options->job.erase(options->job.begin());
  Parse(app, {arguments.begin(), command});
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group() == kTrying && option->count() > 0 && !options->attempts.after_failure)
      Refuse(option->get_name() + " requires --try");
  }
}

// `try` takes a dump folder, or a command after "--".
void ParseTry(CLI::App& app, const std::vector<std::string>& arguments, Options* options) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) options->job.assign(dashes + 1, arguments.end());
  Parse(app, {arguments.begin(), dashes});
  if (!options->attempts.finish.empty()) return;
  if (!options->attempts.topology.empty() && options->job.empty())
    Refuse("--topology requires a command: whyoom try --topology CHIPS -- CMD ...");
  if (options->paths.empty() == options->job.empty())
    Refuse("usage: whyoom try [OPTIONS] DUMPDIR, or whyoom try [OPTIONS] -- CMD ...");
}

// Refuses a first word that is no file but resembles a command's name.
void CheckSpelling(const std::string& word) {
  std::error_code error;
  if (word.empty() || word[0] == '-' || std::filesystem::exists(word, error)) return;
  std::vector<std::string> known;
  for (const CommandDefinition& command : Commands()) {
    if (*command.name != '\0') known.emplace_back(command.name);
  }
  std::string meant = DidYouMean(word, known);
  if (word == "help" || word == "version") meant = "did you mean '--" + word + "'?";
  if (!meant.empty()) Refuse(fmt::format("no file or command '{}', {}", Printable(word), meant));
}

// `rules` without one of its commands: only --help is valid.
void ParseRules(CLI::App& app, const std::vector<std::string>& arguments) {
  constexpr std::string_view kPrefix = "rules ";
  std::vector<std::string> known;
  for (const CommandDefinition& command : Commands()) {
    if (std::string_view(command.name).starts_with(kPrefix)) known.emplace_back(command.name + kPrefix.size());
  }
  if (!arguments.empty() && !arguments[0].starts_with('-'))
    Refuse(fmt::format("rules: unknown command '{}', {}", Printable(arguments[0]),
                       DidYouMean(arguments[0], known, "expected one of ")));
  Parse(app, arguments);
  Refuse("rules: missing command (expected one of " + Listing(known) + ")");
}

void ParseAny(const std::vector<std::string>& arguments, Options* options) {
  const CommandDefinition& command = FindCommand(arguments);
  const std::unique_ptr<CLI::App> app = MakeParser(command, options);
  const std::string name = command.name;
  const std::ptrdiff_t words = name.empty() ? 0 : 1 + std::count(name.begin(), name.end(), ' ');
  const std::vector<std::string> rest(arguments.begin() + words, arguments.end());
  if (name.empty() && !rest.empty()) CheckSpelling(rest[0]);
  switch (command.command) {
    case Command::kRun:
      ParseRun(*app, rest, options);
      break;
    case Command::kTry:
      ParseTry(*app, rest, options);
      break;
    case Command::kRules:
      ParseRules(*app, rest);
      break;
    default:
      Parse(*app, rest);
  }
  CheckRemote(*options);
  CheckCombinations(*options);
  if (command.command == Command::kRulesTrace && !options->paths.empty()) SetTracedPlace(options);
}

}  // namespace

std::optional<std::string> ParseOptions(const std::vector<std::string>& arguments, Options* options) {
  try {
    ParseAny(arguments, options);
  } catch (const TextRequest& request) {
    return request.text;
  }
  return std::nullopt;
}

}  // namespace whyoom
