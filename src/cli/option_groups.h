// Options that several commands share, a group a function. Each adds to `app` what it then writes to `options`, which
// must outlive `app`, and notes in `words` which values are one of a few.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/choices.h"
#include "cli/options.h"

namespace whyoom {

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
