// Reads the block below an E1000 head (and the 2020 form of 0101): totals, the program's requirement, the list of
// the largest allocations.
//
// The layout has been stable since 2019, but what reaches a reader is not: lines are wrapped, flattened into one, cut,
// unnumbered, or mixed with other output. So the reader looks for the report's labels wherever they stand in a line,
// takes what follows up to the next label as the value, and lets a value that is visibly unfinished go on in the next
// line. Layouts: see docs of the failures in rules/hbm_compile.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "text/line.h"

namespace whyoom {

class MemoryReportReader {
 public:
  // Of the memory that reports call `space`, or of any; what they say of another one is passed over.
  static constexpr std::string_view kAnyMemory = "any";
  explicit MemoryReportReader(std::string space) : space_(std::move(space)) {}

  // Takes one line, from position `from` of its text to `end`. Says whether the line held part of a report.
  bool Feed(const Line& line, std::size_t from = 0, std::size_t end = std::string::npos);

  // No further line is this report's.
  void End() { done_ = true; }

  // Whether any line held part of a report.
  bool started() const { return started_; }

  // Whether lines of another report stand between those of this one, so that nobody can say which are whose: a second
  // total in the middle of the totals, or a row whose number does not go up.
  bool mixed() const { return mixed_; }

  // Nothing more is to be expected: a second report began (that line was not taken), or too much else came.
  bool done() const { return done_; }
  std::size_t held_bytes() const { return held_ + value_.size(); }  // about how much memory the rows take
  std::uint64_t last_line() const { return last_line_; }            // of the log that held part of the report

  // What was read; rows in the order of the list, ranked by it. Of mixed reports only that they are
  // ("lines_mixed"). Call once, at the end.
  void Finish(Evidence* facts, std::vector<Allocation>* rows);

 private:
  enum class Block { kNone, kTotal, kPersistent, kRequirement, kOther };

  bool IsOfSpace(std::string_view label) const;
  bool list_seen() const { return facts_.Find("list_seen") != nullptr; }
  void CountRow(std::string_view label);
  void Open(std::string_view label, Place place);
  void Close();
  void SetField(const std::string& label, const std::string& value);
  void SetTotal(const std::string& label, const std::string& value);
  void SetHloTemp(const std::string& value);
  void SetModule();
  void SetSize(std::string_view fact, std::string_view value);
  Allocation& Row();

  bool started_ = false;
  bool done_ = false;
  int quiet_lines_ = 0;
  std::uint64_t last_line_ = 0;
  Block block_ = Block::kNone;

  // The field being read.
  std::string label_;
  std::string value_;
  Place place_;
  int continued_ = 0;

  const std::string space_;
  bool of_other_space_ = false;  // what is being read
  bool row_open_ = false;
  bool mixed_ = false;
  int row_number_ = 0;  // of the last row, as printed; 0 at the begin of a list
  Evidence facts_;
  std::vector<Allocation> rows_;
  std::size_t held_ = 0;  // of them
};

}  // namespace whyoom
