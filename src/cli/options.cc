#include "cli/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>
#include <utility>

#include "cli/commands.h"

namespace whyoom {
namespace {

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

// What follows is the job's own, so it is taken off before CLI11 reads.
std::optional<EarlyExit> ParseRun(CLI::App& app, const std::vector<std::string>& arguments, Options* options) {
  const std::size_t begin = JobBegin(app, arguments);
  const auto command = arguments.begin() + static_cast<std::ptrdiff_t>(begin);
  options->job.assign(command, arguments.end());
  if (!options->job.empty() && options->job[0] == "--") options->job.erase(options->job.begin());
  std::optional<EarlyExit> early = Parse(app, {arguments.begin(), command});
  if (!early && options->job.empty()) return EarlyExit{2, "whyoom: no command to run: whyoom run -- CMD ...\n"};
  return early;
}

}  // namespace

std::optional<EarlyExit> ParseOptions(const std::vector<std::string>& arguments, Options* options) {
  if (!arguments.empty() && arguments[0] == "__complete") {
    options->command = Command::kComplete;
    options->words.assign(arguments.begin() + 1, arguments.end());
    if (!options->words.empty() && options->words[0] == "--") options->words.erase(options->words.begin());
    return std::nullopt;
  }
  const CommandDefinition& command = FindCommand(arguments.empty() ? "" : arguments[0]);
  const bool named = *command.name != '\0';
  const CommandArguments built = command.build(options);
  const std::vector<std::string> rest(arguments.begin() + (named ? 1 : 0), arguments.end());
  if (options->command == Command::kRun) return ParseRun(*built.app, rest, options);
  std::optional<EarlyExit> early = Parse(*built.app, rest);
  return early || named ? early : CheckTogether(*built.app, *options);
}

}  // namespace whyoom
