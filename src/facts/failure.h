// One failure, from its first line to the last conclusion: what one stream printed (read/session.h), then joined over
// streams and artifacts (diagnose/failure_table.h), then, once Conclude (diagnose/conclude.h) has drawn them, with the
// conclusions: the scenario, the reasons, and the ranked remedies.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "facts/array.h"
#include "facts/compiled_program.h"
#include "facts/evidence.h"
#include "input/artifact.h"
#include "rules/rule_set.h"
#include "text/timestamp.h"

namespace whyoom {

enum class Confidence { kLow, kMedium, kHigh };

// A sentence about this log, and the line that proves it.
struct Reason {
  std::string text;
  std::uint64_t line = 0;  // 0: no single line
  std::string mistake;     // Sentence::mistake
  std::string cure;        // Sentence::cure
};

// A line of the user's sources that the diagnosis names.
struct CodeLine {
  std::string file;  // its last part
  std::int64_t line = 0;
  std::string text;
  std::string path;  // relative to the root of the sources; empty if unknown
};

// Figures of the log that cannot all be right. They are removed from the facts, and nothing is derived from them.
struct Contradiction {
  std::string id;  // of the rule
  std::string text;
  std::uint64_t line = 0;  // 0: no single line
  Evidence figures;        // as read from the log
};

// A line that shows that a job went on after a failure.
struct SurvivalSign {
  std::string text;  // shortened and printable
  std::uint64_t line = 0;
};

// The sort key of a remedy, see diagnose/rank.cc; compared member by member in this order.
struct RankReasons {
  bool finds_out = false;    // an inquiry that must come first, because the scenario is unknown
  bool free = false;         // listed separately, after the others
  bool confirmed = false;    // the compiler confirmed that it is enough alone
  bool falls_short = false;  // not enough, not even with any other remedy
  bool supported = false;    // the log supports it, or it is enough, alone or in a compiled pair
  bool too_little = false;
  bool gamble = false;     // has no estimate although others have one from the program or the list
  bool undoes = false;     // it is enough and undoes a mistake that the report names
  int cost = 0;            // for the user; 0 if the log does not support the remedy
  bool estimated = false;  // it is known whether the remedy is enough
  bool doubtful = false;   // the spread of the estimate includes the opposite result
  int prior = 0;           // the order in the rule data
};

struct RankedRemedy {
  int rank = 0;
  std::optional<RankReasons> rank_reasons;  // absent if read from a report of a version that did not record them
  const Remedy* remedy = nullptr;
  std::string section;
  std::optional<std::int64_t> saves_bytes;
  std::optional<std::int64_t> left_bytes;    // the program's need with the remedy
  std::optional<std::int64_t> spread_bytes;  // uncertainty of left_bytes
  std::string basis;                         // of the figures: "program", "list", "compiled"; empty if there are none
  std::optional<CompiledBasis> compiled;     // if the basis is "compiled"
  std::string patch;                         // of what was compiled, as CompiledAttempt
  std::optional<std::int64_t> verified_bytes;
  std::int64_t parts = 0;                // number of devices, steps or pieces assumed
  std::optional<AxisLocation> axis;      // the axis that is split into them; only if estimated on the program
  std::optional<ArraySplit> split;       // as Effect::split
  bool at_least = false;                 // saves_bytes covers only the listed part, and most of the need is not listed
  std::optional<bool> enough;            // alone
  bool borderline = false;               // the opposite of `enough` is possible
  std::vector<std::string> enough_with;  // remedy ids, in order of rank
  bool free = false;                     // costs nothing and is not enough alone: listed separately
  std::vector<Reason> why;
  std::vector<std::string> how;  // steps for the log's framework, with placeholders filled
  std::string safety;            // of the remedy, or overridden by a condition on this log
  std::string safe_why;
};

struct RuledOut {
  const Remedy* remedy = nullptr;
  std::string why;
};

// How complete a failure's report is. If many artifacts report one failure, the most complete report is kept. Computed
// before data from a dump is added.
struct Completeness {
  std::uint64_t row_bytes = 0;  // of its allocation list; compared first, so joining failures never decreases it
  bool whole = true;            // false: a fragment of a message, with low confidence only
  std::uint64_t numbers = 0;    // number of known facts among those that high confidence requires
  std::uint64_t facts = 0;

