// Compares two runs of one job: what was changed, and what is still over the limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "facts/array.h"
#include "facts/evidence.h"
#include "facts/failure.h"
#include "rules/rule_set.h"

namespace whyoom {

// Evidence that the program of a run without a failure compiled or ran.
struct SuccessSign {
  enum class Kind {
    kDump,       // an XLA dump of a compile that fitted
    kStatement,  // a line with the memory of the compiled program, such as CompiledMemoryStats(...)
    kProgress,   // a line that is printed only after the compile: a training step with its loss
  };
  Kind kind = Kind::kDump;
  std::string path;        // of the file with the evidence
  std::uint64_t line = 0;  // in that file; 0: the whole file
  std::string text;        // the line, shortened; empty if there is none
};

struct Run {
  std::string path;
  bool failed = false;
  bool compiles = false;               // the figures are of a compile, not of a run
  std::optional<SuccessSign> success;  // nullopt: no evidence that it compiled or ran
  std::string code;                    // of the failure; empty if only a dump shows it
  std::string title;                   // of the failure
  Evidence facts;                      // of the failure or the dump
  std::vector<Allocation> allocations;
  std::size_t other_failures = 0;  // failures besides the compared one
};

// Whether AFTER fits; determined by RunChange.
enum class DiffVerdict {
  kFits,       // no memory failure, and evidence that its program compiled or ran
  kStillOver,  // it runs out of memory, or needs more than the limit
  kUnknown,    // no memory failure, but no evidence that its program compiled or ran
};

// How the failure changed from BEFORE to AFTER.
enum class RunChange {
  kFitsNow,       // BEFORE failed, AFTER fits
  kNeitherFails,  // AFTER fits, and BEFORE did not fail either
  kNoEvidence,    // AFTER did not fail, but there is no evidence that BEFORE's program compiled or ran
  kFailsNow,      // only AFTER fails
  kOtherFailure,  // AFTER runs out of memory in another way
  kLess,          // AFTER needs less, but is still over
  kUnchanged,     // equal within the rounding of logs
  kWorse,         // AFTER needs more
  kCannotTell,    // AFTER is still over; whether it needs less is unknown
};

enum class RowChangeKind { kSmaller, kLarger, kGone, kNew };

DiffVerdict VerdictOf(RunChange change);

// Ids in the JSON and the rules: "still_over", "fits_now", "smaller".
const char* VerdictId(DiffVerdict verdict);
const char* ChangeId(RunChange change);
const char* ChangeId(RowChangeKind change);

// A figure of both runs; nullopt if unknown.
struct TotalChange {
  std::string id;     // "need_bytes"
  std::string title;  // "needed"
  std::optional<std::int64_t> before;
  std::optional<std::int64_t> after;
};

// Allocations that changed in the same way. kGone and kNew refer to the lists, which omit small allocations.
struct RowChange {
  RowChangeKind kind = RowChangeKind::kGone;
  std::size_t count = 1;
  std::string name;  // short form of op_name
  std::string op_name;
  std::string source;            // "train.py:17", may be empty
  std::string shape_before;      // empty: new
  std::string shape_after;       // empty: gone
  std::int64_t size_before = 0;  // per allocation
  std::int64_t size_after = 0;
  std::int64_t difference() const { return static_cast<std::int64_t>(count) * (size_after - size_before); }
};

// The facts that a comparison finds in one of its runs.
struct RunFigures {
  std::string module;                // empty: unknown
  std::optional<std::int64_t> over;  // need minus limit; negative: bytes left
  bool at_least = false;             // the need counts only temporaries, so the true figure is larger
};

struct Comparison {
  RunChange change = RunChange::kNoEvidence;
  std::string verdict_text;  // from the rules, like the titles and notes below
  RunFigures before;
  RunFigures after;
  bool same_job = true;             // false if the modules differ
  std::vector<TotalChange> totals;  // known for at least one run, and not 0
  bool rows_compared = false;       // both runs list their allocations
  std::vector<RowChange> rows;      // largest change first
  std::size_t unchanged_rows = 0;
  std::vector<std::string> notes;
};

// Compares the two runs. `rules` provide the sentences, which may use the names that docs/rules-language.md lists:
// before.FACT, after.FACT and others.
//
// Nothing identifies an allocation across compiles: instructions are renumbered, and op names change with the program.
// So the most reliable criteria are tried first, and each row is used once, in order of size: the op name and the
// shape; the op name; the shape; the dimensions (the element type changed). Rows without a size are ignored.
//
// A run that failed may count only its temporaries, see facts/evidence.h. Its arguments and outputs are then unknown,
// whatever it prints.
Comparison Compare(const Run& before, const Run& after, const RuleSet& rules);

// The failures of two runs to compare, borrowed: same code and module, else same code, else the first of each; null if
// a run has no failure.
using FailurePair = std::pair<const Failure*, const Failure*>;
FailurePair MatchFailures(const std::vector<Failure>& before, const std::vector<Failure>& after);

}  // namespace whyoom
