#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "input/error.h"
#include "report/layout.h"
#include "rules/sha256.h"
#include "rules/suggest.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr const char* kMoreHelp = "Run with --help for more information.\n";

EarlyExit UsageError(const std::string& what) { return {2, fmt::format("whyoom: {}\n{}", what, kMoreHelp)}; }

// The innermost subcommand that was parsed.
const CLI::App& InnermostCommand(const CLI::App& app) {
  const auto reached = app.get_subcommands();
  return reached.empty() ? app : InnermostCommand(*reached.back());
}

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
  const bool at_top = app.get_parent() == nullptr;
  if (at_top && !command.empty() && *FindCommand(command).name != '\0')
    meant = "did you mean 'whyoom " + command + "'?";
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
std::optional<EarlyExit> Parse(const CommandArguments& command, std::vector<std::string> arguments) {
  CLI::App& app = *command.app;
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
    const CLI::App& innermost = InnermostCommand(app);
    const CLI::App* parent = innermost.get_parent();
    return EarlyExit{0, InColumns(innermost.help(parent == nullptr ? "" : parent->get_name()))};
  } catch (const CLI::ExtrasError&) {
    const std::vector<std::string> unknown = app.remaining(true);
    return UnknownArgument(InnermostCommand(app), unknown.empty() ? "" : unknown.front());
  } catch (const CLI::ParseError& error) {
    const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    if (const std::string missing = is_missing ? MissingText(InnermostCommand(app)) : ""; !missing.empty())
      return UsageError(missing);
    std::ostringstream out;
    std::ostringstream err;
    const int status = app.exit(error, out, err);
    return EarlyExit{status == 0 ? 0 : 2, status == 0 ? out.str() : "whyoom: " + err.str()};
  }
}

// Not done with CLI11's own checks, because they clutter --help.
std::optional<EarlyExit> CheckCombinations(const CLI::App& app, const Options& options) {
  for (const auto& [option, value] :
       {std::pair("--files-from", &options.files_from), std::pair("--resume", &options.resume)}) {
    if (app.count(option) > 0 && value->empty())
      return EarlyExit{2, fmt::format("whyoom: {}: missing file name\n", option)};
  }
  if (options.range.since && options.range.until &&
      options.range.until->zone_known == options.range.since->zone_known &&
      *options.range.until <= *options.range.since)
    return EarlyExit{2, "whyoom: --until must be later than --since\n"};
  if (options.follow && !options.xla_dump.empty())
    return UsageError("--follow and --xla-dump cannot be used together: a dump describes a compile that has ended");
  const std::size_t forms = app.count("--files-format") + app.count("--null");
  if (forms > 1) return EarlyExit{2, "whyoom: --null and --files-format cannot be used together\n"};
  if (forms == 1 && options.files_from.empty())
    return EarlyExit{2, "whyoom: --files-format and --null require --files-from\n"};
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
  if (options.quiet && options.verbose) return UsageError("--quiet and --verbose cannot be used together");
  const bool any_brief =
      HasBriefForm(options.format) || std::any_of(options.extra_outputs.begin(), options.extra_outputs.end(),
                                                  [](const ExtraOutput& extra) { return HasBriefForm(extra.format); });
  if (options.detail == Detail::kBrief && !any_brief) return UsageError("--brief requires --format text or json");
  return std::nullopt;
}

// Removes the job's command before CLI11 parses the options of `run`.
std::optional<EarlyExit> ParseRun(const CommandArguments& built, const std::vector<std::string>& arguments,
                                  Options* options) {
  const std::size_t begin = JobBegin(*built.app, arguments);
  const auto command = arguments.begin() + static_cast<std::ptrdiff_t>(begin);
  options->job.assign(command, arguments.end());
  if (!options->job.empty() && options->job[0] == "--") options->job.erase(options->job.begin());
  std::optional<EarlyExit> early = Parse(built, {arguments.begin(), command});
  if (!early) early = CheckForms(*options);
  if (early) return early;
  if (options->job.empty()) return EarlyExit{2, "whyoom: missing command, usage: whyoom run -- CMD ...\n"};
  for (const CLI::Option* option : built.app->get_options()) {
    if (option->get_group() == kTrying && option->count() > 0 && !options->attempts.after_failure)
      return UsageError(option->get_name() + " requires --try");
  }
  return std::nullopt;
}

