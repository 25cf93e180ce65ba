#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "report/finding_view.h"
#include "report/html/html_charts.h"
#include "report/html/html_parts.h"
#include "report/layout.h"
#include "report/memory_view.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr double kMargin = 1.02;              // a limit at the right edge would not be seen
constexpr std::size_t kLongestRowName = 240;  // columns
constexpr std::size_t kModuleName = 80;       // columns
constexpr std::size_t kModules = 20;
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
  const auto figure = html->Block("figure");
  DrawBar(parts, scale, "thick", alternative, html);
  if (limit) html->Element("p", "The dashed line is the limit, " + SizeText(*limit) + ".", {{"class", "faint"}});
  const auto table = html->In("table", {{"class", "parts kinds"}});
  html->UnseenHead("What is live at the fullest moment", {"kind", "size", "of the need", "most of it in"});
  const auto body = html->In("tbody");
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto row = html->In("tr");
    AddSwatchHead(parts[i], html);
    html->Number(SizeText(shares[i].bytes));
    html->Number(fmt::format("{:.0f} %", 100 * shares[i].part));
    const auto modules = html->In("td");
    for (std::size_t at = 0; at < shares[i].modules.size(); ++at) {
      if (at > 0) html->Text(", ");
      html->Element("code", shares[i].modules[at]);
    }
  }
}

// Of each of the user's modules what it takes, by kind.
void AddModules(const Prospects& prospects, int level, HtmlWriter* html) {
  struct Module {
    double bytes = 0;
    std::vector<BarPart> parts;
  };
  std::map<std::string, Module> modules;
  for (const MemoryPart& part : prospects.memory) {
    for (const auto& [name, size] : part.modules) {
      if (size <= 0) continue;
      const Look look = LookOf(part.kind);
      Module& module = modules[name];
      module.bytes += static_cast<double>(size);
      module.parts.push_back({static_cast<double>(size), look.style, "", look.hatched});
    }
  }
  if (modules.size() < 2) return;
  std::vector<std::pair<std::string, Module>> sorted(modules.begin(), modules.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  html->Heading(level, "By module of your model");
  const auto table = html->In("table", {{"class", "modules"}});
  html->Element("caption", "The largest of each kind, in the same colours", {{"class", "faint"}});
  html->TableHead({{"module"}, {"size", true}, {""}});
  const auto body = html->In("tbody");
  for (std::size_t i = 0; i < std::min(sorted.size(), kModules); ++i) {
    const auto& [name, module] = sorted[i];
    const auto row = html->Block("tr");
    {
      const auto head = html->In("th", {{"scope", "row"}});
      html->Element("code", Shorten(Printable(name), kModuleName));
    }
    html->Number(SizeText(module.bytes));
    const auto cell = html->In("td", {{"class", "drawn"}});
    DrawBar(module.parts, {sorted.front().second.bytes, {}}, "thin", "", html);
  }
}

void DrawTimeline(const TimelineView& timeline, const std::optional<double>& limit, int level, HtmlWriter* html) {
  constexpr std::size_t kFewest = 4;
  if (timeline.bytes.size() < kFewest) return;
  html->Heading(level, "Over the program's order");
  // A limit far above would leave nothing to see.
  const bool shows_limit = limit && *limit > 0 && *limit < 3 * timeline.most;
  ColumnChart chart;
  chart.heights = timeline.bytes;
  chart.whole = std::max(timeline.most, shows_limit ? *limit : 0) * kMargin;
  if (shows_limit) chart.limit = limit;
  chart.alternative = "Memory in the order of the program: " + FullestText(timeline);
  chart.begin = "begin of the program";
  chart.middle = FullestText(timeline);
  chart.end = "end";
  DrawColumns(chart, html);
  if (shows_limit) html->Element("p", "The dashed line is the limit, " + SizeText(*limit) + ".", {{"class", "faint"}});
}

void AddVerdict(const ProgramView& view, std::uint64_t occurrences, HtmlWriter* html) {
  const auto header = html->Block("header", {{"class", "verdict"}});
  {
    const auto heading = html->In("h3");
    html->Element("code", Shorten(view.name, kLongestRowName));
  }
  html->Element("p", view.verdict);
  {
    const auto facts = html->In("p", {{"class", "faint"}});
    html->Element("code", Shorten(view.place, kLongestRowName));
    if (!view.chip.empty()) html->Text(" · " + view.chip);
    if (occurrences > 1) html->Text(fmt::format(" · {} times", occurrences));
  }
  if (!view.note.empty()) html->SentenceElement("p", view.note, {{"class", "faint"}});
}

// What a log states of a program without a dump.
void DrawParts(const ProgramView& view, const std::optional<double>& limit, HtmlWriter* html) {
  const char* const styles[] = {"args", "other", "temp"};
  std::vector<BarPart> parts;
  for (std::size_t i = 0; i < view.parts.size(); ++i)
    parts.push_back({view.parts[i].second, styles[i % 3], view.parts[i].first, false});
  const auto figure = html->In("figure");
  DrawBar(parts, {std::max(view.need, view.limit) * kMargin, limit}, "thick", view.verdict, html);
  const auto list = html->In("ul");
  for (const BarPart& part : parts) html->Element("li", part.label + " " + SizeText(part.bytes));
}

void AddProgram(const CompiledProgram& program, HtmlWriter* html) {
  const ProgramView view = ViewOf(program);
  const std::optional<double> limit = view.limit > 0 ? std::optional(view.limit) : std::nullopt;
  const auto article = html->In("article");
  AddVerdict(view, program.occurrences, html);
  if (program.prospects) {
    AddMemory(*program.prospects, limit, 4, html);
  } else if (!view.parts.empty()) {
    DrawParts(view, limit, html);
  }
}

}  // namespace

void AddMemory(const Prospects& prospects, const std::optional<double>& limit, int level, HtmlWriter* html) {
  const std::vector<MemoryShare> shares = SharesOf(prospects);
  if (!shares.empty()) {
    html->Heading(level, "What is in it at its fullest");
    AddShares(shares, limit, html);
    AddModules(prospects, level, html);
    DrawTimeline(TimelineViewOf(prospects), limit, level, html);
  }
  const std::vector<std::string> room = RoomTexts(prospects.room);
  if (room.empty()) return;
  html->Heading(level, "What would fit");
  const auto list = html->Block("ul");
  for (const std::string& sentence : room) html->Element("li", sentence);
}

void AddPrograms(const Report& report, HtmlWriter* html) {
  if (report.programs.empty()) return;
  html->Element("h2", "Programs that fit");
  const std::size_t whole = std::min(report.programs.size(), kWholePrograms);
  for (std::size_t i = 0; i < whole; ++i) AddProgram(report.programs[i], html);
  const std::size_t named = std::min(report.programs.size(), whole + kNamedPrograms);
  const std::uint64_t more = report.programs.size() - named + report.programs_left_out;
  if (named == whole && more == 0) return;
  const auto list = html->In("ul");
  for (std::size_t i = whole; i < named; ++i) {
    const ProgramView view = ViewOf(report.programs[i]);
    const auto item = html->In("li");
    html->Element("code", Shorten(view.name, kLongestRowName));
    html->Text(" " + SizeText(view.need) + ", ");
    html->Element("code", Shorten(view.place, kLongestRowName));
  }
  if (more > 0) html->Element("li", fmt::format("and {} more programs", more));
}

}  // namespace whyoom
