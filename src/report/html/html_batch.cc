#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/finding_view.h"
#include "report/html/html_charts.h"
#include "report/html/html_parts.h"
#include "report/layout.h"
#include "report/summary.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kShares = 12;
constexpr std::size_t kFailures = 2000;  // rows
constexpr std::size_t kName = 80;        // columns

// A table of the most frequent, with their counts and a bar for how many failures: by title, else by name; with
// `named`, by both.
void AddShares(const char* heading, const std::map<std::string, Share>& shares, bool named, HtmlWriter* html) {
  if (shares.empty()) return;
  const auto sorted = MostFrequent(shares);
  double most = 1;
  for (const auto& [name, share] : sorted) most = std::max(most, static_cast<double>(share.diagnoses));
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
      for (const char* column : {"failures", "processes"})
        html->Element("th", column, {{"scope", "col"}, {"class", "number"}});
    }
    const auto body = html->In("tbody");
    for (std::size_t i = 0; i < std::min(sorted.size(), kShares); ++i) {
      const auto& [name, share] = sorted[i];
      const auto row = html->Block("tr");
      {
        const auto what = html->In("th", {{"scope", "row"}});
        if (named || share.title.empty()) html->Element("code", Shorten(name, kName));
        html->Text((named ? " " : "") + share.title);
        DrawBar({{static_cast<double>(share.diagnoses), "count", "", false}}, {most, {}}, "share", "", html);
      }
      html->Number(fmt::format("{}", share.diagnoses));
      html->Number(fmt::format("{}", share.occurrences));
    }
  }
  if (sorted.size() > kShares)
    html->Element("p", fmt::format("and {} more", sorted.size() - kShares), {{"class", "faint"}});
}

void AddSummaryLine(const Report& report, const Summary& summary, HtmlWriter* html) {
  std::string text = "Reported by " + Counted(summary.occurrences, "process", "processes") + "; " +
                     SizeText(static_cast<double>(report.bytes)) + " read";
  if (summary.first_time && summary.last_time)
    text += "; " + ToString(*summary.first_time) + " to " + ToString(*summary.last_time);
  html->Element("p", text + ".", {{"class", "faint"}});
}

// A number that the table can be sorted by.
void SortedNumber(double value, const std::string& text, HtmlWriter* html) {
  html->Element("td", text, {{"class", "number"}, {"data-v", fmt::format("{:.0f}", value)}});
}

void AddFailure(const Diagnosis& finding, const Anchors& anchors, HtmlWriter* html) {
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
    const auto program = html->In("td");
    if (!failure.program.empty()) html->Element("code", Shorten(failure.program, kName));
  }
  SortedNumber(failure.excess_bytes, failure.excess, html);
  html->Element("td", failure.remedy);
  SortedNumber(static_cast<double>(finding.tally.occurrences()), failure.processes, html);
  const auto& time = finding.tally.first_time;
  html->Element("td", time ? ToString(*time) : "", {{"class", "time"}});
  const auto where = html->In("td", {{"class", "where"}});
  html->Element("code", Shorten(failure.place, kName), {{"title", Shorten(failure.place, 400)}});
}

}  // namespace

std::string BatchTitle(const Report& report) {
  return Counted(report.findings.size(), "different failure", "different failures") + " in " +
         Counted(report.artifacts, "input", "inputs");
}

void AddOverview(const Report& report, HtmlWriter* html) {
  const Summary summary = Summarize(report);
  {
    const auto header = html->In("header", {{"class", "verdict"}});
    html->Heading(1, BatchTitle(report));
    AddSummaryLine(report, summary, html);
  }
  {
    const auto overview = html->In("div", {{"class", "overview"}});
    AddShares("What failed", summary.by_scenario, true, html);
    AddShares("What to do first", summary.by_remedy, false, html);
    if (summary.by_program.size() > 1) AddShares("Programs", summary.by_program, false, html);
  }
  std::vector<Timestamp> times;
  for (const Diagnosis& finding : report.findings) {
    if (finding.tally.first_time) times.push_back(*finding.tally.first_time);
  }
  if (times.size() < 2) return;
  html->Heading(2, "When they were first reported");
  DrawTimes(times, html);
  if (times.size() < report.findings.size())
    html->Element("p", fmt::format("Of {} failures; the log of the others tells no time.", times.size()),
                  {{"class", "faint"}});
}

void AddFailureTable(const std::vector<const Diagnosis*>& findings, const Anchors& anchors, HtmlWriter* html) {
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
        {{"failure"}, {"program"}, {"too much", true}, {"do first"}, {"processes", true}, {"first seen"}, {"where"}});
    html->Line();
    const auto body = html->In("tbody");
    for (std::size_t i = 0; i < std::min(findings.size(), kFailures); ++i) AddFailure(*findings[i], anchors, html);
  }
  if (findings.size() > kFailures)
    html->Element("p", fmt::format("and {} less frequent ones (--format json has all)", findings.size() - kFailures),
                  {{"class", "faint"}});
}

}  // namespace whyoom
