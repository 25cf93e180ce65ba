// Compares two runs of one job: what was changed, and what is still over the limit.
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

// Evidence that the program of a run without a failure compiled or ran.
struct SuccessSign {
  enum class Kind {
    kDump,        // an XLA dump of a compile that fitted
    kStatement,   // a line with the memory of the compiled program, such as CompiledMemoryStats(...)
    kProgress,    // a line that is printed only after the compile: a training step with its loss
    kExitStatus,  // a record of `whyoom run` with exit status 0
  };
  Kind kind = Kind::kDump;
  std::string path;        // of the file with the evidence
  std::uint64_t line = 0;  // in that file; 0: the whole file
  std::string text;        // the line, shortened; empty if there is none
};

struct Run {
  std::string path;
  bool failed = false;
  bool measured = false;               // it did not fail, and a dump shows what it needs
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

DiffVerdict VerdictOf(RunChange change);

// Ids in the JSON and the rules: "still_over", "fits_now".
const char* VerdictId(DiffVerdict verdict);
const char* ChangeId(RunChange change);

// A figure of both runs; nullopt if unknown.
struct TotalChange {
  std::string id;     // "need_bytes"
  std::string title;  // "needed"
  std::optional<std::int64_t> before;
  std::optional<std::int64_t> after;
};

enum class RowChangeKind { kSmaller, kLarger, kGone, kNew };

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

struct Comparison {
  RunChange change = RunChange::kNoEvidence;
  std::string verdict_text;   // from the rules, like the titles and notes below
  std::string module_before;  // empty: unknown
  std::string module_after;
  bool same_job = true;                     // false if the modules differ
  std::optional<std::int64_t> over_before;  // negative: bytes left
  std::optional<std::int64_t> over_after;
  bool at_least_before = false;  // counts only temporaries, so the true figure is larger
  bool at_least_after = false;
  std::vector<TotalChange> totals;  // known for at least one run, and not 0
  bool rows_compared = false;       // both runs list their allocations
  std::vector<RowChange> rows;      // largest change first
  std::size_t unchanged_rows = 0;
  std::vector<std::string> notes;
};

// Compares the two runs. `rules` provide the sentences.
Comparison Compare(const Run& before, const Run& after, const RuleSet& rules);

// A fact in bytes, or another whole number. Returns nullopt for arguments and outputs of a report that counts only
// temporaries, whatever it prints.
std::optional<std::int64_t> Bytes(const Run& run, std::string_view name);

// False for a run that did not fail; else see facts/evidence.h.
bool CountsTemporariesOnly(const Run& run);

struct RowPair {
  const Allocation* before = nullptr;
  const Allocation* after = nullptr;
};

struct MatchedRows {
  std::vector<RowPair> pairs;
  std::vector<const Allocation*> gone;
  std::vector<const Allocation*> added;
};

// Finds the allocations of the first report in the second one. Borrows the rows; skips rows without a size.
//
// Nothing identifies an allocation across compiles: instructions are renumbered, and op names change with the program.
// So the most reliable criteria are tried first, and each row is used once, in order of size: the op name and the
// shape; the op name; the shape; the dimensions (the element type changed).
MatchedRows MatchRows(const std::vector<Allocation>& before, const std::vector<Allocation>& after);

// The names that the rules can use when comparing two runs: before.FACT, after.FACT and others, see
// docs/rules-language.md.
class ComparisonScope : public Scope {
 public:
  // Borrows its arguments.
  ComparisonScope(const Run& before, const Run& after, const Comparison& comparison)
      : before_(before), after_(after), comparison_(comparison) {}

  Value Get(std::string_view name) const override;

 private:
  Value OfRun(const Run& run, bool is_before, std::string_view name) const;

  const Run& before_;
  const Run& after_;
  const Comparison& comparison_;
};

}  // namespace whyoom
