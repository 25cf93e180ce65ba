// What becomes of the heads of failures in one line: which of them is in it, and how far each of the others gets. It
// asks the same questions as HeadFinder, one head at a time, and keeps the answers.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "read/engine.h"
#include "read/kept_lines.h"
#include "rules/pattern_reach.h"
#include "rules/rule_set.h"

namespace whyoom {

// Where a text stands, for people: the line, and the column in it once prefixes are off, counted from 1.
struct TextPlace {
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};

struct HeadTrace {
  enum class Outcome {
    kThere,           // it is in this line
    kQuoted,          // it is, but only quoted
    kNotAtLineStart,  // it is, but where it does not count
    kInLaterLine,     // it is in one of the lines behind
    kNoMatch,         // its literal is near, and its pattern is not
    kNoLiteral,       // not even that
  };

  const Failure* failure = nullptr;
  const Head* head = nullptr;
  Outcome outcome = Outcome::kNoLiteral;
  std::string literal;                   // the one that is near; empty: none of them
  std::vector<std::string> literals;     // that it was looked for by; empty: the head has none
  TextPlace place;                       // where the head begins, if it is anywhere
  const Quotation* quotation = nullptr;  // that quotes it; null: it stands beside a head that is quoted, or in binary
  std::optional<PatternReach> reach;     // of what does not match
  TextPlace stop;                        // where the reach ends
  std::string met;                       // the text that the reach covers
  std::string goes_on;                   // what follows it in the text
  TextPlace again;                       // where the pattern's end matches again, if it does
};

class HeadTracer {
 public:
  // Borrows the engine.
  explicit HeadTracer(const Engine& engine);

  // Every head whose literal is in the line of the window, or in those that a message of it may go on in, and all heads
  // of `codes`. In the order of the rule data.
  std::vector<HeadTrace> TraceHeads(const LineWindow& window, const std::set<std::string>& codes) const;

  // Of the heads that are not in `traced`, the `most` that get furthest in the line, the furthest first. Slow.
  std::vector<HeadTrace> NearestHeads(const LineWindow& window, const std::vector<HeadTrace>& traced,
                                      std::size_t most) const;

  // Whether the literal of a head is in the text.
  bool HoldsLiteral(std::string_view text) const;

  // Those of all heads, in lower case; sorted, each once.
  std::vector<std::string> literals() const;

 private:
  struct Entry {
    const Failure* failure = nullptr;
    const Head* head = nullptr;
    std::vector<std::string> literals;
  };
  HeadTrace Trace(const Entry& entry, const LineWindow& window, const std::vector<HeadMatch>& accepted) const;

  const Engine& engine_;
  std::vector<Entry> entries_;
};

}  // namespace whyoom
