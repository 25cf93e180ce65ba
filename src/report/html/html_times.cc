// Failures over time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "report/html/html_charts.h"

namespace whyoom {
namespace {

constexpr std::int64_t kColumns = 48;  // at most
constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

struct Span {
  std::int64_t microseconds;
  const char* name;
};

constexpr std::array<Span, 14> kSpans = {{{kSecond, "a second"},
                                          {10 * kSecond, "10 seconds"},
                                          {60 * kSecond, "a minute"},
                                          {300 * kSecond, "5 minutes"},
                                          {900 * kSecond, "15 minutes"},
                                          {3600 * kSecond, "an hour"},
                                          {3 * 3600 * kSecond, "3 hours"},
                                          {12 * 3600 * kSecond, "12 hours"},
                                          {kDay, "a day"},
                                          {7 * kDay, "7 days"},
                                          {30 * kDay, "30 days"},
                                          {365 * kDay, "365 days"},
                                          {3650 * kDay, "10 years"},
                                          {365000 * kDay, "1000 years"}}};

// "2026-11-21T01:00:00Z"; without the time of day for spans of days.
std::string BeginText(std::int64_t number, const Span& span, bool zone_known) {
  const std::string text = ToString(Timestamp{number * span.microseconds, zone_known});
  return span.microseconds < kDay ? text : text.substr(0, text.find('T'));
}

}  // namespace

void DrawTimes(const std::vector<Timestamp>& times, const std::string& what, HtmlWriter* html) {
  std::vector<std::int64_t> moments;
  for (const Timestamp& time : times) moments.push_back(time.microseconds);
  std::sort(moments.begin(), moments.end());
  if (moments.empty() || moments.front() == moments.back()) return;
  const auto number = [](std::int64_t moment, const Span& span) {
    return moment / span.microseconds - (moment % span.microseconds < 0 ? 1 : 0);
  };
  const Span& span = *std::find_if(kSpans.begin(), kSpans.end() - 1, [&](const Span& one) {
    return number(moments.back(), one) - number(moments.front(), one) < kColumns;
  });
  const std::int64_t first = number(moments.front(), span);
  const bool zone_known =
      std::all_of(times.begin(), times.end(), [](const Timestamp& time) { return time.zone_known; });
  std::vector<std::size_t> counts(static_cast<std::size_t>(number(moments.back(), span) - first) + 1);
  for (const std::int64_t moment : moments) ++counts[static_cast<std::size_t>(number(moment, span) - first)];
  const auto most = std::max_element(counts.begin(), counts.end());
  ColumnChart chart;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    chart.heights.push_back(static_cast<double>(counts[i]));
    const std::string begin = BeginText(first + static_cast<std::int64_t>(i), span, zone_known);
    chart.titles.push_back(fmt::format("from {}: {}", begin, counts[i]));
  }
  chart.whole = static_cast<double>(*most);
  chart.begin = BeginText(first, span, zone_known);
  chart.middle = fmt::format("a column is {}; the highest: {} from {}", span.name, *most,
                             BeginText(first + (most - counts.begin()), span, zone_known));
  chart.end = BeginText(number(moments.back(), span), span, zone_known);
  chart.alternative = what + " by the time, " + chart.middle;
  DrawColumns(chart, html);
}

}  // namespace whyoom
