// Describes the records of --format json and ndjson once: the descriptions write them, read them back and generate
// docs/report.schema.json. fields.h explains how to read a description.
//
// Sizes are bytes. Unknown values are absent. New fields may be added, so readers must ignore fields that they do not
// recognise.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/report.h"
#include "facts/compiled_program.h"
#include "facts/failure.h"
#include "report/failure_view.h"
#include "report/record/fields.h"
#include "report/summary.h"

namespace whyoom {

inline constexpr const char* kReportSchema = "whyoom.report/1";

void Describe(auto& v, RecordOf<AxisLocation> auto& axis) {
  v.Record("axis");
  NeedAll(v, "array", axis.array, "number", axis.number, "length", axis.length);
  v.Maybe("name", axis.name);
}

void Describe(auto& v, RecordOf<std::pair<std::string, std::int64_t>> auto& share) {
  v.Record("module_share");
  NeedAll(v, "module", share.first, "bytes", share.second);
}

void Describe(auto& v, RecordOf<MemoryPart> auto& part) {
  v.Record("memory_part");
  v.Need("kind", part.kind,
         {.one_of = "weights gathered_weights optimizer_state gradients activations logits attention_scores "
                    "temporaries padding inputs outputs constants fragmentation unknown"});
  v.Need("bytes", part.bytes);
  v.Maybe("by", part.modules);
}

void Describe(auto& v, RecordOf<MemoryMoment> auto& moment) {
  v.Record("moment");
  NeedAll(v, "at", moment.at, "bytes", moment.bytes);  // not rounded: comparable with the `begin` of a live array
}

void Describe(auto& v, RecordOf<LiveArray> auto& live) {
  v.Record("live_array");
  NeedAll(v, "array", live.array, "bytes", live.bytes);
  v.Maybe("padding_bytes", live.padding_bytes);
  NeedAll(v, "begin", live.begin, "end", live.end);
}

void Describe(auto& v, RecordOf<Room> auto& room) {
  v.Record("room");
  MaybeAll(v, "batch", room.batch, "largest_batch", room.largest_batch, "micro_batches", room.micro_batches, "sequence",
           room.sequence, "largest_sequence", room.largest_sequence, "batch_devices", room.batch_devices, "batch_axis",
           room.batch_axis, "sequence_axis", room.sequence_axis);
}

// Adds the fields of the estimates to the enclosing record. They are known if the kinds of memory are.
template <class V>
void DescribeEstimates(V& v, RecordOf<std::optional<ProgramEstimates>> auto& estimates) {
  ProgramEstimates known = estimates.value_or(ProgramEstimates());
  MaybeAll(v, "memory", known.memory, "timeline", known.timeline, "live", known.live, "room", known.room);
  if constexpr (V::kReads) {
    if (!known.memory.empty()) estimates = std::move(known);
  }
}

void Describe(auto& v, RecordOf<Link> auto& link) {
  v.Record("link");
  NeedAll(v, "title", link.title, "url", link.url);
}

template <class V>
void Describe(V& v, RecordOf<Where> auto& where) {
  v.Record("where");
  v.Need("path", where.artifact.path);
  v.Maybe("member", where.artifact.member);
  NeedAll(v, "line", where.line, "last_line", where.last_line, "offset", where.offset);
  if constexpr (V::kReads) where.artifact = {BoundedPath(where.artifact.path), BoundedPath(where.artifact.member)};
}

void Describe(auto& v, RecordOf<Reason> auto& reason) {
  v.Record("reason");
  v.Need("text", reason.text);
  MaybeAll(v, "line", reason.line, "mistake", reason.mistake, "cure", reason.cure);
}

// Writes an array's shape in parts, from which it is rebuilt when read. Tuples are written without their layouts.
template <class V>
void Describe(V& v, RecordOf<Allocation> auto& row) {
  v.Record("allocation");
  std::string shape;
  std::string layout;
  std::string dtype;
  if constexpr (!V::kReads) {
    shape = row.array ? row.array->shape : WithoutLayouts(row.shape_text);
    if (row.array) layout = row.array->layout;
    if (row.array) dtype = row.array->dtype;
  }
  v.Need("rank", row.rank);
  MaybeAll(v, "size_bytes", row.size_bytes, "unpadded_bytes", row.unpadded_bytes, "padding_bytes", row.padding_bytes,
           "padding_factor", row.padding_factor, "shape", shape, "layout", layout, "dtype", dtype, "op_name",
           row.op_name, "source_file", row.source_file, "source_line", row.source_line, "xla_label", row.xla_label,
           "kind", row.kind, "tag", row.tag, "line", row.place.line);
  if constexpr (V::kReads) {
    row.shape_text = shape + layout;
    if (dtype.empty()) return;
    row.array = ParseArrayShape(row.shape_text);
  }
}

void Describe(auto& v, RecordOf<CodeLine> auto& code) {
  v.Record("source_line");
  NeedAll(v, "file", code.file, "line", code.line, "text", code.text);
}

void Describe(auto& v, RecordOf<SurvivalSign> auto& sign) {
  v.Record("survival_sign");
  NeedAll(v, "text", sign.text, "line", sign.line);
}

void Describe(auto& v, RecordOf<RankReasons> auto& reasons) {
  v.Record("rank_reasons");
  NeedAll(v, "finds_out", reasons.finds_out, "supported", reasons.supported);
}

void Describe(auto& v, RecordOf<CompiledBasis> auto& compiled) {
  v.Record("compiled");
  NeedAll(v, "compiler", compiled.compiler, "setting", compiled.setting, "seconds", compiled.seconds);
}

template <class V>
void Describe(V& v, RecordOf<CompiledAttempt> auto& attempt) {
  v.Record("attempt");
  NeedAll(v, "remedy", attempt.remedy, "setting", attempt.setting);
  MaybeAll(v, "need_bytes", attempt.need_bytes, "problem", attempt.problem);
  v.Need("seconds", attempt.seconds);
  if constexpr (V::kReads)  // a report has them in its remedies
    MaybeAll(v, "patch", attempt.patch, "verified_bytes", attempt.verified_bytes);
}

void Describe(auto& v, RecordOf<Recompilation> auto& recompilation) {
  v.Record("recompilation");
  NeedAll(v, "module", recompilation.module, "compiler", recompilation.compiler, "unchanged_bytes",
          recompilation.unchanged_bytes, "seconds", recompilation.seconds, "attempts", recompilation.attempts);
  v.Maybe("stopped", recompilation.stopped);
}

void Describe(auto& v, RecordOf<RankedRemedy> auto& ranked) {
  v.Record("remedy");
  v.Need("rank", ranked.rank);
  v.Rule("id", ranked.remedy);
  v.Show("title", [&] { return ranked.remedy->title; });
  v.Maybe("section", ranked.section);
  v.Need("safety", ranked.safety, {.one_of = "safe safe_slower risky changes_training"});
  v.Maybe("safety_why", ranked.safe_why);
  v.Show("gain", [&] { return ranked.remedy->gain; });
  MaybeAll(v, "saves_bytes", ranked.saves_bytes, "left_bytes", ranked.left_bytes, "spread_bytes", ranked.spread_bytes);
  v.Maybe("basis", ranked.basis, {.one_of = "program list compiled"});
  MaybeAll(v, "compiled", ranked.compiled, "patch", ranked.patch, "verified_bytes", ranked.verified_bytes, "parts",
           ranked.parts, "axis", ranked.axis, "at_least", ranked.at_least, "enough", ranked.enough, "borderline",
           ranked.borderline);
  v.Maybe("enough_with", ranked.enough_with, {.form = "name"});
  v.Maybe("free", ranked.free);
  v.MayShow("note", [&] { return ranked.remedy->note; });
  NeedAll(v, "why", ranked.why, "how", ranked.how);
  v.Show("links", [&] { return ranked.remedy->links; });
  v.Maybe("rank_reasons", ranked.rank_reasons);
}

void Describe(auto& v, RecordOf<Contradiction> auto& contradiction) {
  v.Record("contradiction");
  v.Need("id", contradiction.id, {.form = "name"});
  v.Need("text", contradiction.text);
  v.Maybe("line", contradiction.line);
  v.Facts("figures", contradiction.figures);
}

void Describe(auto& v, RecordOf<RuledOut> auto& out) {
  v.Record("ruled_out");
  v.Rule("id", out.remedy);
  v.Show("title", [&] { return out.remedy->title; });
  v.Need("why", out.why);
}

// A scenario of the failure's rule.
struct ScenarioRecord {
  std::string id;
  std::string title;
  std::string why;  // only for the scenario that applies
};

void Describe(auto& v, RecordOf<ScenarioRecord> auto& scenario) {
  v.Record("scenario");
  NeedAll(v, "id", scenario.id, "title", scenario.title);
  v.Maybe("why", scenario.why);
}

template <class V>
void DescribeScenarios(V& v, RecordOf<Failure> auto& failure) {
  std::optional<ScenarioRecord> scenario;
  std::vector<ScenarioRecord> candidates;
  if constexpr (!V::kReads) {
    if (failure.scenario != nullptr) scenario = {failure.scenario->id, failure.scenario->title, ""};
    for (const Reason& reason : failure.why)
      if (scenario) scenario->why += (scenario->why.empty() ? "" : " ") + reason.text;
    for (const Scenario* candidate : failure.candidates) candidates.push_back({candidate->id, candidate->title, ""});
  }
  MaybeAll(v, "scenario", scenario, "scenario_candidates", candidates);
  if constexpr (V::kReads) {
    if (v.faulty()) return;
    const auto& known = failure.rule->scenarios;
    const auto find = [&](const ScenarioRecord& record) {
      const auto found =
          std::find_if(known.begin(), known.end(), [&](const Scenario& one) { return one.id == record.id; });
      if (found == known.end()) v.SetFaulty();
      return found == known.end() ? nullptr : &*found;
    };
    if (scenario) failure.scenario = find(*scenario);
    for (const ScenarioRecord& candidate : candidates) failure.candidates.push_back(find(candidate));
  }
}

template <class V>
void DescribeTally(V& v, RecordOf<Failure> auto& failure) {
  auto& tally = failure.tally;
  std::vector<Where> also;
  std::vector<std::string> hosts;
  bool estimated = false;
  if constexpr (!V::kReads) {
    also = failure.Also();
    hosts = tally.hosts.names();
    estimated = !tally.hosts.complete;
  }
  v.Maybe("also", also);
  v.Show("occurrences", [&] { return tally.occurrences(); });
  v.Maybe("occurrences_estimated", estimated);
  v.MayShow("artifacts", [&] { return tally.artifacts > 1 ? tally.artifacts : 0; });
  MaybeAll(v, "first_time", tally.first_time, "last_time", tally.last_time);
  v.Need("hosts", hosts);
  if constexpr (V::kReads) {
    for (const std::string& host : hosts) tally.hosts.Add(host);
    if (estimated) tally.hosts.complete = false;
    for (Where& where : also) tally.AddPlace(std::move(where));
    tally.AddPlace(failure.where);
  }
}

void Describe(auto& v, RecordOf<Failure> auto& failure) {
  v.Record("diagnosis");
  v.Need("id", failure.id, {.form = "id"});
  v.Rule("code", failure.rule);
  v.MayShow("aliases", [&] { return failure.rule->aliases; });
  v.Show("title", [&] { return failure.rule->title; });
  v.Show("category", [&] { return failure.rule->category; });
  DescribeScenarios(v, failure);
  v.Need("confidence", failure.confidence, {.one_of = "low medium high"});
  v.Maybe("contradictions", failure.contradictions);
  v.Need("retry", failure.retry.answer, {.one_of = "never maybe unknown"});
  v.Maybe("retry_why", failure.retry.why);
  v.Maybe("recovered", failure.recovered);
  NeedAll(v, "message", failure.message, "where", failure.where);
  DescribeTally(v, failure);
  v.Maybe("framework", failure.framework, {.form = "name"});
  v.Facts("facts", failure.facts);
  v.Need("why", failure.why);
  v.Maybe("source_lines", failure.code);
  v.Need("allocations", failure.allocations);
  v.Maybe("allocations_left_out", failure.allocations_left_out);
  DescribeEstimates(v, failure.estimates);
  v.Maybe("recompilation", failure.recompilation);
  v.Need("remedies", failure.remedies);
  v.Maybe("ruled_out", failure.ruled_out);
  v.Show("next", [&] { return NextOf(failure).command; });
  v.Show("links", [&] { return failure.rule->links; });
}

// Further fields that merging needs, to give the same result as reading all logs in one run.
template <class V>
void DescribeMerge(V& v, RecordOf<Failure> auto& failure, std::string rules) {
  auto& tally = failure.tally;
  std::map<std::string, std::uint64_t> lines;
  if constexpr (!V::kReads) {
    for (const auto& [name, fact] : failure.facts.all()) {
      if (fact.place.line > 0) lines[name] = fact.place.line;
    }
  }
  v.Record("diagnosis_merge");
  v.Need("rules", rules, {.form = "fingerprint"});
  NeedAll(v, "reports", tally.reports, "artifacts", tally.artifacts, "nameless_artifacts", tally.nameless_artifacts,
          "replicas", tally.replicas, "repeats", tally.repeats, "row_bytes", failure.completeness.row_bytes, "whole",
          failure.completeness.whole, "numbers", failure.completeness.numbers, "facts", failure.completeness.facts,
          "fact_lines", lines);
  v.Maybe("dump_problem", failure.dump_problem);
  if constexpr (V::kReads) {
    for (const auto& [name, line] : lines) {
      if (const Fact* fact = failure.facts.Find(name)) failure.facts.Set(name, Value(fact->value), {line, 0}, true);
    }
    if (failure.dump_problem) failure.dump_problem->of_report = true;
  }
}

void Describe(auto& v, RecordOf<CompiledProgram> auto& program) {
  v.Record("program");
  v.Need("id", program.id, {.form = "id"});
  v.Need("basis", program.basis, {.one_of = "dump log"});
  v.MayShow("module", [&] { return program.facts.Text("module"); });
  NeedAll(v, "where", program.where, "occurrences", program.occurrences);
  v.Facts("facts", program.facts);
  v.Need("allocations", program.allocations);
  DescribeEstimates(v, program.estimates);
}

void Describe(auto& v, RecordOf<Share> auto& share) {
  v.Record("share");
  NeedAll(v, "diagnoses", share.failures, "occurrences", share.occurrences);
}

void Describe(auto& v, RecordOf<Summary> auto& summary) {
  v.Record("summary");
  NeedAll(v, "artifacts", summary.artifacts, "bytes", summary.bytes, "diagnoses", summary.failures, "occurrences",
          summary.occurrences, "by_code", summary.by_code, "by_scenario", summary.by_scenario, "by_remedy",
          summary.by_remedy);
  MaybeAll(v, "first_time", summary.first_time, "last_time", summary.last_time);
  v.Need("problem_count", summary.problems);
}

// The program and the rules that made the report.
struct ToolRecord {
  std::string version;
  std::string rules;
  std::vector<std::string> rule_files;
};

void Describe(auto& v, RecordOf<ToolRecord> auto& tool) {
  v.Record("tool");
  v.Need("version", tool.version);
  v.Need("rules", tool.rules, {.form = "fingerprint"});
  v.Maybe("rule_files", tool.rule_files);
}

// The job of `whyoom run`.
struct JobRecord {
  int exit_status = 0;
};

void Describe(auto& v, RecordOf<JobRecord> auto& job) {
  v.Record("job");
  v.Need("exit_status", job.exit_status);
}

// The whyoom that made the report.
void DescribeOrigin(auto& v, const Report& report) {
  std::optional<JobRecord> job;
  if (report.exit_status) job = {*report.exit_status};
  v.Constant("schema", kReportSchema);
  v.Need("tool", ToolRecord{report.version, report.rules_fingerprint, ShownRuleFiles(report.rule_files)});
  v.Maybe("run", job);
}

// The output of --format json.
void Describe(auto& v, RecordOf<Report> auto& report) {
  v.Record("report");
  DescribeOrigin(v, report);
  v.Need("diagnoses", report.failures);
  MaybeAll(v, "programs", report.programs, "programs_left_out", report.programs_left_out);
  v.Part("summary", [&](auto& part) {
    part.Extend(Summarize(report));
    part.Need("problems", report.problems);
    part.MayShow("ignored", [&] { return report.hidden.size(); });
  });
}

// Keeps only the fields of a diagnosis that a first look needs: two reasons, three remedies, and their first steps.
Json BriefRecord(Json diagnosis);

// The lines of --format ndjson.

void DescribeHeader(auto& v, const Report& report) {
  v.Record("header_record");
  v.Constant("type", "header");
  DescribeOrigin(v, report);
}

// `rules` is the fingerprint of the rule data.
void DescribeDiagnosis(auto& v, RecordOf<Failure> auto& failure, const std::string& rules) {
  v.Record("diagnosis_record");
  v.Constant("type", "diagnosis");
  v.Extend(failure);
  v.Part("merge", [&](auto& part) { DescribeMerge(part, failure, rules); });
}

void DescribeProgram(auto& v, RecordOf<CompiledProgram> auto& program, std::string rules) {
  v.Record("program_record");
  v.Constant("type", "program");
  v.Extend(program);
  v.Part("merge", [&](auto& part) { part.Need("rules", rules, {.form = "fingerprint"}); });
}

// `report` has the further fields that merging needs.
template <class V>
void DescribeSummary(V& v, RecordOf<Summary> auto& summary, RecordOf<Report> auto& report) {
  v.Record("summary_record");
  v.Constant("type", "summary");
  v.Extend(summary);
  v.MayShow("ignored", [&] { return report.hidden.size(); });
  v.Part("merge", [&](auto& part) {
    part.Record("summary_merge");
    part.Need("rules", report.rules_fingerprint, {.form = "fingerprint"});
    NeedAll(part, "problems_left_out", report.problems_left_out, "reports_left_out", report.reports_left_out,
            "programs", summary.programs, "programs_left_out", report.programs_left_out);
    std::vector<std::string> ignored(report.hidden.begin(), report.hidden.end());
    part.Maybe("ignored", ignored);
    if constexpr (V::kReads) report.hidden = {ignored.begin(), ignored.end()};
  });
}

}  // namespace whyoom
