#include "cli/exit_retry.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <functional>
#include <map>

#include "cli/exit_status.h"
#include "report/unknown_errors.h"

namespace whyoom {
namespace {

// The job survived failures older than this: processes that wait for a failed one give up within minutes.
constexpr std::chrono::minutes kRecent{10};
constexpr std::chrono::seconds kResolution{1};
// The job survived failures with more lines after them: tracebacks of launchers and output at exit are shorter.
constexpr std::uint64_t kMostLinesAfter = 500;
// This many lines that differ only in digits show that the job continued; processes that end print fewer.
constexpr int kRepeats = 12;
constexpr std::size_t kKindBytes = 48;  // of each line are compared; the rest may differ in more than digits
constexpr int kLastSignal = 64;
constexpr std::array kCrashes = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};

bool EndedByItself(int exit_status) {
  const int signal = exit_status - kSignalled;
  const bool signalled = signal > 0 && signal <= kLastSignal;
  return !signalled || std::find(kCrashes.begin(), kCrashes.end(), signal) != kCrashes.end();
}

// A hash of the line without its digits; 0 for lines that do not count.
std::uint64_t KindOf(std::string_view line) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t' || line[0] == '\r') return 0;
  std::string kind;
  for (const char c : line) {
    const bool is_figure = c >= '0' && c <= '9';
    if (is_figure && !kind.empty() && kind.back() == '#') continue;
    kind += is_figure ? '#' : c;
  }
  // Every thread or host may repeat a line without digits when it ends, so it does not show that the job continued.
  if (kind.find('#') == std::string::npos) return 0;
  return std::max<std::uint64_t>(std::hash<std::string>{}(kind), 1);
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
bool EndedJob(const Failure& failure, int exit_status, const PrintedLines& lines, PrintedLines::Time end) {
  const std::uint64_t last = LastLine(failure);
  return !failure.recovered && !failure.may_have_recovered && exit_status != 0 && EndedByItself(exit_status) &&
         last > lines.CountBeforeWindow(end) && last + kMostLinesAfter >= lines.count() &&
         !lines.HasRepeatedLinesAfter(last);
}

}  // namespace

void PrintedLines::Add(std::string_view bytes, Time now) {
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    line_.append(bytes.substr(begin, std::min(end - begin, kKindBytes - line_.size())));
    if (end == bytes.size()) break;
    kinds_.push_back(KindOf(line_));
    if (kinds_.size() > kMostLinesAfter) kinds_.pop_front();
    line_.clear();
    ++count_;
    begin = end + 1;
  }
  if (steps_.empty() || now - steps_.back().first >= kResolution) {
    steps_.emplace_back(now, count_);
  } else {
    steps_.back().second = count_;
  }
  while (steps_.size() > 1 && now - steps_[1].first >= kRecent) steps_.pop_front();
}

std::uint64_t PrintedLines::CountBeforeWindow(Time now) const {
  std::uint64_t count = 0;
  for (const auto& [time, lines] : steps_) {
    if (now - time >= kRecent) count = lines;
  }
  return count;
}

bool PrintedLines::HasRepeatedLinesAfter(std::uint64_t number) const {
  const std::uint64_t first = count_ - kinds_.size();  // number of lines before `kinds_`
  std::map<std::uint64_t, int> counts;
  for (std::uint64_t i = std::max(number, first); i < count_; ++i) {
    const std::uint64_t kind = kinds_[static_cast<std::size_t>(i - first)];
    if (kind != 0 && ++counts[kind] >= kRepeats) return true;
  }
  return false;
}

bool FailsAgain(const Report& report, int exit_status, const PrintedLines& lines, PrintedLines::Time end) {
  if (report.failures.empty() || !report.reports_left_out.empty()) return false;
  if (!UnknownErrors(report).empty() || UnknownErrorsLeftOut(report) > 0) return false;
  return std::all_of(report.failures.begin(), report.failures.end(), [&](const Failure& failure) {
    return failure.retry.answer == Retry::Answer::kNever && EndedJob(failure, exit_status, lines, end);
  });
}

}  // namespace whyoom
