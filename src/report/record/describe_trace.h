// What the JSON of a trace holds, as describe.h is for reports. It is written only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/trace.h"
#include "report/record/describe.h"

namespace whyoom {

inline constexpr const char* kTraceFormat = "whyoom.trace/1";

void Describe(auto& v, RecordOf<RowCount> auto& rows) {
  v.Record("row_count", "Of a function over the rows: how many rows its condition is true of.");
  v.Need("met", rows.met);
  v.Need("failed", rows.failed);
  v.Need("unknown", rows.unknown);
}

void Describe(auto& v, RecordOf<ExaminedPart> auto& part) {
  v.Record("examined_part", "A part of an expression: the whole first, each before what it is made of.");
  v.Need("depth", part.depth, {.about = "0 is the whole."});
  v.Need("source", part.source);
  v.Need("value", part.value, {.about = "Null where it is unknown."});
  v.Maybe("with_values", part.with_values, {.about = "The sides of a comparison, or a formula with its values."});
  v.Maybe("rows", part.rows);
  v.Maybe("row", part.row, {.about = "The row that it was looked at in; 1 is the largest."});
}

template <class V>
void Describe(V& v, RecordOf<Examination> auto& examination) {
  std::vector<std::string> unknown;
  if constexpr (!V::kReads) unknown = examination.UnknownNames();
  v.Record("examination", "An expression of the rule data as it was evaluated.");
  v.Need("value", examination.value, {.about = "Null where it is unknown."});
  v.Need("parts", examination.parts);
  v.Maybe("unknown", unknown, {.about = "Names that have no value here."});
}

void Describe(auto& v, RecordOf<TextPlace> auto& place) {
  v.Record("text_place");
  v.Need("line", place.line);
  v.Need("column", place.column, {.about = "Bytes in the line without its prefixes, from 1."});
}

void Describe(auto& v, RecordOf<PatternReach> auto& reach) {
  v.Record("reach", "How far a pattern gets that does not match.");
  v.Need("matched", reach.matched, {.about = "The part of the pattern that is there."});
  v.Need("wanted", reach.wanted, {.about = "What the pattern goes on with."});
  v.Maybe("anywhere", reach.anywhere, {.about = "That may stand anywhere behind."});
  v.Maybe("again", reach.again, {.about = "The end of the pattern that is there again."});
}

template <class V>
void Describe(V& v, RecordOf<HeadTrace> auto& head) {
  const bool is_there = head.outcome != HeadTrace::Outcome::kNoMatch && head.outcome != HeadTrace::Outcome::kNoLiteral;
  std::optional<TextPlace> place;
  std::optional<TextPlace> stop;
  std::optional<TextPlace> again;
  if (is_there || head.reach) place = head.place;
  if (head.reach) stop = head.stop;
  if (head.reach && head.reach->again_at) again = head.again;
  v.Record("head_trace");
  v.Rule("code", head.failure);
  v.Show("head", [&] { return head.head->id; });
  v.Show("pattern", [&] { return head.head->pattern.source(); });
  v.Need("outcome", head.outcome,
         {.about = "found; quoted; not_at_line_start; in_later_line; no_match: its literal is near, its pattern not; "
                   "no_literal.",
          .one_of = "found quoted not_at_line_start in_later_line no_match no_literal"});
  v.Maybe("literal", head.literal, {.about = "The one that is near, in lower case."});
  v.Maybe("literals", head.literals, {.about = "One of these is in each match."});
  v.MayShow("quotation", [&] { return head.quotation == nullptr ? std::string() : head.quotation->id; });
  v.Maybe("place", place, {.about = "Where it begins, or what of it is there."});
  v.Maybe("reach", head.reach);
  v.Maybe("stop", stop, {.about = "Where the reach ends."});
  v.Maybe("met", head.met, {.about = "The text up to there."});
  v.Maybe("goes_on", head.goes_on, {.about = "The text behind it."});
  v.Maybe("again", again);
}

template <class V>
void Describe(V& v, RecordOf<TracedHead> auto& head) {
  v.Record("traced_head");
  v.Extend(head.trace);
  v.Need("fate", head.fate,
         {.about = "What reading made of it: none; opened: a failure began; same_failure, absorbed: by another head's "
                   "failure; of_report: a line of a report; other.",
          .one_of = "none opened same_failure absorbed of_report other"});
  v.MayShow("by", [&] { return head.by == nullptr ? std::string() : head.by->code; });
  v.Maybe("by_line", head.by_line);
}

void Describe(auto& v, RecordOf<SuspectFinder::Look> auto& look) {
  const auto id = [](const auto* entry) { return entry == nullptr ? std::string() : entry->id; };
  v.Record("suspect_look", "Why the line is told as an error that no rule knows, or is not.");
  v.MayShow("words", [&] { return id(look.words); }, {.about = "Id of the suspect whose words are in it."});
  v.MayShow("unless", [&] { return look.unless == nullptr ? std::string() : look.unless->source(); },
            {.about = "What makes another matter of them."});
  v.MayShow("looks", [&] { return id(look.looks); }, {.about = "Id of the error line that it looks like."});
  v.MayShow("healthy", [&] { return id(look.healthy); }, {.about = "Or of the one that says that nothing failed."});
}

template <class V>
void Describe(V& v, RecordOf<LineTrace> auto& line) {
  std::vector<std::string> part_of;
  if constexpr (!V::kReads) {
    for (const Diagnosis* diagnosis : line.part_of) part_of.push_back(diagnosis->id);
  }
  v.Record("line_trace");
  v.NeedName("path", line.artifact.path);
  v.MaybeName("member", line.artifact.member);
  v.Need("line", line.line);
  v.Need("text", line.text, {.about = "Without its prefixes, cut where it is long."});
  v.Maybe("reporter", line.reporter);
  v.Maybe("healthy", line.healthy, {.about = "Its logger's level says that nothing failed."});
  v.Maybe("binary", line.binary);
  v.Maybe("alike", line.alike, {.about = "Further lines that differ in figures only."});
  v.Need("heads", line.heads);
  v.Maybe("nearest", line.nearest, {.about = "Where no head is near: those that get furthest."});
  v.Maybe("suspect", line.suspect);
  v.Maybe("unknown_error", line.unknown_error, {.about = "It is told as an error that no rule knows."});
  v.Maybe("part_of", part_of, {.about = "Ids of findings whose messages and reports reach over it."});
}

void Describe(auto& v, RecordOf<FactTrace> auto& fact) {
  v.Record("fact_trace");
  v.Need("name", fact.name);
  v.Need("value", fact.value);
  v.Maybe("line", fact.line);
  v.Need("from", fact.from, {.one_of = "head message report context derived traceback chip other"});
  v.Maybe("by", fact.by, {.about = "The head's or context's id, the pattern, the reader, the formula."});
}

void Describe(auto& v, RecordOf<FactPatternTrace> auto& pattern) {
  v.Record("fact_pattern", "A pattern that is looked for in the message behind the head.");
  v.Show("pattern", [&] { return pattern.pattern->source(); });
  v.Maybe("line", pattern.line, {.about = "Absent where it is nowhere."});
  v.Maybe("reach", pattern.reach);
  v.Maybe("goes_on", pattern.goes_on);
}

void Describe(auto& v, RecordOf<ContextTrace> auto& context) {
  v.Record("context_trace");
  v.Show("id", [&] { return context.context->id; });
  v.Need("lines", context.lines, {.about = "Where it was printed, the first few."});
  v.Need("gave", context.gave, {.about = "The finding's facts that are from there."});
}

void Describe(auto& v, RecordOf<DerivedTrace> auto& derived) {
  v.Record("derived_trace");
  v.Show("name", [&] { return derived.fact->name; });
  v.Show("formula", [&] { return derived.fact->from.source(); });
  v.Need("outcome", derived.outcome,
         {.about = "given; read_already; not_now: its condition does not hold; unknown.",
          .one_of = "given read_already not_now unknown"});
  v.Need("value", derived.value);
  v.Maybe("when", derived.when);
  v.Maybe("from", derived.from);
}

void Describe(auto& v, RecordOf<SentenceTrace> auto& sentence) {
  v.Record("sentence_trace");
  v.Show("text", [&] { return sentence.sentence->text.source(); });
  v.Show("holds", [&] { return sentence.said.has_value(); });
  v.Maybe("said", sentence.said);
  v.Maybe("line", sentence.line);
  v.Maybe("when", sentence.when);
  v.Maybe("row", sentence.row);
  v.Maybe("unknown", sentence.unknown, {.about = "Names in its holes that have no value here."});
}

void Describe(auto& v, RecordOf<ScenarioTrace> auto& scenario) {
  v.Record("scenario_trace");
  v.Show("id", [&] { return scenario.scenario->id; });
  v.Show("title", [&] { return scenario.scenario->title; });
  v.Show("priority", [&] { return static_cast<std::int64_t>(scenario.scenario->priority); });
  v.Need("verdict", scenario.verdict,
         {.about = "outranked: it holds, and another with a higher priority, too.",
          .one_of = "holds outranked false unknown"});
  v.Need("when", scenario.when);
}

template <class V>
void Describe(V& v, RecordOf<RemedyTrace> auto& trace) {
  std::optional<std::string> next;
  std::optional<int> rank;
  std::optional<RankReasons> reasons;
  std::optional<std::int64_t> saves_bytes;
  std::optional<bool> enough;
  if constexpr (!V::kReads) {
    if (trace.next != nullptr) next = trace.next->remedy->id;
    if (trace.ranked != nullptr) {
      rank = trace.ranked->rank;
      reasons = trace.ranked->rank_reasons;
      saves_bytes = trace.ranked->saves_bytes;
      enough = trace.ranked->enough;
    }
  }
  v.Record("remedy_trace");
  v.Rule("id", trace.remedy);
  v.Need("verdict", trace.verdict,
         {.about = "offered; ruled_out: for a reason that is told; not_meant: passed over in silence; no_step: nothing "
                   "of it can be done here.",
          .one_of = "offered ruled_out not_meant no_step"});
  v.Maybe("why", trace.why, {.about = "Of what is ruled out."});
  v.Maybe("rank", rank);
  v.Maybe("saves_bytes", saves_bytes);
  v.Maybe("enough", enough);
  v.Maybe("when", trace.when, {.about = "The remedy's own condition: offered only where it is true."});
  v.Need("ruled_out", trace.against);
  v.Need("evidence", trace.evidence);
  v.Maybe("saves", trace.saves, {.about = "The rule data's formula, where the program does not tell."});
  v.Maybe("rank_reasons", reasons);
  v.Maybe("next", next, {.about = "The remedy that stands behind it, and"});
  v.Maybe("before_next", trace.before_next,
          {.about = "the first of rank_reasons in which the two differ; id: none.",
           .one_of = "finds_out free falls_short supported too_little gamble cost estimated doubtful prior id"});
}

template <class V>
void Describe(V& v, RecordOf<FindingTrace> auto& trace) {
  std::vector<std::string> causes;
  if constexpr (!V::kReads) {
    for (const Diagnosis* cause : trace.causes) causes.push_back(cause->id);
  }
  v.Record("finding_trace");
  v.Show("id", [&] { return trace.diagnosis->id; }, {.form = &kId});
  v.Show("code", [&] { return trace.diagnosis->failure->code; });
  v.Show("message", [&] { return trace.diagnosis->message; });
  v.Show("where", [&] { return trace.diagnosis->where; });
  v.MayShow("head", [&] { return trace.head == nullptr ? std::string() : trace.head->id; },
            {.about = "Absent where the line was not kept."});
  v.Need("facts", trace.facts);
  v.Need("patterns", trace.patterns);
  v.Need("contexts", trace.contexts);
  v.Need("derived", trace.derived);
  v.Need("scenarios", trace.scenarios);
  v.Need("scenario_remedies", trace.own_remedies, {.about = "The remedies are the scenario's; else the failure's."});
  v.Need("remedies", trace.remedies, {.about = "Those offered in their order, then the others."});
  v.Maybe("follows_from", causes, {.about = "Ids of findings that it is known to follow from."});
}

template <class V>
void DescribeTrace(V& v, RecordOf<LogTrace> auto& trace, const ToolRecord& tool) {
  v.Record("trace");
  v.Constant("format", kTraceFormat);
  v.Need("tool", tool);
  v.MayShow("asked_line", [&] { return trace.request.line; });
  v.Need("artifacts", trace.artifacts);
  v.Need("bytes", trace.bytes);
  v.Need("lines", trace.lines, {.about = "The line that was asked for, or those in which a head's literal is."});
  v.Maybe("lines_left_out", trace.lines_left_out);
  v.Maybe("literals", trace.literals, {.about = "Where none is near: what was looked for."});
  v.Maybe("not_all_kept", trace.not_all_kept, {.about = "The last lines of a large input were not looked at again."});
  v.Need("findings", trace.findings);
  v.Maybe("findings_left_out", trace.findings_left_out, {.about = "Further diagnoses, which are not traced."});
  v.Need("problems", trace.problems);
}

}  // namespace whyoom
