// Records for each header pattern whether it matches at one line. Evaluates the same conditions as HeaderFinder, one
// pattern at a time.
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
#include "read/candidate_errors.h"
#include "read/engine.h"
#include "rules/rule_set.h"
#include "text/line.h"
#include "text/normalizer.h"

namespace whyoom {

// A line with all context that a message in it could use, as a Session sees it.
struct LineWindow {
  std::deque<Line> lines;          // the line and those of the same stream that follow
  std::deque<std::string> before;  // the lines before it, as originally written

  Surroundings around() const { return {before, lines}; }
};

// Buffers the lines that the reader examined, so that `rules trace` can explain the result for one of them later.
class BufferedLines {
 public:
  // Borrows the engine. Skips lines before number `first`.
  explicit BufferedLines(const Engine& engine, std::uint64_t first = 1) : engine_(engine), first_(first) {}

  // Feed expects lines in order, like LineReader::Feed. Call Finish after the last line.
  void Feed(const RawLine& raw);
  void Finish();

  std::size_t size() const { return kept_.size(); }
  bool full() const { return full_; }  // the size limit was reached; later lines are missing
  const Line& line(std::size_t index) const { return kept_[index].line; }
  // The candidate-error classification of the line, or nullopt if it contains no candidate words.
  const std::optional<CandidateFinder::Look>& suspect(std::size_t index) const { return kept_[index].suspect; }

  LineWindow WindowAt(std::size_t index) const;

  // Returns the indices of the cleaned lines made from raw line `number`. If there are none, as inside a multi-line
  // record, returns those of the nearest line before it.
  std::vector<std::size_t> At(std::uint64_t number) const;

 private:
  struct Kept {
    Line line;
    std::optional<CandidateFinder::Look> suspect;
  };
  void Take(const RawLine& raw);
  void Keep(std::vector<Line> lines, const RawLine* raw);

  const Engine& engine_;
  const std::uint64_t first_;
  std::size_t bytes_ = 0;
  bool full_ = false;
  RecordJoiner records_;
  IncompleteLines unfinished_;
  std::vector<Kept> kept_;
};

// What reading an artifact records for `rules trace`.
struct ReadTrace {
  explicit ReadTrace(const Engine& engine) : kept(engine) {}

  // The location of a sighting.
  struct Seen {
    const Failure* failure = nullptr;
    std::string stream_name;
    std::uint64_t line = 0;
    std::uint64_t last_line = 0;
  };
  void See(const Sighting& sighting);

  BufferedLines kept;  // the lines that were examined
  std::vector<Seen> seen;
};

// Passes bytes through and buffers the lines around one line, examined or not. Borrows the source and `kept`.
class LineTap : public ByteSource {
 public:
  LineTap(ByteSource& source, std::uint64_t line, BufferedLines* kept) : source_(source), line_(line), kept_(*kept) {}

  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::string_view problem() const override { return source_.problem(); }
  void AddWork(std::uint64_t bytes) override { source_.AddWork(bytes); }
  std::uint64_t RawOffset(std::uint64_t offset) const override { return source_.RawOffset(offset); }

  // Call after the source was read to its end.
  void Finish();

  std::uint64_t lines() const { return number_ - (offset_ == begin_ ? 1 : 0); }  // read so far

 private:
  bool IsNear() const;
  void EndLine(bool may_continue);

  ByteSource& source_;
  const std::uint64_t line_;
  BufferedLines& kept_;
  std::uint64_t number_ = 1;  // of the current line
  std::uint64_t begin_ = 0;   // its offset in the artifact
  std::uint64_t offset_ = 0;
  std::string bytes_;  // its text, if it is near line_
};

// A position for display, both 1-based: line, and column in the cleaned line.
struct TextPlace {
  std::uint64_t line = 0;
  std::uint64_t column = 0;
};

struct HeaderTrace {
  enum class Outcome {
    kMatched,         // matches in this line
    kQuoted,          // matches, but in quoted text
    kNotAtLineStart,  // matches, but not at the start of a line as required
    kInLaterLine,     // matches in one of the next lines
    kNoMatch,         // one of its literals occurs, but the pattern does not match
    kNoLiteral,       // none of its literals occurs
  };

  const Failure* failure = nullptr;
  const HeaderPattern* head = nullptr;
  Outcome outcome = Outcome::kNoLiteral;
  std::string literal;                   // the first one that occurs; empty if none does
  std::vector<std::string> literals;     // the literals searched for; empty if the pattern has none
  TextPlace place;                       // where the match begins, if any
  const Quotation* quotation = nullptr;  // the quotation pattern that matched; null if the text is binary, or if only a
                                         // header before it is quoted
};

class HeaderTracer {
 public:
  // Borrows the engine.
  explicit HeaderTracer(const Engine& engine);

  // Traces, in the order of the rule data, every header pattern with a literal in the window, and all header patterns
  // of `codes`.
  std::vector<HeaderTrace> TraceHeaders(const LineWindow& window, const std::set<std::string>& codes) const;

  // Whether `text` contains a literal of a header pattern.
  bool ContainsLiteral(std::string_view text) const;

  // The literals of all header patterns, in lower case, sorted, without duplicates.
  std::vector<std::string> literals() const;

 private:
  struct Entry {
    const Failure* failure = nullptr;
    const HeaderPattern* head = nullptr;
    std::vector<std::string> literals;
  };
  HeaderTrace Trace(const Entry& entry, const LineWindow& window, const std::vector<HeaderMatch>& accepted) const;

  const Engine& engine_;
  std::vector<Entry> entries_;
};

}  // namespace whyoom
