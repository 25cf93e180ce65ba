#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/finding_view.h"
#include "report/html/html_charts.h"
#include "report/html/html_parts.h"
#include "report/html/html_times.h"
#include "report/layout.h"
#include "report/summary.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kShares = 12;
constexpr std::size_t kFailures = 2000;    // rows
constexpr std::size_t kWorthCutting = 4;   // bytes
constexpr std::size_t kLongestInput = 80;  // columns
constexpr std::size_t kFolder = 240;       // columns

// A table of the most frequent, with their counts and a bar for how many reports: by title, else by name; with
// `named`, by both.
void AddShares(const char* heading, const std::map<std::string, Share>& shares, bool named, HtmlWriter* html) {
  if (shares.empty()) return;
  const auto sorted = MostFrequent(shares);
  double most = 1;
  for (const auto& [name, share] : sorted) most = std::max(most, static_cast<double>(share.occurrences));
  const auto section = html->Block("section", {{"class", "shares"}});
  html->Heading(2, heading);
  {
    const auto table = html->In("table");
    {
      const auto head = html->In("thead");
      const auto row = html->In("tr");
      {
        const auto name = html->In("th", {{"scope", "col"}});
        html->Element("span", "name", {{"class", "unseen"}});
      }
      for (const char* column : {"failures", "reports"})
        html->Element("th", column, {{"scope", "col"}, {"class", "number"}});
    }
    const auto body = html->In("tbody");
    for (std::size_t i = 0; i < std::min(sorted.size(), kShares); ++i) {
      const auto& [name, share] = sorted[i];
      const auto row = html->Block("tr");
      {
        const auto what = html->In("th", {{"scope", "row"}});
        if (named || share.title.empty()) html->Element("code", Shorten(name, kLongestInput));
        html->Text((named ? " " : "") + share.title);
        DrawBar({{static_cast<double>(share.occurrences), "count", "", false}}, {most, {}}, "share", "", html);
      }
      html->Number(fmt::format("{}", share.diagnoses));
      html->Number(fmt::format("{}", share.occurrences));
    }
  }
  if (sorted.size() > kShares)
    html->Element("p", fmt::format("and {} more", sorted.size() - kShares), {{"class", "faint"}});
}

// In how many reports, of how much, when; and what holds of all times and paths below.
void AddSummaryLine(const Report& report, const Summary& summary, const std::string& folder, HtmlWriter* html) {
  std::string text =
      fmt::format("Reported {} {}, each process or file counted once; {} read", summary.occurrences,
                  summary.occurrences == 1 ? "time" : "times", SizeText(static_cast<double>(report.bytes)));
  std::vector<Timestamp> times;
  for (const Diagnosis& finding : report.findings) {
    if (finding.tally.first_time) times.push_back(*finding.tally.first_time);
  }
  if (summary.first_time && summary.last_time) text += "; " + PeriodText(*summary.first_time, *summary.last_time);
  html->Element("p", text + ".", {{"class", "faint"}});
  if (const std::string zone = ZoneText(times); !zone.empty())
    html->Element("p", "Times on this page: " + zone + ".", {{"class", "faint"}});
  if (folder.empty()) return;
  const auto in = html->In("p", {{"class", "faint"}});
  html->Text("Paths in lists are below ");
  html->Element("code", Shorten(Printable(folder), kFolder));
  html->Text(".");
}

// A number that the table can be sorted by.
void SortedNumber(const char* name, double value, const std::string& text, HtmlWriter* html) {
  html->Element(
      "td", text,
      {{"class", "number"}, {"data-name", text.empty() ? "" : name}, {"data-v", fmt::format("{:.0f}", value)}});
}

// What a cell is of, for screens on which a row is no line.
void AddCell(const char* name, const std::string& text, HtmlWriter* html) {
  html->Element("td", text, {{"data-name", text.empty() ? "" : name}});
}