  friend auto operator<=>(const Completeness&, const Completeness&) = default;
};

// A set of distinct names. Beyond 1024 names, keeps those with the smallest hashes and estimates the number of names
// from their density (a "k minimum values" sketch; the standard error is about 3 %).
struct NameSample {
  // Replaces control characters, masks secrets and cuts long names.
  void Add(const std::string& name);
  void Join(const NameSample& other);
  std::vector<std::string> names() const;  // sorted; all names, or a sample
  std::uint64_t count() const;             // exact if complete, else estimated

  bool complete = true;

 private:
  void Cut();

  std::map<std::uint64_t, std::string> by_hash_;
};

// Counts the reports of one failure: streams, places and times. Uses bounded memory. Joining tallies in any order and
// grouping gives the same result, because a sample keeps the smallest elements in a fixed order.
struct Tally {
  NameSample hosts;                      // streams by name: hosts, ranks, processes
  std::set<Where> places;                // the first hundred, see AddPlace
  std::uint64_t reports = 0;             // all reports, including repetitions by one stream
  std::uint64_t artifacts = 0;           // number of artifacts with a report
  std::uint64_t nameless_artifacts = 0;  // artifacts in which no report names its stream
  std::uint64_t replicas = 0;            // most replicas in one artifact; used if no prefix names a stream
  std::uint64_t repeats = 0;             // streams that a log counts but does not name ("[repeated 5x across cluster]")
  std::optional<Timestamp> first_time;   // of the reports whose line prefix has a time
  std::optional<Timestamp> last_time;

  void AddPlace(Where where);  // its path must be bounded (BoundedPath)
  void AddTime(const std::optional<Timestamp>& time);

  // Adds the tally of the same failure in other artifacts. Commutative and associative; an empty tally is neutral.
  void Join(const Tally& other);

  // Number of distinct streams (hosts, ranks, processes), at least 1. An estimate if `hosts` is not complete.
  std::uint64_t occurrences() const;
};

struct Failure {
  std::string id;
  const FailureRule* rule = nullptr;  // borrowed from the rule set
  std::string message;
  Where where;

  // Of the stream (a process or rank of the job) that printed it; the tally counts them once failures are joined.
  std::string stream_name;
  int repeats = 1;                // number of streams, from a suffix such as "[repeated 5x across cluster]"
  std::optional<Timestamp> time;  // of the header's line

  Tally tally;
  Completeness completeness;
  std::string framework;  // empty: none seen
  Evidence facts;
  std::vector<Allocation> allocations;
  std::uint64_t allocations_left_out = 0;      // number dropped to limit memory
  std::optional<Problem> dump_problem;         // why its XLA dump could not be read
  std::optional<ProgramEstimates> estimates;   // from the program of its XLA dump
  std::optional<Recompilation> recompilation;  // its program compiled again, with remedies
  std::optional<SurvivalSign> recovered;       // if every process that failed went on
  bool may_have_recovered = false;             // something else may have ended the job

  // Places of the reports other than `where`; about the first hundred, in order.
  std::vector<Where> Also() const {
    std::set<Where> others = tally.places;
    others.erase(where);
    return {others.begin(), others.end()};
  }

  // The conclusions. They add derived facts to `facts`, and remove figures that contradict each other.
  bool is_concluded() const { return rules != nullptr; }

  const RuleSet* rules = nullptr;           // used for the conclusions; borrowed, like all rules below
  const Scenario* scenario = nullptr;       // null if the log does not show which one it is
  std::vector<const Scenario*> candidates;  // if `scenario` is null: those that are possible
  std::vector<Contradiction> contradictions;
  Confidence confidence = Confidence::kLow;
  Retry retry;  // whether a retry can succeed; default: unknown
  std::vector<Reason> why;
  std::vector<CodeLine> code;  // only if the sources are at hand, see AddSourceLines
  std::vector<RankedRemedy> remedies;
  std::vector<RuledOut> ruled_out;
};

}  // namespace whyoom
