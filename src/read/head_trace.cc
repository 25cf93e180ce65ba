#include "read/head_trace.h"

#include <algorithm>
#include <utility>

#include "read/message.h"
#include "text/secrets.h"

namespace whyoom {
namespace {

constexpr std::size_t kShownText = 60;
constexpr std::size_t kLongestLine = std::size_t{32} << 10;  // that is looked at; longer ones hold no one message
// Fewer characters in a row are in any line.
constexpr std::size_t kLeastLetters = 6;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

// The ways in which the lines of a window may have been one; of a long line one after another, as a session does.
std::vector<JoinedLines> Joinings(const LineWindow& window) {
  std::vector<JoinedLines> joinings;
  for (std::size_t from = 0; from == 0 || from < std::min(window.lines.front().text.size(), kLongestLine);
       from += JoinedLines::kStep) {
    joinings.emplace_back(window.lines, kLookAhead, JoinedLines::Joint::kBlank, from);
    joinings.emplace_back(window.lines, kLookAhead, JoinedLines::Joint::kNothing, from);
  }
  return joinings;
}

TextPlace PlaceIn(const JoinedLines& joined, std::size_t position) {
  if (position >= joined.text().size() && position > 0) {
    // Behind all: the column after the last one.
    TextPlace last = PlaceIn(joined, joined.text().size() - 1);
    ++last.column;
    return last;
  }
  return {joined.PlaceOf(position).line, joined.ColumnOf(position) + 1};
}

bool Began(const std::vector<HeadMatch>& accepted, const Head* head) {
  return std::any_of(accepted.begin(), accepted.end(), [&](const HeadMatch& match) { return match.head == head; });
}

// What the head gets to, by the joining in which it gets further.
void SetReach(const Head& head, const std::vector<JoinedLines>& joinings, HeadTrace* trace) {
  const JoinedLines* furthest = nullptr;
  for (const JoinedLines& joined : joinings) {
    std::optional<PatternReach> reach = FindReach(head.pattern, joined.text(), joined.first_line_end());
    if (!reach || reach->letters < kLeastLetters || (trace->reach && reach->letters <= trace->reach->letters)) continue;
    trace->stop = PlaceIn(joined, reach->end);
    trace->place = PlaceIn(joined, reach->begin);
    furthest = &joined;
    trace->again = reach->again_at ? PlaceIn(joined, *reach->again_at) : TextPlace();
    trace->reach = std::move(reach);
  }
  if (furthest == nullptr) return;
  trace->met = MaskSecretsIn(furthest->text(), trace->reach->begin, trace->reach->end);
  trace->goes_on = MaskSecretsIn(furthest->text(), trace->reach->end, trace->reach->end + kShownText);
}

}  // namespace

HeadTracer::HeadTracer(const Engine& engine) : engine_(engine) {
  for (const Failure& failure : engine.rules().failures()) {
    for (const Head& head : failure.heads) entries_.push_back({&failure, &head, head.pattern.Literals(kHeadLiteral)});
  }
}

bool HeadTracer::HoldsLiteral(std::string_view text) const {
  const std::string lower = Lower(text);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return std::any_of(entry.literals.begin(), entry.literals.end(),
                       [&](const std::string& literal) { return lower.find(literal) != std::string::npos; });
  });
}

std::vector<std::string> HeadTracer::literals() const {
  std::set<std::string> all;
  for (const Entry& entry : entries_) all.insert(entry.literals.begin(), entry.literals.end());
  return {all.begin(), all.end()};
}

HeadTrace HeadTracer::Trace(const Entry& entry, const LineWindow& window,
                            const std::vector<HeadMatch>& accepted) const {
  HeadTrace trace;
  trace.failure = entry.failure;
  trace.head = entry.head;
  trace.literals = entry.literals;
  const std::vector<JoinedLines> joinings = Joinings(window);
  for (const JoinedLines& joined : joinings) {
    const std::string lower = Lower(joined.text());
    for (const std::string& literal : entry.literals) {
      if (trace.literal.empty() && lower.find(literal) != std::string::npos) trace.literal = literal;
    }
  }
  const bool began = Began(accepted, entry.head);
  for (const JoinedLines& joined : joinings) {
    PatternMatch match;
    if (!entry.head->pattern.Find(joined.text(), 0, &match)) continue;
    trace.place = PlaceIn(joined, match.begin);
    if (began) {
      trace.outcome = HeadTrace::Outcome::kThere;
    } else if (match.begin >= joined.first_line_end()) {
      trace.outcome = HeadTrace::Outcome::kInLaterLine;
    } else if (entry.head->line_start && !StandsAtLineStart(joined, match.begin)) {
      trace.outcome = HeadTrace::Outcome::kNotAtLineStart;
    } else {
      trace.outcome = HeadTrace::Outcome::kQuoted;
      trace.quotation = engine_.finder().FindQuotation(window.around(), joined.ColumnOf(match.begin));
    }
    return trace;
  }
  trace.outcome = trace.literal.empty() ? HeadTrace::Outcome::kNoLiteral : HeadTrace::Outcome::kNoMatch;
  SetReach(*entry.head, joinings, &trace);
  return trace;
}

std::vector<HeadTrace> HeadTracer::TraceHeads(const LineWindow& window, const std::set<std::string>& codes) const {
  std::vector<HeadTrace> traces;
  if (window.lines.empty()) return traces;
  std::vector<HeadMatch> accepted;
  for (const JoinedLines& joined : Joinings(window)) {
    for (HeadMatch& match : engine_.finder().Find(joined, window.around())) accepted.push_back(std::move(match));
  }
  std::string lower;
  for (const JoinedLines& joined : Joinings(window)) lower += Lower(joined.text()) + '\n';
  for (const Entry& entry : entries_) {
    const bool near = std::any_of(entry.literals.begin(), entry.literals.end(),
                                  [&](const std::string& literal) { return lower.find(literal) != std::string::npos; });
    if (near || codes.contains(entry.failure->code)) traces.push_back(Trace(entry, window, accepted));
  }
  return traces;
}

std::vector<HeadTrace> HeadTracer::NearestHeads(const LineWindow& window, const std::vector<HeadTrace>& traced,
                                                std::size_t most) const {
  std::vector<HeadTrace> nearest;
  if (window.lines.empty()) return nearest;
  for (const Entry& entry : entries_) {
    const bool is_traced =
        std::any_of(traced.begin(), traced.end(), [&](const HeadTrace& trace) { return trace.head == entry.head; });
    if (is_traced) continue;
    HeadTrace trace = Trace(entry, window, {});
    if (trace.reach) nearest.push_back(std::move(trace));
  }
  std::stable_sort(nearest.begin(), nearest.end(),
                   [](const HeadTrace& a, const HeadTrace& b) { return a.reach->weight() > b.reach->weight(); });
  if (nearest.size() > most) nearest.resize(most);
  return nearest;
}

}  // namespace whyoom
