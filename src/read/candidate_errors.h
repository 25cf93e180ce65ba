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
#include <utility>
#include <vector>

#include "input/artifact.h"
#include "input/line_scanner.h"
#include "rules/pattern_set.h"
#include "rules/recorder.h"
#include "rules/rule_set.h"
#include "text/line.h"

namespace whyoom {

// Returns a key that is equal for texts of the same error: without its figures and without exception class names.
std::string ErrorKey(std::string_view text);

class CandidateFinder {
 public:
  // Borrows the rules.
  explicit CandidateFinder(const RuleSet& rules);

  // Whether a process reports a memory error in `line`, which is made of `raw`. Records in `recorder`, which may be
  // null, what decided that for a line with the words of such an error.
  bool Finds(const Line& line, const RawLine& raw, Recorder* recorder) const;

  // Whether the text around the message, such as a log level, shows that nothing failed.
  bool IsHealthy(const Line& line, const RawLine& raw) const;

 private:
  struct Looks {
    bool error = false;
    bool healthy = false;
  };
  Looks LooksOf(const std::string& text) const;

  const std::vector<const LineRule*> word_rules_;
  const std::vector<const LineRule*> look_rules_;
  PatternSet words_;
  PatternSet looks_;
};

// Collects the candidates of an artifact. Counts lines with the same ErrorKey as one error; one of them next to a known
// failure shows that the others belong to known failures, too. The order of additions does not matter.
class CandidateTable {
 public:
  // Maximum number of distinct errors to report for one artifact; the rest is only counted.
  static constexpr std::size_t kMost = 20;

  // Adds a line with this text, which is printable and short. Returns its ErrorKey.
  std::string Add(const std::string& text, const Line& line);
  void AddKnown(const std::string& key);

  // Returns the unknown errors, sorted by line; their artifact is not set.
  std::vector<Problem> Take() const;

 private:
  std::map<std::string, Problem> errors_;  // by ErrorKey
  std::set<std::string> known_;            // ErrorKeys of known failures
  std::uint64_t left_out_ = 0;             // lines of errors that were dropped to save memory
};

// Adds the candidates of one stream to the table, and those near a known failure as known.
class CandidateTracker {
 public:
  explicit CandidateTracker(CandidateTable* table) : table_(*table) {}  // borrows it

  // Processes the stream's next line, the first of `lines`, whose number in the stream is `ordinal`; lines that are
  // missing count. It reports an error if `is_error`, and belongs to a known failure if `is_known`.
  void Feed(const std::deque<Line>& lines, std::uint64_t ordinal, bool is_error, bool is_known);

 private:
  CandidateTable& table_;
  std::optional<std::uint64_t> last_known_;                   // ordinal
  std::deque<std::pair<std::uint64_t, std::string>> recent_;  // ordinals and ErrorKeys
};

}  // namespace whyoom
