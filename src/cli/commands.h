// The commands of the program and what each takes: the one definition that parsing, --help, the manual page and
// completions are made from. Nothing is parsed here.
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
  std::unique_ptr<CLI::App> app;  // writes to the Options it was built for
  ValueWords words;               // of options of `app` and of its subcommands
  std::string trailer;            // what follows that CLI11 does not see, as it is shown: "-- CMD ..."; may be empty
};

struct CommandDefinition {
  const char* name;  // the first argument; empty: none, that is to diagnose
  CommandArguments (*build)(Options* options);
};

// In the order in which a reader should meet them; the one without a name is first.
const std::vector<CommandDefinition>& Commands();

// The command that a command line begins with; the one without a name where `first_word` names none. A file of the name
// of a command is given as ./explain; so a path can never hide a command, nor the other way round.
const CommandDefinition& FindCommand(const std::string& first_word);

// Of the arguments of `run`: where the job's command begins, which is after "--", or with the first word that is no
// option of ours; its own options are left to it. The "--" counts as part of it.
std::size_t JobBegin(const CLI::App& app, const std::vector<std::string>& arguments);

// Whether `next`, the word behind an option of `run`, is its value. Where the option needs none only a number is, so
// that no command is taken for one.
bool TakesNextWord(const CLI::Option& option, const std::string& next);

// What groups of options --help shows.
constexpr const char* kInputs = "Inputs";
constexpr const char* kOutput = "Output";
constexpr const char* kSelection = "Which failures count";
constexpr const char* kBatches = "Batches";

void AddFormat(CLI::App& app, const Choices<Format>& formats, Options* options, ValueWords* words);
void AddForCi(CLI::App& app, Options* options);
void AddOutput(CLI::App& app, Options* options);
void AddCommon(CLI::App& app, Options* options, ValueWords* words);  // --output among them
void AddExitStatus(CLI::App& app, Options* options);
void AddDetail(CLI::App& app, Options* options);     // --brief, --all
void AddVerbose(CLI::App& app, Options* options);    // the opposite of --quiet, which AddCommon has
void AddSelection(CLI::App& app, Options* options);  // --select, --ignore, --baseline, --write-baseline
void AddFailOn(CLI::App& app, Options* options);     // of commands whose exit status tells what was found
void AddFramework(CLI::App& app, Options* options);  // of reports
void AddFilesFrom(CLI::App& app, Options* options, ValueWords* words);
void AddTimeRange(CLI::App& app, Options* options);
void AddBatches(CLI::App& app, Options* options, ValueWords* words);
void AddLimits(CLI::App& app, Limits* limits);  // of each path, with all that is packed in it

}  // namespace whyoom
