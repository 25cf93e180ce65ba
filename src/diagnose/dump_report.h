// Reports dumps given as inputs: why a compile failed or, if all succeeded, what the programs need and what else would
// fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/failure_table.h"
#include "input/artifact.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

// Parses a memory limit: a size as messages print it ("15.75G"), or the usable memory of a chip by name ("v5e").
// Returns nullopt for anything else.
std::optional<double> ParseLimit(const std::string& text, const RuleSet& rules);

// The chip that a program was compiled for, and its usable memory.
struct DumpTarget {
  double limit_bytes = 0;
  std::string chip;
};

// Parses the text of a dump's target_arguments.txt; nullopt if it names no known chip.
std::optional<DumpTarget> TargetOfDump(const RuleSet& rules, std::string_view text);

// Returns the target of a module; nullopt if the chip is unknown or the user changed settings of its memory.
std::optional<DumpTarget> TargetOfModule(const RuleSet& rules, const XlaDump::InputModule& module);

struct DumpCount {
  std::uint64_t modules = 0;  // number examined
  std::uint64_t bytes = 0;    // of their files
};

// Adds the failures of the modules in `dump` to the table. Reports the failed modules of each folder, at most a dozen
// per name, and modules of one name with the same need once. If none failed, reports the modules whose need is at least
// a few percent of the largest. Skips dumps that failures in the table use, see LoggedDumps. `limit` is the
// memory of a device; if absent, uses what the dump states. Adds missing or unreliable files to `problems`.
DumpCount ReportDumps(const XlaDump& dump, const Engine& engine, const std::optional<double>& limit,
                      FailureTable* table, std::vector<Problem>* problems);

}  // namespace whyoom
