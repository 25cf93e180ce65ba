#include "report/trace_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "report/finding_view.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;
using Kind = doc::Span::Kind;

constexpr std::size_t kLineBytes = 160;    // shown of a log line
constexpr std::size_t kPatternBytes = 70;  // shown of a pattern
constexpr std::size_t kSentenceBytes = 200;
constexpr std::size_t kLiterals = 12;  // shown
constexpr std::size_t kElsewhere = 6;  // number of failures at other lines to name
constexpr int kDepth = 4;              // levels of nested conditions shown

std::string Cut(std::string_view text, std::size_t bytes) { return CutBytes(Printable(text), bytes); }
std::string Quoted(std::string_view text) { return "\"" + Cut(text, kPatternBytes) + "\""; }

std::string PlaceOf(const TextPlace& place, std::uint64_t of_line) {
  return place.line == of_line ? fmt::format("column {}", place.column)
                               : fmt::format("line {}, column {}", place.line, place.column);
}

// The effect of a header pattern that matches.
std::string FateText(const TracedHeader& head) {
  const std::string by = head.by == nullptr ? "" : fmt::format("{} at line {}", head.by->code, head.by_line);
  switch (head.fate) {
    case TracedHeader::Fate::kOpened:
      return "matches; a failure begins here";
    case TracedHeader::Fate::kSameFailure:
      return "matches; it belongs to " + by;
    case TracedHeader::Fate::kAbsorbed:
      return "matches, but " + by + " reports the same failure (absorbed_by)";
    case TracedHeader::Fate::kOfReport:
      return "matches, but is ignored (of_report): the line is inside a report, or its level means that nothing failed";
    default:
      return "matches, but another header pattern or longer message was used, or the log divides its literal";
  }
}

std::string OutcomeText(const HeaderTrace& head, std::uint64_t of_line, bool binary) {
  switch (head.outcome) {
    case HeaderTrace::Outcome::kQuoted:
      if (binary) return "matches, but the line is binary data";
      return head.quotation == nullptr
                 ? std::string("matches, but the message next to it is only quoted")
                 : fmt::format("matches, but only in a quotation (quotations: {})", Printable(head.quotation->id));
    case HeaderTrace::Outcome::kNotAtLineStart:
      return fmt::format("matches at {}, but must be at the start of a line (line_start)",
                         PlaceOf(head.place, of_line));
    case HeaderTrace::Outcome::kInLaterLine:
      return fmt::format("matches only in line {}", head.place.line);
    case HeaderTrace::Outcome::kNoMatch:
      return fmt::format("does not match; its literal {} is near", Quoted(head.literal));
    default:
      if (head.literals.empty()) return "does not match";
      return fmt::format("does not match; its literal {}{} is not near", Quoted(head.literals[0]),
                         head.literals.size() > 1 ? fmt::format(" (or one of {} more)", head.literals.size() - 1) : "");
  }
}

doc::Item Field(const std::string& label, const std::string& text, doc::Blocks blocks = {}) {
  return {.text = Words(text), .blocks = std::move(blocks), .label = Words(label)};
}

doc::List Fields() { return {.style = doc::List::Style::kFields}; }

doc::Paragraph Text(const std::string& text) { return doc::Paragraph{Words(text)}; }

std::string PatternName(const HeaderTrace& head) {
  return Printable(head.failure->code) + " " + Printable(head.head->id);
}

// Why a line with the words of a memory error is not reported as an unknown error.
std::string CandidateText(const CandidateFinder::Look& look) {
  std::string why = "the line belongs to a known failure or repeats another line";
  if (look.unless != nullptr) {
    why = "another pattern excludes it: " + Cut(look.unless->source(), kPatternBytes);
  } else if (look.healthy != nullptr) {
    why = fmt::format("the line's level means that nothing failed (error_lines: {})", Printable(look.healthy->id));
  } else if (look.looks == nullptr) {
    why = "the line does not look like an error (error_lines)";
  }
  return fmt::format("Has the words of a memory error (suspects: {}), but is not reported as an unknown error: {}.",
                     Printable(look.words->id), why);
}

