#include "diagnose/finding_trace.h"

#include <algorithm>
#include <map>
#include <utility>

#include "diagnose/conclude.h"
#include "diagnose/finding_scope.h"
#include "read/message.h"
#include "rules/names.h"
#include "text/numbers.h"
#include "text/secrets.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostLines = 8;  // of a context that are told
constexpr std::size_t kShownText = 60;
constexpr std::size_t kLeastLetters = 6;

// What gave a fact, by the line that it stands on.
struct Source {
  FactTrace::From from = FactTrace::From::kOther;
  std::string by;
  std::uint64_t line = 0;
};
using Sources = std::multimap<std::string, Source>;

// The message as it was read, once more.
class MessageTrace {
 public:
  MessageTrace(const HeadFinder& finder, const Failure& failure, const LineWindow& window)
      : failure_(failure),
        joined_(window.lines, kLookAhead, JoinedLines::Joint::kBlank),
        glued_(window.lines, kLookAhead, JoinedLines::Joint::kNothing) {
    for (const JoinedLines* lines : {&joined_, &glued_}) {
      for (HeadMatch& match : finder.Find(*lines, window.around())) {
        if (match.failure != &failure || !heads_.empty()) continue;
        limit_ = finder.EndOfMessage(*lines, match);
        lines_ = lines;
        heads_.push_back(std::move(match));
      }
    }
  }

  const Head* head() const { return heads_.empty() ? nullptr : heads_.front().head; }

  std::vector<FactPatternTrace> Patterns(Sources* sources) const {
    std::vector<FactPatternTrace> traces;
    if (heads_.empty()) return traces;
    for (const Capture& capture : heads_.front().match.captures)
      Add(capture, FactTrace::From::kHead, head()->id, *lines_, sources);
    for (const Pattern& pattern : failure_.facts) traces.push_back(Trace(pattern, sources));
    return traces;
  }

 private:
  static void Add(const Capture& capture, FactTrace::From from, const std::string& by, const JoinedLines& lines,
                  Sources* sources) {
    sources->emplace(capture.name, Source{from, by, lines.PlaceOf(capture.begin).line});
  }

  FactPatternTrace Trace(const Pattern& pattern, Sources* sources) const {
    FactPatternTrace trace;
    trace.pattern = &pattern;
    const std::size_t begin = heads_.front().match.begin;
    for (const JoinedLines* lines : {&joined_, &glued_}) {
      const std::string_view text =
          std::string_view(lines->text()).substr(0, lines == lines_ ? limit_ : lines->text().size());
      PatternMatch match;
      if (begin <= text.size() && pattern.Find(text, begin, &match)) {
        if (trace.line == 0) trace.line = lines->PlaceOf(match.begin).line;
        for (const Capture& capture : match.captures)
          Add(capture, FactTrace::From::kMessage, pattern.source(), *lines, sources);
      }
    }
    if (trace.line != 0 || begin > lines_->text().size()) return trace;
    const std::string_view message = std::string_view(lines_->text()).substr(0, limit_).substr(begin);
    trace.reach = FindReach(pattern, message);
    if (trace.reach && trace.reach->letters < kLeastLetters) trace.reach.reset();
    if (trace.reach) trace.goes_on = MaskSecretsIn(message, trace.reach->end, trace.reach->end + kShownText);
    return trace;
  }

  const Failure& failure_;
  const JoinedLines joined_;
  const JoinedLines glued_;
  const JoinedLines* lines_ = nullptr;  // that the head is in
  std::size_t limit_ = 0;
  std::vector<HeadMatch> heads_;
};

