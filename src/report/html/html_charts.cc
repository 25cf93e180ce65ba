#include "report/html/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "report/layout.h"

namespace whyoom {
namespace {

constexpr double kLabelled = 14;  // per cent of the width; a label in a narrower part would be cut off

constexpr double kLeastHeight = 0.02;  // of a column; keeps small values visible

// Uses at most two decimals and no trailing zeros, because a page has thousands of these.
std::string Percent(double part) {
  std::string text = fmt::format("{:.2f}", std::clamp(part, 0.0, 1.0) * 100);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

double Sum(const std::vector<doc::BarPart>& parts) {
  double sum = 0;
  for (const doc::BarPart& part : parts) sum += part.bytes;
  return sum;
}

void DrawPart(const doc::BarPart& part, double from, const doc::BarScale& scale, HtmlWriter* html) {
  const std::string x = Percent(from / scale.whole);
  const std::string width = Percent(std::min(part.bytes, scale.whole - from) / scale.whole);
  if (part.label.empty()) {
    html->Empty("rect", {{"class", part.style}, {"x", x}, {"width", width}, {"height", "100%"}});
    if (part.hatched) html->Empty("rect", {{"fill", "url(#hatch)"}, {"x", x}, {"width", width}, {"height", "100%"}});
    return;
  }
  // A nested svg element clips its label.
  const auto in = html->In("svg", {{"class", part.style}, {"x", x}, {"width", width}, {"height", "100%"}});
  html->Element("title", part.label + ", " + SizeText(part.bytes));
  html->Empty("rect", {{"width", "100%"}, {"height", "100%"}});
  if (part.hatched) html->Empty("rect", {{"fill", "url(#hatch)"}, {"width", "100%"}, {"height", "100%"}});
  if (part.bytes / scale.whole * 100 >= kLabelled)
    html->Element("text", part.label, {{"x", "8"}, {"y", "50%"}, {"dominant-baseline", "central"}});
}

// Draws the limit's label above its mark, on the side with more space.
void DrawLimitLabel(const Need& need, const doc::BarScale& scale, HtmlWriter* html) {
  const double at = need.have / scale.whole;
  const bool left = at > 0.5;
  const std::string name = SizeText(need.have) + " " + need.have_word;
  const auto in =
      html->In("svg", {{"class", "limit-label"}, {"width", "100%"}, {"height", "20"}, {"aria-hidden", "true"}});
  html->Element("text", left ? name + " ▼" : "▼ " + name,
                {{"x", Percent(at)}, {"dx", left ? "6" : "-6"}, {"y", "14"}, {"text-anchor", left ? "end" : "start"}});
}

std::string AsSentence(const std::vector<doc::BarPart>& parts) {
  std::string text;
  for (const doc::BarPart& part : parts) text += (text.empty() ? "" : ", ") + part.label + " " + SizeText(part.bytes);
  return text;
}

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

void DrawBar(const std::vector<doc::BarPart>& parts, const doc::BarScale& scale, const std::string& style,
             const std::string& alternative, HtmlWriter* html) {
  HtmlWriter::Attributes attributes = {{"class", "bar " + style}, {"width", "100%"}};
  if (alternative.empty()) {
    attributes.push_back({"aria-hidden", "true"});
  } else {
    attributes.push_back({"role", "img"});
    attributes.push_back({"aria-label", alternative});
  }
  const auto in = html->In("svg", attributes);
  const double limit = scale.limit.value_or(scale.whole) / scale.whole;
  if (limit < 1)
    html->Empty("rect",
                {{"class", "beyond"}, {"x", Percent(limit)}, {"width", Percent(1 - limit)}, {"height", "100%"}});
  double from = 0;
  for (const doc::BarPart& part : parts) {
    if (from >= scale.whole) break;
    DrawPart(part, from, scale, html);
    from += part.bytes;
  }
  if (scale.limit) {
    const std::string x = Percent(limit);
    html->Empty("line", {{"class", "limit"}, {"x1", x}, {"x2", x}, {"y1", "0"}, {"y2", "100%"}});
  }
}

void AddSwatchHead(const doc::BarPart& part, HtmlWriter* html) {
  const auto head = html->In("th", {{"scope", "row"}});
  {
    const auto square =
        html->In("svg", {{"class", "swatch"}, {"width", "14"}, {"height", "14"}, {"aria-hidden", "true"}});
    html->Empty("rect", {{"class", part.style}, {"width", "14"}, {"height", "14"}, {"rx", "3"}});
    if (part.hatched) html->Empty("rect", {{"fill", "url(#hatch)"}, {"width", "14"}, {"height", "14"}});
  }
  html->Text(" " + part.label);
}

void DrawNeed(const doc::NeedBar& bar, HtmlWriter* html) {
  if (bar.parts.empty()) return;
  const Need& need = bar.need;
  const double most = std::max({need.need, need.have, Sum(bar.rows), Sum(bar.free)});
  const doc::BarScale scale{most * kMargin, need.have};
  const auto figure = html->Block("figure");
  DrawLimitLabel(need, scale, html);
  DrawBar(bar.parts, scale, "thick", SizeText(need.need) + " " + need.need_word + ": " + AsSentence(bar.parts), html);
  if (!bar.free.empty()) DrawBar(bar.free, scale, "thick", AsSentence(bar.free), html);
  if (bar.rows.empty()) return;
  DrawBar(bar.rows, scale, "middle", "The largest allocations; see the table of allocations", html);
  html->Element("p", "First bar: the memory needed. Last bar: the listed allocations, largest first. Hatched: padding.",
                {{"class", "faint"}});
}

void DrawColumns(const ColumnChart& chart, HtmlWriter* html) {
  const auto figure = html->Block("figure");
  {
    const auto svg = html->In("svg", {{"class", "columns"},
                                      {"width", "100%"},
                                      {"height", "120"},
                                      {"role", "img"},
                                      {"aria-label", chart.alternative}});
    const double width = 1.0 / static_cast<double>(chart.heights.size());
    for (std::size_t i = 0; i < chart.heights.size(); ++i) {
      if (chart.heights[i] <= 0) continue;
      const double height = std::max(chart.heights[i] / chart.whole, kLeastHeight);
      const HtmlWriter::Attributes place = {{"x", Percent((static_cast<double>(i) + 0.08) * width)},
                                            {"y", Percent(1 - height)},
                                            {"width", Percent(width * 0.84)},
                                            {"height", Percent(height)}};
      if (chart.titles.empty()) {
        html->Empty("rect", place);
      } else {
        const auto rect = html->In("rect", place);
        html->Element("title", chart.titles[i]);
      }
    }
    if (chart.limit) {
      const std::string y = Percent(1 - *chart.limit / chart.whole);
      html->Empty("line", {{"class", "limit"}, {"x1", "0"}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
    }
  }
  const auto caption = html->In("figcaption", {{"class", "ends"}});
  for (const std::string* text : {&chart.begin, &chart.middle, &chart.end}) html->Element("span", *text);
}

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
  chart.middle = fmt::format("each column covers {}; the tallest counts {}, from {} on", span.name, *most,
                             BeginText(first + (most - counts.begin()), span, zone_known));
  chart.end = BeginText(number(moments.back(), span), span, zone_known);
  chart.alternative = what + " over time; " + chart.middle;
  DrawColumns(chart, html);
}

}  // namespace whyoom