void AddCandidate(const LineTrace& line, doc::Blocks* blocks) {
  if (line.unknown_error) {
    blocks->emplace_back(Text("Reported as an unknown memory error."));
  } else if (line.suspect) {
    blocks->emplace_back(Text(CandidateText(*line.suspect)));
  }
}

std::vector<doc::Spans> FactsOf(const LineTrace& line) {
  std::vector<doc::Spans> facts;
  if (!line.stream_name.empty()) facts.push_back(Words("printed by " + Printable(line.stream_name)));
  if (line.healthy) facts.push_back(Words("its level means that nothing failed"));
  if (line.binary) facts.push_back(Words("binary data"));
  if (line.alike > 0)
    facts.push_back(Words(Counted(line.alike, "more line", "more lines") + " that differ only in numbers"));
  for (const Diagnosis* finding : line.part_of) {
    facts.push_back(Words(fmt::format("part of {}, lines {} to {}", finding->failure->code, finding->where.line,
                                      finding->where.last_line)));
  }
  return facts;
}

// If a pattern matches and `all` is false, only counts the patterns that do not match.
doc::Section LineSection(const LineTrace& line, bool all) {
  doc::Section section{.title = fmt::format("{}:{}", ArtifactText(line.artifact), line.line)};
  section.blocks.emplace_back(Text(Cut(line.text, kLineBytes)));
  if (std::vector<doc::Spans> facts = FactsOf(line); !facts.empty())
    section.blocks.emplace_back(doc::Facts{std::move(facts)});
  const auto matches = [](const TracedHeader& head) { return head.trace.outcome == HeaderTrace::Outcome::kMatched; };
  const bool brief = !all && std::any_of(line.header_patterns.begin(), line.header_patterns.end(), matches);
  std::size_t others = 0;
  doc::List patterns = Fields();
  for (const TracedHeader& head : line.header_patterns) {
    if (brief && !matches(head)) {
      ++others;
      continue;
    }
    patterns.items.push_back(Field(PatternName(head.trace),
                                   matches(head) ? FateText(head) : OutcomeText(head.trace, line.line, line.binary)));
  }
  if (!patterns.items.empty()) section.blocks.emplace_back(std::move(patterns));
  if (others > 0) {
    section.blocks.emplace_back(Text(fmt::format("{} with a literal near this line (trace LOG:{} to list them)",
                                                 Counted(others, "more pattern", "more patterns"), line.line)));
  }
  if (line.header_patterns.empty())
    section.blocks.emplace_back(Text("No header pattern has a literal in this line or near it."));
  AddCandidate(line, &section.blocks);
  return section;
}

// "supported by the log · enough · cost 0 · prior 20": the sort keys of remedies, in order.
std::string OrderText(const RankReasons& reasons) {
  std::vector<std::string> parts;
  if (reasons.finds_out) parts.emplace_back("diagnostic only: ranked first");
  if (reasons.free) parts.emplace_back("free, not enough alone: listed separately");
  if (reasons.confirmed) parts.emplace_back("confirmed by the compiler");
  if (reasons.falls_short) parts.emplace_back("not enough, even with another");
  parts.emplace_back(reasons.supported ? "supported by the log" : "not supported by the log");
  parts.emplace_back(!reasons.estimated ? "no estimate" : reasons.too_little ? "not enough" : "enough");
  if (reasons.gamble) parts.emplace_back("no estimate, though others have one");
  if (reasons.undoes) parts.emplace_back("undoes a mistake");
  if (reasons.doubtful) parts.emplace_back("within the error of the estimate");
  if (reasons.supported) parts.push_back(fmt::format("cost {}", reasons.cost));
  parts.push_back(fmt::format("prior {}", reasons.prior));
  return fmt::format("{}", fmt::join(parts, " · "));
}

