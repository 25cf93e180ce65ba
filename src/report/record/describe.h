// Describes the records of --format json and ndjson once: the descriptions write them, read them back and generate
// docs/report.schema.json. fields.h explains how to read a description.
//
// Sizes are bytes. Unknown values are absent. New fields may be added, so readers must ignore fields that they do not
// recognise.
#pragma once

#include <algorithm>
#include <cmath>
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
  v.Need("array", axis.array);
  v.Need("number", axis.number);
  v.Need("length", axis.length);
  v.Maybe("name", axis.name);
}

void Describe(auto& v, RecordOf<std::pair<std::string, std::int64_t>> auto& share) {
  v.Record("module_share");
  v.Need("module", share.first);
  v.Need("bytes", share.second);
}

void Describe(auto& v, RecordOf<MemoryPart> auto& part) {
  v.Record("memory_part");
  v.Need("kind", part.kind,
         {.one_of = "weights gathered_weights optimizer_state gradients activations logits attention_scores "
                    "temporaries padding inputs outputs constants fragmentation unknown"});
  v.Need("bytes", part.bytes);
  v.Maybe("by", part.modules);
}

// Rounds to four decimals: the schedule of a large program has about ten thousand moments.
template <class V>
void Describe(V& v, RecordOf<MemoryMoment> auto& moment) {
  v.Record("moment");
  double at = std::round(moment.at * 10000) / 10000;
  v.Need("at", at);
  v.Need("bytes", moment.bytes);
  if constexpr (V::kReads) moment.at = at;
}

void Describe(auto& v, RecordOf<ArraySplit> auto& split) {
  v.Record("split");
  v.Need("mesh_axis", split.mesh_axis);
  v.Maybe("array", split.array);
  v.Maybe("is_argument", split.is_argument);
  v.Maybe("spec", split.spec);
}

void Describe(auto& v, RecordOf<LiveArray> auto& live) {
  v.Record("live_array");
  v.Need("array", live.array);
  v.Need("bytes", live.bytes);
  v.Maybe("padding_bytes", live.padding_bytes);
  v.Need("begin", live.begin);
  v.Need("end", live.end);
}

void Describe(auto& v, RecordOf<Room> auto& room) {
  v.Record("room");
  v.Maybe("batch", room.batch);
  v.Maybe("largest_batch", room.largest_batch);
  v.Maybe("micro_batches", room.micro_batches);
  v.Maybe("sequence", room.sequence);
  v.Maybe("largest_sequence", room.largest_sequence);
  v.Maybe("batch_devices", room.batch_devices);
  v.Maybe("batch_axis", room.batch_axis);
  v.Maybe("sequence_axis", room.sequence_axis);
}

// Adds the fields of the estimates to the enclosing record.
template <class V>
void DescribeProspects(V& v, RecordOf<std::optional<ProgramEstimates>> auto& estimates) {
  v.Group("memory", estimates, [&](auto& known) {
    v.Need("memory", known.memory);
    v.Maybe("timeline", known.timeline);
    v.Maybe("live", known.live);
    v.Maybe("room", known.room);
  });
}

void Describe(auto& v, RecordOf<Link> auto& link) {
  v.Record("link");
  v.Need("title", link.title);
  v.Need("url", link.url);
}

template <class V>
void Describe(V& v, RecordOf<Where> auto& where) {
  v.Record("where");
  v.NeedName("path", where.artifact.path);
  v.MaybeName("member", where.artifact.member);
  v.Need("line", where.line);
  v.Need("last_line", where.last_line);
  v.Need("offset", where.offset);
  if constexpr (V::kReads) where.artifact = {BoundedPath(where.artifact.path), BoundedPath(where.artifact.member)};
}

void Describe(auto& v, RecordOf<Reason> auto& reason) {
  v.Record("reason");
  v.Need("text", reason.text);
  v.Maybe("line", reason.line);
  v.Maybe("mistake", reason.mistake);
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
  v.Maybe("size_bytes", row.size_bytes);
  v.Maybe("unpadded_bytes", row.unpadded_bytes);
  v.Maybe("padding_bytes", row.padding_bytes);
  v.Maybe("padding_factor", row.padding_factor);
  v.Maybe("shape", shape);
  v.Maybe("layout", layout);
  v.Maybe("dtype", dtype);
  v.Maybe("op_name", row.op_name);
  v.Maybe("source_file", row.source_file);
  v.Maybe("source_line", row.source_line);
  v.Maybe("xla_label", row.xla_label);
  v.Maybe("kind", row.kind);
  v.Maybe("tag", row.tag);
  v.Maybe("line", row.place.line);
  if constexpr (V::kReads) {
    row.shape_text = shape + layout;
    if (dtype.empty()) return;
    row.array = ParseArrayShape(row.shape_text).value_or(ArrayShape());  // keep the text of an unrecognised form
    row.array->dtype = dtype;
    row.array->shape = shape;
    row.array->layout = layout;
  }
}

