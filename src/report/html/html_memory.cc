#include "report/html/html_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "report/finding_text.h"
#include "report/html/html_charts.h"
#include "report/layout.h"
#include "report/memory_view.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr double kMargin = 1.02;    // a limit at the right edge would not be seen
constexpr std::size_t kName = 240;  // columns
constexpr std::size_t kWholePrograms = 20;
constexpr std::size_t kNamedPrograms = 200;

struct Look {
  const char* style;  // class of the style sheet
  bool hatched;
};

Look LookOf(const std::string& kind) {
  static const std::map<std::string, Look> looks = {
      {"weights", {"args", false}},          {"gathered_weights", {"args", true}},
      {"optimizer_state", {"other", false}}, {"gradients", {"frag", false}},
      {"activations", {"temp", false}},      {"logits", {"row-b", false}},
      {"attention_scores", {"free", false}}, {"temporaries", {"rest", false}},
      {"padding", {"temp", true}},           {"inputs", {"free", true}},
      {"outputs", {"other", true}},          {"constants", {"frag", true}},
      {"fragmentation", {"rest", true}}};
  const auto look = looks.find(kind);
  return look == looks.end() ? Look{"rest", false} : look->second;
}

// Literals, because the writer keeps no copies.
const char* HeadingElement(int level) {
  constexpr const char* kElements[] = {"h1", "h2", "h3", "h4", "h5", "h6"};
  return kElements[std::clamp(level, 1, 6) - 1];
}

void AddShareRow(const MemoryShare& share, HtmlWriter* html) {
  const Look look = LookOf(share.kind);
  html->Open("tr");
  html->Open("th", {{"scope", "row"}});
  html->Open("svg", {{"class", "swatch"}, {"width", "14"}, {"height", "14"}, {"aria-hidden", "true"}});
  html->Empty("rect", {{"class", look.style}, {"width", "14"}, {"height", "14"}, {"rx", "3"}});
  if (look.hatched) html->Empty("rect", {{"fill", "url(#hatch)"}, {"width", "14"}, {"height", "14"}});
  html->Close();
  html->Text(" " + share.name);
  html->Close();
  html->Element("td", SizeText(share.bytes), {{"class", "number"}});
  html->Element("td", fmt::format("{:.0f} %", 100 * share.part), {{"class", "number"}});
  html->Open("td");
  for (std::size_t i = 0; i < share.modules.size(); ++i) {
    if (i > 0) html->Text(", ");
    html->Element("code", share.modules[i]);
  }
  html->Close();
  html->Close();
}

void AddShares(const std::vector<MemoryShare>& shares, const std::optional<double>& limit, HtmlWriter* html) {
  std::vector<BarPart> parts;
  std::string alternative;
  BarScale scale{0, limit};
  for (const MemoryShare& share : shares) {
    const Look look = LookOf(share.kind);
    parts.push_back({share.bytes, look.style, share.name, look.hatched});
    scale.whole += share.bytes;
    alternative += (alternative.empty() ? "" : ", ") + share.name + " " + AmountText(share);
  }
  scale.whole = std::max(scale.whole, limit.value_or(0)) * kMargin;
  html->Open("figure");
  DrawBar(parts, scale, "thick", alternative, html);
  if (limit) html->Element("p", "The dashed line is the limit, " + SizeText(*limit) + ".", {{"class", "faint"}});
  html->Open("table", {{"class", "parts kinds"}});
  html->Element("caption", "What is live at the fullest moment", {{"class", "unseen"}});
  html->Open("thead", {{"class", "unseen"}});
  html->Open("tr");
  for (const char* head : {"kind", "size", "of the need", "most of it in"})
    html->Element("th", head, {{"scope", "col"}});
  html->Close();
  html->Close();
  html->Open("tbody");
  for (const MemoryShare& share : shares) AddShareRow(share, html);
  html->Close();
  html->Close();
  html->Close();
  html->Line();
}

std::string Percent(double part) { return fmt::format("{:.2f}%", std::clamp(part, 0.0, 1.0) * 100); }

