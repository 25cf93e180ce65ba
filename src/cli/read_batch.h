// Reads all inputs that the command line and its list name, those of other shards and those that an earlier run has
// done aside; shows how far it is, and stops early where a signal says so.
#pragma once

#include "cli/options.h"
#include "cli/output_files.h"
#include "diagnose/read_input.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "rules/rule_source.h"

namespace whyoom {

struct BatchResult {
  Readings readings;  // of what was read; its problems say what was not
  int signal = 0;     // that ended it early; 0: none
};

// Files of XLA dumps are not read but added to `dump`. Throws Error where the list or the state of an earlier run
// cannot be used, or an input is one of `outputs`.
BatchResult ReadBatch(const Engine& engine, const RuleSource& rules, const Options& options, const OutputFiles& outputs,
                      XlaDump* dump);

}  // namespace whyoom
