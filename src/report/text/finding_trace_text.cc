// The part of a trace that is of one finding.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "report/finding_view.h"
#include "report/text/trace_printer.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestPattern = 100;
constexpr std::size_t kLongestSentence = 200;
constexpr int kDeepest = 3;        // of the parts of a condition; the JSON has all
constexpr std::size_t kTruth = 9;  // columns of "unknown"
constexpr std::size_t kLongestValue = 40;

std::string Named(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + Printable(name);
  return text;
}

std::string FactText(const std::string& name, const Value& value) {
  std::string text = CutBytes(Printable(ValueText(value)), kLongestSentence);
  const std::optional<double> number = AsNumber(value);
  if (number && name.ends_with("_bytes")) text += " (" + SizeText(*number) + ")";
  return text;
}

std::string SourceText(const FactTrace& fact) {
  const std::string by = CutBytes(Printable(fact.by), kLongestPattern);
  switch (fact.from) {
    case FactTrace::From::kHead:
      return "head " + by;
    case FactTrace::From::kMessage:
      return "the message, by " + by;
    case FactTrace::From::kReport:
      return "the report, by " + by;
    case FactTrace::From::kContext:
      return "context " + by;
    case FactTrace::From::kDerived:
      return "derived: " + by;
    case FactTrace::From::kTraceback:
      return "the traceback";
    case FactTrace::From::kChip:
      return "chips, by " + by;
    case FactTrace::From::kOther:
      return "";
  }
  return "";
}

// "supported by the log · enough · cost 0 · prior 20": what the remedy is sorted by.
std::string KeyText(const RankedRemedy& ranked) {
  const RankReasons& reasons = *ranked.rank_reasons;
  std::vector<std::string> parts;
  if (reasons.finds_out) parts.emplace_back("finds out what has to be known first");
  if (reasons.free) parts.emplace_back("listed apart");
  if (reasons.falls_short) parts.emplace_back("cannot close the gap");
  parts.emplace_back(reasons.supported ? "the log speaks for it" : "the log does not speak for it");
  parts.emplace_back(!reasons.estimated   ? "not known whether it is enough"
                     : reasons.too_little ? "too little"
                                          : "enough");
  if (reasons.gamble) parts.emplace_back("others were worked out");
  if (reasons.doubtful) parts.emplace_back("its spread leaves that open");
  if (reasons.supported) parts.push_back(fmt::format("cost {}", reasons.cost));
  parts.push_back(fmt::format("prior {}", reasons.prior));
  return Joined(parts);
}

std::string BeforeText(RankPart part, const RankedRemedy& one, const RankedRemedy& next) {
  const std::string& other = next.remedy->id;
  switch (part) {
    case RankPart::kFindsOut:
      return "it finds out which scenario it is, and that comes first here";
    case RankPart::kFree:
      return fmt::format("{} costs nothing and is not enough alone, so it is listed apart", other);
    case RankPart::kFallsShort:
      return fmt::format("{} is estimated not to close the gap", other);
    case RankPart::kSupported:
      return fmt::format("the log speaks for it, and not for {}", other);
    case RankPart::kTooLittle:
      return fmt::format("{} is estimated to be too little", other);
    case RankPart::kGamble:
      return fmt::format("nothing was worked out of {}", other);
    case RankPart::kCost:
      return fmt::format("it costs less: {}, not {}", one.rank_reasons->cost, next.rank_reasons->cost);
    case RankPart::kEstimated:
      return fmt::format("it is estimated to be enough; of {} that is not known", other);
    case RankPart::kDoubtful:
      return fmt::format("the spread of its estimate leaves nothing open, that of {} does", other);
    case RankPart::kPrior:
      return fmt::format("by the rule data's order: {}, not {}", one.rank_reasons->prior, next.rank_reasons->prior);
    case RankPart::kId:
      return "by name, since nothing else differs";
  }
  return "";
}

class FindingPage {
 public:
  FindingPage(const FindingTrace& trace, TextPage* page) : trace_(trace), page_(*page) {}

