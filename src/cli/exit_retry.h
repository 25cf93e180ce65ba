// whyoom run --exit-retry: whether a job that failed is not worth starting again, for schedulers that ask for no more
// than an exit status.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "report/report.h"

namespace whyoom {

// How many lines a job had printed by when, to the second, and of its last ten minutes only.
class PrintedLines {
 public:
  using Time = std::chrono::steady_clock::time_point;

  void Add(std::string_view bytes, Time now);  // counts line feeds; `now` never goes back
  std::uint64_t count() const { return count_; }
  // Whether lines that differ in nothing but their figures were printed so often behind line `number` that something
  // goes on: steps, epochs, requests. Tracebacks and other indented lines do not count.
  bool GoesOnBehind(std::uint64_t number) const;
  // Those that were there ten minutes before `now`.
  std::uint64_t CountLongBefore(Time now) const;

 private:
  std::uint64_t count_ = 0;
  std::string line_;                 // begin of the line at hand
  std::deque<std::uint64_t> kinds_;  // of the last lines: equal where only figures differ; 0: says nothing
  std::deque<std::pair<Time, std::uint64_t>> steps_;  // from each time on, how many
};

// Whether the job is known to fail the same way when it is started again. That is so where something was found, all
// that was found says so, no error about memory is there that no rule knows, and it is what ended the job:
//   - the job ended by itself: a signal such as SIGTERM or SIGKILL comes from who preempts or kills it, also where a
//     shell tells of it as 128 + N. SIGABRT, SIGSEGV and the like are a crash of its own;
//   - it did not go on: of each failure, the last report lies in the last ten minutes and the last 500 lines, and no
//     line behind it is printed again and again with other figures, as a training's steps are.
// In doubt the answer is no: a job that is started again for nothing costs less than one that is given up for nothing.
// `end` is when the job ended, `exit_status` as a shell tells it.
bool FailsAgain(const Report& report, int exit_status, const PrintedLines& lines, PrintedLines::Time end);

}  // namespace whyoom
