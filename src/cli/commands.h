// Defines the commands and their options, once for parsing, --help and the manual page.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/choices.h"
#include "cli/options.h"

namespace whyoom {

// The arguments of one command.
struct CommandArguments {
  std::unique_ptr<CLI::App> app;  // writes to the Options passed to `build`
};

struct CommandDefinition {
  const char* name;  // first argument; empty for the default command (diagnose)
  CommandArguments (*build)(Options* options);
};

// In display order; the default command is first.
const std::vector<CommandDefinition>& Commands();

// Returns the command called `first_word`, or the default command. A file that has the name of a command must be
// written ./explain.
const CommandDefinition& FindCommand(const std::string& first_word);

// Returns the index in the arguments of `run` at which the job's command begins: the "--", or the first word that is
// neither an option nor an option's value.
std::size_t JobBegin(const CLI::App& app, const std::vector<std::string>& arguments);

// Returns whether `next`, the word after an option of `run`, is the option's value. If the value is optional, only a
// number counts, so that a command is never mistaken for a value.
bool TakesNextWord(const CLI::Option& option, const std::string& next);

// Headings of the option groups in --help.
constexpr const char* kInputs = "Inputs";
constexpr const char* kOutput = "Output";
constexpr const char* kSelection = "Which failures count";
constexpr const char* kBatches = "Batches";
constexpr const char* kTrying = "Compiling remedies";

void AddFormat(CLI::App& app, const Choices<Format>& formats, Options* options);
void AddForCi(CLI::App& app, Options* options);
void AddOutput(CLI::App& app, Options* options);
void AddCommon(CLI::App& app, Options* options);
void AddExitStatus(CLI::App& app, Options* options);
void AddDetail(CLI::App& app, Options* options);     // --brief, --all
void AddVerbose(CLI::App& app, Options* options);    // AddCommon adds --quiet
void AddSelection(CLI::App& app, Options* options);  // --select, --ignore, --baseline, --write-baseline
void AddFailOn(CLI::App& app, Options* options);     // for commands whose exit status depends on what was found
void AddFramework(CLI::App& app, Options* options);
void AddFilesFrom(CLI::App& app, Options* options);
void AddTimeRange(CLI::App& app, Options* options);

// Parses a bound as users write it: what ParseTimestamp accepts; a date, meaning its midnight; a date and time without
// seconds; or a time before `now`: "45s", "30m", "2h", "7d". Returns nullopt for anything else.
std::optional<Timestamp> ParseTimeBound(std::string_view text, const Timestamp& now);

void AddBatches(CLI::App& app, Options* options);
void AddHbm(CLI::App& app, Options* options);
void AddTry(CLI::App& app, Options* options);
void AddLimits(CLI::App& app, Limits* limits);  // per path, including everything packed in it

}  // namespace whyoom
