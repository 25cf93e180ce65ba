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

struct ReportLabel;

// A part of a report: the first have totals, the last rows. kOther is of no interest, for example because it is about
// another memory space.
enum class ReportPart { kNone, kTotals, kProgram, kOther, kList, kRow, kRowEnd };

class MemoryReportReader {
 public:
  // Reads only figures of the memory space that reports call `space`; kAnyMemory accepts all spaces.
  static constexpr std::string_view kAnyMemory = "any";
  explicit MemoryReportReader(std::string space) : space_(std::move(space)) {}

  // Reads one line, from position `from` of its text to `end`. Returns whether it contained part of a report.
  bool Feed(const Line& line, std::size_t from = 0, std::size_t end = std::string::npos);

  // Ends the report: no further line belongs to it.
  void End() { done_ = true; }

  // Whether the report is over: End() was called, a second one began (it is not read), or too many other lines came.
  bool done() const { return done_; }
  std::size_t buffered_bytes() const { return rows_.size() * sizeof(Allocation) + held_ + value_.size(); }
  std::uint64_t last_line() const { return last_line_; }  // line number of the last line with part of the report

  // Returns what was read, the rows in the order of the list, which is their rank. If lines of another report are
  // interleaved, sets only the fact "lines_mixed", because no figure can be attributed. Call once, at the end.
  void Finish(Evidence* facts, std::vector<Allocation>* rows);

 private:
  void Begin(const ReportLabel& label, std::string_view printed, Place place);
  void AddToValue(std::string_view text);
  void Close();
  void SetSize(std::string_view fact, std::string_view value);
  void SetDetails(std::string value);

  const std::string space_;
  ReportPart part_ = ReportPart::kProgram;
  const ReportLabel* label_ = nullptr;  // of the value that is being read
  std::string value_;
  Place place_;  // of the last label

  bool done_ = false;
  bool mixed_ = false;   // a second total among the totals, or a row number that does not increase
  int lines_left_ = 40;  // number of lines without a label before the report is over; more after its first label
  std::uint64_t last_line_ = 0;
  int row_number_ = 0;  // printed number of the last row; 0 at the start of a list
  Evidence facts_;
  std::vector<Allocation> rows_;
  std::size_t held_ = 0;  // bytes of the values in rows_
};

}  // namespace whyoom
