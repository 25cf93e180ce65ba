#include "report/text/trace_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/finding_view.h"
#include "report/layout.h"
#include "report/shell_word.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kNames = 26;         // columns of the heads' names
constexpr std::size_t kInner = 15;         // of what is said of a pattern that stops
constexpr std::size_t kLongestLine = 160;  // of a line of the log
constexpr std::size_t kPatternAside = 70;  // of a pattern, at either side of where it stops
constexpr std::size_t kMostLiterals = 12;
constexpr std::size_t kMostElsewhere = 6;
constexpr std::size_t kLongestSentence = 200;
constexpr std::size_t kTruth = 9;  // columns of "unknown"
constexpr int kDeepest = 4;        // of the parts of a condition; the JSON has all

std::string Quoted(std::string_view text, std::size_t most) { return "\"" + CutBytes(Printable(text), most) + "\""; }

// The end of a long text, which is next to where a pattern stops.
std::string QuotedEnd(const std::string& text, std::size_t most) {
  const std::string printable = Printable(text);
  if (printable.size() <= most) return "\"" + printable + "\"";
  std::size_t begin = printable.size() - most;
  while (begin < printable.size() && (static_cast<unsigned char>(printable[begin]) & 0xC0) == 0x80) ++begin;
  return "\"…" + printable.substr(begin) + "\"";
}

std::string PlaceOf(const TextPlace& place, std::uint64_t of_line) {
  return place.line == of_line ? fmt::format("column {}", place.column)
                               : fmt::format("line {}, column {}", place.line, place.column);
}

// What became of a head that is in the line.
std::string FateText(const TracedHead& head) {
  const std::string by = head.by == nullptr ? "" : fmt::format("{} of line {}", head.by->code, head.by_line);
  switch (head.fate) {
    case TracedHead::Fate::kOpened:
      return "it is there, and a failure begins with it";
    case TracedHead::Fate::kSameFailure:
      return "it is there, and goes on with " + by + ": one failure";
    case TracedHead::Fate::kAbsorbed:
      return "it is there, and " + by + " tells the same (absorbed_by)";
    case TracedHead::Fate::kOfReport:
      return "it is there, but is a line of a report, and such a one begins a failure only where no report is being "
             "read and no logger says that nothing failed";
    default:
      return "it is there, but a longer message or another head of the same lines was taken in its place";
  }
}

std::string OutcomeText(const HeadTrace& head, std::uint64_t of_line, bool binary) {
  switch (head.outcome) {
    case HeadTrace::Outcome::kQuoted:
      if (binary) return "it is there, but the line is machine code or data by its bytes";
      return head.quotation == nullptr
                 ? std::string("it is there, but beside a head that is only quoted")
                 : fmt::format("it is there, but only quoted (quotations: {})", Printable(head.quotation->id));
    case HeadTrace::Outcome::kNotAtLineStart:
      return fmt::format("it is at {}, but counts at the start of a line only (line_start)",
                         PlaceOf(head.place, of_line));
    case HeadTrace::Outcome::kInLaterLine:
      return fmt::format("it is not in this line, but in line {}", head.place.line);
    case HeadTrace::Outcome::kNoMatch:
      return fmt::format("its literal {} is near, its pattern is not", Quoted(head.literal, kPatternAside));
    default:
      if (head.literals.empty()) return "not here";
      return fmt::format("not here, and not near: it is looked for by {}{}", Quoted(head.literals[0], kPatternAside),
                         head.literals.size() > 1 ? fmt::format(" and {} more", head.literals.size() - 1) : "");
  }
}

