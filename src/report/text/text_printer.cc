#include "report/text/text_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "facts/row_names.h"
#include "report/finding_text.h"
#include "report/layout.h"
#include "report/text/batch_text.h"
#include "report/text/memory_text.h"
#include "report/text/style.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kIndent = 6;         // of everything beside a label: "why   "
constexpr std::size_t kFullRemedies = 3;   // explained; the others are named
constexpr std::size_t kStepsOfFirst = 3;   // of the first remedy; the others explained show one
constexpr std::size_t kNamedRemedies = 6;  // beyond those explained
constexpr std::size_t kNamedRuledOut = 3;
constexpr std::size_t kBarRows = 5;
constexpr std::size_t kPlaces = 5;
constexpr std::size_t kShownProblems = 30;

class Page {
 public:
  explicit Page(const TextOptions& options)
      : width_(std::max<std::size_t>(options.width, 40)), style_(options.colour) {}

  void PrintFinding(const Finding& finding);
  void PrintOverview(const Report& report, std::size_t shown_whole);
  void PrintOthers(const Report& report, const std::vector<const Finding*>& whole);
  void PrintPrograms(const Report& report);
  void PrintClosing(const Report& report);
  // Between what stands on the page already and what comes.
  void Separator() {
    if (!out_.empty()) out_ += '\n' + style_.Faint(Repeat("─", width_)) + "\n\n";
  }
  std::string Take() { return std::move(out_); }

 private:
  static std::string Repeat(std::string_view text, std::size_t times) {
    std::string result;
    for (std::size_t i = 0; i < times; ++i) result += text;
    return result;
  }
  // A paragraph beside `label`, which stands in front of the first line only.
  void Beside(std::string_view label, std::string_view text) {
    const std::string lead = style_.Label(label) + std::string(kIndent - std::min(kIndent, DisplayWidth(label)), ' ');
    out_ += Hanging(lead, kIndent, text, width_);
  }
  // `text` wrapped behind `column` blanks.
  void Indented(std::size_t column, std::string_view text) {
    out_ += Hanging(std::string(column, ' '), column, text, width_);
  }
  void Blank() { out_ += '\n'; }

  // The first `most` of `items` in one paragraph, and how many there are beyond; `beyond` of them are not in the list.
  void List(std::string_view label, std::string text, const std::vector<std::string>& items, std::size_t most,
            std::uint64_t beyond = 0);

  void PrintVerdict(const Finding& finding);
  void PrintBudget(const Finding& finding);
  void PrintWhy(const Finding& finding);
  void PrintAllocations(const Finding& finding);
  void PrintMemory(const Finding& finding);
  void PrintRemedies(const Finding& finding);
  void PrintRemedy(const RankedRemedy& ranked);
  void PrintSum(const Finding& finding);
  void PrintMore(const Finding& finding);

  std::size_t width_;
  Style style_;
  std::string out_;
};

void Page::PrintVerdict(const Finding& finding) {
  const Failure& failure = *finding.failure;
  const std::string code = failure.code;
  out_ += style_.Error(code) + "  " + style_.Strong(failure.title) + "\n";
  const std::size_t column = DisplayWidth(code) + 2;
  if (const std::string scenario = ScenarioText(finding); !scenario.empty()) Indented(column, scenario);
  if (finding.confidence == Confidence::kLow)
    Indented(column, "Only a fragment of the message is in the log, so little can be said for sure.");

  std::string facts = ArtifactText(finding.where.artifact) + fmt::format(":{}", finding.where.line);
  for (const std::string_view name : {"module", "program", "device"}) {
    if (const auto text = TextFact(finding, name)) facts += " · " + Shorten(*text, 40);
  }
  if (const auto limit = NumberFact(finding, "limit_bytes")) {
    const auto chip = TextFact(finding, "chip");
    facts += " · " + SizeText(*limit) + (chip ? " usable (" + *chip + ")" : " limit");
  }
  if (!finding.framework.empty()) facts += " · " + finding.framework;
  if (finding.tally.occurrences() > 1)
    facts += fmt::format(" · reported by {}{} processes", finding.tally.hosts.complete() ? "" : "about ",
                         finding.tally.occurrences());
  Indented(0, facts);
}