void AddFacts(const FindingTrace& trace, doc::Blocks* blocks) {
  doc::List fields = Fields();
  for (const FactTrace& fact : trace.facts) {
    std::string text = Cut(ValueText(fact.value), kSentenceBytes);
    const std::optional<double> number = AsNumber(fact.value);
    if (number && fact.name.ends_with("_bytes")) text += " (" + SizeText(*number) + ")";
    if (fact.line > 0) text += fmt::format(" · line {}", fact.line);
    if (!fact.from.empty()) text += " · " + Cut(fact.from, kSentenceBytes);
    fields.items.push_back(Field(Printable(fact.name), text));
  }
  doc::AddSection({.title = "Facts", .blocks = {std::move(fields)}}, doc::Depth::kAlways, blocks);
  doc::List silent;
  for (const std::string& source : trace.silent) silent.items.push_back({Words(Cut(source, kSentenceBytes))});
  doc::AddSection({.title = "Patterns and contexts without a match", .blocks = {std::move(silent)}},
                  doc::Depth::kAlways, blocks);
}

// Lays out the entries from `*at` on, up to the first of a smaller depth. The label of a condition is its result, and
// the label of a step is its name.
doc::Blocks StepBlocks(const std::vector<RecordEntry>& entries, std::size_t* at, int depth) {
  doc::List fields = Fields();
  while (*at < entries.size() && entries[*at].depth >= depth) {
    const RecordEntry& entry = entries[(*at)++];
    const std::string what = Cut(entry.what, kSentenceBytes);
    const std::string result = Cut(entry.result, kSentenceBytes);
    std::string detail = entry.detail.empty() ? "" : "  [" + Cut(entry.detail, kSentenceBytes) + "]";
    if (entry.line > 0) detail += fmt::format(" (line {})", entry.line);
    const bool is_step = entry.depth == 1 && entry.result != "yes" && entry.result != "no";
    doc::Item item = is_step ? Field(what, result + detail) : Field(result, what + detail);
    item.blocks = StepBlocks(entries, at, entry.depth + 1);
    if (entry.depth >= kDepth) item.blocks.clear();
    fields.items.push_back(std::move(item));
  }
  if (fields.items.empty()) return {};
  return {std::move(fields)};
}

void AddSteps(const std::vector<RecordEntry>& entries, doc::Blocks* blocks) {
  for (std::size_t at = 0; at < entries.size();) {
    const std::string title = entries[at++].what;  // of depth 0
    doc::AddSection({.title = title, .blocks = StepBlocks(entries, &at, 1)}, doc::Depth::kAlways, blocks);
  }
}

void AddOrder(const Diagnosis& diagnosis, doc::Blocks* blocks) {
  doc::List order = Fields();
  for (const RankedRemedy& ranked : diagnosis.remedies) {
    doc::List why = Fields();
    why.items.push_back(
        Field("effect", EffectText(ranked) + (ranked.basis.empty() ? "" : " · estimated from the " + ranked.basis)));
    if (ranked.rank_reasons) why.items.push_back(Field("order", OrderText(*ranked.rank_reasons)));
    order.items.push_back(
        Field(fmt::format("{}  {}", ranked.rank, Printable(ranked.remedy->id)), "", {std::move(why)}));
  }
  doc::AddSection({.title = "Order of the remedies", .blocks = {std::move(order)}}, doc::Depth::kAlways, blocks);
}

doc::Section FindingSection(const FindingTrace& trace, std::size_t number) {
  const Diagnosis& diagnosis = *trace.diagnosis;
  doc::Section section{
      .title = fmt::format("{}. {}  {}", number, diagnosis.failure->code, Printable(diagnosis.failure->title))};
  section.blocks.emplace_back(Text(PlaceText(diagnosis.where)));
  section.blocks.emplace_back(Text(Cut(diagnosis.message, 2 * kSentenceBytes)));
  for (const Diagnosis* cause : trace.causes) {
    section.blocks.emplace_back(
        Text(fmt::format("Follows from {} at {} (consequence_of).", cause->failure->code, PlaceText(cause->where))));
  }
  AddFacts(trace, &section.blocks);
  AddSteps(trace.recorded, &section.blocks);
  AddOrder(diagnosis, &section.blocks);
  return section;
}

