// whyoom run --exit-retry: whether a retry of a failed job would fail the same way, for schedulers that only check an
// exit status.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "diagnose/report.h"

namespace whyoom {

// Counts the lines of a job's output, with one-second resolution over the last ten minutes.
class PrintedLines {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void Add(std::string_view bytes, Time now);  // counts line feeds; `now` must not decrease
  std::uint64_t count() const { return count_; }
  // Whether at least kRepeats lines after line `number` differ only in their digits, which shows that the job
  // continued: steps, epochs, requests. Lines without digits do not count, nor do indented lines (tracebacks).
  bool HasRepeatedLinesAfter(std::uint64_t number) const;
  // Number of lines printed more than ten minutes before `now`.
  std::uint64_t CountBeforeWindow(Time now) const;

 private:
  std::uint64_t count_ = 0;
  std::string line_;                                  // beginning of the current line
  std::deque<std::uint64_t> kinds_;                   // of the last lines; equal if only digits differ; 0: not counted
  std::deque<std::pair<Time, std::uint64_t>> steps_;  // line count at each time
};

// Whether a retry of the job is known to fail the same way. That requires that something was found, that every failure
// will recur, that there is no unknown memory error, and that the failures ended the job:
// - The job ended by itself. After SIGTERM, SIGKILL and the like, something else ended it, even if a shell reports
//   them as 128 + N. SIGABRT, SIGSEGV and the like are crashes of the job.
// - The job did not continue: no later line shows that (Diagnosis::recovered) or an error with another cause.
//   Each failure was last printed within the last ten minutes and the last 500
//   lines, and no line after it repeats with other numbers, as training steps do.
// In doubt, returns false: a useless retry costs less than a job that is given up. `end`: when the job ended;
// `exit_status`: as in a shell.
bool FailsAgain(const Report& report, int exit_status, const PrintedLines& lines, PrintedLines::Time end);

}  // namespace whyoom