void Page::PrintBudget(const Finding& finding) {
  const std::optional<Need> known = NeedOf(finding);
  if (!known) return;
  const auto& [need, have, excess, at_most, need_word, have_word] = *known;
  const std::string needed = SizeText(need) + " " + need_word;
  const std::string over = ExcessText(*known);
  const std::size_t used = 2 + DisplayWidth(needed) + 2 + 2 + DisplayWidth(over);
  const std::size_t columns = width_ > used + 10 ? std::min<std::size_t>(44, width_ - used) : 10;
  const double whole = std::max(need, have);
  Blank();
  out_ += "  " + style_.Strong(needed) + "  ";
  const auto fits = static_cast<std::size_t>(static_cast<double>(columns) * std::min(need, have) / whole);
  const auto beyond = static_cast<std::size_t>(static_cast<double>(columns) * need / whole) - std::min(fits, columns);
  out_ += style_.Good(Repeat("█", fits)) + style_.Error(Repeat("▒", beyond)) +
          std::string(columns - std::min(columns, fits + beyond), ' ');
  out_ += "  " + style_.Error(over) + "\n";
  const std::string mark = "▲ " + SizeText(have) + " " + have_word;
  const std::size_t start = 2 + DisplayWidth(needed) + 2 + (fits > 0 ? fits - 1 : 0);
  out_ += std::string(std::min(start, width_ - std::min(width_, DisplayWidth(mark))), ' ') + style_.Faint(mark) + "\n";
}

// Up to the end of the last sentence that fits, if there is one.
std::string WholeSentences(const std::string& text, std::size_t columns) {
  if (DisplayWidth(text) <= columns) return text;
  const std::size_t end = text.rfind(". ", columns);
  return end == std::string::npos || end < columns / 4 ? Shorten(text, columns) : text.substr(0, end + 1) + " …";
}

void Page::PrintWhy(const Finding& finding) {
  if (finding.why.empty() && !finding.message.empty()) {
    Blank();
    Beside("says", WholeSentences(Printable(finding.message), 240));
    return;
  }
  bool first = true;
  for (const Reason& reason : finding.why) {
    if (first) Blank();
    std::string text = Printable(reason.text);
    if (reason.line > 0) text += fmt::format(" (line {})", reason.line);
    Beside(first ? "why" : "", text);
    first = false;
  }
}

// The shape, and what it is from where there is room for that.
std::string Describe(const AllocationGroup& group, std::size_t columns) {
  const Allocation& row = *group.first;
  const std::string shape = (group.count > 1 ? fmt::format("{} × ", group.count) : "") + Printable(group.shape);
  std::string from = SourceText(row);
  if (from.empty() && IsNamed(row)) from = Printable(ShortName(row));
  const std::size_t taken = DisplayWidth(shape) + 2;
  constexpr std::size_t kLeastName = 8;
  if (from.empty() || taken + std::min(kLeastName, DisplayWidth(from)) > columns) return Shorten(shape, columns);
  return shape + "  " + Shorten(from, columns - taken);
}

void Page::PrintAllocations(const Finding& finding) {
  const std::vector<AllocationGroup> groups = GroupsOf(finding);
  if (groups.empty()) return;
  Blank();
  const std::optional<double> limit = NumberFact(finding, "limit_bytes");
  const double whole = std::max(static_cast<double>(*groups[0].first->size_bytes), limit.value_or(0));
  Beside("takes", fmt::format("the largest allocations{}", limit ? ", each beside the limit" : ""));
  constexpr std::size_t kBar = 12;
  constexpr std::size_t kColumn = kIndent + 10 + 2 + kBar + 2;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i >= kBarRows) {
      left_out += groups[i].count;
      continue;
    }
    const auto size = static_cast<double>(*groups[i].first->size_bytes);
    out_ += std::string(kIndent, ' ') + fmt::format("{:>10}  ", SizeText(size)) + style_.Good(Bar(size, whole, kBar)) +
            "  " + Describe(groups[i], width_ - std::min(width_ - 10, kColumn)) + "\n";
  }
  if (left_out > 0) Indented(kIndent + 12, fmt::format("and {} smaller (--format json has all)", left_out));
}

void Page::PrintMemory(const Finding& finding) {
  const std::string text = finding.prospects ? MemoryText(*finding.prospects, width_, style_) : "";
  if (!text.empty()) out_ += "\n" + text;
}

void Page::PrintRemedy(const RankedRemedy& ranked) {
  const std::string number = fmt::format("{}", ranked.rank);
  out_ += std::string(kIndent, ' ') + style_.Strong(number) + std::string(number.size() < 2 ? 2 : 1, ' ') +
          style_.Strong(ranked.remedy->title) + "\n";
  constexpr std::size_t kColumn = kIndent + 3;
  for (const std::string& line : Wrap(EffectText(ranked), width_ - kColumn))
    out_ += std::string(kColumn, ' ') + style_.Good(line) + "\n";
  if (!ranked.why.empty()) {
    std::string text = Printable(ranked.why[0].text);
    if (ranked.why[0].line > 0) text += fmt::format(" (line {})", ranked.why[0].line);
    Indented(kColumn, text);
  }
  const std::size_t steps = std::min(ranked.how.size(), ranked.rank == 1 ? kStepsOfFirst : 1);
  for (std::size_t i = 0; i < steps; ++i)
    out_ += Hanging(std::string(kColumn, ' ') + "→ ", kColumn + 2, Printable(ranked.how[i]), width_);
}