void DrawTimeline(const TimelineView& timeline, const std::optional<double>& limit, HtmlWriter* html) {
  constexpr std::size_t kFewest = 4;
  if (timeline.bytes.size() < kFewest) return;
  // A limit far above would leave nothing to see.
  const bool shows_limit = limit && *limit > 0 && *limit < 3 * timeline.most;
  const double whole = std::max(timeline.most, shows_limit ? *limit : 0) * kMargin;
  const auto count = static_cast<double>(timeline.bytes.size());
  html->Open("figure");
  html->Open("svg", {{"class", "columns"},
                     {"width", "100%"},
                     {"height", "120"},
                     {"role", "img"},
                     {"aria-label", "Memory in the order of the program: " + FullestText(timeline)}});
  for (std::size_t i = 0; i < timeline.bytes.size(); ++i) {
    const double height = timeline.bytes[i] / whole;
    html->Empty("rect", {{"x", Percent((static_cast<double>(i) + 0.08) / count)},
                         {"y", Percent(1 - height)},
                         {"width", Percent(0.84 / count)},
                         {"height", Percent(height)}});
  }
  if (shows_limit) {
    const std::string y = Percent(1 - *limit / whole);
    html->Empty("line", {{"class", "limit"}, {"x1", "0"}, {"x2", "100%"}, {"y1", y}, {"y2", y}});
  }
  html->Close();
  html->Open("figcaption", {{"class", "ends"}});
  html->Element("span", "begin of the program");
  html->Element("span", FullestText(timeline));
  html->Element("span", "end");
  html->Close();
  html->Close();
  html->Line();
}

void AddVerdict(const ProgramView& view, std::uint64_t occurrences, HtmlWriter* html) {
  html->Open("header", {{"class", "verdict"}});
  html->Open("h3");
  html->Element("code", Shorten(view.name, kName));
  html->Close();
  html->Element("p", view.verdict);
  html->Open("p", {{"class", "faint"}});
  html->Element("code", Shorten(view.place, kName));
  if (!view.chip.empty()) html->Text(" · " + view.chip);
  if (occurrences > 1) html->Text(fmt::format(" · {} times", occurrences));
  html->Close();
  if (!view.note.empty()) {
    html->Open("p", {{"class", "faint"}});
    html->Sentence(view.note);
    html->Close();
  }
  html->Close();
  html->Line();
}

void AddProgram(const CompiledProgram& program, HtmlWriter* html) {
  const ProgramView view = ViewOf(program);
  const std::optional<double> limit = view.limit > 0 ? std::optional(view.limit) : std::nullopt;
  html->Open("article");
  AddVerdict(view, program.occurrences, html);
  if (program.prospects) {
    AddMemory(*program.prospects, limit, 4, html);
  } else if (!view.parts.empty()) {
    const char* const styles[] = {"args", "other", "temp"};
    std::vector<BarPart> parts;
    for (std::size_t i = 0; i < view.parts.size(); ++i)
      parts.push_back({view.parts[i].second, styles[i % 3], view.parts[i].first, false});
    html->Open("figure");
    DrawBar(parts, {std::max(view.need, view.limit) * kMargin, limit}, "thick", view.verdict, html);
    html->Open("ul");
    for (const BarPart& part : parts) html->Element("li", part.label + " " + SizeText(part.bytes));
    html->Close();
    html->Close();
  }
  html->Close();
}

}  // namespace

void AddMemory(const Prospects& prospects, const std::optional<double>& limit, int level, HtmlWriter* html) {
  const std::vector<MemoryShare> shares = SharesOf(prospects);
  if (!shares.empty()) {
    html->Element(HeadingElement(level), "What is in it at its fullest");
    AddShares(shares, limit, html);
    DrawTimeline(TimelineViewOf(prospects), limit, html);
  }
  const std::vector<std::string> room = RoomTexts(prospects.room);
  if (room.empty()) return;
  html->Element(HeadingElement(level), "What would fit");
  html->Open("ul");
  for (const std::string& sentence : room) html->Element("li", sentence);
  html->Close();
  html->Line();
}

void AddPrograms(const Report& report, HtmlWriter* html) {
  if (report.programs.empty()) return;
  html->Element("h2", "Programs that fit");
  const std::size_t whole = std::min(report.programs.size(), kWholePrograms);
  for (std::size_t i = 0; i < whole; ++i) AddProgram(report.programs[i], html);
  const std::size_t named = std::min(report.programs.size(), whole + kNamedPrograms);
  const std::uint64_t more = report.programs.size() - named + report.programs_left_out;
  if (named == whole && more == 0) return;
  html->Open("ul");
  for (std::size_t i = whole; i < named; ++i) {
    const ProgramView view = ViewOf(report.programs[i]);
    html->Open("li");
    html->Element("code", Shorten(view.name, kName));
    html->Text(" " + SizeText(view.need) + ", ");
    html->Element("code", Shorten(view.place, kName));
    html->Close();
  }
  if (more > 0) html->Element("li", fmt::format("and {} more programs", more));
  html->Close();
}

}  // namespace whyoom
