// What dumps that were given to be read say by themselves: why a compile failed, or, of those that fitted, what the
// programs take and how much room is left.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/finding_table.h"
#include "input/artifact.h"
#include "program/xla_dump.h"
#include "rules/rule_set.h"

namespace whyoom {

// A size as messages print it ("15.75G") or a chip by its name ("v5e"): what of its memory is usable. nullopt for
// anything else.
std::optional<double> ParseLimit(const std::string& text, const RuleSet& rules);

// The chip that a program was compiled for, and what of its memory is usable.
struct DumpTarget {
  double limit_bytes = 0;
  std::string chip;
};

// Of the text of a dump's target_arguments.txt; nullopt where no chip's target is found in it.
std::optional<DumpTarget> TargetOfDump(const RuleSet& rules, std::string_view text);

struct DumpCount {
  std::uint64_t modules = 0;  // that were looked at
  std::uint64_t bytes = 0;    // of their files
};

// Adds to the table what the modules say that `dump` was given as inputs. In each folder those that failed are
// reported, each failure of a name once, the last dozen; where none failed, those that need more than a few per cent of
// what the largest needs. A failure that a log tells of, too, is that log's in the end, see FindingTable::Finish.
// `limit` is what a device has; absent: what the dump tells itself, if it does. What lacks of a module, or cannot be
// relied on, is among the problems.
DumpCount ReportDumps(const XlaDump& dump, const RuleSet& rules, const std::optional<double>& limit,
                      FindingTable* table, std::vector<Problem>* problems);

}  // namespace whyoom