bool IsIn(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The facts of a context that nothing else gave.
void TraceNearby(const Diagnosis& diagnosis, ContextTrace* trace, Sources* sources) {
  for (const Pattern& pattern : trace->context->patterns) {
    for (const std::string& name : pattern.capture_names()) {
      const Fact* fact = diagnosis.facts.Find(name);
      if (fact == nullptr || fact->place.line == 0 || sources->contains(name)) continue;
      sources->emplace(name, Source{FactTrace::From::kContext, trace->context->id, fact->place.line});
      if (!IsIn(trace->gave, name)) trace->gave.push_back(name);
      if (std::find(trace->lines.begin(), trace->lines.end(), fact->place.line) == trace->lines.end())
        trace->lines.push_back(fact->place.line);
    }
  }
}

std::vector<ContextTrace> TraceContexts(const RuleSet& rules, const Diagnosis& diagnosis,
                                        const std::vector<ContextWord>& words, Sources* sources) {
  std::vector<ContextTrace> traces;
  for (const Context& context : rules.contexts()) {
    if (!IsIn(diagnosis.failure->contexts, context.id)) continue;
    ContextTrace trace;
    trace.context = &context;
    for (const ContextWord& word : words) {
      if (word.context != &context) continue;
      if (trace.lines.size() < kMostLines && (trace.lines.empty() || trace.lines.back() != word.line))
        trace.lines.push_back(word.line);
      for (const Capture& capture : word.captures) {
        const Fact* fact = diagnosis.facts.Find(capture.name);
        if (fact == nullptr || fact->place.line != word.line || fact->value != capture.value) continue;
        sources->emplace(capture.name, Source{FactTrace::From::kContext, context.id, word.line});
        if (!IsIn(trace.gave, capture.name)) trace.gave.push_back(capture.name);
      }
    }
    traces.push_back(std::move(trace));
  }
  // What is looked for near a failure only stands in lines that were not kept; the facts tell which.
  for (ContextTrace& trace : traces) {
    if (trace.context->nearby && trace.lines.empty()) TraceNearby(diagnosis, &trace, sources);
  }
  return traces;
}

Source SourceOf(const std::string& name, const Fact& fact, const FindingTrace& trace, const Sources& sources) {
  for (const DerivedTrace& derived : trace.derived) {
    if (derived.fact->name == name && derived.outcome == DerivedTrace::Outcome::kGiven)
      return {FactTrace::From::kDerived, derived.fact->from.source(), 0};
  }
  const auto [first, last] = sources.equal_range(name);
  for (auto source = first; source != last; ++source) {
    if (source->second.line == fact.place.line) return source->second;
  }
  const Failure& failure = *trace.diagnosis->failure;
  if (name == "chip") return {FactTrace::From::kChip, "limit_bytes", 0};
  if (name.starts_with("user_source")) return {FactTrace::From::kTraceback, "", 0};
  if (IsIn(ReaderFacts(failure.reader), name)) return {FactTrace::From::kReport, failure.reader, 0};
  return first == last ? Source() : first->second;
}

std::vector<std::string> UnknownIn(const Template& text, const Scope& scope) {
  std::vector<std::string> unknown;
  for (const NameUse& use : text.name_uses()) {
    if (!use.in_rows && !IsKnown(scope.Get(use.name)) && !IsIn(unknown, use.name)) unknown.push_back(use.name);
  }
  return unknown;
}

std::vector<SentenceTrace> TraceSentences(const std::vector<Sentence>& sentences, const FindingScope& scope) {
  std::vector<SentenceTrace> traces;
  for (const Sentence& sentence : sentences) {
    SentenceTrace& trace = traces.emplace_back();
    trace.sentence = &sentence;
    if (sentence.when) trace.when = Examine(*sentence.when, scope);
    if (sentence.row) trace.row = ExamineRows(*sentence.row, scope);
    const std::vector<Reason> reasons = Reasons({sentence}, scope);
    if (!reasons.empty()) {
      trace.said = reasons.front().text;
      trace.line = reasons.front().line;
    } else if (!sentence.row) {
      trace.unknown = UnknownIn(sentence.text, scope);
    }
  }
  return traces;
}

std::vector<ScenarioTrace> TraceScenarios(const Diagnosis& diagnosis, const FindingScope& scope) {
  std::vector<ScenarioTrace> traces;
  for (const Scenario& scenario : diagnosis.failure->scenarios) {
    ScenarioTrace& trace = traces.emplace_back();
    trace.scenario = &scenario;
    trace.when = Examine(scenario.when, scope);
    const std::optional<bool> holds = AsBool(trace.when.value);
    trace.verdict = !holds                            ? ScenarioTrace::Verdict::kUnknown
                    : !*holds                         ? ScenarioTrace::Verdict::kFalse
                    : &scenario == diagnosis.scenario ? ScenarioTrace::Verdict::kHolds
                                                      : ScenarioTrace::Verdict::kOutranked;
  }
  return traces;
}

RemedyTrace TraceRemedy(const Remedy& remedy, const RemedyUse& use, const Diagnosis& diagnosis,
                        const FindingScope& scope) {
  RemedyTrace trace;
  trace.remedy = &remedy;
  trace.use = &use;
  if (remedy.when) trace.when = Examine(*remedy.when, scope);
  trace.against = TraceSentences(remedy.ruled_out, scope);
  trace.evidence = TraceSentences(remedy.evidence, scope);
  for (const RankedRemedy& ranked : diagnosis.remedies) {
    if (ranked.remedy != &remedy) continue;
    trace.verdict = RemedyTrace::Verdict::kOffered;
    trace.ranked = &ranked;
    if (remedy.saves && ranked.basis != "program") trace.saves = Examine(*remedy.saves, scope);
    // Where a change was made on the list, the formula gives nothing.
    const std::optional<double> saves = trace.saves ? AsNumber(trace.saves->value) : std::nullopt;
    if (ranked.saves_bytes && (!saves || WholeBytes(std::max(0.0, *saves)) != *ranked.saves_bytes)) trace.saves.reset();
    return trace;
  }
  for (const RuledOut& out : diagnosis.ruled_out) {
    if (out.remedy != &remedy) continue;
    trace.verdict = RemedyTrace::Verdict::kRuledOut;
    trace.why = out.why;
    return trace;
  }
  const bool is_silent =
      trace.is_kept_back() || std::any_of(trace.against.begin(), trace.against.end(),
                                          [](const SentenceTrace& one) { return one.said && one.said->empty(); });
  trace.verdict = is_silent ? RemedyTrace::Verdict::kNotMeant : RemedyTrace::Verdict::kNoStep;
  return trace;
}

std::vector<RemedyTrace> TraceRemedies(const RuleSet& rules, const std::vector<RemedyUse>& uses,
                                       const Diagnosis& diagnosis, const FindingScope& scope) {
  std::vector<RemedyTrace> traces;
  for (const RemedyUse& use : uses) {
    if (const Remedy* remedy = rules.FindRemedy(use.remedy))
      traces.push_back(TraceRemedy(*remedy, use, diagnosis, scope));
  }
  const auto place = [](const RemedyTrace& trace) {
    return std::pair(static_cast<int>(trace.verdict), trace.ranked == nullptr ? 0 : trace.ranked->rank);
  };
  std::stable_sort(traces.begin(), traces.end(),
                   [&](const RemedyTrace& a, const RemedyTrace& b) { return place(a) < place(b); });
  for (std::size_t i = 0; i + 1 < traces.size() && traces[i + 1].ranked != nullptr; ++i) {
    const RankedRemedy* next = traces[i + 1].ranked;
    traces[i].next = next;
    if (traces[i].ranked->rank_reasons && next->rank_reasons)
      traces[i].before_next = DecidingPart(*traces[i].ranked->rank_reasons, *next->rank_reasons);
  }
  return traces;
}

}  // namespace

