// Reports dumps given as inputs: why a compile failed or, if all succeeded, what the programs need and what else would
// fit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagnose/report.h"
#include "facts/evidence.h"
#include "program/xla_dump.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

// Parses a memory limit: a size as messages print it ("15.75G"), or the usable memory of a chip by name ("v5e").
// Returns nullopt for anything else.
std::optional<double> ParseLimit(const std::string& text, const RuleSet& rules);

// Parses the text of a dump's target_arguments.txt. Returns the facts `chip`, for which the program was compiled, and
// `limit_bytes`, its usable memory; none if it names no known chip.
Evidence TargetOfDump(const RuleSet& rules, std::string_view text);

// As TargetOfDump, of a module. Returns no facts if the user changed settings of its memory.
Evidence TargetOfModule(const RuleSet& rules, const XlaDump::Module& module);

// Adds the failures of the modules in `dump` to the table of `found`, which must exist. Reports the failed modules of
// each folder, at most a dozen per name, and modules of one name with the same need once. If none failed, reports the
// modules whose need is at least a few percent of the largest. Skips dumps that failures in the table use, see
// LoggedCompiles. `limit` is the memory of a device; if absent, uses what the dump states. Adds missing or unreliable
// files to the problems, and counts the modules and the bytes of their files.
void ReportDumps(const XlaDump& dump, const Engine& engine, const std::optional<double>& limit, Report* found);

}  // namespace whyoom