void Describe(auto& v, RecordOf<CodeLine> auto& code) {
  v.Record("source_line");
  v.Need("file", code.file);
  v.Need("line", code.line);
  v.Need("text", code.text);
}

void Describe(auto& v, RecordOf<SurvivalSign> auto& sign) {
  v.Record("survival_sign");
  v.Need("text", sign.text);
  v.Need("line", sign.line);
}

void Describe(auto& v, RecordOf<RankReasons> auto& reasons) {
  v.Record("rank_reasons");
  v.Need("finds_out", reasons.finds_out);
  v.Need("supported", reasons.supported);
}

void Describe(auto& v, RecordOf<CompiledBasis> auto& compiled) {
  v.Record("compiled");
  v.Need("compiler", compiled.compiler);
  v.Need("setting", compiled.setting);
  v.Need("seconds", compiled.seconds);
}

void Describe(auto& v, RecordOf<CompiledAttempt> auto& attempt) {
  v.Record("attempt");
  v.Need("remedy", attempt.remedy);
  v.Need("setting", attempt.setting);
  v.Maybe("need_bytes", attempt.need_bytes);
  v.Maybe("problem", attempt.problem);
  v.Need("seconds", attempt.seconds);
}

void Describe(auto& v, RecordOf<Recompilation> auto& recompilation) {
  v.Record("recompilation");
  v.Need("module", recompilation.module);
  v.Need("compiler", recompilation.compiler);
  v.Need("unchanged_bytes", recompilation.unchanged_bytes);
  v.Need("seconds", recompilation.seconds);
  v.Need("attempts", recompilation.attempts);
  v.Maybe("stopped", recompilation.stopped);
}

template <class V>
void Describe(V& v, RecordOf<RankedRemedy> auto& ranked) {
  v.Record("remedy");
  v.Need("rank", ranked.rank);
  v.Rule("id", ranked.remedy);
  v.Show("title", [&] { return ranked.remedy->title; });
  v.Maybe("section", ranked.section);
  v.Need("safety", ranked.safety, {.one_of = "safe safe_slower risky changes_training"});
  v.Maybe("safety_why", ranked.safe_why);
  v.Show("gain", [&] { return ranked.remedy->gain; });
  v.Maybe("saves_bytes", ranked.saves_bytes);
  v.Maybe("left_bytes", ranked.left_bytes);
  v.Maybe("spread_bytes", ranked.spread_bytes);
  v.Maybe("basis", ranked.basis, {.one_of = "program list compiled"});
  v.Maybe("compiled", ranked.compiled);
  v.Maybe("patch", ranked.patch);
  v.Maybe("verified_bytes", ranked.verified_bytes);
  v.Maybe("parts", ranked.parts);
  v.Maybe("axis", ranked.axis);
  v.Maybe("split", ranked.split);
  v.Maybe("at_least", ranked.at_least);
  v.Maybe("enough", ranked.enough);
  v.Maybe("borderline", ranked.borderline);
  v.Maybe("enough_with", ranked.enough_with);
  v.Maybe("free", ranked.free);
  v.MayShow("note", [&] { return ranked.remedy->note; });
  v.Need("why", ranked.why);
  v.Need("how", ranked.how);
  v.Show("links", [&] { return ranked.remedy->links; });
  v.Maybe("rank_reasons", ranked.rank_reasons);
  if constexpr (V::kReads) {
    for (const std::string& id : ranked.enough_with) {
      if (v.rules().FindRemedy(id) == nullptr) v.SetFaulty();
    }
  }
}

