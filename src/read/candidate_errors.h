// Candidate errors: memory errors that no rule recognises. The rule data decides whether a line is one. It counts only
// if it does not belong to the message, report or traceback of a known failure, which may be before or after it.
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

namespace whyoom {

// A line that reports a memory error.
struct CandidateLine {
  std::string text;  // cleaned and shortened
  std::uint64_t line = 0;
  int repeats = 1;  // number of streams that printed it
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
  void AddSets(std::vector<const PatternSet*>* sets) const { sets->insert(sets->end(), {&words_, &looks_}); }

 private:
  const RuleSet& rules_;
  PatternSet words_;  // RuleSet::candidate_errors()
  PatternSet looks_;  // RuleSet::error_lines()
};

// Collects the candidates of an artifact. Counts lines with the same ErrorKey as one error; one of them next to a known
// failure shows that the others belong to known failures, too. The order of additions does not matter.
class CandidateTable {
 public:
  // Maximum number of distinct errors to report for one artifact; the rest is only counted.
  static constexpr std::size_t kMost = 20;

  void Add(const CandidateLine& candidate);
  void AddKnown(const CandidateLine& candidate);

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

// Delays the candidates of one stream until it is clear whether they belong to a known failure.
class CandidateTracker {
 public:
  explicit CandidateTracker(CandidateTable* table) : table_(*table) {}  // borrows it

  // Processes the stream's next line.
  void Feed(const Line& line);

  // Drops the candidate in line `number`, because the line only quotes it.
  void Drop(std::uint64_t number);

  // Call when a line turns out to belong to a known failure. It may be up to a dozen lines before the last line fed.
  void FoundKnown();

  // Call after the last line.
  void Finish();

 private:
  struct Held {
    CandidateLine line;
    std::uint64_t at = 0;
  };
  void AddOldest();

  CandidateTable& table_;
  std::uint64_t at_ = 0;  // number of lines, with those that are missing
  std::uint64_t last_line_ = 0;
  std::optional<std::uint64_t> known_at_;
  std::deque<Held> held_;
};

}  // namespace whyoom
