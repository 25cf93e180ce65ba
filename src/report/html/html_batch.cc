#include "report/html/html_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/finding_text.h"
#include "report/html/html_charts.h"
#include "report/html/html_finding.h"
#include "report/layout.h"
#include "report/summary.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kShares = 12;
constexpr std::size_t kFailures = 2000;  // rows
constexpr std::size_t kName = 80;        // columns

std::string TitleOf(const Finding& finding) {
  if (finding.scenario != nullptr) return finding.scenario->title;
  return finding.failure->scenarios.empty() ? finding.failure->title : "the log cannot tell which scenario";
}

// A table of names with their counts, and a bar for how many failures.
void AddShares(const char* title, const std::map<std::string, Share>& shares,
               const std::map<std::string, std::string>& titles, HtmlWriter* html) {
  if (shares.empty()) return;
  const auto sorted = MostFrequent(shares);
  double most = 1;
  for (const auto& [name, share] : sorted) most = std::max(most, static_cast<double>(share.diagnoses));
  html->Open("section", {{"class", "shares"}});
  html->Element("h2", title);
  html->Open("table");
  html->Open("thead");
  html->Open("tr");
  html->Open("th", {{"scope", "col"}});
  html->Element("span", "name", {{"class", "unseen"}});
  html->Close();
  html->Element("th", "failures", {{"scope", "col"}, {"class", "number"}});
  html->Element("th", "processes", {{"scope", "col"}, {"class", "number"}});
  html->Close();
  html->Close();
  html->Open("tbody");
  for (std::size_t i = 0; i < std::min(sorted.size(), kShares); ++i) {
    const auto& [name, share] = sorted[i];
    const auto found = titles.find(name);
    html->Open("tr");
    html->Open("th", {{"scope", "row"}});
    if (found == titles.end() || found->second.starts_with(' ')) html->Element("code", Shorten(name, kName));
    if (found != titles.end()) html->Text(found->second);
    DrawBar({{static_cast<double>(share.diagnoses), "count", "", false}}, {most, {}}, "share", "", html);
    html->Close();
    html->Element("td", fmt::format("{}", share.diagnoses), {{"class", "number"}});
    html->Element("td", fmt::format("{}", share.occurrences), {{"class", "number"}});
    html->Close();
    html->Line();
  }
  html->Close();
  html->Close();
  if (sorted.size() > kShares)
    html->Element("p", fmt::format("and {} more", sorted.size() - kShares), {{"class", "faint"}});
  html->Close();
  html->Line();
}

void AddSummaryLine(const Report& report, const Summary& summary, HtmlWriter* html) {
  std::string text = "Reported by " + Counted(summary.occurrences, "process", "processes") + "; " +
                     SizeText(static_cast<double>(report.bytes)) + " read";
  if (summary.first_time && summary.last_time)
    text += "; " + ToString(*summary.first_time) + " to " + ToString(*summary.last_time);
  html->Element("p", text + ".", {{"class", "faint"}});
}

struct Column {
  const char* title;
  bool number;
};

constexpr Column kColumns[] = {{"failure", false},  {"program", false},    {"too much", true}, {"do first", false},
                               {"processes", true}, {"first seen", false}, {"where", false}};

void NumberCell(double value, const std::string& text, HtmlWriter* html) {
  html->Element("td", text, {{"class", "number"}, {"data-v", fmt::format("{:.0f}", value)}});
}

