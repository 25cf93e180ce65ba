// Reads all inputs that the command line and its list name, those of other shards and those that an earlier run has
// done aside; shows how far it is, and stops early where a signal says so.
#pragma once

#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output_files.h"
#include "cli/told.h"
#include "diagnose/read_input.h"
#include "input/read_control.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "rules/rule_source.h"

namespace whyoom {

// What was read; its problems say what was not. It ends early where `control` says so, because of `interrupt`. Files of
// XLA dumps are not read but added to `dump`. Throws Error where the list or the journal of --resume cannot be
// used, or an input is one of `outputs`.
Readings ReadBatch(const Engine& engine, const RuleSource& rules, const Options& options, const OutputFiles& outputs,
                   const Interrupt& interrupt, const Told& told, ReadControl* control, XlaDump* dump);

}  // namespace whyoom