// "the log speaks for it · enough · cost 0 · prior 20": what a remedy is sorted by, in this order.
std::string OrderText(const RankReasons& reasons) {
  std::vector<std::string> parts;
  if (reasons.finds_out) parts.emplace_back("finds out what has to be known first");
  if (reasons.free) parts.emplace_back("costs nothing, not enough alone: listed apart");
  if (reasons.falls_short) parts.emplace_back("cannot close the gap");
  parts.emplace_back(reasons.supported ? "the log speaks for it" : "the log does not speak for it");
  parts.emplace_back(!reasons.estimated   ? "not known whether it is enough"
                     : reasons.too_little ? "too little"
                                          : "enough");
  if (reasons.gamble) parts.emplace_back("not estimated, though others are");
  if (reasons.doubtful) parts.emplace_back("its spread leaves that open");
  if (reasons.supported) parts.push_back(fmt::format("cost {}", reasons.cost));
  parts.push_back(fmt::format("prior {}", reasons.prior));
  return Joined(parts);
}

// The part of a trace that is of one finding.
class FindingPage {
 public:
  FindingPage(const FindingTrace& trace, TextPage* page) : trace_(trace), page_(*page) {}

  void Print(std::size_t number) {
    const Diagnosis& diagnosis = *trace_.diagnosis;
    page_.Title(fmt::format("{}. {}", number, diagnosis.failure->code), diagnosis.failure->title);
    page_.Paragraph(PlaceText(diagnosis.where));
    page_.Paragraph(CutBytes(Printable(diagnosis.message), 2 * kLongestSentence));
    for (const Diagnosis* cause : trace_.causes) {
      page_.Paragraph(fmt::format("It is known to follow from {} (consequence_of), at {}.", cause->failure->code,
                                  PlaceText(cause->where)));
    }
    PrintFacts();
    for (const RecordEntry& entry : trace_.recorded) PrintEntry(entry);
    PrintOrder();
  }

 private:
  void PrintFacts() {
    page_.Heading("Facts");
    for (const FactTrace& fact : trace_.facts) {
      std::string text = CutBytes(Printable(ValueText(fact.value)), kLongestSentence);
      const std::optional<double> number = AsNumber(fact.value);
      if (number && fact.name.ends_with("_bytes")) text += " (" + SizeText(*number) + ")";
      if (fact.line > 0) text += fmt::format(" · line {}", fact.line);
      if (!fact.from.empty()) text += " · " + CutBytes(Printable(fact.from), kLongestSentence);
      page_.Item("   " + Printable(fact.name), kNames, text);
    }
    if (trace_.silent.empty()) return;
    page_.Heading("Patterns and contexts that gave no fact");
    for (const std::string& source : trace_.silent) page_.Paragraph(CutBytes(Printable(source), kLongestSentence), 3);
  }

  void PrintEntry(const RecordEntry& entry) {
    if (entry.depth == 0) return page_.Heading(entry.what);
    if (entry.depth > kDeepest) return;
    const std::string indent(3 * static_cast<std::size_t>(entry.depth), ' ');
    const std::string what = CutBytes(Printable(entry.what), kLongestSentence);
    const std::string result = CutBytes(Printable(entry.result), kLongestSentence);
    std::string detail = entry.detail.empty() ? "" : "  [" + CutBytes(Printable(entry.detail), kLongestSentence) + "]";
    if (entry.line > 0) detail += fmt::format(" (line {})", entry.line);
    const bool is_step = entry.depth == 1 && entry.result != "yes" && entry.result != "no";
    if (is_step) return page_.Item(indent + what, 0, result + detail);
    page_.Item(indent + result, indent.size() + kTruth, what + detail);
  }

  void PrintOrder() {
    page_.Heading("Order of the remedies");
    for (const RankedRemedy& ranked : trace_.diagnosis->remedies) {
      page_.Line(page_.style().Strong(fmt::format("   {}  {}", ranked.rank, Printable(ranked.remedy->id))));
      page_.Item("      effect", 14, EffectText(ranked) + (ranked.basis.empty() ? "" : " · by the " + ranked.basis));
      if (ranked.rank_reasons) page_.Item("      order", 14, OrderText(*ranked.rank_reasons));
    }
  }

  const FindingTrace& trace_;
  TextPage& page_;
};

class Page {
 public:
  explicit Page(const TextOptions& options) : page_(options) {}

