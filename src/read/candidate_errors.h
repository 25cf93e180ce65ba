// Candidate errors: memory errors that no rule recognises.
//
//   - CandidateFinder decides, by the rule data, whether a line is one.
//   - CandidateTracker, one for each stream, delays candidates until it is clear whether they belong to the message,
//     report or traceback of a known failure, which may be before or after them.
//   - CandidateTable collects them for an artifact and counts lines with the same ErrorKey as one error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "input/artifact.h"
#include "input/line_scanner.h"
#include "rules/pattern_set.h"
#include "rules/recorder.h"
#include "rules/rule_set.h"
#include "text/line.h"
#include "text/timestamp.h"

namespace whyoom {

// A line that reports a memory error.
struct CandidateLine {
  std::string text;  // cleaned and shortened
  std::uint64_t line = 0;
  int repeats = 1;                // number of streams that printed it
  std::optional<Timestamp> time;  // last timestamp of its stream
  bool known = false;             // belongs to a known failure
};

// Returns a key that is equal for texts of the same error: without its figures and without exception class names.
std::string ErrorKey(std::string_view text);

class CandidateFinder {
 public:
  // Borrows the rules.
  explicit CandidateFinder(const RuleSet& rules);

  // Whether a process reports a memory error in `line`. `raw` is the original line with its prefixes, or null if
  // unknown. Records in `recorder`, which may be null, what decided that for a line with the words of such an error.
  bool Finds(const Line& line, const RawLine* raw, Recorder* recorder = nullptr) const;

  // Whether the text around the message, such as a log level, shows that nothing failed.
  bool IsHealthy(const Line& line, const RawLine* raw) const;

  // Appends this object's pattern sets to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const {
    sets->insert(sets->end(), {&words_, &looks_, &healthy_looks_});
  }

 private:
  const RuleSet& rules_;
  PatternSet words_;          // RuleSet::candidate_errors()
  PatternSet looks_;          // RuleSet::error_lines()
  PatternSet healthy_looks_;  // the healthy ones of error_lines()
};

class CandidateTracker {
 public:
  // Processes the stream's next line. Appends decided candidates to `decided`.
  void Feed(const Line& line, std::vector<CandidateLine>* decided);

  // Drops the candidate in line `number`, because the line only quotes it.
  void Drop(std::uint64_t number);

  // Sets how many lines of the stream belonged to known failures so far. Lines that the session buffers may be missing.
  void SetKnownLines(std::uint64_t known_lines, std::vector<CandidateLine>* decided);

  // Call after the last line.
  void Finish(std::vector<CandidateLine>* decided);

 private:
  struct Held {
    CandidateLine line;
    std::uint64_t at = 0;
  };
  void Release(std::vector<CandidateLine>* decided);

  // Distances are in lines outside tracebacks, because a chain of exceptions is one failure of any length.
  std::uint64_t at_ = 0;
  std::uint64_t last_line_ = 0;
  std::optional<std::uint64_t> known_at_;
  std::uint64_t known_lines_ = 0;
  std::deque<Held> held_;
};

class CandidateTable {
 public:
  // Maximum number of distinct errors to report for one artifact; the rest is only counted.
  static constexpr std::size_t kMost = 20;

  void Add(const CandidateLine& suspect);

  // Returns the unknown errors, sorted by line; their artifact is not set.
  std::vector<Problem> Take() const;

 private:
  struct Entry {
    CandidateLine first;
    std::uint64_t occurrences = 0;
  };
  std::map<std::string, Entry> entries_;  // by ErrorKey
  std::set<std::string> known_;           // ErrorKeys of known failures
  std::uint64_t left_out_ = 0;            // lines beyond kMostEntries
};

}  // namespace whyoom