void Describe(auto& v, RecordOf<Contradiction> auto& contradiction) {
  v.Record("contradiction");
  v.Need("id", contradiction.id, {.form = &kRuleName});
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

// One scenario of the failure's failure.
struct ScenarioRecord {
  std::string id;
  std::string title;
  std::string why;  // only for the scenario that applies
};

void Describe(auto& v, RecordOf<ScenarioRecord> auto& scenario) {
  v.Record("scenario");
  v.Need("id", scenario.id);
  v.Need("title", scenario.title);
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
  v.Maybe("scenario", scenario);
  v.Maybe("scenario_candidates", candidates);
  if constexpr (V::kReads) {
    const auto find = [&](const ScenarioRecord& record) -> const Scenario* {
      for (const Scenario& known : failure.rule->scenarios) {
        if (known.id == record.id) return &known;
      }
      v.SetFaulty();
      return nullptr;
    };
    if (v.faulty()) return;
    if (scenario) failure.scenario = find(*scenario);
    for (const ScenarioRecord& candidate : candidates) failure.candidates.push_back(find(candidate));
  }
}

// The field `retry` is always written, but reports of older versions lack it.
template <class V>
void DescribeRetry(V& v, RecordOf<Retry> auto& retry) {
  std::optional<Retry::Answer> answer;
  if constexpr (!V::kReads) answer = retry.answer;
  v.Maybe("retry", answer, {.one_of = "never maybe unknown"});
  v.Maybe("retry_why", retry.why);
  if constexpr (V::kReads) retry.answer = answer.value_or(Retry::Answer::kUnknown);
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
  v.MayShow("also_left_out",
            [&] { return also.empty() ? 0 : tally.reports - std::min<std::uint64_t>(tally.reports, also.size() + 1); });
  v.Show("occurrences", [&] { return tally.occurrences(); });
  v.Maybe("occurrences_estimated", estimated);
  v.MayShow("artifacts", [&] { return tally.artifacts > 1 ? tally.artifacts : 0; });
  v.Maybe("first_time", tally.first_time);
  v.Maybe("last_time", tally.last_time);
  v.Need("hosts", hosts);
  if constexpr (V::kReads) {
    for (const std::string& host : hosts) tally.hosts.Add(host);
    if (estimated) tally.hosts.complete = false;
    for (Where& where : also) tally.AddPlace(std::move(where));
    tally.AddPlace(failure.where);
  }
}

template <class V>
void Describe(V& v, RecordOf<Failure> auto& failure) {
  v.Record("diagnosis");
  v.Need("id", failure.id, {.form = &kId});
  v.Rule("code", failure.rule);
  v.MayShow("aliases", [&] { return failure.rule->aliases; });
  v.Show("title", [&] { return failure.rule->title; });
  v.Show("category", [&] { return failure.rule->category; });
  DescribeScenarios(v, failure);
  v.Need("confidence", failure.confidence, {.one_of = "low medium high"});
  v.Maybe("contradictions", failure.contradictions);
  DescribeRetry(v, failure.retry);
  v.Maybe("recovered", failure.recovered);
  v.Need("message", failure.message);
  v.Need("where", failure.where);
  DescribeTally(v, failure);
  v.Maybe("framework", failure.framework, {.form = &kRuleName});
  v.Facts("facts", failure.facts);
  v.Need("why", failure.why);
  v.Maybe("source_lines", failure.code);
  v.Need("allocations", failure.allocations);
  v.Maybe("allocations_left_out", failure.allocations_left_out);
  DescribeProspects(v, failure.estimates);
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
  v.Need("rules", rules, {.form = &kFingerprint});
  v.Need("reports", tally.reports);
  v.Need("artifacts", tally.artifacts);
  v.Need("nameless_artifacts", tally.nameless_artifacts);
  v.Need("replicas", tally.replicas);
  v.Need("repeats", tally.repeats);
  v.Need("row_bytes", failure.completeness.row_bytes);
  v.Need("whole", failure.completeness.whole);
  v.Need("numbers", failure.completeness.numbers);
  v.Need("facts", failure.completeness.facts);
  v.Need("fact_lines", lines);
  v.Maybe("dump_problem", failure.dump_problem);
  if constexpr (V::kReads) {
    for (const auto& [name, line] : lines) {
      if (const Fact* fact = failure.facts.Find(name)) failure.facts.Set(name, Value(fact->value), {line, 0}, true);
    }
    if (failure.dump_problem) failure.dump_problem->of_report = true;
  }
}

template <class V>
void Describe(V& v, RecordOf<CompiledProgram> auto& program) {
  v.Record("program");
  v.Need("id", program.id, {.form = &kId});
  v.Need("basis", program.basis, {.one_of = "dump log"});
  v.MayShow("module", [&] { return program.facts.Text("module"); });
  v.Need("where", program.where);
  v.Need("occurrences", program.occurrences);
  v.Facts("facts", program.facts);
  v.Need("allocations", program.allocations);
  DescribeProspects(v, program.estimates);
  if constexpr (V::kReads) {
    if (program.basis != "dump" && program.basis != "log") v.SetFaulty();
  }
}

void Describe(auto& v, RecordOf<Share> auto& share) {
  v.Record("share");
  v.Need("diagnoses", share.failures);
  v.Need("occurrences", share.occurrences);
}

template <class V>
void Describe(V& v, RecordOf<Summary> auto& summary) {
  std::map<std::string, std::uint64_t> by_code;
  if constexpr (!V::kReads) {
    for (const auto& [code, share] : summary.by_code) by_code[code] = share.failures;
  }
  v.Record("summary");
  v.Need("artifacts", summary.artifacts);
  v.Need("bytes", summary.bytes);
  v.Need("diagnoses", summary.failures);
  v.Need("occurrences", summary.occurrences);
  v.Need("by_code", by_code);
  v.Need("by_scenario", summary.by_scenario);
  v.Need("by_program", summary.by_program);
  v.Maybe("programs_left_out", summary.programs_left_out);
  v.Need("by_remedy", summary.by_remedy);
  v.Maybe("first_time", summary.first_time);
  v.Maybe("last_time", summary.last_time);
  v.Need("problem_count", summary.problems);
}

// The fields of a summary that merging needs.
struct SummaryMerge {
  std::string rules;
  std::uint64_t problems_left_out = 0;
  std::map<std::string, std::uint64_t> reports_left_out;  // by code
  std::uint64_t programs = 0;
  std::uint64_t programs_left_out = 0;
  HiddenFailures hidden_failures = {};
};

void Describe(auto& v, RecordOf<SummaryMerge> auto& merge) {
  v.Record("summary_merge");
  v.Need("rules", merge.rules, {.form = &kFingerprint});
  v.Need("problems_left_out", merge.problems_left_out);
  v.Need("reports_left_out", merge.reports_left_out);
  v.Need("programs", merge.programs);
  v.Need("programs_left_out", merge.programs_left_out);
  std::vector<std::string> known(merge.hidden_failures.known.begin(), merge.hidden_failures.known.end());
  std::vector<std::string> ignored(merge.hidden_failures.ignored.begin(), merge.hidden_failures.ignored.end());
  v.Maybe("known", known);
  v.Maybe("ignored", ignored);
  if constexpr (std::remove_reference_t<decltype(v)>::kReads)
    merge.hidden_failures = {{ignored.begin(), ignored.end()}, {known.begin(), known.end()}};
}

// Counts failures that were found but are not shown.
void DescribePassedOver(auto& v, const HiddenFailures& hidden_failures) {
  v.MayShow("known", [&] { return hidden_failures.known.size(); });
  v.MayShow("ignored", [&] { return hidden_failures.ignored.size(); });
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
  v.Need("rules", tool.rules, {.form = &kFingerprint});
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

inline std::optional<JobRecord> JobOf(const Report& report) {
  return report.exit_status ? std::optional(JobRecord{*report.exit_status}) : std::nullopt;
}

// The output of --format json.
void Describe(auto& v, RecordOf<Report> auto& report) {
  v.Record("report");
  v.Constant("schema", kReportSchema);
  v.Need("tool", ToolRecord{report.version, report.rules_fingerprint, ShownRuleFiles(report.rule_files)});
  v.Maybe("run", JobOf(report));
  v.Need("diagnoses", report.failures);
  v.Maybe("programs", report.programs);
  v.Maybe("programs_left_out", report.programs_left_out);
  v.Part("summary", [&](auto& part) {
    part.Extend(BoundedSummary(report));
    part.Need("problems", report.problems);
    DescribePassedOver(part, report.hidden_failures);
  });
}

// The lines of --format ndjson.

template <class V>
void DescribeHeader(V& v, RecordOf<ToolRecord> auto& tool, const std::optional<JobRecord>& job) {
  v.Record("header_record");
  v.Constant("type", "header");
  v.Constant("schema", kReportSchema);
  v.Need("tool", tool);
  v.Maybe("run", job);
}

// `rules` is the fingerprint of the rule data.
template <class V>
void DescribeDiagnosis(V& v, RecordOf<Failure> auto& failure, const std::string& rules) {
  v.Record("diagnosis_record");
  v.Constant("type", "diagnosis");
  v.Extend(failure);
  v.Part("merge", [&](auto& part) { DescribeMerge(part, failure, rules); });
}

template <class V>
void DescribeProgram(V& v, RecordOf<CompiledProgram> auto& program, std::string rules) {
  v.Record("program_record");
  v.Constant("type", "program");
  v.Extend(program);
  v.Part("merge", [&](auto& part) { part.Need("rules", rules, {.form = &kFingerprint}); });
}

template <class V>
void DescribeSummary(V& v, RecordOf<Summary> auto& summary, RecordOf<SummaryMerge> auto& merge) {
  v.Record("summary_record");
  v.Constant("type", "summary");
  v.Extend(summary);
  DescribePassedOver(v, merge.hidden_failures);
  v.Need("merge", merge);
}

}  // namespace whyoom