void AddFailure(const Diagnosis& finding, const Anchors& anchors, const std::string& folder, HtmlWriter* html) {
  const FailureRow failure = RowOf(finding);
  const auto row = html->Block("tr");
  {
    const auto head = html->In("th", {{"scope", "row"}});
    const auto anchor = anchors.find(&finding);
    if (anchor == anchors.end()) {
      html->Text(failure.name);
    } else {
      html->Element("a", failure.name, {{"href", "#" + anchor->second}});
    }
    html->Element("span", failure.title, {{"class", "faint"}});
  }
  {
    const auto program = html->In("td", {{"data-name", failure.program.empty() ? "" : "program"}});
    if (!failure.program.empty()) html->Element("code", Shorten(failure.program, kLongestInput));
  }
  SortedNumber("too much", failure.excess_bytes, failure.excess, html);
  AddCell("first cure", failure.remedy, html);
  SortedNumber("reports", static_cast<double>(finding.tally.occurrences()), failure.processes, html);
  if (const auto& time = finding.tally.first_time) {
    html->Element("td", DateText(*time),
                  {{"class", "time"}, {"data-name", "first seen"}, {"data-v", fmt::format("{}", time->microseconds)}});
  } else {
    html->Element("td", "", {{"class", "time"}, {"data-name", ""}});
  }
  const auto where = html->In("td", {{"class", "where"}, {"data-name", "where"}});
  html->Element("code", Shorten(BelowFolder(failure.place, folder), kLongestInput),
                {{"title", Shorten(failure.place, 400)}});
}

}  // namespace

std::string CommonFolder(const Report& report) {
  if (report.findings.size() < 2) return {};
  std::string folder = report.findings.front().where.artifact.path;
  folder.erase(folder.rfind('/') + 1);  // all of it where there is none
  for (const Diagnosis& finding : report.findings) {
    while (!folder.empty() && !finding.where.artifact.path.starts_with(folder))
      folder.erase(folder.size() < 2 ? 0 : folder.rfind('/', folder.size() - 2) + 1);
  }
  return folder.size() < kWorthCutting ? "" : folder;
}

std::string BelowFolder(const std::string& place, const std::string& folder) {
  const std::string printable = Printable(folder);
  return place.starts_with(printable) ? place.substr(printable.size()) : place;
}

std::string BatchTitle(const Report& report) {
  return Counted(report.findings.size(), "different failure", "different failures") + " in " +
         Counted(report.artifacts, "input", "inputs");
}

void AddOverview(const Report& report, const std::string& folder, HtmlWriter* html) {
  const Summary summary = Summarize(report);
  {
    const auto header = html->In("header", {{"class", "verdict"}});
    html->Heading(1, BatchTitle(report));
    AddSummaryLine(report, summary, folder, html);
  }
  {
    const auto overview = html->In("div", {{"class", "overview"}});
    AddShares("What failed", summary.by_scenario, true, html);
    AddShares("First find out more", summary.by_inquiry, false, html);
    AddShares("The first cure", summary.by_remedy, false, html);
    if (summary.by_program.size() > 1) AddShares("Programs", summary.by_program, false, html);
  }
  std::vector<Timestamp> times;
  for (const Diagnosis& finding : report.findings) {
    if (finding.tally.first_time) times.push_back(*finding.tally.first_time);
  }
  if (times.size() < 2) return;
  html->Heading(2, "When they were first reported");
  DrawTimes(times, "Failures", html);
  if (times.size() < report.findings.size())
    html->Element("p", fmt::format("Of {} failures; the log of the others tells no time.", times.size()),
                  {{"class", "faint"}});
}

void AddFailureTable(const std::vector<const Diagnosis*>& findings, const Anchors& anchors, const std::string& folder,
                     HtmlWriter* html) {
  html->Heading(2, "All failures", {{"id", "failures-title"}});
  {
    const auto search = html->In("p", {{"class", "search"}, {"id", "search"}, {"hidden", "hidden"}});
    html->Element("label", "Search", {{"for", "words"}});
    html->Text(" ");
    html->Empty("input", {{"id", "words"}, {"type", "search"}, {"placeholder", "code, program, remedy, file …"}});
    html->Text(" ");
    html->Element("output", "", {{"id", "count"}, {"for", "words"}});
  }
  {
    const auto scroll = html->In(
        "div",
        {{"class", "scroll tall"}, {"role", "region"}, {"aria-labelledby", "failures-title"}, {"tabindex", "0"}});
    const auto table = html->In("table", {{"id", "failures"}});
    html->TableHead(
        {{"failure"}, {"program"}, {"too much", true}, {"first cure"}, {"reports", true}, {"first seen"}, {"where"}});
    html->Line();
    const auto body = html->In("tbody");
    for (std::size_t i = 0; i < std::min(findings.size(), kFailures); ++i)
      AddFailure(*findings[i], anchors, folder, html);
  }
  if (findings.size() > kFailures)
    html->Element("p", fmt::format("and {} less frequent ones (--format json has all)", findings.size() - kFailures),
                  {{"class", "faint"}});
}

}  // namespace whyoom