void AddFailure(const Finding& finding, const Anchors& anchors, HtmlWriter* html) {
  html->Open("tr");
  html->Open("th", {{"scope", "row"}});
  const auto anchor = anchors.find(&finding);
  if (anchor == anchors.end()) {
    html->Text(ScenarioName(finding));
  } else {
    html->Element("a", ScenarioName(finding), {{"href", "#" + anchor->second}});
  }
  html->Element("span", TitleOf(finding), {{"class", "faint"}});
  html->Close();
  html->Open("td");
  if (const std::string program = ProgramOf(finding); !program.empty()) html->Element("code", Shorten(program, kName));
  html->Close();
  const std::optional<Need> need = NeedOf(finding);
  const bool over = need && need->excess > 0;
  NumberCell(over ? need->excess : 0, over ? (need->at_most ? "< " : "") + SizeText(need->excess) : "", html);
  const Remedy* remedy = FirstRemedy(finding);
  html->Element("td", remedy == nullptr ? "" : remedy->title);
  const std::uint64_t occurrences = finding.tally.occurrences();
  NumberCell(static_cast<double>(occurrences),
             fmt::format("{}{}", finding.tally.hosts.complete() ? "" : "~", occurrences), html);
  const auto& time = finding.tally.first_time;
  html->Element("td", time ? ToString(*time) : "", {{"class", "time"}});
  html->Open("td", {{"class", "where"}});
  html->Element("code", Shorten(PlaceText(finding), kName), {{"title", Shorten(PlaceText(finding), 400)}});
  html->Close();
  html->Close();
  html->Line();
}

}  // namespace

std::string BatchTitle(const Report& report) {
  return Counted(report.findings.size(), "different failure", "different failures") + " in " +
         Counted(report.artifacts, "input", "inputs");
}

void AddOverview(const Report& report, HtmlWriter* html) {
  const Summary summary = Summarize(report);
  std::map<std::string, std::string> scenarios;
  std::map<std::string, std::string> remedies;
  std::vector<Timestamp> times;
  for (const Finding& finding : report.findings) {
    scenarios.emplace(ScenarioName(finding), " " + TitleOf(finding));
    if (const Remedy* remedy = FirstRemedy(finding)) remedies.emplace(remedy->id, remedy->title);
    if (finding.tally.first_time) times.push_back(*finding.tally.first_time);
  }
  html->Open("header", {{"class", "verdict"}});
  html->Element("h1", BatchTitle(report));
  AddSummaryLine(report, summary, html);
  html->Close();
  html->Open("div", {{"class", "overview"}});
  AddShares("What failed", summary.by_scenario, scenarios, html);
  AddShares("What to do first", summary.by_remedy, remedies, html);
  if (summary.by_program.size() > 1) AddShares("Programs", summary.by_program, {}, html);
  html->Close();
  if (times.size() > 1) {
    html->Element("h2", "When they were first reported");
    DrawTimes(times, html);
    if (times.size() < report.findings.size())
      html->Element("p", fmt::format("Of {} failures; the log of the others tells no time.", times.size()),
                    {{"class", "faint"}});
  }
}

void AddFailureTable(const std::vector<const Finding*>& findings, const Anchors& anchors, HtmlWriter* html) {
  html->Element("h2", "All failures", {{"id", "failures-title"}});
  html->Open("p", {{"class", "search"}, {"id", "search"}, {"hidden", "hidden"}});
  html->Element("label", "Search", {{"for", "words"}});
  html->Text(" ");
  html->Empty("input", {{"id", "words"}, {"type", "search"}, {"placeholder", "code, program, remedy, file …"}});
  html->Text(" ");
  html->Element("output", "", {{"id", "count"}, {"for", "words"}});
  html->Close();
  html->Open("div",
             {{"class", "scroll tall"}, {"role", "region"}, {"aria-labelledby", "failures-title"}, {"tabindex", "0"}});
  html->Open("table", {{"id", "failures"}});
  html->Open("thead");
  html->Open("tr");
  for (const Column& column : kColumns)
    html->Element("th", column.title, {{"scope", "col"}, {"class", column.number ? "number" : "text"}});
  html->Close();
  html->Close();
  html->Line();
  html->Open("tbody");
  for (std::size_t i = 0; i < std::min(findings.size(), kFailures); ++i) AddFailure(*findings[i], anchors, html);
  html->Close();
  html->Close();
  html->Close();
  if (findings.size() > kFailures)
    html->Element("p", fmt::format("and {} less frequent ones (--format json has all)", findings.size() - kFailures),
                  {{"class", "faint"}});
}

}  // namespace whyoom
