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

void Describe(auto& v, RecordOf<RecordEntry> auto& entry) {
  v.Record("record_entry", "A step, a condition, or a part of one; what it consists of follows, one level deeper.");
  v.Need("depth", entry.depth, {.about = "0: a part of the diagnosis, such as Scenarios."});
  v.Need("what", entry.what);
  v.Maybe("result", entry.result, {.about = "offered, true, 12884901888; absent of a heading."});
  v.Maybe("detail", entry.detail, {.about = "The values that it used, or the sentence that was said."});
  v.Maybe("line", entry.line, {.about = "Of the log, if one proves it."});
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
  v.Maybe("from", fact.from, {.about = "The pattern, context or report; of several that may have given it all."});
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
  v.Need("facts", trace.facts);
  v.Maybe("silent", trace.silent, {.about = "Patterns and contexts of the failure that gave no fact here."});
  v.Need("recorded", trace.recorded, {.about = "What was concluded, step by step."});
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
