#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "report/finding_view.h"
#include "report/layout.h"
#include "report/summary.h"
#include "report/text/text_parts.h"
#include "report/unknown_errors.h"
#include "text/numbers.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLargeBatch = 20;  // beyond, most people want a few whole and the rest by name
constexpr std::size_t kWholeOfLarge = 3;
constexpr std::size_t kOthers = 200;
constexpr std::size_t kScenarios = 12;
constexpr std::size_t kRemedies = 8;
constexpr std::size_t kPrograms = 8;
constexpr std::size_t kRecurring = 8;
constexpr std::size_t kBatchIndent = 2;
constexpr std::size_t kNumber = 10;         // columns of a count
constexpr std::size_t kShortestPlace = 20;  // enough for a file's end and the line

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
  void Row(const std::string& name, const std::string& first, const std::string& second) {
    page_.Line(std::string(kBatchIndent, ' ') + Fit(name, columns() - 2 * kNumber) +
               fmt::format("{:>{}}{:>{}}", first, kNumber, second, kNumber));
  }
  void Note(const std::string& text) {
    page_.Line(std::string(kBatchIndent, ' ') + page_.style().Faint(Shorten(text, columns())));
  }
  void More(std::size_t all, std::size_t shown) {
    if (all > shown) Note(fmt::format("and {} more", all - shown));
  }
  std::size_t columns() const { return page_.width() - kBatchIndent; }

 private:
  TextPage& page_;
};

// Behind the longest scenario of any.
std::size_t ScenarioColumn(const Report& report) {
  std::size_t column = 0;
  for (const Diagnosis& finding : report.findings) column = std::max(column, ScenarioName(finding).size());
  return std::min<std::size_t>(column, 24) + 2;
}

// The most frequent of `shares`: by title, else by name; names stand in front of titles where they have a column.
void AddShares(const char* label, const std::map<std::string, Share>& shares, std::size_t most, std::size_t name_column,
               Table* table) {
  if (shares.empty()) return;
  table->Head(label, "failures", "processes");
  const auto sorted = MostFrequent(shares);
  for (std::size_t i = 0; i < std::min(sorted.size(), most); ++i) {
    const auto& [name, share] = sorted[i];
    const std::string what = share.title.empty() ? name : Printable(share.title);
    table->Row((name_column > 0 ? Fit(name, name_column) : "") + what, fmt::format("{}", share.diagnoses),
               fmt::format("{}", share.occurrences));
  }
  table->More(sorted.size(), most);
}

// "E1000.2  jit_step · 5.02 GiB too much"; what is known beside the scenario begins behind `column`.
std::vector<std::string> Known(const FailureRow& row) {
  std::vector<std::string> known;
  if (!row.program.empty()) known.push_back(Shorten(row.program, 30));
  if (!row.excess.empty()) known.push_back(row.excess + " too much");
  return known;
}

void AddRecurring(const Summary& summary, std::size_t column, Table* table) {
  if (summary.recurring.empty()) return;
  table->Head("recurring in more than one input or process", "inputs", "processes");
  for (std::size_t i = 0; i < std::min(summary.recurring.size(), kRecurring); ++i) {
    const Diagnosis& finding = *summary.recurring[i];
    const Tally& tally = finding.tally;
    const FailureRow row = RowOf(finding);
    std::vector<std::string> known = Known(row);
    if (known.empty()) known.push_back(Printable(finding.failure->title));
    table->Row(Fit(row.name, column) + Joined(known), fmt::format("{}", tally.artifacts), row.processes);
    const std::string indent(column, ' ');
    table->Note(indent + Shorten(row.place, table->columns() - column));
    const std::string period = PeriodText(tally.first_time, tally.last_time);
    if (!period.empty()) table->Note(indent + period);
  }
  table->More(summary.recurring.size(), kRecurring);
}

// "; 2 problems and 14 errors that no rule knows, see the end"; empty where there is neither.
std::string ProblemsText(const Report& report) {
  const std::uint64_t unread = AddBounded<std::uint64_t>(UnreadInputs(report).size(), UnreadInputsLeftOut(report));
  const std::uint64_t unknown = AddBounded<std::uint64_t>(UnknownErrors(report).size(), UnknownErrorsLeftOut(report));
  std::vector<std::string> parts;
  if (unread > 0) parts.push_back(Counted(unread, "problem", "problems"));
  if (unknown > 0) parts.push_back(Counted(unknown, "error that no rule knows", "errors that no rule knows"));
  return parts.empty() ? "" : fmt::format("; {}, see the end", fmt::join(parts, " and "));
}

}  // namespace

std::vector<const Diagnosis*> ShownWhole(const Report& report, bool all) {
  std::vector<const Diagnosis*> shown;
  for (const Diagnosis& finding : report.findings) shown.push_back(&finding);
  if (all || shown.size() <= kLargeBatch) return shown;
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
  head += ProblemsText(report);
  page->Paragraph(head, 0, &Style::Strong);
  const std::string period = PeriodText(summary.first_time, summary.last_time);
  if (!period.empty()) page->Line(period);
  Table table(page);
  const std::size_t column = ScenarioColumn(report);
  AddShares("what", summary.by_scenario, kScenarios, column, &table);
  AddShares("first find out more", summary.by_inquiry, kRemedies, 0, &table);
  AddShares("first cure", summary.by_remedy, kRemedies, 0, &table);
  if (summary.by_program.size() > 1) AddShares("programs", summary.by_program, kPrograms, 0, &table);
  AddRecurring(summary, column, &table);
  if (whole == report.findings.size()) return;
  page->Blank();
  page->Line(fmt::format("Below: the {} most frequent ones, then all others by name.", whole));
}

void PrintOthers(const Report& report, const std::vector<const Diagnosis*>& whole, TextPage* page) {
  const std::set<const Diagnosis*> shown(whole.begin(), whole.end());
  page->Rule();
  page->Line(page->style().Label(fmt::format("The other {}", report.findings.size() - whole.size())));
  const std::size_t column = ScenarioColumn(report);
  std::size_t listed = 0;
  for (const Diagnosis& finding : report.findings) {
    if (shown.contains(&finding)) continue;
    if (listed++ >= kOthers) continue;
    const FailureRow row = RowOf(finding);
    const std::string name = Fit(row.name, column);
    std::vector<std::string> known = Known(row);
    // The place is cut first: half a figure says nothing.
    known.emplace_back();
    const std::size_t said = DisplayWidth(name + Joined(known));
    known.back() = Shorten(row.place, std::max(page->width() - std::min(page->width(), said), kShortestPlace));
    page->Line(Shorten(name + Joined(known), page->width()));
  }
  if (listed > kOthers) page->Line(fmt::format("and {} more (--format json has all)", listed - kOthers));
  page->Paragraph("For one of them whole: whyoom and the name of its input.", 0, &Style::Faint);
}

}  // namespace whyoom