bool IsAtTracedLine(const LogTrace& trace, const Diagnosis& diagnosis) {
  return std::any_of(trace.lines.begin(), trace.lines.end(), [&](const LineTrace& line) {
    return std::find(line.part_of.begin(), line.part_of.end(), &diagnosis) != line.part_of.end();
  });
}

// Adds the trace of each failure. If a line was requested, only names the failures at other lines.
void AddFindings(const LogTrace& trace, doc::Blocks* blocks) {
  doc::List elsewhere{.style = doc::List::Style::kJoined, .lead = "Failures at other lines (not traced): "};
  for (std::size_t i = 0; i < trace.findings.size(); ++i) {
    const Diagnosis& diagnosis = *trace.findings[i].diagnosis;
    if (trace.request.line == 0 || IsAtTracedLine(trace, diagnosis)) {
      blocks->emplace_back(FindingSection(trace.findings[i], i + 1));
    } else if (elsewhere.items.size() < kElsewhere) {
      elsewhere.items.push_back({Words(fmt::format("{} at {}", diagnosis.failure->code, PlaceText(diagnosis.where)))});
    } else {
      ++elsewhere.left_out;
    }
  }
  if (trace.findings_left_out > 0) {
    blocks->emplace_back(
        Text(fmt::format("{} more failures; trace LOG:LINE for those at a line.", trace.findings_left_out)));
  }
  if (!elsewhere.items.empty()) blocks->emplace_back(std::move(elsewhere));
  if (trace.findings.empty()) blocks->emplace_back(Text("No failure was found."));
}

void AddLiterals(const LogTrace& trace, doc::Blocks* blocks) {
  if (trace.literals.empty()) return;
  const bool has_line = trace.request.line > 0;
  doc::Section section{.title = "No literal"};
  section.blocks.emplace_back(Text(fmt::format("{} contains any of the {} literals of header patterns (ignoring case):",
                                               has_line ? "No line near this one" : "No line", trace.literals.size())));
  doc::List literals;
  for (std::size_t i = 0; i < std::min(trace.literals.size(), kLiterals); ++i)
    literals.items.push_back({Words(Printable(trace.literals[i]), Kind::kCode)});
  literals.left_out = trace.literals.size() - literals.items.size();
  section.blocks.emplace_back(std::move(literals));
  blocks->emplace_back(std::move(section));
}

}  // namespace

doc::Blocks TraceBlocks(const LogTrace& trace) {
  doc::Verdict summary{.level = 0};
  summary.title = Words(fmt::format("{} traced, {}", Counted(trace.lines.size(), "line", "lines"),
                                    Counted(trace.findings.size(), "failure", "failures")));
  doc::Blocks blocks = {std::move(summary)};
  for (const LineTrace& line : trace.lines) blocks.emplace_back(LineSection(line, trace.request.line > 0));
  if (trace.lines_left_out > 0) {
    blocks.emplace_back(Text(fmt::format(
        "{} more lines contain a literal of a header pattern; trace LOG:LINE for one of them.", trace.lines_left_out)));
  }
  AddLiterals(trace, &blocks);
  AddFindings(trace, &blocks);
  doc::List warnings{.style = doc::List::Style::kWarnings};
  if (trace.is_truncated)
    warnings.items.push_back({Words("too many lines with literals: the last ones are not traced")});
  for (const Problem& problem : trace.problems) {
    if (!problem.is_unknown_error())
      warnings.items.push_back({Words(ArtifactText({problem.path, problem.member}) + ": " + Printable(problem.what))});
  }
  if (!warnings.items.empty()) blocks.emplace_back(std::move(warnings));
  return blocks;
}

}  // namespace whyoom
