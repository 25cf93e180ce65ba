// The commands and their options: tables from which CLI11 parses, prints --help and completes.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "cli/options.h"

namespace whyoom {

inline constexpr const char* kTrying = "Compiling remedies";  // heading of the options that need --try

// An argument without "--"; it goes to Options::paths.
struct Positional {
  const char* name;
  const char* about;
  int most = -1;  // how often; -1: any number
  bool required = false;
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

}  // namespace whyoom
