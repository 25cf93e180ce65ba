// The commands and their options: tables from which CLI11 parses, prints --help and completes.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"

namespace whyoom {

// Headings of the option groups in --help.
inline constexpr const char* kOptions = "Options";
inline constexpr const char* kInputs = "Inputs";
inline constexpr const char* kOutput = "Output";
inline constexpr const char* kSelection = "Which failures count";
inline constexpr const char* kBatches = "Batches";
inline constexpr const char* kTrying = "Compiling remedies";
inline constexpr const char* kLimits = "Limits per input";

// An argument without "--"; it goes to Options::paths.
struct Positional {
  enum class Count { kAny, kAtMostOne, kOne };
  const char* name;
  const char* about;
  Count count = Count::kAny;
};

struct CommandDefinition {
  const char* name;  // the first words: "rules list"; empty for the default command
  Command command;
  const char* about;
  std::vector<Positional> positionals;
};

// In display order; the default command is first.
const std::vector<CommandDefinition>& Commands();

// Returns the command that the arguments begin with, or the default command. A file that has the name of a command
// must be written ./explain.
const CommandDefinition& FindCommand(const std::vector<std::string>& arguments);

// The parser of the command's arguments; it writes to `options`.
std::unique_ptr<CLI::App> MakeParser(const CommandDefinition& command, Options* options);

// Adds the options of the command (option_table.cc).
void AddOptions(CLI::App& app, Command command, Options* options);

}  // namespace whyoom
