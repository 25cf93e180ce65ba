#include "report/html/html_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "report/layout.h"

namespace whyoom {
namespace {

constexpr std::size_t kDrawnRows = 40;  // allocations in a bar
constexpr double kLabelled = 14;        // per cent of the width; a label in less would be cut off
constexpr double kNothing = 0.005;      // of the need: what is below is rounding

constexpr double kLeastHeight = 0.02;  // of a column; what is there is seen

// In hundredths, without zeros at the end: a page has thousands of these.
std::string Percent(double part) {
  std::string text = fmt::format("{:.2f}", std::clamp(part, 0.0, 1.0) * 100);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

// The parts that the report itemises, and the rest of the need.
std::vector<BarPart> PartsOfNeed(const Diagnosis& finding, const Need& need) {
  const auto fact = [&](const char* name) { return std::max(0.0, finding.facts.Number(name).value_or(0)); };
  std::vector<BarPart> parts;
  double left = need.need;
  const auto add = [&](double bytes, const char* style, const char* label, bool padding = false) {
    bytes = std::min(bytes, left);
    if (bytes < kNothing * need.need) return;
    parts.push_back({bytes, style, label, padding});
    left -= bytes;
  };
  if (finding.facts.Number("request_bytes")) {
    add(need.need, "temp", "one request");
    return parts;
  }
  add(fact("arguments_bytes"), "args", "arguments");
  add(fact("tensorcore_bytes"), "temp", "TensorCore");
  add(fact("sparsecore_bytes"), "other", "SparseCore");
  const double temporaries = fact("hlo_temp_bytes");
  const double padding = std::min(fact("hlo_temp_padding_bytes"), temporaries);
  const double fragments = std::min(fact("fragmentation_bytes"), temporaries - padding);
  add(temporaries - padding - fragments, "temp", "temporaries");
  add(padding, "temp", "padding of temporaries", true);
  add(fragments, "frag", "fragmentation");
  add(fact("program_bytes") - temporaries, "other", "rest of the program");
  add(left, "rest", parts.empty() ? need.need_word : "not itemised");
  return parts;
}

// The whole of what is free, where the trouble is that it lies in pieces.
std::vector<BarPart> PartsOfFree(const Diagnosis& finding, const Need& need) {
  const double free = finding.facts.Number("free_bytes").value_or(0);
  if (finding.failure->phase == "compile" || free < need.have) return {};
  std::vector<BarPart> parts = {{need.have, "free", "free in one piece", false}};
  if (free > need.have) {
    parts.push_back({free - need.have, "free", "free in smaller pieces", true});
  } else {
    parts[0].label = "free";
  }
  return parts;
}

std::vector<BarPart> PartsOfRows(const std::vector<AllocationGroup>& groups, std::size_t most) {
  std::vector<BarPart> parts;
  for (std::size_t i = 0; i < std::min(groups.size(), most); ++i) {
    const Allocation& row = *groups[i].first;
    const auto times = static_cast<double>(groups[i].count);
    const auto size = static_cast<double>(*row.size_bytes);
    const double padding = std::clamp(static_cast<double>(row.padding_bytes.value_or(0)), 0.0, size);
    const std::string name = row.op_name.empty() ? groups[i].shape : row.op_name;
    const std::string label = (groups[i].count > 1 ? fmt::format("{} × ", groups[i].count) : "") + Shorten(name, 60);
    const char* style = i % 2 == 0 ? "row-a" : "row-b";
    if (size > padding) parts.push_back({(size - padding) * times, style, label, false});
    if (padding > 0) parts.push_back({padding * times, style, "padding of " + label, true});
  }
  return parts;
}

// Where the listed allocations begin: a report lists those of the program, which lie beside the arguments; a dump lists
// all.
double BeginOfRows(const Diagnosis& finding, const Need& need, double rows) {
  const double arguments = finding.facts.Number("arguments_bytes").value_or(0);
  const bool of_program = finding.facts.Find("dump") == nullptr && arguments > 0 && arguments + rows <= need.need;
  return of_program ? arguments : 0;
}

double Sum(const std::vector<BarPart>& parts) {
  double sum = 0;
  for (const BarPart& part : parts) sum += part.bytes;
  return sum;
}

void DrawPart(const BarPart& part, double from, const BarScale& scale, HtmlWriter* html) {
  const std::string x = Percent(from / scale.whole);
  const std::string width = Percent(std::min(part.bytes, scale.whole - from) / scale.whole);
  if (part.label.empty()) {
    html->Empty("rect", {{"class", part.style}, {"x", x}, {"width", width}, {"height", "100%"}});
    if (part.padding) html->Empty("rect", {{"fill", "url(#hatch)"}, {"x", x}, {"width", width}, {"height", "100%"}});
    return;
  }
  // An image of its own cuts its label off.
  const auto in = html->In("svg", {{"class", part.style}, {"x", x}, {"width", width}, {"height", "100%"}});
  html->Element("title", part.label + ", " + SizeText(part.bytes));
  html->Empty("rect", {{"width", "100%"}, {"height", "100%"}});
  if (part.padding) html->Empty("rect", {{"fill", "url(#hatch)"}, {"width", "100%"}, {"height", "100%"}});
  if (part.bytes / scale.whole * 100 >= kLabelled)
    html->Element("text", part.label, {{"x", "8"}, {"y", "50%"}, {"dominant-baseline", "central"}});
}

// The name of the limit above its mark, on the side where there is room.
void DrawLimitLabel(const Need& need, const BarScale& scale, HtmlWriter* html) {
  const double at = need.have / scale.whole;
  const bool left = at > 0.5;
  const std::string name = SizeText(need.have) + " " + need.have_word;
  const auto in =
      html->In("svg", {{"class", "limit-label"}, {"width", "100%"}, {"height", "20"}, {"aria-hidden", "true"}});
  html->Element("text", left ? name + " ▼" : "▼ " + name,
                {{"x", Percent(at)}, {"dx", left ? "6" : "-6"}, {"y", "14"}, {"text-anchor", left ? "end" : "start"}});
}

void AddPartRow(const BarPart& part, double need, HtmlWriter* html) {
  const auto row = html->In("tr");
  AddSwatchHead(part, html);
  html->Number(SizeText(part.bytes));
  html->Number(need > 0 ? fmt::format("{:.0f} %", part.bytes / need * 100) : "");
}

void AddPartsTable(const Diagnosis& finding, const std::vector<BarPart>& parts, const std::vector<BarPart>& free,
                   const Need& need, HtmlWriter* html) {
  {
    const auto table = html->In("table", {{"class", "parts"}});
    html->UnseenHead("The parts in numbers", {"part", "size", "of the need"});
    const auto body = html->In("tbody");
    for (const BarPart& part : parts) AddPartRow(part, need.need, html);
    for (const BarPart& part : free) AddPartRow(part, 0, html);
  }
  if (const auto reserved = finding.facts.Number("system_reserved_bytes"); reserved && *reserved > 0) {
    html->Element("p",
                  "The system reserves " + SizeText(*reserved) + " more, which the limit mostly leaves out already.",
                  {{"class", "faint"}});
  }
}

std::string AsSentence(const std::vector<BarPart>& parts) {
  std::string text;
  for (const BarPart& part : parts) text += (text.empty() ? "" : ", ") + part.label + " " + SizeText(part.bytes);
  return text;
}

}  // namespace

BarScale ScaleOf(const Need& need) {
  constexpr double kMargin = 1.02;  // a limit at the right edge would not be seen
  return {std::max(need.need, need.have) * kMargin, need.have};
}

void DrawBar(const std::vector<BarPart>& parts, const BarScale& scale, const std::string& style,
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
  for (const BarPart& part : parts) {
    if (from >= scale.whole) break;
    DrawPart(part, from, scale, html);
    from += part.bytes;
  }
  if (scale.limit) {
    const std::string x = Percent(limit);
    html->Empty("line", {{"class", "limit"}, {"x1", x}, {"x2", x}, {"y1", "0"}, {"y2", "100%"}});
  }
}

void AddSwatchHead(const BarPart& part, HtmlWriter* html) {
  const auto head = html->In("th", {{"scope", "row"}});
  {
    const auto square =
        html->In("svg", {{"class", "swatch"}, {"width", "14"}, {"height", "14"}, {"aria-hidden", "true"}});
    html->Empty("rect", {{"class", part.style}, {"width", "14"}, {"height", "14"}, {"rx", "3"}});
    if (part.padding) html->Empty("rect", {{"fill", "url(#hatch)"}, {"width", "14"}, {"height", "14"}});
  }
  html->Text(" " + part.label);
}

void DrawEffect(const Need& need, const RankedRemedy& ranked, HtmlWriter* html) {
  const double saved = need.need - static_cast<double>(ranked.saves_bytes.value_or(0));
  const double after = std::clamp(ranked.left_bytes ? static_cast<double>(*ranked.left_bytes) : saved, 0.0, need.need);
  const bool fits = after <= need.have;
  const std::string text =
      fmt::format("about {}{} of {} {}: {}", SizeText(after), SpreadText(ranked), SizeText(need.have), need.have_word,
                  !fits               ? "does not fit yet"
                  : ranked.borderline ? "may fit"
                                      : "should fit");
  const auto in = html->In("div", {{"class", "effect"}});
  DrawBar({{after, fits ? "fits" : "over", "", false}, {need.need - after, "saved", "", false}}, ScaleOf(need), "thin",
          "Needed after it: " + text, html);
  html->Element("p", "then " + text, {{"class", "faint"}});
}

void DrawMemory(const Diagnosis& finding, std::size_t most_rows, HtmlWriter* html) {
  const std::optional<Need> need = NeedOf(finding);
  if (!need) return;
  const std::vector<BarPart> parts = PartsOfNeed(finding, *need);
  std::vector<BarPart> rows = PartsOfRows(GroupsOf(finding), std::min(most_rows, kDrawnRows));
  const std::vector<BarPart> free = PartsOfFree(finding, *need);
  BarScale scale = ScaleOf(*need);
  scale.whole = std::max({scale.whole, Sum(rows), Sum(free)});
  const auto figure = html->Block("figure");
  DrawLimitLabel(*need, scale, html);
  DrawBar(parts, scale, "thick", SizeText(need->need) + " " + need->need_word + ": " + AsSentence(parts), html);
  if (!free.empty()) DrawBar(free, scale, "thick", AsSentence(free), html);
  if (!rows.empty()) {
    if (const double begin = BeginOfRows(finding, *need, Sum(rows)); begin > 0)
      rows.insert(rows.begin(), {begin, "nothing", "", false});
    DrawBar(rows, scale, "middle", "The largest allocations, listed in the table of allocations", html);
    html->Element("p",
                  "Above: all that is needed. Below: the listed allocations, the largest first; hatched is padding.",
                  {{"class", "faint"}});
  }
  AddPartsTable(finding, parts, free, *need, html);
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

}  // namespace whyoom