  void Print(std::size_t number) {
    const Diagnosis& diagnosis = *trace_.diagnosis;
    page_.Title(fmt::format("{}. {}", number, diagnosis.failure->code), diagnosis.failure->title);
    page_.Paragraph(PlaceText(diagnosis.where) + (trace_.head == nullptr ? "" : " · head " + trace_.head->id));
    page_.Paragraph(CutBytes(Printable(diagnosis.message), 2 * kLongestSentence));
    for (const Diagnosis* cause : trace_.causes) {
      page_.Paragraph(fmt::format("It is known to follow from {} (consequence_of), at {}.", cause->failure->code,
                                  PlaceText(cause->where)));
    }
    PrintFacts();
    PrintPatterns();
    PrintContexts();
    PrintDerived();
    PrintScenarios();
    PrintRemedies();
  }

 private:
  void PrintFacts() {
    page_.Heading("Facts");
    for (const FactTrace& fact : trace_.facts) {
      std::string text = FactText(fact.name, fact.value);
      const std::string source = SourceText(fact);
      if (fact.line > 0) text += fmt::format(" · line {}", fact.line);
      if (!source.empty()) text += " · " + source;
      page_.Item("   " + Printable(fact.name), 26, text);
    }
  }

  void PrintPatterns() {
    const bool any = std::any_of(trace_.patterns.begin(), trace_.patterns.end(),
                                 [](const FactPatternTrace& pattern) { return pattern.line == 0; });
    if (!any) return;
    page_.Heading("Patterns that are not in the message");
    for (const FactPatternTrace& pattern : trace_.patterns) {
      if (pattern.line > 0) continue;
      page_.Paragraph(CutBytes(Printable(pattern.pattern->source()), kLongestPattern), 3);
      if (!pattern.reach) continue;
      const std::string goes_on = CutBytes(Printable(pattern.goes_on), kLongestPattern / 2);
      page_.Paragraph(fmt::format("gets up to {}; then stands \"{}\", and it wants {}",
                                  CutBytes(Printable(pattern.reach->matched), kLongestPattern), goes_on,
                                  CutBytes(Printable(pattern.reach->wanted), kLongestPattern)),
                      6);
    }
  }

  void PrintContexts() {
    if (trace_.contexts.empty()) return;
    page_.Heading("Contexts");
    std::vector<std::string> silent;
    for (const ContextTrace& context : trace_.contexts) {
      if (context.lines.empty()) {
        silent.push_back(context.context->id);
        continue;
      }
      std::string lines;
      for (const std::uint64_t line : context.lines) lines += (lines.empty() ? "" : ", ") + std::to_string(line);
      page_.Item("   " + Printable(context.context->id), 26,
                 fmt::format("line {} · {}", lines,
                             context.gave.empty() ? "gave nothing here" : "gave " + Named(context.gave)));
    }
    if (!silent.empty()) page_.Paragraph("not printed: " + Named(silent), 3);
  }

  void PrintDerived() {
    if (trace_.derived.empty()) return;
    page_.Heading("Derived facts");
    std::vector<std::string> read;
    for (const DerivedTrace& derived : trace_.derived) {
      using Outcome = DerivedTrace::Outcome;
      if (derived.outcome == Outcome::kReadAlready) {
        read.push_back(derived.fact->name);
        continue;
      }
      const char* outcome = derived.outcome == Outcome::kGiven    ? "given"
                            : derived.outcome == Outcome::kNotNow ? "not now"
                                                                  : "unknown";
      page_.Item("   " + Printable(derived.fact->name), 26,
                 derived.outcome == Outcome::kGiven ? FactText(derived.fact->name, derived.value) : outcome);
      if (derived.when) PrintExamination(*derived.when, 6);
      if (derived.from) PrintExamination(*derived.from, 6);
    }
    if (!read.empty()) page_.Paragraph("known without their formulas: " + Named(read), 3);
  }

