// Tells a message that a process printed from one that is only quoted: in source code, a comment, a sentence.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "rules/pattern_set.h"
#include "rules/rule_set.h"
#include "text/line.h"

namespace whyoom {

// What stands round a place in one reporter's lines.
struct Surroundings {
  const std::deque<std::string>& before;  // the lines before, as they were written, the nearest last
  const std::deque<Line>& lines;          // the place's own line, and those that follow it
};

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

}  // namespace whyoom
