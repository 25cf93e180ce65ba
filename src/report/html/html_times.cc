#include "report/html/html_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

#include "report/html/html_charts.h"

namespace whyoom {
namespace {

using Moment = std::chrono::sys_time<std::chrono::microseconds>;

constexpr std::int64_t kColumns = 48;  // at most
constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

// What a column stands for: a span of the clock, or months of the calendar.
struct Span {
  std::int64_t microseconds = 0;
  int months = 0;
  const char* name;  // "an hour"
};

constexpr std::array<Span, 19> kSpans = {{{kSecond, 0, "a second"},
                                          {10 * kSecond, 0, "10 seconds"},
                                          {60 * kSecond, 0, "a minute"},
                                          {300 * kSecond, 0, "5 minutes"},
                                          {900 * kSecond, 0, "15 minutes"},
                                          {3600 * kSecond, 0, "an hour"},
                                          {3 * 3600 * kSecond, 0, "3 hours"},
                                          {6 * 3600 * kSecond, 0, "6 hours"},
                                          {12 * 3600 * kSecond, 0, "12 hours"},
                                          {kDay, 0, "a day"},
                                          {7 * kDay, 0, "7 days"},
                                          {0, 1, "a month"},
                                          {0, 3, "three months"},
                                          {0, 12, "a year"},
                                          {0, 60, "5 years"},
                                          {0, 120, "10 years"},
                                          {0, 600, "50 years"},
                                          {0, 2400, "200 years"},
                                          {0, 12000, "1000 years"}}};

std::chrono::year_month_day DayOf(std::int64_t microseconds) {
  return std::chrono::year_month_day(
      std::chrono::floor<std::chrono::days>(Moment(std::chrono::microseconds(microseconds))));
}

std::int64_t FloorDivided(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

// Which span of its kind a moment is in.
std::int64_t NumberOf(std::int64_t microseconds, const Span& span) {
  if (span.months == 0) return FloorDivided(microseconds, span.microseconds);
  const std::chrono::year_month_day day = DayOf(microseconds);
  const auto months = static_cast<std::int64_t>(static_cast<int>(day.year())) * 12 +
                      static_cast<std::int64_t>(static_cast<unsigned>(day.month())) - 1;
  return FloorDivided(months, span.months);
}

// Where it begins.
std::int64_t BeginOf(std::int64_t number, const Span& span) {
  if (span.months == 0) return number * span.microseconds;
  const std::int64_t months = number * span.months;
  const auto year = static_cast<int>(FloorDivided(months, 12));
  const auto month = static_cast<unsigned>(months - FloorDivided(months, 12) * 12 + 1);
  const std::chrono::sys_days day = std::chrono::year(year) / std::chrono::month(month) / std::chrono::day(1);
  return std::chrono::duration_cast<std::chrono::microseconds>(day.time_since_epoch()).count();
}

std::string MonthText(std::int64_t microseconds) {
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::chrono::year_month_day day = DayOf(microseconds);
  return fmt::format("{} {}", kMonths[static_cast<unsigned>(day.month()) - 1], static_cast<int>(day.year()));
}

std::string DayText(std::int64_t microseconds) {
  return fmt::format("{} {}", static_cast<unsigned>(DayOf(microseconds).day()), MonthText(microseconds));
}

std::string ClockText(std::int64_t microseconds, bool seconds) {
  const std::int64_t second = (microseconds - FloorDivided(microseconds, kDay) * kDay) / kSecond;
  const std::string text = fmt::format("{:02}:{:02}", second / 3600, second / 60 % 60);
  return seconds ? text + fmt::format(":{:02}", second % 60) : text;
}

// "in 2026", "in Oct to Dec 2026", "on 21 Nov 2026", "on 21 Nov 2026, 01:00 to 02:00".
std::string InText(std::int64_t number, const Span& span) {
  const std::int64_t begin = BeginOf(number, span);
  const std::int64_t next = BeginOf(number + 1, span);
  const int year = static_cast<int>(DayOf(begin).year());
  if (span.months == 1) return "in " + MonthText(begin);
  if (span.months == 12) return fmt::format("in {}", year);
  if (span.months > 12) return fmt::format("in {} to {}", year, static_cast<int>(DayOf(next - 1).year()));
  if (span.months > 0) return "in " + MonthText(begin).substr(0, 3) + " to " + MonthText(next - 1);
  if (span.microseconds == kDay) return "on " + DayText(begin);
  if (span.microseconds > kDay) return "from " + DayText(begin) + " to " + DayText(next - 1);
  const bool seconds = span.microseconds < 60 * kSecond;
  return "on " + DayText(begin) + ", " + ClockText(begin, seconds) + " to " + ClockText(next, seconds);
}

}  // namespace

std::string DateText(const Timestamp& time) {
  return DayText(time.microseconds) + ", " + ClockText(time.microseconds, false);
}

std::string PeriodText(const Timestamp& first, const Timestamp& last) {
  const std::int64_t days = FloorDivided(last.microseconds, kDay) - FloorDivided(first.microseconds, kDay);
  if (days > 7) return DayText(first.microseconds) + " to " + DayText(last.microseconds);
  const std::string end = days == 0 ? ClockText(last.microseconds, false) : DateText(last);
  const std::string begin = DateText(first);
  return begin.ends_with(end) && days == 0 ? begin : begin + " to " + end;
}

std::string ZoneText(const std::vector<Timestamp>& times) {
  const auto known = std::count_if(times.begin(), times.end(), [](const Timestamp& time) { return time.zone_known; });
  if (times.empty()) return {};
  if (known == 0) return "as the logs have it, without a zone";
  return static_cast<std::size_t>(known) == times.size() ? "UTC" : "UTC where the log names its zone";
}

void DrawTimes(const std::vector<Timestamp>& times, const std::string& what, HtmlWriter* html) {
  if (times.empty()) return;
  const auto [first, last] =
      std::minmax_element(times.begin(), times.end(),
                          [](const Timestamp& a, const Timestamp& b) { return a.microseconds < b.microseconds; });
  if (first->microseconds == last->microseconds) return;
  const auto fits = [&, first = first->microseconds, last = last->microseconds](const Span& span) {
    return NumberOf(last, span) - NumberOf(first, span) < kColumns;
  };
  const auto found = std::find_if(kSpans.begin(), kSpans.end(), fits);
  if (found == kSpans.end()) return;
  const Span& span = *found;
  const std::int64_t begin = NumberOf(first->microseconds, span);
  std::vector<std::size_t> counts(static_cast<std::size_t>(NumberOf(last->microseconds, span) - begin) + 1);
  for (const Timestamp& time : times) ++counts[static_cast<std::size_t>(NumberOf(time.microseconds, span) - begin)];
  const auto most = std::max_element(counts.begin(), counts.end());
  ColumnChart chart;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    chart.heights.push_back(static_cast<double>(counts[i]));
    chart.titles.push_back(fmt::format("{}: {}", InText(begin + static_cast<std::int64_t>(i), span), counts[i]));
  }
  chart.whole = static_cast<double>(*most);
  chart.middle = fmt::format("a column is {}; the highest: {} {}", span.name, *most,
                             InText(begin + (most - counts.begin()), span));
  chart.alternative = what + " by the time, " + chart.middle;
  const bool same_day = FloorDivided(first->microseconds, kDay) == FloorDivided(last->microseconds, kDay);
  const bool in_days = span.months > 0 || span.microseconds >= kDay;
  chart.begin = in_days ? DayText(first->microseconds) : DateText(*first);
  chart.end = in_days ? DayText(last->microseconds) : same_day ? ClockText(last->microseconds, true) : DateText(*last);
  DrawColumns(chart, html);
}

}  // namespace whyoom