  void PrintScenarios() {
    if (trace_.scenarios.empty()) return;
    page_.Heading("Scenarios");
    for (const ScenarioTrace& scenario : trace_.scenarios) {
      constexpr std::array<const char*, 4> kVerdicts = {"holds", "holds, but another has a higher priority", "false",
                                                        "unknown: the log cannot tell"};
      page_.Item("   " + Printable(scenario.scenario->id), 0,
                 fmt::format("{} · priority {} · {}", kVerdicts.at(static_cast<std::size_t>(scenario.verdict)),
                             scenario.scenario->priority, Printable(scenario.scenario->title)));
      PrintExamination(scenario.when, 6, /*deciding=*/false);
    }
  }

  void PrintRemedies() {
    page_.Heading(trace_.own_remedies ? "Remedies of the scenario, in their order" : "Remedies, in their order");
    for (const RemedyTrace& remedy : trace_.remedies) {
      if (remedy.ranked != nullptr) PrintOffered(remedy);
    }
    const bool any = std::any_of(trace_.remedies.begin(), trace_.remedies.end(),
                                 [](const RemedyTrace& remedy) { return remedy.ranked == nullptr; });
    if (any) page_.Heading("Not offered");
    for (const RemedyTrace& remedy : trace_.remedies) {
      if (remedy.ranked == nullptr) PrintNotOffered(remedy);
    }
  }

  void PrintOffered(const RemedyTrace& trace) {
    const RankedRemedy& ranked = *trace.ranked;
    page_.Line(page_.style().Strong(fmt::format("   {}  {}", ranked.rank, Printable(trace.remedy->id))));
    const std::string effect = EffectText(ranked);
    std::string basis = ranked.basis.empty() ? "" : " · by the " + ranked.basis;
    page_.Item("      effect", 14, effect + basis);
    if (ranked.rank_reasons) page_.Item("      order", 14, KeyText(ranked));
    if (trace.before_next) {
      page_.Item("      before", 14,
                 fmt::format("{}: {}", Printable(trace.next->remedy->id),
                             BeforeText(*trace.before_next, ranked, *trace.next)));
    }
    if (trace.when) {
      page_.Item("      when", 14, "its own condition holds:");
      PrintExamination(*trace.when, 9);
    }
    PrintSentences("for", trace.evidence);
    PrintSentences("against", trace.against);
    if (trace.saves && !IsKnown(trace.saves->value)) {
      page_.Item("      saves", 14, "unknown; not known here: " + Named(trace.saves->UnknownNames()));
    } else if (trace.saves) {
      page_.Item("      saves", 14, "by the rule data's formula:");
      PrintExamination(*trace.saves, 9);
    }
  }

  void PrintNotOffered(const RemedyTrace& trace) {
    std::string why;
    switch (trace.verdict) {
      case RemedyTrace::Verdict::kRuledOut:
        why = "ruled out: " + Printable(trace.why);
        break;
      case RemedyTrace::Verdict::kNotMeant:
        why = trace.is_kept_back() ? "passed over: its own condition is not known to be true"
                                   : "passed over: a condition of ruled_out holds that has no text";
        break;
      default:
        why = "no step of it can be said with what is known, for this framework";
    }
    page_.Item("   " + Printable(trace.remedy->id), 0, why);
    if (trace.is_kept_back()) PrintExamination(*trace.when, 9);
    for (const SentenceTrace& sentence : trace.against) {
      if (sentence.said) PrintConditions(sentence);
    }
  }

  // A sentence that is said with all its conditions, of others what decides.
  void PrintSentences(const char* label, const std::vector<SentenceTrace>& sentences) {
    for (const SentenceTrace& sentence : sentences) {
      if (!sentence.said) {
        page_.Item(fmt::format("      {}", label), 14, NotSaidText(sentence));
        continue;
      }
      std::string text = sentence.line > 0 ? fmt::format("yes (line {}): ", sentence.line) : "yes: ";
      page_.Item(fmt::format("      {}", label), 14, text + CutBytes(Printable(*sentence.said), kLongestSentence));
      PrintConditions(sentence);
    }
  }

  // "no: excess_bytes < 0.05 * limit_bytes [4563402752 < 845571686]".
  static std::string NotSaidText(const SentenceTrace& sentence) {
    for (const std::optional<Examination>* condition : {&sentence.when, &sentence.row}) {
      if (*condition && AsBool((*condition)->value) != true) return DecidingText(**condition);
    }
    return "no: not known here: " + Named(sentence.unknown);
  }

