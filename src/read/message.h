// Finds the heads of failures in a few joined lines, and takes what the message after a head says.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "facts/evidence.h"
#include "input/prefilter.h"
#include "rules/pattern_set.h"
#include "rules/rule_set.h"
#include "text/line.h"

namespace whyoom {

// What stands round a place in one reporter's lines.
struct Surroundings {
  const std::deque<std::string>& before;  // the lines before, as they were written, the nearest last
  const std::deque<Line>& lines;          // the place's own line, and those that follow it
};

// Tells a message that a process printed from one that is only quoted: in source code, a comment, a sentence.
class QuotationFinder {
 public:
  // Borrows the rules.
  explicit QuotationFinder(const RuleSet& rules);
  ~QuotationFinder();

  // How many lines before a place are worth keeping, and how much of each.
  static constexpr std::size_t kLinesBefore = 8;
  static constexpr std::size_t kLineBytes = 320;

  // Whether what begins at text[column] of the first of the lines is only quoted.
  bool IsQuoted(const Surroundings& around, std::size_t column) const;

  // The quotation that says so; null where none does, also where the line is machine code or data.
  const Quotation* FindQuotation(const Surroundings& around, std::size_t column) const;

  // Adds those that it looks for to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const {
    sets->insert(sets->end(), {&patterns_, &afters_, &source_lines_});
  }

 private:
  struct Screen;
  const Screen& screen() const;
  bool IsSourceLine(const std::string& line) const;
  bool AmongSource(const Surroundings& around) const;

  std::vector<const Quotation*> quotations_;
  PatternSet patterns_;  // of quotations_
  PatternSet afters_;    // what they ask of the text from the head on
  PatternSet source_lines_;
  // By what the patterns need; made when it is first asked, by whichever thread does.
  mutable std::once_flag screen_made_;
  mutable std::unique_ptr<const Screen> screen_;
};

// How many lines a wrapped message is looked for in. The longest seen has seven; text cut at 40 columns needs more.
inline constexpr std::size_t kLookAhead = 12;

// Whether a text begins a message of its own, whatever came before: it is an exception, its status word, or the frames
// of a Python report.
bool BeginsAnew(std::string_view text);

// Whether `line` begins a message of its own, behind one whose first line was logged or not: it is logged and that one
// was not, lines are missing before it, or it begins as an exception or a traceback does.
bool BeginsMessage(const Line& line, bool first_logged);

// Consecutive lines of one reporter as one text: messages are wrapped anywhere, so patterns look at the lines
// joined, each run of white space as one blank. Where lines were broken at blanks, a blank joins them; where they were
// cut at a width, inside words and figures, nothing does.
class JoinedLines {
 public:
  // The first `count` of `lines`, the first one from the column `from` on. A line of more than kStep columns is looked
  // at in windows. Stops early before a traceback's frame or a blank line behind the first line: no message goes on
  // beyond those.
  enum class Joint { kBlank, kNothing };
  JoinedLines(const std::deque<Line>& lines, std::size_t count, Joint joint, std::size_t from = 0);

  // How far into a long first line the next window begins; what begins before that is this window's.
  static constexpr std::size_t kStep = 6144;

  const std::string& text() const { return text_; }
  // Up to where heads are this text's: the end of the first line, or the begin of its next window.
  std::size_t first_line_end() const { return first_line_end_; }
  std::size_t line_count() const { return parts_.size(); }
  std::size_t LineIndexOf(std::size_t position) const;  // 0 is the first line
  std::size_t OffsetInLine(std::size_t position) const { return position - PartOf(position).begin; }
  std::size_t BeginOfLine(std::size_t index) const {  // where line `index` begins; the text's size where it has none
    return index < parts_.size() ? parts_[index].begin : text_.size();
  }
  bool IsLineEnd(std::size_t position) const;  // nothing of the line that position - 1 is in stands behind it
  // Whether what ends at `position` may go on behind the end of the log.
  bool IsOpen(std::size_t position) const;
  Place PlaceOf(std::size_t position) const;
  std::size_t ColumnOf(std::size_t position) const;  // in the cleaned text of its line

 private:
  struct Part {
    std::size_t begin;  // in text_
    const Line* line;
    bool whole = false;  // no blank of it was left out
  };
  const Part& PartOf(std::size_t position) const;
  std::string text_;
  std::vector<Part> parts_;
  std::size_t first_line_end_ = 0;
  std::size_t from_ = 0;
};

// What a message says.
struct ReadMessage {
  Evidence facts;
  std::string text;     // that a person would quote
  std::size_t end = 0;  // of what was read, in the joined lines
};

struct HeadMatch {
  const Failure* failure = nullptr;
  const Head* head = nullptr;
  PatternMatch match;
};

// Where a head may stand, by the rule data; nothing here knows a failure by name.
class HeadFinder {
 public:
  // Borrows both; the prefilter is that of the rules' literals.
  HeadFinder(const RuleSet& rules, const Prefilter& prefilter);

  // Heads that begin in the first of the joined lines, in order of place; `around` is of the same lines. Quotations
  // give none, and set `quoted`.
  std::vector<HeadMatch> Find(const JoinedLines& joined, const Surroundings& around, bool* quoted = nullptr) const;

  // Whether what stands at `column` of the first line is only quoted.
  bool IsQuoted(const Surroundings& around, std::size_t column) const { return quotations_.IsQuoted(around, column); }

  // The quotation that says so, see QuotationFinder.
  const Quotation* FindQuotation(const Surroundings& around, std::size_t column) const {
    return quotations_.FindQuotation(around, column);
  }

  // Where what `head` begins is over at the latest: where behind the first line another failure's head begins that is
  // not part of the same message by the rule data, or one of its own that says otherwise; else the end of the text.
  std::size_t EndOfMessage(const JoinedLines& joined, const HeadMatch& head) const;

  // The message that `head` begins: the head's captures and the failure's fact patterns, as far as the message goes,
  // and not beyond `limit` in `joined`. `other` is the same lines joined the other way: it gives what a cut through a
  // figure or a name hides in `joined`.
  ReadMessage Read(const JoinedLines& joined, const JoinedLines& other, const HeadMatch& head, std::size_t limit) const;

  // Adds those that it looks for to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const {
    sets->push_back(&patterns_);
    for (const auto& [failure, patterns] : facts_) sets->push_back(&patterns);
    quotations_.AddSets(sets);
  }

  // Whether any rule's literal stands in `text`.
  bool MayMatter(std::string_view text) const { return prefilter_.FindEnd(text, 0) != std::string_view::npos; }

 private:
  void DropQuoted(const JoinedLines& joined, const Surroundings& around, std::vector<HeadMatch>* heads) const;

  const Prefilter& prefilter_;
  std::vector<std::pair<const Failure*, const Head*>> heads_;
  PatternSet patterns_;  // of heads_
  std::map<const Failure*, PatternSet> facts_;
  QuotationFinder quotations_;
};

// Whether what begins at `begin` in the text stands at the start of a line, an exception's class aside.
bool StandsAtLineStart(const JoinedLines& joined, std::size_t begin);

// Whether the rule data lets `failure` be absorbed by `by`.
bool IsAbsorbedBy(const Failure& failure, const Failure& by);

// Whether the one is told inside the other's message: one of them is absorbed by the other.
bool AreTold(const Failure& one, const Failure& other);

}  // namespace whyoom
