// What becomes of the heads of failures in one line: which of them is in it, and how far each of the others gets. It
// asks the same questions as HeadFinder, one head at a time, and keeps the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "facts/sighting.h"
#include "input/byte_source.h"
#include "input/line_scanner.h"
#include "read/engine.h"
#include "read/suspects.h"
#include "rules/pattern_reach.h"
#include "rules/rule_set.h"
#include "text/line.h"
#include "text/normalizer.h"

namespace whyoom {

// A line with what a message in it could take in, as a session sees it.
struct LineWindow {
  std::deque<Line> lines;          // it and those of the same reporter that follow
  std::deque<std::string> before;  // those before it, as they were written

  Surroundings around() const { return {before, lines}; }
};

// The lines of an artifact that reading looked at, kept to find out what became of one of them.
class KeptLines {
 public:
  // Borrows the engine. Lines before `first` are passed over.
  explicit KeptLines(const Engine& engine, std::uint64_t first = 1) : engine_(engine), first_(first) {}

  // The lines in order, as a LineReader is fed; call Finish behind the last.
  void Feed(const RawLine& raw);
  void Finish();

  std::size_t size() const { return kept_.size(); }
  bool full() const { return full_; }  // later lines were passed over
  const Line& line(std::size_t index) const { return kept_[index].line; }
  // What the line says of a failure that no rule may know; nothing where it has no such words.
  const std::optional<SuspectFinder::Look>& suspect(std::size_t index) const { return kept_[index].suspect; }

  LineWindow WindowAt(std::size_t index) const;

  // The places of the lines that the raw line `number` holds; of one inside a record that stands on several lines those
  // of the record.
  std::vector<std::size_t> At(std::uint64_t number) const;

 private:
  struct Kept {
    Line line;
    std::optional<SuspectFinder::Look> suspect;
  };
  void Take(const RawLine& raw);
  void Keep(std::vector<Line> lines, const RawLine* raw);

  const Engine& engine_;
  const std::uint64_t first_;
  std::size_t bytes_ = 0;
  bool full_ = false;
  RecordJoiner records_;
  Unfinished unfinished_;
  std::vector<Kept> kept_;
};

// What `rules trace` keeps of an artifact while it is read.
struct ReadTrace {
  explicit ReadTrace(const Engine& engine) : kept(engine) {}

  // A sighting as far as it tells where it is.
  struct Seen {
    const Failure* failure = nullptr;
    std::string reporter;
    std::uint64_t line = 0;
    std::uint64_t last_line = 0;
  };
  void See(const Sighting& sighting);

  KeptLines kept;  // that were looked at
  std::vector<Seen> seen;
};

// Passes bytes on, and keeps the lines round one of them, looked at or not. Borrows the source and `kept`.
class LineTap : public ByteSource {
 public:
  LineTap(ByteSource& source, std::uint64_t line, KeptLines* kept) : source_(source), line_(line), kept_(*kept) {}

  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::string_view problem() const override { return source_.problem(); }
  void AddWork(std::uint64_t bytes) override { source_.AddWork(bytes); }
  std::uint64_t RawOffset(std::uint64_t offset) const override { return source_.RawOffset(offset); }

  // Call once the source is read.
  void Finish();

  std::uint64_t lines() const { return number_ - (offset_ == begin_ ? 1 : 0); }  // read so far

 private:
  bool IsNear() const;
  void EndLine(bool open_end);

  ByteSource& source_;
  const std::uint64_t line_;
  KeptLines& kept_;
  std::uint64_t number_ = 1;  // of the line at hand
  std::uint64_t begin_ = 0;   // of it in the artifact
  std::uint64_t offset_ = 0;
  std::string bytes_;  // of it, if it is near
};

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