FindingTrace TraceFinding(const RuleSet& rules, const Finding& finding, const Diagnosis& diagnosis,
                          const HeadFinder& finder, const LineWindow* window, const std::vector<ContextWord>& words) {
  FindingTrace trace;
  trace.diagnosis = &diagnosis;
  Sources sources;
  if (window != nullptr && !window->lines.empty()) {
    const MessageTrace message(finder, *diagnosis.failure, *window);
    trace.head = message.head();
    trace.patterns = message.Patterns(&sources);
  }
  trace.contexts = TraceContexts(rules, diagnosis, words, &sources);
  trace.derived = TraceDerived(diagnosis.failure->derived, FindingScope(rules, finding));
  for (const auto& [name, fact] : diagnosis.facts.all()) {
    const Source source = SourceOf(name, fact, trace, sources);
    trace.facts.push_back({name, fact.value, fact.place.line, source.from, source.by});
  }
  const FindingScope scope(rules, diagnosis);
  trace.scenarios = TraceScenarios(diagnosis, scope);
  trace.own_remedies = diagnosis.scenario != nullptr && !diagnosis.scenario->remedies.empty();
  trace.remedies = TraceRemedies(rules, trace.own_remedies ? diagnosis.scenario->remedies : diagnosis.failure->remedies,
                                 diagnosis, scope);
  return trace;
}

}  // namespace whyoom
