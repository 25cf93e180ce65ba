// Two runs of one job: what a change did, what is still over, which remedies seem to have been applied.
//
// Reports and dumps list allocations, not causes, so a remedy is only ever said to "seem" applied, and where two
// changes leave the same trace both are named: which leaves which is in the rule data (`traces`).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
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

}  // namespace whyoom