  std::string Print(const LogTrace& trace) {
    all_ = trace.request.line > 0;
    for (const LineTrace& line : trace.lines) {
      if (&line != trace.lines.data()) page_.Blank();
      PrintLine(line);
    }
    if (trace.lines_left_out > 0) {
      page_.Blank();
      page_.Paragraph(
          fmt::format("{} more lines hold a head's literal; LOG:LINE tells of one of them.", trace.lines_left_out));
    }
    PrintNothingNear(trace);
    std::vector<std::string> elsewhere;
    for (std::size_t i = 0; i < trace.findings.size(); ++i) {
      const Diagnosis& diagnosis = *trace.findings[i].diagnosis;
      if (all_ && !IsAtLine(trace, diagnosis)) {
        elsewhere.push_back(fmt::format("{} at {}", diagnosis.failure->code, PlaceText(diagnosis.where)));
        continue;
      }
      page_.Rule();
      FindingPage(trace.findings[i], &page_).Print(i + 1);
    }
    if (trace.findings_left_out > 0) {
      page_.Blank();
      page_.Paragraph(
          fmt::format("{} more failures are not traced; LOG:LINE traces those at one line.", trace.findings_left_out));
    }
    PrintElsewhere(elsewhere);
    if (trace.findings.empty()) {
      page_.Blank();
      page_.Line("No failure was found in the log.");
    }
    if (trace.not_all_kept)
      page_.Warning("the log holds more lines with literals than are kept; the last ones were not looked at again");
    for (const Problem& problem : trace.problems) {
      if (!problem.is_unknown_error())
        page_.Warning(ArtifactText({problem.path, problem.member}) + ": " + Printable(problem.what));
    }
    return WithoutCommands(page_.Take());
  }

 private:
  static bool IsAtLine(const LogTrace& trace, const Diagnosis& diagnosis) {
    return std::any_of(trace.lines.begin(), trace.lines.end(), [&](const LineTrace& line) {
      return std::find(line.part_of.begin(), line.part_of.end(), &diagnosis) != line.part_of.end();
    });
  }

  void PrintElsewhere(std::vector<std::string> failures) {
    if (failures.empty()) return;
    const std::size_t more = failures.size() - std::min(failures.size(), kMostElsewhere);
    failures.resize(failures.size() - more);
    page_.Blank();
    page_.Paragraph("Failures elsewhere, of which all is told without a line: " + Joined(failures) +
                    (more > 0 ? fmt::format(" · and {} more", more) : ""));
  }

  void PrintLine(const LineTrace& line) {
    page_.Line(page_.style().Strong(fmt::format("{}:{}", ArtifactText(line.artifact), line.line)));
    page_.Paragraph(CutBytes(Printable(line.text), kLongestLine), 3);
    std::vector<std::string> about;
    if (!line.reporter.empty()) about.push_back("printed by " + Printable(line.reporter));
    if (line.healthy) about.emplace_back("its logger's level says that nothing failed");
    if (line.binary) about.emplace_back("machine code or data by its bytes");
    if (line.alike > 0) about.push_back(Counted(line.alike, "more line", "more lines") + " like it, figures aside");
    if (!about.empty()) page_.Paragraph("(" + Joined(about) + ")", 3);
    for (const Diagnosis* finding : line.part_of) {
      page_.Paragraph(fmt::format("→ part of {}, lines {} to {}", finding->failure->code, finding->where.line,
                                  finding->where.last_line),
                      3);
    }
    // Beside a head that is there, those that are not say little, unless this line is asked for.
    const auto is_there = [](const TracedHead& head) { return head.trace.outcome == HeadTrace::Outcome::kThere; };
    const bool brief = !all_ && std::any_of(line.heads.begin(), line.heads.end(), is_there);
    std::size_t others = 0;
    for (const TracedHead& head : line.heads) {
      if (brief && !is_there(head)) {
        ++others;
      } else {
        PrintHead(head, line);
      }
    }
    if (others > 0)
      page_.Paragraph(fmt::format("and {} whose literal is near (LOG:{} tells of them)",
                                  Counted(others, "head", "heads"), line.line),
                      3);
    if (line.heads.empty())
      page_.Paragraph("No head's literal is in the line or in those that a message of it may go on in.", 3);
    if (!line.nearest.empty()) page_.Paragraph("Nearest, by what of the pattern is there:", 3);
    for (const HeadTrace& head : line.nearest) {
      page_.Line("   " + page_.style().Strong(Printable(head.failure->code) + " " + Printable(head.head->id)));
      PrintReach(head, line.line);
    }
    PrintSuspect(line);
  }

