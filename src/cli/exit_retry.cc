#include "cli/exit_retry.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "cli/exit_status.h"
#include "report/unknown_errors.h"

namespace whyoom {
namespace {

// The job survived failures with more lines after them: tracebacks of launchers and output at exit are shorter.
constexpr std::uint64_t kMostLinesAfter = 500;
constexpr int kLastSignal = 64;
constexpr std::array kCrashes = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

bool EndedByItself(int exit_status) {
  const int signal = exit_status - kSignalled;
  const bool signalled = signal > 0 && signal <= kLastSignal;
  return !signalled || std::find(kCrashes.begin(), kCrashes.end(), signal) != kCrashes.end();
}

// Line of the failure's last report; 0 if unknown, because only about the first hundred reports are stored.
std::uint64_t LastLine(const Failure& failure) {
  const auto& places = failure.tally.places;
  if (failure.tally.reports > std::max<std::uint64_t>(places.size(), 1)) return 0;
  std::uint64_t last = std::max(failure.where.line, failure.where.last_line);
  for (const Where& place : places) last = std::max({last, place.line, place.last_line});
  return last;
}

// Whether the failure ended the job, see FailsAgain.
bool EndedJob(const Failure& failure, int exit_status, std::uint64_t lines) {
  const std::uint64_t last = LastLine(failure);
  return !failure.recovered && !failure.may_have_recovered && exit_status != 0 && EndedByItself(exit_status) &&
         last > 0 && last + kMostLinesAfter >= lines;
}

}  // namespace

bool FailsAgain(const Report& report, int exit_status, std::uint64_t lines) {
  if (report.failures.empty() || !report.reports_left_out.empty()) return false;
  if (!UnknownErrors(report).empty() || UnknownErrorsLeftOut(report) > 0) return false;
  return std::all_of(report.failures.begin(), report.failures.end(), [&](const Failure& failure) {
    return failure.retry.answer == Retry::Answer::kNever && EndedJob(failure, exit_status, lines);
  });
}

}  // namespace whyoom
