// Two runs of one job: what a change did, what is still over, which remedies seem to have been applied.
//
// Reports and dumps list allocations, not causes, so a remedy is only ever said to "seem" applied, and where two
// changes leave the same trace both are named: which leaves which is in the rule data (`traces`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "rules/expression.h"
#include "rules/rule_set.h"

namespace whyoom {

// What shows that the program of a run without a failure compiled or ran.
struct SuccessSign {
  enum class Kind {
    kDump,        // an XLA dump of a compile that fitted
    kStatement,   // a line that states what the compiled program needs, such as CompiledMemoryStats(...)
    kProgress,    // a line that is only printed once the program compiled: a training step with its loss
    kExitStatus,  // the record of `whyoom run`: the job's exit status was 0
  };
  Kind kind = Kind::kDump;
  std::string path;        // of the file that shows it
  std::uint64_t line = 0;  // in that file; 0: the file as a whole
  std::string text;        // of the line, shortened; empty where there is no line
};

// What is known of one run.
struct Run {
  std::string path;
  bool failed = false;
  bool measured = false;               // it did not fail, and a dump shows what it takes
  bool compiles = false;               // the figures are of a compile, not of a run
  std::optional<SuccessSign> success;  // absent: nothing shows that it compiled or ran
  std::string code;                    // of the failure; empty where only a dump tells of it
  std::string title;                   // of the failure
  Evidence facts;                      // of the failure or the dump
  std::vector<Allocation> allocations;
  std::size_t other_failures = 0;  // beside the one compared
};

// Whether AFTER fits. Follows from RunChange.
enum class DiffVerdict {
  kFits,       // it contains no memory failure, and something shows that its program compiled or ran
  kStillOver,  // it runs out of memory, or needs more than the limit
  kUnknown,    // it contains no memory failure, and nothing shows that its program compiled or ran
};

// What became of the failure from BEFORE to AFTER.
enum class RunChange {
  kFitsNow,       // BEFORE failed, AFTER fits
  kNeitherFails,  // AFTER fits, and BEFORE contains no failure either
  kNoEvidence,    // AFTER contains no failure, and nothing shows that it compiled or ran
  kFailsNow,      // only AFTER fails
  kOtherFailure,  // AFTER runs out of memory in another way
  kLess,          // less is over than before
  kUnchanged,     // to within the rounding of logs
  kWorse,         // more is over
  kCannotTell,    // AFTER still fails; whether by less is unknown
};

DiffVerdict VerdictOf(RunChange change);

// "still_over" and "fits_now": the ids in the JSON and in the rule data.
const char* VerdictId(DiffVerdict verdict);
const char* ChangeId(RunChange change);

// A figure of both runs; nullopt where it is not known.
struct TotalChange {
  std::string id;     // "need_bytes"
  std::string title;  // "needed"
  std::optional<std::int64_t> before;
  std::optional<std::int64_t> after;
};

enum class RowChangeKind { kSmaller, kLarger, kGone, kNew };

// Allocations that changed alike. Gone and new are meant of the lists: what is small enough is not listed.
struct RowChange {
  RowChangeKind kind = RowChangeKind::kGone;
  std::size_t count = 1;
  std::string name;  // short; op_name is the whole
  std::string op_name;
  std::string source;            // "train.py:17", may be empty
  std::string shape_before;      // empty: new
  std::string shape_after;       // empty: gone
  std::int64_t size_before = 0;  // of each
  std::int64_t size_after = 0;
  std::int64_t difference() const { return static_cast<std::int64_t>(count) * (size_after - size_before); }
};

// Something that changed and the remedies that leave such a trace; where there are several, it cannot be told which.
struct SeemingRemedy {
  std::vector<std::string> ids;
  std::string why;
};

struct Comparison {
  RunChange change = RunChange::kNoEvidence;
  std::string verdict_text;   // of the rule data, as are the totals' titles, the evidence, what seems and the notes
  std::string module_before;  // empty: not known
  std::string module_after;
  bool same_job = true;                     // false where the modules differ
  std::optional<std::int64_t> over_before;  // negative: free
  std::optional<std::int64_t> over_after;
  bool at_least_before = false;  // it counts the temporaries only, so more is over than it says
  bool at_least_after = false;
  std::vector<TotalChange> totals;  // those known of one run at least, and not 0 in all that is known
  bool rows_compared = false;       // both runs list their allocations
  std::vector<RowChange> rows;      // what changed most first
  std::size_t unchanged_rows = 0;
  std::vector<SeemingRemedy> seems;  // from what is listed
  std::vector<std::string> notes;
};

// `rules` say which remedy a change is.
Comparison Compare(const Run& before, const Run& after, const RuleSet& rules);

// A fact in bytes (or another whole number). Arguments and outputs of a report that counts temporaries only are not
// known, whatever it prints.
std::optional<std::int64_t> Bytes(const Run& run, std::string_view name);

// The same of a run that failed, see facts/evidence.h.
bool CountsTemporariesOnly(const Run& run);

// Padding of both, from the same kind of figure where there is one that both have.
TotalChange Padding(const Run& before, const Run& after);

std::string ShapeOf(const Allocation& row);   // without layout
std::string SourceOf(const Allocation& row);  // "train.py:17"; empty: not known

struct RowPair {
  const Allocation* before = nullptr;
  const Allocation* after = nullptr;
  std::int64_t factor = 1;  // the dimensions of `divided` axes were divided by it; 1: none was
  std::vector<std::size_t> divided;
};

struct MatchedRows {
  std::vector<RowPair> pairs;
  std::vector<const Allocation*> gone;
  std::vector<const Allocation*> added;
};

// Finds again, in the second of two reports, the allocations of the first. Borrows the rows; those without a size are
// left out.
//
// Nothing in a report names an allocation for good: instructions are numbered anew by each compile, and a change of the
// program changes op names. So the surest signs are tried first, and each row is used once:
//   1. the op name and what the shape keeps: all of it; the dimensions (element type changed); the number of elements
//      (dimensions moved or merged); all dimensions but some that are divided by one whole number;
//   2. without the op name: shape; dimensions (element type changed), where the shape occurs once;
//   3. the op name alone, where it occurs once on both sides.
MatchedRows MatchRows(const std::vector<Allocation>& before, const std::vector<Allocation>& after);

// What the rule data may name where it speaks of two runs of one job: before.FACT and after.FACT, and in a function
// over the rows before.FIELD and after.FIELD of each listed allocation. One that both list is one row, with what became
// of it; one that only one of them lists has fields of that one alone. See "traces and notes" in rules/README.md.
class ComparisonScope : public Scope {
 public:
  // Borrows all. `matched` is empty where not both list their allocations.
  ComparisonScope(const RuleSet& rules, const Run& before, const Run& after, const Comparison& comparison,
                  const MatchedRows& matched);

  Value Get(std::string_view name) const override;
  std::size_t row_count() const override { return rows_.size(); }
  Value GetInRow(std::size_t row, std::string_view name) const override;

 private:
  Value OfRun(const Run& run, bool is_before, std::string_view name) const;

  const RuleSet& rules_;
  const Run& before_;
  const Run& after_;
  const Comparison& comparison_;
  TotalChange padding_;
  std::vector<RowPair> rows_;  // those that both list first; of the others one half is null
  std::int64_t divided_most_by_ = 1;
};

}  // namespace whyoom