  void PrintHead(const TracedHead& head, const LineTrace& line) {
    const HeadTrace& trace = head.trace;
    const std::string name = "   " + Printable(trace.failure->code) + " " + Printable(trace.head->id);
    const bool is_in = trace.outcome == HeadTrace::Outcome::kThere;
    page_.Item(name, kNames, is_in ? FateText(head) : OutcomeText(trace, line.line, line.binary));
    PrintReach(trace, line.line);
  }

  // Where the pattern stops, and what would have to stand there.
  void PrintReach(const HeadTrace& head, std::uint64_t of_line) {
    if (!head.reach) return;
    const PatternReach& reach = *head.reach;
    page_.Item("      there", kInner, QuotedEnd(head.met, kPatternAside) + ", up to " + PlaceOf(head.stop, of_line));
    page_.Item("      then", kInner,
               head.goes_on.empty() ? std::string("the text ends") : Quoted(head.goes_on, kPatternAside));
    page_.Item("      wants", kInner,
               CutBytes(Printable(reach.wanted), 2 * kPatternAside) + (reach.anywhere ? "  (anywhere behind)" : ""));
    if (reach.again_at) {
      page_.Item("      again", kInner,
                 fmt::format("from {} on the pattern's end is there: {}", PlaceOf(head.again, of_line),
                             CutBytes(Printable(reach.again), kPatternAside)));
    }
  }

  void PrintSuspect(const LineTrace& line) {
    if (line.unknown_error) {
      page_.Paragraph("It is told as an error about memory that no rule knows. A rule of it is made by:", 3);
      page_.Line(
          fmt::format("      whyoom rules new CODE --from {}:{}", Printable(ShellWord(line.artifact.path)), line.line));
      return;
    }
    if (!line.suspect) return;
    const SuspectFinder::Look& look = *line.suspect;
    std::string why;
    if (look.unless != nullptr) {
      why = "another pattern in it makes another matter of them: " +
            CutBytes(Printable(look.unless->source()), kPatternAside);
    } else if (look.healthy != nullptr) {
      why = fmt::format("the line says that nothing failed (error_lines: {})", Printable(look.healthy->id));
    } else if (look.looks == nullptr) {
      why = "the line does not look like one that a process prints because something failed (error_lines)";
    } else {
      why = "it belongs to a failure that is known, or says the same as another line";
    }
    page_.Paragraph(fmt::format("It has words of an error about memory (suspects: {}), but is not told as one: {}.",
                                Printable(look.words->id), why),
                    3);
  }

  void PrintNothingNear(const LogTrace& trace) {
    if (trace.literals.empty()) return;
    const bool is_asked = trace.request.line > 0;
    if (!trace.lines.empty()) page_.Blank();
    page_.Paragraph(fmt::format("{} holds any of the {} literals that heads are looked for by, in upper or lower case:",
                                is_asked ? "Nothing near the line" : "No line", trace.literals.size()));
    const std::size_t shown = std::min(trace.literals.size(), kMostLiterals);
    for (std::size_t i = 0; i < shown; ++i) page_.Paragraph(Printable(trace.literals[i]), 3);
    if (shown < trace.literals.size())
      page_.Paragraph(fmt::format("and {} more (--format json has them)", trace.literals.size() - shown), 3);
    if (!is_asked) page_.Paragraph("LOG:LINE tells which heads are nearest to a line.");
  }

  TextPage page_;
  bool all_ = false;  // also what says little
};

}  // namespace

std::string PrintTraceText(const LogTrace& trace, const TextOptions& options) { return Page(options).Print(trace); }

}  // namespace whyoom
