// Describes the JSON of `whyoom rules trace`; write-only. See describe.h.
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
  v.Record("record_entry", "A heading, a step, or a condition. Its parts follow, one level deeper.");
  v.Need("depth", entry.depth, {.about = "0 for a heading, such as Scenarios."});
  v.Need("what", entry.what);
  v.Maybe("result", entry.result, {.about = "For example offered, true or 12884901888; absent for headings."});
  v.Maybe("detail", entry.detail, {.about = "The values that were used, or the sentence that resulted."});
  v.Maybe("line", entry.line, {.about = "The line of the log that proves the result."});
}

void Describe(auto& v, RecordOf<TextPlace> auto& place) {
  v.Record("text_place");
  v.Need("line", place.line);
  v.Need("column", place.column, {.about = "Counted in bytes from 1, in the line without its prefixes."});
}

void Describe(auto& v, RecordOf<PartialPatternMatch> auto& reach) {
  v.Record("reach", "How much of a pattern matches, if not all of it does.");
  v.Need("matched", reach.matched, {.about = "The start of the pattern, which matches."});
  v.Need("wanted", reach.wanted, {.about = "The rest of the pattern."});
  v.Maybe("anywhere", reach.anywhere, {.about = "The rest may match anywhere after the partial match."});
  v.Maybe("again", reach.again, {.about = "The end of the pattern, if it matches later in the text."});
}

template <class V>
void Describe(V& v, RecordOf<HeaderTrace> auto& head) {
  const bool is_there =
      head.outcome != HeaderTrace::Outcome::kNoMatch && head.outcome != HeaderTrace::Outcome::kNoLiteral;
  std::optional<TextPlace> place;
  std::optional<TextPlace> stop;
  std::optional<TextPlace> again;
  if (is_there || head.reach) place = head.place;
  if (head.reach) stop = head.stop;
  if (head.reach && head.reach->suffix_at) again = head.again;
  v.Record("head_trace");
  v.Rule("code", head.failure);
  v.Show("head", [&] { return head.head->id; });
  v.Show("pattern", [&] { return head.head->pattern.source(); });
  v.Need("outcome", head.outcome,
         {.about = "no_match: its literal is near, but the pattern does not match; no_literal: none is near.",
          .one_of = "found quoted not_at_line_start in_later_line no_match no_literal"});
  v.Maybe("literal", head.literal, {.about = "The literal that is near, in lower case."});
  v.Maybe("literals", head.literals, {.about = "Every match contains one of these."});
  v.MayShow("quotation", [&] { return head.quotation == nullptr ? std::string() : head.quotation->id; });
  v.Maybe("place", place, {.about = "The start of the match or of the partial match."});
  v.Maybe("reach", head.reach);
  v.Maybe("stop", stop, {.about = "The end of the partial match."});
  v.Maybe("met", head.met, {.about = "The text of the partial match."});
  v.Maybe("goes_on", head.continues, {.about = "The text after the partial match."});
  v.Maybe("again", again);
}

template <class V>
void Describe(V& v, RecordOf<TracedHeader> auto& head) {
  v.Record("traced_head");
  v.Extend(head.trace);
  v.Need("fate", head.fate,
         {.about = "none: no match; opened: it started a failure; same_failure: it continues a failure; absorbed: "
                   "another failure replaced it; of_report: it is a line of a report; other: it was not used.",
          .one_of = "none opened same_failure absorbed of_report other"});
  v.MayShow("by", [&] { return head.by == nullptr ? std::string() : head.by->code; });
  v.Maybe("by_line", head.by_line);
}

void Describe(auto& v, RecordOf<CandidateFinder::Look> auto& look) {
  const auto id = [](const auto* entry) { return entry == nullptr ? std::string() : entry->id; };
  v.Record("suspect_look", "Why the line is reported as an unknown memory error, or why not.");
  v.MayShow("words", [&] { return id(look.words); }, {.about = "Id of the matching entry of suspects."});
  v.MayShow("unless", [&] { return look.unless == nullptr ? std::string() : look.unless->source(); },
            {.about = "The pattern that excludes the line."});
  v.MayShow("looks", [&] { return id(look.looks); }, {.about = "Id of the matching entry of error_lines."});
  v.MayShow("healthy", [&] { return id(look.healthy); }, {.about = "Id of the error_lines entry that excludes it."});
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
  v.Need("text", line.text, {.about = "Without its prefixes; shortened if it is long."});
  v.Maybe("reporter", line.stream_name);
  v.Maybe("healthy", line.healthy, {.about = "The logger's level means that nothing failed."});
  v.Maybe("binary", line.binary);
  v.Maybe("alike", line.alike, {.about = "The number of further lines that differ only in numbers."});
  v.Need("heads", line.header_patterns);
  v.Maybe("nearest", line.nearest, {.about = "Further header patterns that match most of the line."});
  v.Maybe("suspect", line.suspect);
  v.Maybe("unknown_error", line.unknown_error, {.about = "The line is reported as an unknown memory error."});
  v.Maybe("part_of", part_of, {.about = "Ids of the findings whose messages and reports include the line."});
}

void Describe(auto& v, RecordOf<FactTrace> auto& fact) {
  v.Record("fact_trace");
  v.Need("name", fact.name);
  v.Need("value", fact.value);
  v.Maybe("line", fact.line);
  v.Maybe("from", fact.from, {.about = "The pattern, context or report that set it; several if it is unknown which."});
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
  v.Maybe("silent", trace.silent, {.about = "Patterns and contexts of the failure that set no fact."});
  v.Need("recorded", trace.recorded, {.about = "How the diagnosis was made, step by step."});
  v.Maybe("follows_from", causes, {.about = "Ids of the findings that caused it."});
}

template <class V>
void DescribeTrace(V& v, RecordOf<LogTrace> auto& trace, const ToolRecord& tool) {
  v.Record("trace");
  v.Constant("format", kTraceFormat);
  v.Need("tool", tool);
  v.MayShow("asked_line", [&] { return trace.request.line; });
  v.Need("artifacts", trace.artifacts);
  v.Need("bytes", trace.bytes);
  v.Need("lines", trace.lines, {.about = "The requested line, or all lines with a literal of a header pattern."});
  v.Maybe("lines_left_out", trace.lines_left_out);
  v.Maybe("literals", trace.literals, {.about = "If no literal is near: the literals that were searched for."});
  v.Maybe("not_all_kept", trace.is_truncated, {.about = "The last lines of a large input were not traced."});
  v.Need("findings", trace.findings);
  v.Maybe("findings_left_out", trace.findings_left_out, {.about = "Further diagnoses, which are not traced."});
  v.Need("problems", trace.problems);
}

}  // namespace whyoom
