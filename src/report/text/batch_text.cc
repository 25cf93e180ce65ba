#include "report/text/batch_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "report/finding_text.h"
#include "report/layout.h"
#include "report/summary.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kSmallBatch = 3;   // up to this many are none
constexpr std::size_t kLargeBatch = 20;  // beyond, most people want a few whole and the rest by name
constexpr std::size_t kWholeOfLarge = 3;
constexpr std::size_t kOthers = 200;
constexpr std::size_t kScenarios = 12;
constexpr std::size_t kRemedies = 8;
constexpr std::size_t kPrograms = 8;
constexpr std::size_t kRecurring = 8;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kNumber = 10;  // columns of a count

// A table of names with two counts each.
class Table {
 public:
  explicit Table(TextPage* page) : page_(*page) {}

  void Head(const std::string& label, const char* first, const char* second) {
    const std::size_t label_columns = page_.width() - 2 * kNumber;
    const std::string blanks(label_columns - std::min(label_columns, DisplayWidth(label)), ' ');
    page_.Blank();
    page_.Line(page_.style().Label(label) + blanks +
               page_.style().Faint(fmt::format("{:>{}}{:>{}}", first, kNumber, second, kNumber)));
  }
  void Row(const std::string& name, std::uint64_t first, std::uint64_t second, bool about = false) {
    page_.Line(std::string(kIndent, ' ') + Fit(name, columns() - 2 * kNumber) +
               fmt::format("{:>{}}{:>{}}", first, kNumber, fmt::format("{}{}", about ? "~" : "", second), kNumber));
  }
  void Note(const std::string& text) {
    page_.Line(std::string(kIndent, ' ') + page_.style().Faint(Shorten(text, columns())));
  }
  void More(std::size_t all, std::size_t shown) {
    if (all > shown) Note(fmt::format("and {} more", all - shown));
  }
  std::size_t columns() const { return page_.width() - kIndent; }

 private:
  TextPage& page_;
};

// Behind the longest scenario of any.
std::size_t ScenarioColumn(const Report& report) {
  std::size_t column = 0;
  for (const Finding& finding : report.findings) column = std::max(column, ScenarioName(finding).size());
  return std::min<std::size_t>(column, 24) + 2;
}

// What each scenario is called.
std::map<std::string, std::string> ScenarioTitles(const Report& report) {
  std::map<std::string, std::string> titles;
  for (const Finding& finding : report.findings) {
    const bool open = finding.scenario == nullptr && !finding.failure->scenarios.empty();
    titles.emplace(ScenarioName(finding), open                          ? "the log cannot tell which scenario"
                                          : finding.scenario != nullptr ? finding.scenario->title
                                                                        : finding.failure->title);
  }
  return titles;
}

void AddScenarios(const Report& report, const Summary& summary, Table* table) {
  const std::map<std::string, std::string> titles = ScenarioTitles(report);
  const std::size_t column = ScenarioColumn(report);
  table->Head("what", "failures", "processes");
  const auto shares = MostFrequent(summary.by_scenario);
  for (std::size_t i = 0; i < std::min(shares.size(), kScenarios); ++i) {
    const auto& [name, share] = shares[i];
    table->Row(Fit(name, column) + Printable(titles.at(name)), share.diagnoses, share.occurrences);
  }
  table->More(shares.size(), kScenarios);
}

void AddRemedies(const Report& report, const Summary& summary, Table* table) {
  std::map<std::string, std::string> titles;
  for (const Finding& finding : report.findings) {
    if (const Remedy* remedy = FirstRemedy(finding)) titles.emplace(remedy->id, remedy->title);
  }
  if (titles.empty()) return;
  table->Head("do first", "failures", "processes");
  const auto shares = MostFrequent(summary.by_remedy);
  for (std::size_t i = 0; i < std::min(shares.size(), kRemedies); ++i)
    table->Row(titles.at(shares[i].first), shares[i].second.diagnoses, shares[i].second.occurrences);
  table->More(shares.size(), kRemedies);
}

void AddPrograms(const Summary& summary, Table* table) {
  if (summary.by_program.size() < 2) return;
  table->Head("programs", "failures", "processes");
  const auto shares = MostFrequent(summary.by_program);
  for (std::size_t i = 0; i < std::min(shares.size(), kPrograms); ++i)
    table->Row(shares[i].first, shares[i].second.diagnoses, shares[i].second.occurrences);
  table->More(shares.size(), kPrograms);
}