// `try` takes a dump folder, or a command after "--".
std::optional<EarlyExit> ParseTry(const CommandArguments& built, const std::vector<std::string>& arguments,
                                  Options* options) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) options->job.assign(dashes + 1, arguments.end());
  std::optional<EarlyExit> early = Parse(built, {arguments.begin(), dashes});
  if (!early) early = CheckForms(*options);
  if (early) return early;
  if (!options->attempts.topology.empty() && options->job.empty() && options->attempts.finish.empty())
    return UsageError("--topology requires a command: whyoom try --topology CHIPS -- CMD ...");
  if (options->paths.empty() == options->job.empty() && options->attempts.finish.empty())
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
  if (paths.empty() || *FindCommand(paths[0]).name == '\0' || std::filesystem::exists(paths[0], error))
    return std::nullopt;
  return UsageError(fmt::format("the command {} must come first: whyoom {} [OPTIONS] ... (there is no file '{}')",
                                paths[0], paths[0], paths[0]));
}

// The error for a command such as `rules` if its subcommand is missing or unknown.
std::optional<EarlyExit> MissingSubcommand(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto commands = app.get_subcommands({});
  const std::string name = app.get_name().substr(app.get_name().find(' ') + 1);
  std::vector<std::string> known;
  for (const CLI::App* command : commands) known.push_back(command->get_name());
  const auto word =
      std::find_if(arguments.begin(), arguments.end(), [](const std::string& each) { return !each.starts_with("-"); });
  const bool asks_help = word == arguments.end() && !arguments.empty();
  if (commands.empty() || asks_help) return std::nullopt;
  if (word == arguments.end())
    return UsageError(fmt::format("{}: missing command (expected one of {})", name, Listing(known)));
  if (std::find(known.begin(), known.end(), *word) != known.end()) return std::nullopt;
  const std::string meant = DidYouMean(*word, known);
  return UsageError(fmt::format("{}: unknown command '{}'{}", name, Printable(*word),
                                meant.empty() ? " (expected one of " + Listing(known) + ")" : ", " + meant));
}

}  // namespace

std::optional<EarlyExit> ParseOptions(const std::vector<std::string>& arguments, Options* options) {
  const CommandDefinition& command = FindCommand(arguments.empty() ? "" : arguments[0]);
  const bool named = *command.name != '\0';
  const CommandArguments built = command.build(options);
  const std::vector<std::string> rest(arguments.begin() + (named ? 1 : 0), arguments.end());
  if (options->command == Command::kRun) return ParseRun(built, rest, options);
  if (options->command == Command::kTry) return ParseTry(built, rest, options);
  if (std::optional<EarlyExit> none = MissingSubcommand(*built.app, rest)) return none;
  if (std::optional<EarlyExit> misspelt = named || rest.empty() ? std::nullopt : MisspeltCommand(rest[0]))
    return misspelt;
  std::optional<EarlyExit> early = Parse(built, rest);
  if (!early) early = CheckForms(*options);
  if (early || named) return early;
  early = MisplacedCommand(options->paths);
  return early ? early : CheckCombinations(*built.app, *options);
}

// Uses a cryptographic digest, because with simple hashes the low bits of "rank7/rank7.log" are equal for every rank.
bool Shard::Owns(const std::string& path) const {
  if (count <= 1) return true;
  std::uint64_t hash = 0;
  const std::string digest = Sha256Hex(path);
  std::from_chars(digest.data(), digest.data() + 16, hash, 16);
  return hash % count == index;
}

std::string Shard::Text() const { return fmt::format("{}/{}", index, count); }

Shard ParseShard(std::string_view text) {
  const std::optional<std::pair<std::uint64_t, std::uint64_t>> shard = ParseWholeNumberPair(text);
  if (!shard || shard->second == 0)
    throw Error(fmt::format("--shard {}: expected I/N, for example 0/16 for the first of 16 parts", Printable(text)));
  const auto& [index, count] = *shard;
  if (index >= count)
    throw Error(
        fmt::format("--shard {}: I must be less than N (the last part is {}/{})", Printable(text), count - 1, count));
  return {index, count};
}

}  // namespace whyoom
