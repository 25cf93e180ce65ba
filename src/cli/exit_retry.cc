#include "cli/exit_retry.h"

#include <algorithm>
#include <array>
#include <csignal>

#include "cli/exit_status.h"
#include "report/unknown_errors.h"

namespace whyoom {
namespace {

// Processes that wait for each other at the end of a job give up within minutes; what was survived is older.
constexpr std::chrono::minutes kSoon{10};
constexpr std::chrono::seconds kStep{1};
// Tracebacks of launchers, and what libraries print when a process ends.
constexpr std::uint64_t kMostLinesAfter = 500;
constexpr int kLastSignal = 64;
constexpr std::array kCrashes = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

bool EndedByItself(int exit_status) {
  const int signal = exit_status - kSignalled;
  const bool signalled = signal > 0 && signal <= kLastSignal;
  return !signalled || std::find(kCrashes.begin(), kCrashes.end(), signal) != kCrashes.end();
}

// Of the last report of the failure; 0 where it is not known, since only the first hundred or so are kept.
std::uint64_t LastLine(const Finding& finding) {
  const auto& places = finding.tally.places.all();
  if (finding.tally.reports > std::max<std::uint64_t>(places.size(), 1)) return 0;
  std::uint64_t last = std::max(finding.where.line, finding.where.last_line);
  for (const Where& place : places) last = std::max({last, place.line, place.last_line});
  return last;
}

}  // namespace

void PrintedLines::Add(std::string_view bytes, Time now) {
  count_ += static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'));
  if (steps_.empty() || now - steps_.back().first >= kStep) {
    steps_.emplace_back(now, count_);
  } else {
    steps_.back().second = count_;
  }
  while (steps_.size() > 1 && now - steps_[1].first >= kSoon) steps_.pop_front();
}

std::uint64_t PrintedLines::CountLongBefore(Time now) const {
  std::uint64_t count = 0;
  for (const auto& [time, lines] : steps_) {
    if (now - time >= kSoon) count = lines;
  }
  return count;
}

bool FailsAgain(const Report& report, int exit_status, const PrintedLines& lines, PrintedLines::Time end) {
  if (exit_status == 0 || !EndedByItself(exit_status)) return false;
  if (report.findings.empty() || !report.reports_left_out.empty()) return false;
  if (!UnknownErrors(report).empty() || UnknownErrorsLeftOut(report) > 0) return false;
  const std::uint64_t old = lines.CountLongBefore(end);
  return std::all_of(report.findings.begin(), report.findings.end(), [&](const Diagnosis& finding) {
    const std::uint64_t last = LastLine(finding);
    return finding.retry.answer == Retry::Answer::kNever && last > old && last + kMostLinesAfter >= lines.count();
  });
}

}  // namespace whyoom
