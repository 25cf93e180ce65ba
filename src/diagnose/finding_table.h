// What many artifacts say together: a table of failures by id. Tables join in any order and grouping to the same table,
// so that artifacts may be read in parallel, in parts and on many machines; all limits keep that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "diagnose/diagnosis.h"
#include "facts/compiled_program.h"
#include "input/artifact.h"
#include "program/xla_dump.h"
#include "rules/rule_set.h"

namespace whyoom {

class FindingTable {
 public:
  // Different failures of one code that are kept: those with the smallest ids, which does not depend on who came first.
  static constexpr std::size_t kMostOfCode = 1000;
  // What all lists of allocations of a code, or of an artifact, may hold together: memory must not grow with the logs.
  static constexpr std::uint64_t kMaxRowBytes = std::uint64_t{64} << 20;

  // Borrows the rules.
  explicit FindingTable(const RuleSet& rules) : rules_(&rules) {}

  // A finding; or its diagnosis, where that was made already: what it was made of had to go, or was never here.
  using Entry = std::variant<Finding, Diagnosis>;

  // Whose steps the remedies show, whatever the log shows; empty: the log's. Of findings that are not concluded yet.
  void SetFramework(const std::string& id) { framework_ = id; }
  // An XLA dump was asked for, and there is none: what is concluded then has the fact no_dump.
  void SetNoDump() { no_dump_ = true; }

  // Asked for each finding that is concluded: what to record into; null: nothing.
  using RecorderFor = std::function<Recorder*(const Finding&)>;
  void SetRecorder(RecorderFor recorder_for) { recorder_for_ = std::move(recorder_for); }

  // Adds a finding with its id, tally and fullness; of one that is here already the fuller is kept, see JoinFindings.
  // Masks secrets in it.
  void Add(Entry entry);

  // Counts reports of failures that are not kept.
  void LeaveOut(const std::string& code, std::uint64_t reports);

  // Commutative and associative; an empty table is neutral.
  void Join(FindingTable other);

  // Findings whose logs list no allocations take the list from the dump of the same compile. After SetFramework and
  // SetNoDump, since it may conclude findings; before Finish.
  void AddDump(const XlaDump& dump);

  // What follows from all of it, root causes first; what a dump says by itself of a failure that a log tells of, too,
  // goes. To `problems`: what of a dump cannot be read, limits. Call once, at the end.
  std::vector<Diagnosis> Finish(std::vector<Problem>* problems);

  // All as they are now, by code and id. Borrowed until the table changes.
  std::vector<const Entry*> entries() const;

  // What was found of programs that were compiled, failure or not; joined as the findings are.
  ProgramTable& programs() { return programs_; }
  const ProgramTable& programs() const { return programs_; }

  // Reports that were left out, by code.
  const std::map<std::string, std::uint64_t>& left_out() const { return left_out_; }

 private:
  struct OfCode {
    std::map<std::string, Entry> by_id;
    std::uint64_t row_bytes = 0;  // held; at least
  };
  void Keep(Entry entry);
  Diagnosis ToDiagnosis(Entry entry) const;
  void DropRows(OfCode* of_code) const;
  void ReportLimits(const std::vector<Diagnosis>& diagnoses, std::vector<Problem>* problems) const;

  const RuleSet* rules_;
  std::map<std::string, OfCode> by_code_;
  std::map<std::string, std::uint64_t> left_out_;
  ProgramTable programs_;
  std::string framework_;  // empty: what the artifacts and dumps show
  bool no_dump_ = false;
  RecorderFor recorder_for_;
};

// What is known of an entry without its verdict.
const Finding& FindingOf(const FindingTable::Entry& entry);

// Makes one finding of two with the same id: the fuller one is kept whole, of equally full ones the one that stands
// first by path, member and offset; their tallies are joined.
void JoinFindings(Finding finding, Finding* kept);

// About what the list of allocations takes in memory; the same on every machine.
std::uint64_t RowBytes(const Finding& finding);

}  // namespace whyoom
