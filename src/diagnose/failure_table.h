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

  // Borrows the rules.
  explicit FailureTable(const RuleSet& rules) : rules_(&rules) {}

  // Sets the framework whose steps the remedies show; empty: the log's. Affects only failures without conclusions.
  void SetFramework(const std::string& id) { framework_ = id; }
  // Adds the fact no_dump to failures, because an XLA dump was requested but there is none.
  void SetNoDump() { no_dump_ = true; }

  // Sets the compiles of a module. Diagnoses of the module's failures use them. Call before AddDump and Finish.
  void SetRecompilation(Recompilation recompilation) { recompilation_ = std::move(recompilation); }

  // Maximum number of failures to record: one needs tens of milliseconds.
  static constexpr std::size_t kMostRecorded = 20;
  // Records the conclusions of the first failures (of those at this line, unless it is 0). Borrows the recorder.
  void SetRecorder(Recorder* recorder, std::uint64_t line) {
    recorder_ = recorder;
    recorded_line_ = line;
  }

  // Adds a failure with its id, tally and completeness. If the table contains the id, keeps the more complete
  // failure, see JoinFailures. Masks secrets. A failure of another process may already have conclusions.
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
  void ReportLimits(std::vector<Problem>* problems) const;

  const RuleSet* rules_;
  std::map<std::string, std::map<std::string, Failure>> by_code_;  // then by id
  std::map<std::string, std::uint64_t> left_out_;
  ProgramTable programs_;
  std::string framework_;  // empty: the one seen in the artifacts and dumps
  bool no_dump_ = false;
  Recorder* recorder_ = nullptr;
  std::uint64_t recorded_line_ = 0;
  std::size_t recorded_ = 0;  // number of failures
  std::optional<Recompilation> recompilation_;
};

// The compiles that failures of logs report, so that a failure of the dump itself would report them twice.
struct LoggedDumps {
  void Add(const Failure& failure);  // ignores a failure of a dump

  // Of dumps that a failure uses: the module and its need in bytes, which a copy of the dump has, too.
  std::set<std::pair<std::string, double>> used;
  std::set<std::string> named;  // modules that a failure with its own list names
};

// Joins two failures with the same id: keeps the more complete one, or else the first by path, member and offset, and
// joins their tallies. Keeps the conclusions of the kept one.
void JoinFailures(Failure failure, Failure* kept);

// Approximate memory of a row; the same on every machine.
std::uint64_t RowBytes(const Allocation& row);

}  // namespace whyoom
