// Errors about memory that no rule recognises: finds their lines, and tells them from the lines of known failures.
//
//   - SuspectFinder says of one line whether it is such an error, by the rule data.
//   - SuspectTracker, one for each reporter, holds such lines back until it is clear that none of them belongs to the
//     message, report or traceback of a known failure, which may stand before them or after.
//   - SuspectTable gathers them over an artifact: the same text is one error, however often it was printed.
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
#include "rules/rule_set.h"
#include "text/line.h"
#include "text/timestamp.h"

namespace whyoom {

// A line that speaks of a failure of memory.
struct SuspectLine {
  std::string text;  // cleaned, cut where it is long
  std::uint64_t line = 0;
  int repeats = 1;                // how many reporters it stands for
  std::optional<Timestamp> time;  // the last that its reporter printed
  bool known = false;             // it belongs to a failure that is known
};

// What two texts have in common that are the same error: neither the figures in it nor the classes of exceptions that
// carry it count.
std::string ErrorKey(std::string_view text);

class SuspectFinder {
 public:
  // Borrows the rules.
  explicit SuspectFinder(const RuleSet& rules);

  // Whether a process reports a failure of memory in `line`. `raw` is the line as the log has it, with its prefixes;
  // null where it is not known.
  bool Finds(const Line& line, const RawLine* raw) const;

  // Why `Finds` says what it says, part by part. Nothing more is known where there are no words.
  struct Look {
    const Suspect* words = nullptr;      // that are in the line
    const Pattern* unless = nullptr;     // what makes another matter of them; then `words` are the last ones such
    const ErrorLine* looks = nullptr;    // what it looks like
    const ErrorLine* healthy = nullptr;  // or that nothing failed

    bool is_error() const { return words != nullptr && unless == nullptr && looks != nullptr && healthy == nullptr; }
  };
  Look LookAt(const Line& line, const RawLine* raw) const;

  // Whether what stands round the text, a logger's level, says that nothing failed.
  bool IsHealthy(const Line& line, const RawLine* raw) const;

  // Adds those that it looks for to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const {
    sets->insert(sets->end(), {&words_, &looks_, &healthy_looks_});
  }

 private:
  const RuleSet& rules_;
  PatternSet words_;          // of the rules' suspects
  PatternSet looks_;          // of their error lines
  PatternSet healthy_looks_;  // of those that say that nothing failed
};

class SuspectTracker {
 public:
  // The reporter's next line. What can no longer belong to a known failure, or does, is appended to `told`.
  void Feed(const Line& line, std::vector<SuspectLine>* told);

  // The line `number` only quotes.
  void Drop(std::uint64_t number);

  // How many lines of the reporter belonged to known failures so far; those among the last lines fed may be missing.
  void SeeKnown(std::uint64_t known_lines, std::vector<SuspectLine>* told);

  // No line follows.
  void Finish(std::vector<SuspectLine>* told);

 private:
  struct Held {
    SuspectLine line;
    std::uint64_t at = 0;
  };
  void Release(std::vector<SuspectLine>* told);

  // Distances are counted in lines that are none of a traceback's: a chain of exceptions is one failure, however deep.
  std::uint64_t at_ = 0;
  std::uint64_t last_line_ = 0;
  std::optional<std::uint64_t> known_at_;
  std::uint64_t known_lines_ = 0;
  std::deque<Held> held_;
};

class SuspectTable {
 public:
  // So many different errors are told of one artifact; the rest is counted.
  static constexpr std::size_t kMost = 20;

  void Add(const SuspectLine& suspect);

  // The errors that are not known, in the order of their lines, without the artifact.
  std::vector<Problem> Take() const;

 private:
  struct Entry {
    SuspectLine first;
    std::uint64_t occurrences = 0;
  };
  std::map<std::string, Entry> entries_;  // by what makes two texts the same
  std::set<std::string> known_;           // likewise, of known failures
  std::uint64_t left_out_ = 0;            // lines beyond what is held
};

}  // namespace whyoom