void Page::PrintRemedies(const Finding& finding) {
  if (finding.remedies.empty()) return;
  Blank();
  out_ += style_.Label("do") + "\n";
  for (std::size_t i = 0; i < std::min(finding.remedies.size(), kFullRemedies); ++i) {
    if (i > 0) Blank();
    PrintRemedy(finding.remedies[i]);
  }
  std::vector<std::string> others;
  for (std::size_t i = kFullRemedies; i < finding.remedies.size(); ++i) {
    const RankedRemedy& other = finding.remedies[i];
    const bool too_little = other.enough == false && other.enough_with.empty();
    others.push_back(
        fmt::format("{} {}{}", other.rank, other.remedy->title, too_little ? " (" + VerdictText(other) + ")" : ""));
  }
  if (!others.empty()) Blank();
  List("then", "", others, kNamedRemedies);
  List("not", "worth trying here: ", RuledOutTexts(finding), kNamedRuledOut);
}

// What is over, and which remedies together are estimated to cover it.
void Page::PrintSum(const Finding& finding) {
  if (!finding.budget || finding.remedies.empty() || IsOneRemedy(*finding.budget)) return;
  Beside("sum", BudgetText(*finding.budget));
}

void Page::List(std::string_view label, std::string text, const std::vector<std::string>& items, std::size_t most,
                std::uint64_t beyond) {
  if (items.empty()) return;
  for (std::size_t i = 0; i < std::min(items.size(), most); ++i) text += (i == 0 ? "" : " · ") + items[i];
  beyond += items.size() - std::min(items.size(), most);
  if (beyond > 0) text += fmt::format(" · and {} more", beyond);
  Beside(label, text);
}

void Page::PrintMore(const Finding& finding) {
  Blank();
  std::string text = ExplainCommand(finding);
  if (!finding.failure->links.empty()) text += " · " + finding.failure->links.front().url;
  Beside("more", text);
  const std::vector<std::string> places = AlsoTexts(finding);
  const std::uint64_t known = places.size() + 1;
  List("also", "", places, kPlaces, finding.tally.reports - std::min(finding.tally.reports, known));
}

void Page::PrintFinding(const Finding& finding) {
  PrintVerdict(finding);
  PrintBudget(finding);
  PrintWhy(finding);
  PrintAllocations(finding);
  PrintMemory(finding);
  PrintRemedies(finding);
  PrintSum(finding);
  PrintMore(finding);
}

void Page::PrintOverview(const Report& report, std::size_t shown_whole) {
  if (!IsBatch(report)) return;
  out_ += OverviewText(report, width_, style_);
  if (shown_whole < report.findings.size()) {
    Blank();
    out_ += fmt::format("Below: the {} most frequent ones, then all others by name.\n", shown_whole);
  }
}

void Page::PrintOthers(const Report& report, const std::vector<const Finding*>& whole) {
  const std::string others = OthersText(report, whole, width_, style_);
  if (others.empty()) return;
  Separator();
  out_ += others;
}

// What is no failure stands apart from the failures.
void Page::PrintPrograms(const Report& report) {
  if (report.programs.empty()) return;
  if (!report.findings.empty()) {
    Separator();
    out_ += style_.Strong("Programs that fit") + "\n\n";
  }
  out_ += ProgramsText(report, width_, style_);
  if (report.findings.empty()) Blank();
}

void Page::PrintClosing(const Report& report) {
  if (report.artifacts == 0 && !report.problems.empty()) {
    out_ += "Nothing could be read.\n";
  } else if (report.findings.empty()) {
    out_ += fmt::format("No out-of-memory error found in {} ({}).\n",
                        report.artifacts == 1 ? "1 input" : fmt::format("{} inputs", report.artifacts),
                        FormatSize(static_cast<std::int64_t>(report.bytes)));
  }
  std::uint64_t left_out = report.problems_left_out;
  std::size_t shown = 0;
  for (const Problem& problem : report.problems) {
    if (!problem.of_report && shown++ >= kShownProblems) {
      ++left_out;
      continue;
    }
    out_ += Hanging(style_.Warning("warning: "), 9,
                    ArtifactText({problem.path, problem.member}) + ": " + Printable(problem.what), width_);
  }
  if (left_out == 0) return;
  const bool all = report.problems_left_out == 0;
  out_ += fmt::format("and {} more (--format json has {})\n", left_out,
                      all ? "them" : fmt::format("the first {}", report.problems.size()));
}

}  // namespace

std::string PrintText(const Report& report, const TextOptions& options) {
  Page page(options);
  const std::vector<const Finding*> whole = ShownWhole(report);
  page.PrintOverview(report, whole.size());
  for (const Finding* finding : whole) {
    page.Separator();
    page.PrintFinding(*finding);
  }
  page.PrintOthers(report, whole);
  page.PrintPrograms(report);
  page.PrintClosing(report);
  return WithoutCommands(page.Take());
}

std::string PrintFinding(const Finding& finding, const TextOptions& options) {
  Page page(options);
  page.PrintFinding(finding);
  return page.Take();
}

}  // namespace whyoom
