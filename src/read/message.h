// Finds header patterns in a few joined lines, and reads the facts of the message after a header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "facts/failure.h"
#include "input/prefilter.h"
#include "rules/pattern_set.h"
#include "rules/recorder.h"
#include "rules/rule_set.h"
#include "text/line.h"

namespace whyoom {

// The lines of one stream around a position.
struct Surroundings {
  const std::deque<std::string>& before;  // lines before, as originally written, nearest last
  const std::deque<Line>& lines;          // the position's own line and those that follow
};

// Distinguishes a message that a process printed from a quotation of it in source code, a comment or a sentence.
class QuotationFinder {
 public:
  // Borrows the rules.
  explicit QuotationFinder(const RuleSet& rules);

  // Number of lines before a position to keep, and bytes of each.
  static constexpr std::size_t kLinesBefore = 8;
  static constexpr std::size_t kLineBytes = 320;

  // Returns the quotation that the text from `column` of the first line is, or null.
  const Quotation* Find(const Surroundings& around, std::size_t column) const;

 private:
  bool AmongSource(const Surroundings& around) const;

  const std::vector<Quotation>& quotations_;
  PatternSet leads_;  // of quotations_, like the next two
  PatternSet befores_;
  PatternSet afters_;
  PatternSet source_lines_;
};

// Number of lines to search for a wrapped message. The longest one seen has seven; text wrapped at 40 columns needs
// more.
inline constexpr std::size_t kLookAhead = 12;

// A header or context that begins in one line and continues in the next is found only if a literal of the rule data
// begins at most this many bytes after that line. The built-in rules have one within half of this (checked by a test).
inline constexpr std::size_t kLiteralReach = 256;
inline constexpr std::size_t kLongestLiteral = 64;  // so that one that begins within reach is found whole

// Whether a text starts a new message regardless of the lines before: an exception, its status word, or the frames of a
// Python traceback.
bool IsMessageStart(std::string_view text);

// Whether `line` starts a new message. `first_logged`: the first line of the current message was logged. True if only
// `line` is logged, if lines are missing before it, or if it starts like an exception or a traceback.
bool BeginsMessage(const Line& line, bool first_logged);

// Consecutive lines of one stream as one text. Messages are wrapped anywhere, so patterns run on the joined lines, with
// each run of white space reduced to one blank, and one blank between lines unless they have one width.
class JoinedLines {
 public:
  // Joins the first `count` of `lines`, starting at column `from` of the first. A first line of more than kStep columns
  // is split into windows. Stops early at the next message or at a blank line, because no message extends beyond those.
  JoinedLines(const std::deque<Line>& lines, std::size_t count, std::size_t from = 0);

  // Distance between windows of a long first line. A match belongs to the window that it begins in.
  static constexpr std::size_t kStep = 6144;

  const std::string& text() const { return text_; }
  // What a match that begins in the first line has a literal in.
  std::string_view beginning() const {
    return std::string_view(text_).substr(0, first_line_end_ + kLiteralReach + kLongestLiteral);
  }
  // Headers must begin before this position: the end of the first line, or the start of its next window.
  std::size_t first_line_end() const { return first_line_end_; }
  std::size_t line_count() const { return parts_.size(); }
  std::size_t OffsetInLine(std::size_t position) const { return position - PartOf(position).begin; }
  // Whether a value that ends at `position` may be cut off by the end of the log.
  bool IsOpen(std::size_t position) const;
  Place PlaceOf(std::size_t position) const;
  std::size_t ColumnOf(std::size_t position) const;  // in the cleaned text of its line

 private:
  struct Part {
    std::size_t begin;  // in text_
    const Line* line;
  };
  const Part& PartOf(std::size_t position) const;
  std::string text_;
  std::vector<std::uint32_t> columns_;  // of each byte of text_
  std::vector<Part> parts_;
  std::size_t first_line_end_ = 0;
};

struct HeaderMatch {
  const FailureRule* rule = nullptr;
  const HeaderPattern* head = nullptr;
  PatternMatch match;
  // Where the next message with this header begins, or one with the wording of an earlier header in this message.
  std::size_t message_end = 0;
};

// Finds headers by the rule data. Has no code for particular failures.
class HeaderFinder {
 public:
  // Borrows both; the prefilter contains the rules' literals.
  HeaderFinder(const RuleSet& rules, const Prefilter& prefilter);

  // Returns the headers that begin in the first of the joined lines, sorted by position; `around` has the same lines.
  // Omits quoted headers, and then sets `quoted`, preferably to a quotation outside whyoom's own reports. `in_report`:
  // the caller ignores headers of reports, so they may be quoted; each row of a report is one. Records in `recorder`,
  // which may be null, the patterns with a literal in the first line that do not match, and the quoted headers.
  std::vector<HeaderMatch> Find(const JoinedLines& joined, const Surroundings& around, bool in_report,
                                const Quotation** quoted, Recorder* recorder = nullptr) const;

  // Whether the text from `column` of the first line is a quotation.
  bool IsQuoted(const Surroundings& around, std::size_t column) const {
    return quotations_.Find(around, column) != nullptr;
  }

  // Returns the failure whose message `head` begins: its place, text and facts, which are the captures of the header
  // and of the fact patterns up to HeaderMatch::message_end. Stores the end of the last of them.
  Failure Read(const JoinedLines& joined, const HeaderMatch& head, std::size_t* end) const;

  // Whether `text` contains a literal of any rule.
  bool MayMatter(std::string_view text) const { return prefilter_.IsIn(text); }
  // Whether it contains a trigger; see RuleSet::trigger_count.
  bool HasTrigger(std::string_view text) const;

 private:
  void DropQuoted(const JoinedLines& joined, const Surroundings& around, bool in_report,
                  std::vector<HeaderMatch>* headers, const Quotation** quoted, Recorder* recorder) const;
  void RecordMisses(const JoinedLines& joined, const std::vector<HeaderMatch>& headers, Recorder* recorder) const;

  const Prefilter& prefilter_;
  const std::size_t triggers_;
  std::vector<HeaderMatch> heads_;  // their match is empty
  PatternSet patterns_;
  std::map<const FailureRule*, PatternSet> facts_;
  QuotationFinder quotations_;
};

}  // namespace whyoom