std::string Period(const std::optional<Timestamp>& first, const std::optional<Timestamp>& last) {
  if (!first || !last) return {};
  return *first == *last ? ToString(*first) : ToString(*first) + " to " + ToString(*last);
}

std::string PlaceOf(const Finding& finding) {
  const Artifact& artifact = finding.where.artifact;
  return Printable(artifact.path) + (artifact.member.empty() ? "" : " › " + Printable(artifact.member)) +
         fmt::format(":{}", finding.where.line);
}

// "E1000.2  jit_step · 5.02 GiB too much · "; what is known beside the scenario begins behind `column`.
std::string ShortText(const Finding& finding, std::size_t column) {
  std::string text = Fit(ScenarioName(finding), column);
  if (const std::string program = ProgramOf(finding); !program.empty()) text += Shorten(program, 30) + " · ";
  const std::optional<double> excess = finding.facts.Number("excess_bytes");
  if (excess && *excess > 0) text += SizeText(*excess) + " too much · ";
  return text;
}

std::string OneLine(const Finding& finding, std::size_t column) {
  return ShortText(finding, column) + PlaceOf(finding);
}

void AddRecurring(const Summary& summary, std::size_t column, Table* table) {
  if (summary.recurring.empty()) return;
  table->Head("recurring in more than one input or process", "inputs", "processes");
  for (std::size_t i = 0; i < std::min(summary.recurring.size(), kRecurring); ++i) {
    const Finding& finding = *summary.recurring[i];
    const Tally& tally = finding.tally;
    std::string text = ShortText(finding, column);
    if (text.ends_with(" · ")) text.resize(text.size() - std::string_view(" · ").size());
    if (text.size() == column) text += Printable(finding.failure->title);
    table->Row(text, tally.artifacts, tally.occurrences(), !tally.hosts.complete());
    const std::string indent(column, ' ');
    table->Note(indent + Shorten(PlaceOf(finding), table->columns() - column));
    const std::string period = Period(tally.first_time, tally.last_time);
    if (!period.empty()) table->Note(indent + period);
  }
  table->More(summary.recurring.size(), kRecurring);
}

}  // namespace

bool IsBatch(const Report& report) { return report.findings.size() > kSmallBatch; }

std::vector<const Finding*> ShownWhole(const Report& report) {
  std::vector<const Finding*> shown;
  for (const Finding& finding : report.findings) shown.push_back(&finding);
  if (shown.size() <= kLargeBatch) return shown;
  shown = MostFrequentFirst(report);
  shown.resize(kWholeOfLarge);
  return shown;
}

void PrintOverview(const Report& report, std::size_t whole, TextPage* page) {
  const Summary summary = Summarize(report);
  std::string head = fmt::format(
      "{} in {} ({}), reported by {}", Counted(summary.diagnoses, "different failure", "different failures"),
      Counted(report.artifacts, "input", "inputs"), SizeText(static_cast<double>(report.bytes)),
      Counted(summary.occurrences, "process", "processes"));
  if (summary.problems > 0) head += fmt::format("; {}, see the end", Counted(summary.problems, "problem", "problems"));
  page->Paragraph(head, 0, &Style::Strong);
  const std::string period = Period(summary.first_time, summary.last_time);
  if (!period.empty()) page->Line(period);
  Table table(page);
  AddScenarios(report, summary, &table);
  AddRemedies(report, summary, &table);
  AddPrograms(summary, &table);
  AddRecurring(summary, ScenarioColumn(report), &table);
  if (whole == report.findings.size()) return;
  page->Blank();
  page->Line(fmt::format("Below: the {} most frequent ones, then all others by name.", whole));
}

void PrintOthers(const Report& report, const std::vector<const Finding*>& whole, TextPage* page) {
  const std::set<const Finding*> known(whole.begin(), whole.end());
  page->Rule();
  page->Line(page->style().Label(fmt::format("The other {}", report.findings.size() - whole.size())));
  const std::size_t column = ScenarioColumn(report);
  std::size_t listed = 0;
  for (const Finding& finding : report.findings) {
    if (known.contains(&finding)) continue;
    if (listed++ < kOthers) page->Line(Shorten(OneLine(finding, column), page->width()));
  }
  if (listed > kOthers) page->Line(fmt::format("and {} more (--format json has all)", listed - kOthers));
  page->Paragraph("For one of them whole: whyoom and the name of its input.", 0, &Style::Faint);
}

}  // namespace whyoom
