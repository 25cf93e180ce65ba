// Joins the failures of many artifacts in a table of failures by id. Joining is independent of order and grouping, also
// at the limits, so artifacts can be read in parallel, in parts and on many machines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "facts/compiled_program.h"
#include "facts/failure.h"
#include "input/artifact.h"
#include "program/xla_dump.h"
#include "rules/recorder.h"
#include "rules/rule_set.h"

namespace whyoom {

class FailureTable {
 public:
  // Maximum number of different failures per code; keeps the smallest ids, so that order does not matter.
  static constexpr std::size_t kMostOfCode = 1000;

  // The evidence besides the failures. Affects only failures without conclusions.
  struct Settings {
    std::string framework;                       // whose steps the remedies show; empty: the log's
    bool no_dump = false;                        // adds the fact no_dump: a requested XLA dump does not exist
    std::optional<Recompilation> recompilation;  // the compiles of a module, for the module's failures
    Recorder* recorder = nullptr;                // records the first kMostRecorded conclusions; borrowed
    std::uint64_t recorded_line = 0;             // only those of failures at this line; 0: all
  };
  static constexpr std::size_t kMostRecorded = 20;  // one needs tens of milliseconds
  Settings settings;                                // set before AddDump and Finish

  // Borrows the rules.
  explicit FailureTable(const RuleSet& rules) : rules_(&rules) {}

  // Adds a failure with its id, tally and completeness. If the table contains the id, joins the tallies and keeps
  // the more complete failure, or else the first by path, member and offset, with its conclusions. Masks secrets. A
  // failure of another process may already have conclusions.
  void Add(Failure failure);

  // Counts reports of failures that are not kept.
  void LeaveOut(const std::string& code, std::uint64_t reports);

  // Commutative and associative; an empty table is neutral.
  void Join(FailureTable other);

  // Adds the allocation list of the same compile's dump to failures whose logs have none. Call before Finish.
  void AddDump(const XlaDump& dump);

  // Returns all diagnoses, root causes first. Drops failures of dumps that a log also reports. Adds limits and
  // unreadable dump files to `problems`. Call once, at the end.
  std::vector<Failure> Finish(std::vector<Problem>* problems);

  // All current entries, by code and id. Borrowed until the table changes.
  std::vector<const Failure*> entries() const;

  // Compiled programs that were found, independent of failures; joined like failures.
  ProgramTable& programs() { return programs_; }
  const ProgramTable& programs() const { return programs_; }

  // Number of reports dropped, by code.
  const std::map<std::string, std::uint64_t>& left_out() const { return left_out_; }

 private:
  void Keep(Failure failure);
  Failure Concluded(Failure failure);

  const RuleSet* rules_;
  std::map<std::string, std::map<std::string, Failure>> by_code_;  // then by id
  std::map<std::string, std::uint64_t> left_out_;
  ProgramTable programs_;
  std::size_t recorded_ = 0;  // number of failures
};

// The compiles that failures of logs report, so that a failure of the dump itself would report them twice: the module,
// and its need in bytes, which a copy of the dump has, too. Without a need: all compiles of the module.
using LoggedCompiles = std::set<std::pair<std::string, std::optional<double>>>;
void AddCompile(const Failure& failure, LoggedCompiles* logged);  // ignores a failure of a dump

}  // namespace whyoom