  static std::string DecidingText(const Examination& examination) {
    const std::string lead = AsBool(examination.value) == false ? "no: " : "unknown: ";
    const std::vector<ExaminedPart>& parts = examination.parts;
    std::size_t at = 0;
    while (at < parts.size() && !parts[at].rows) {
      const std::size_t inner = DecidingInner(parts, at);
      if (inner == at) break;
      at = inner;
    }
    if (at >= parts.size()) return lead;
    return lead + PartText(parts[at]);
  }

  // The first part of a part that makes it what it is; itself where none does.
  static std::size_t DecidingInner(const std::vector<ExaminedPart>& parts, std::size_t whole) {
    for (std::size_t i = whole + 1; i < parts.size() && parts[i].depth > parts[whole].depth; ++i) {
      if (parts[i].depth == parts[whole].depth + 1 && parts[i].value == parts[whole].value && !AsNumber(parts[i].value))
        return i;
    }
    return whole;
  }

  void PrintConditions(const SentenceTrace& sentence) {
    if (sentence.when) PrintExamination(*sentence.when, 9);
    if (sentence.row) PrintExamination(*sentence.row, 9);
  }

  // Whether a part says what its whole does not; with `deciding` only those that made the whole what it is.
  static bool IsTold(const std::vector<ExaminedPart>& parts, std::size_t index, std::size_t whole, bool deciding) {
    const ExaminedPart& part = parts[index];
    if (part.depth > kDeepest || ValueText(part.value) == part.source) return false;
    const Value& value = parts[whole].value;
    if (!deciding || AsNumber(part.value) || part.value == value) return true;
    for (std::size_t i = whole + 1; i < parts.size() && parts[i].depth > parts[whole].depth; ++i) {
      if (parts[i].depth == part.depth && parts[i].value == value) return false;
    }
    return true;
  }

  void PrintExamination(const Examination& examination, std::size_t column, bool deciding = true) {
    const std::vector<ExaminedPart>& parts = examination.parts;
    std::vector<std::size_t> above;  // the parts that the one at hand is in, all of them told
    for (std::size_t i = 0; i < parts.size(); ++i) {
      while (!above.empty() && parts[above.back()].depth >= parts[i].depth) above.pop_back();
      const bool is_in_told = parts[i].depth == static_cast<int>(above.size());
      if (!is_in_told || (!above.empty() && !IsTold(parts, i, above.back(), deciding))) continue;
      above.push_back(i);
      PrintPart(parts[i], column);
    }
    const std::vector<std::string> unknown = examination.UnknownNames();
    if (!IsKnown(examination.value) && !unknown.empty())
      page_.Paragraph("not known here: " + Named(unknown), column + kTruth);
  }

  static std::string PartText(const ExaminedPart& part) {
    std::string text = part.row > 0 ? fmt::format("row {}: ", part.row) : "";
    text += Printable(part.source);
    if (!part.with_values.empty()) text += "  [" + CutBytes(Printable(part.with_values), kLongestSentence) + "]";
    if (!part.rows) return text;
    const std::uint64_t all = part.rows->met + part.rows->failed + part.rows->unknown;
    if (all == 0) return text + "  [no list of allocations]";
    text += fmt::format("  [of {} {} it", Counted(all, "row", "rows"),
                        part.rows->met == 1 ? "1 meets" : fmt::format("{} meet", part.rows->met));
    return text + (part.rows->unknown > 0 ? fmt::format(", {} unknown]", part.rows->unknown) : "]");
  }

  void PrintPart(const ExaminedPart& part, std::size_t column) {
    const std::size_t indent = 2 * static_cast<std::size_t>(part.depth);
    page_.Item(std::string(column + indent, ' ') + CutBytes(Printable(ValueText(part.value)), kLongestValue),
               column + indent + kTruth, PartText(part));
  }

  const FindingTrace& trace_;
  TextPage& page_;
};

}  // namespace

void PrintFindingTrace(const FindingTrace& trace, std::size_t number, TextPage* page) {
  FindingPage(trace, page).Print(number);
}

}  // namespace whyoom
