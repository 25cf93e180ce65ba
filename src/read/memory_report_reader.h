// Reads the report below an E1000 header (and the 2020 form of 0101): totals, the program's requirement, and the list
// of the largest allocations.
//
// The format has been stable since 2019, but its lines may arrive wrapped, joined into one, cut, unnumbered, or mixed
// with other output. So the reader searches for the report's labels anywhere in a line, treats the text up to the next
// label as the value, and continues an unfinished value in the next line. Formats: see the docs of the failures in
// rules/hbm_compile.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/array.h"
#include "facts/evidence.h"
#include "text/line.h"

namespace whyoom {

class MemoryReportReader {
 public:
  // Reads only figures of the memory space that reports call `space`; kAnyMemory accepts all spaces.
  static constexpr std::string_view kAnyMemory = "any";
  explicit MemoryReportReader(std::string space) : space_(std::move(space)) {}

  // Reads one line, from position `from` of its text to `end`. Returns whether it contained part of a report.
  bool Feed(const Line& line, std::size_t from = 0, std::size_t end = std::string::npos);

  // Ends the report: no further line belongs to it.
  void End() { done_ = true; }

  // Whether any line contained part of a report.
  bool started() const { return started_; }

  // Whether lines of another report are interleaved with this one: a second total among the totals, or a row number
  // that does not increase. The figures cannot be attributed then.
  bool mixed() const { return mixed_; }

  // Whether the report is over: End() was called, a second one began (it is not read), or too many other lines came.
  bool done() const { return done_; }
  std::size_t buffered_bytes() const { return held_ + value_.size(); }  // approximate size of the rows
  std::uint64_t last_line() const { return last_line_; }  // line number of the last line with part of the report

  // Returns what was read; rows keep the order of the list, which is their rank. If reports are mixed, sets only the
  // fact "lines_mixed". Call once, at the end.
  void Finish(Evidence* facts, std::vector<Allocation>* rows);

 private:
  enum class Block { kPart, kTotal, kOther };  // of this memory space; kOther: of no interest

  bool IsOfSpace(std::string_view label) const;
  bool list_seen() const { return facts_.Find("list_seen") != nullptr; }
  void CountRow(std::string_view label);
  void Close();
  void SetField(const std::string& label, const std::string& value);
  void SetTotal(const std::string& label, const std::string& value);
  void SetHloTemp(const std::string& value);
  void SetModule();
  void SetSize(std::string_view fact, std::string_view value);

  bool started_ = false;
  bool done_ = false;
  int quiet_lines_ = 0;
  std::uint64_t last_line_ = 0;
  Block block_ = Block::kPart;

  // The current field.
  std::string label_;
  std::string value_;
  Place place_;
  int continued_ = 0;

  const std::string space_;
  bool of_other_space_ = false;  // the current block or list is of another memory space
  bool row_open_ = false;
  bool mixed_ = false;
  int row_number_ = 0;  // printed number of the last row; 0 at the start of a list
  Evidence facts_;
  std::vector<Allocation> rows_;
  std::size_t held_ = 0;  // approximate bytes of rows_
};

}  // namespace whyoom
