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
  v.Record("axis", "A dimension of an argument.");
  v.Need("array", axis.array, {.about = "The argument's name in the user's program."});
  v.Need("number", axis.number, {.about = "Counted from 0.", .least = 0});
  v.Need("length", axis.length, {.about = "The length over all devices, before sharding.", .least = 1});
  v.Maybe("name", axis.name, {.about = "The meaning of the dimension, if known: batch, sequence, vocabulary."});
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
  v.Maybe("by", part.modules, {.about = "By the user's modules, largest first; may be incomplete."});
}

// Rounds to four decimals: the schedule of a large program has about ten thousand moments.
template <class V>
void Describe(V& v, RecordOf<MemoryMoment> auto& moment) {
  v.Record("moment");
  double at = std::round(moment.at * 10000) / 10000;
  v.Need("at", at, {.about = "Position in the schedule: 0 is the start, 1 is the end.", .least = 0, .most = 1});
  v.Need("bytes", moment.bytes);
  if constexpr (V::kReads) moment.at = at;
}

void Describe(auto& v, RecordOf<ArraySplit> auto& split) {
  v.Record("split", "How to split the largest array that the remedy splits.");
  v.Need("mesh_axis", split.mesh_axis, {.about = "In words: mesh axis 'data'."});
  v.Maybe("array", split.array, {.about = "Its name and shape on one device, or its shape and the user's line."});
  v.Maybe("is_argument", split.is_argument);
  v.Maybe("spec", split.spec, {.about = "Its new PartitionSpec: P(None, 'data')."});
}

void Describe(auto& v, RecordOf<LiveArray> auto& live) {
  v.Record("live_array");
  v.Need("array", live.array, {.about = "Its shape and the user's line."});
  v.Need("bytes", live.bytes);
  v.Maybe("padding_bytes", live.padding_bytes);
  v.Need("begin", live.begin, {.about = "The position at which it begins to be live, like at of a moment."});
  v.Need("end", live.end, {.about = "The position at which it ends."});
}

void Describe(auto& v, RecordOf<Room> auto& room) {
  v.Record("room",
           "The sizes that would fit, over all devices; only with an XLA dump. A size that is unknown or cannot fit is "
           "absent.");
  v.Maybe("batch", room.batch);
  v.Maybe("largest_batch", room.largest_batch);
  v.Maybe("micro_batches", room.micro_batches,
          {.about = "The number that the remedy uses: at most 4 if that fits, else the fewest that fit."});
  v.Maybe("sequence", room.sequence);
  v.Maybe("largest_sequence", room.largest_sequence);
  v.Maybe("batch_devices", room.batch_devices,
          {.about = "Devices that the batch is split over; absent if there is only one.", .least = 2});
  v.Maybe("batch_axis", room.batch_axis, {.about = "The dimension that batch and largest_batch measure."});
  v.Maybe("sequence_axis", room.sequence_axis, {.about = "The dimension that sequence and largest_sequence measure."});
}

// Adds the fields of the estimates to the enclosing record.
template <class V>
void DescribeProspects(V& v, RecordOf<std::optional<ProgramEstimates>> auto& estimates) {
  v.Group("memory", estimates, [&](auto& known) {
    v.Need("memory", known.memory,
           {.about = "Memory at the peak by kind, largest first; sums to the need. Only with an XLA dump."});
    v.Maybe("timeline", known.timeline,
            {.about = "Live memory over the program's schedule, without fragmentation: at most 64 moments, each with "
                      "the maximum of one section of the schedule. Only with an XLA dump."});
    v.Maybe(
        "live", known.live,
        {.about = "The five largest temporaries at each moment of the timeline, largest first, at most 64 in all."});
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
  v.MaybeName("member", where.artifact.member, "The name inside the archive.");
  v.Need("line", where.line);
  v.Need("last_line", where.last_line);
  v.Need("offset", where.offset, {.about = "Bytes from the start of the input."});
  if constexpr (V::kReads) where.artifact = {BoundedPath(where.artifact.path), BoundedPath(where.artifact.member)};
}

void Describe(auto& v, RecordOf<Reason> auto& reason) {
  v.Record("reason");
  v.Need("text", reason.text);
  v.Maybe("line", reason.line);
  v.Maybe("mistake", reason.mistake, {.about = "Id of a typical mistake in the program, which the text names."});
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
  v.Record("source_line", "A line of the user's sources, as it is now.");
  v.Need("file", code.file);
  v.Need("line", code.line, {.least = 1});
  v.Need("text", code.text);
}

void Describe(auto& v, RecordOf<SurvivalSign> auto& sign) {
  v.Record("survival_sign");
  v.Need("text", sign.text);
  v.Need("line", sign.line, {.least = 1});
}

void Describe(auto& v, RecordOf<RankReasons> auto& reasons) {
  v.Record("rank_reasons", "Why the remedy has this rank: the sort keys, in this order.");
  v.Need("finds_out", reasons.finds_out,
         {.about = "It can determine the scenario, which must be known first; true ranks higher."});
  v.Maybe("free", reasons.free, {.about = "Same as the remedy's free; false ranks higher."});
  v.Maybe("confirmed", reasons.confirmed,
          {.about = "The compiler confirmed that it is enough alone; true ranks higher."});
  v.Maybe("falls_short", reasons.falls_short,
          {.about = "Estimated not to be enough, alone or with another remedy; false ranks higher."});
  v.Need("supported", reasons.supported,
         {.about = "The log has evidence for it, or an estimate shows that it is enough, alone or with another; "
                   "true ranks higher."});
  v.Need("too_little", reasons.too_little, {.about = "Estimated not to be enough; false ranks higher."});
  v.Need("gamble", reasons.gamble, {.about = "It has no estimate, but other remedies have one; false ranks higher."});
  v.Maybe("undoes", reasons.undoes,
          {.about = "It is enough and undoes a mistake that the report names; true ranks higher."});
  v.Need("cost", reasons.cost,
         {.about = "The effort for the user, 0 to 6, see rules/README.md; 0 if not supported. Lower ranks higher."});
  v.Need("estimated", reasons.estimated, {.about = "Whether the field enough is present; true ranks higher."});
  v.Need("doubtful", reasons.doubtful, {.about = "Same as the remedy's borderline; false ranks higher."});
  v.Need("prior", reasons.prior,
         {.about = "The rule data's order for this scenario; a lower number ranks higher. Ties are sorted by id."});
}

void Describe(auto& v, RecordOf<CompiledBasis> auto& compiled) {
  v.Record("compiled");
  v.Need("compiler", compiled.compiler);
  v.Need("setting", compiled.setting, {.about = "What to type."});
  v.Need("seconds", compiled.seconds);
}

void Describe(auto& v, RecordOf<CompiledAttempt> auto& attempt) {
  v.Record("attempt", "A remedy, or several joined by +, made on the program and compiled.");
  v.Need("remedy", attempt.remedy);
  v.Need("setting", attempt.setting, {.about = "What to type."});
  v.Maybe("need_bytes", attempt.need_bytes, {.about = "The memory that the program then needs; absent: see problem."});
  v.Maybe("problem", attempt.problem);
  v.Need("seconds", attempt.seconds);
}

void Describe(auto& v, RecordOf<Recompilation> auto& recompilation) {
  v.Record("recompilation", "The program compiled again, unchanged and with remedies.");
  v.Need("module", recompilation.module);
  v.Need("compiler", recompilation.compiler);
  v.Need("unchanged_bytes", recompilation.unchanged_bytes, {.about = "The memory that the unchanged program needs."});
  v.Need("seconds", recompilation.seconds);
  v.Need("attempts", recompilation.attempts);
  v.Maybe("stopped", recompilation.stopped, {.about = "Why not all attempts were made: interrupted, or out of time."});
}

template <class V>
void Describe(V& v, RecordOf<RankedRemedy> auto& ranked) {
  v.Record("remedy");
  v.Need("rank", ranked.rank, {.least = 1});
  v.Rule("id", ranked.remedy);
  v.Show("title", [&] { return ranked.remedy->title; });
  v.Maybe("section", ranked.section);
  v.Need("safety", ranked.safety, {.one_of = "safe safe_slower risky changes_training"});
  v.Maybe("safety_why", ranked.safe_why);
  v.Show("gain", [&] { return ranked.remedy->gain; });
  v.Maybe("saves_bytes", ranked.saves_bytes, {.about = "Estimated reduction of the whole program's need."});
  v.Maybe("left_bytes", ranked.left_bytes,
          {.about = "The need with the remedy, to compare with limit_bytes; absent if the whole need is unknown."});
  v.Maybe("spread_bytes", ranked.spread_bytes, {.about = "The error of left_bytes, in either direction."});
  v.Maybe("basis", ranked.basis, {.about = "The source of the estimate.", .one_of = "program list compiled"});
  v.Maybe("compiled", ranked.compiled, {.about = "The compile that confirms it, if the basis is compiled."});
  v.Maybe("patch", ranked.patch, {.about = "A unified diff against the user's files that makes this change."});
  v.Maybe("verified_bytes", ranked.verified_bytes, {.about = "The need that the patched program had."});
  v.Maybe("parts", ranked.parts, {.about = "The number of devices, steps or pieces that the estimate assumes."});
  v.Maybe("axis", ranked.axis, {.about = "The dimension that is divided into parts."});
  v.Maybe("split", ranked.split);
  v.Maybe("at_least", ranked.at_least,
          {.about = "The remedy may save more: saves_bytes covers only the list, which is under half of the need."});
  v.Maybe("enough", ranked.enough, {.about = "Whether this remedy alone is estimated to cover the excess."});
  v.Maybe("borderline", ranked.borderline,
          {.about = "enough may be wrong: the excess is within spread_bytes, or the need may be higher."});
  v.Maybe("enough_with", ranked.enough_with, {.about = "Ids of remedies; with one of them, this remedy is enough."});
  v.Maybe("free", ranked.free,
          {.about = "It costs nothing and is not enough alone; reports list such remedies separately."});
  v.MayShow("note", [&] { return ranked.remedy->note; });
  v.Need("why", ranked.why);
  v.Need("how", ranked.how);
  v.Show("links", [&] { return ranked.remedy->links; });
  v.Maybe("rank_reasons", ranked.rank_reasons, {.about = "Absent in reports of older versions."});
  if constexpr (V::kReads) {
    for (const std::string& id : ranked.enough_with) {
      if (v.rules().FindRemedy(id) == nullptr) v.SetFaulty();
    }
  }
}

void Describe(auto& v, RecordOf<Contradiction> auto& contradiction) {
  v.Record("contradiction", "Figures in the log that contradict each other; they are not used.");
  v.Need("id", contradiction.id, {.form = &kRuleName});
  v.Need("text", contradiction.text);
  v.Maybe("line", contradiction.line);
  v.Facts("figures", contradiction.figures, "", "The contradictory figures; they are not among the facts.");
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
  v.Maybe("scenario_candidates", candidates, {.about = "The possible scenarios, if it is unknown which one applies."});
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
  v.Maybe("retry", answer,
          {.about = "Whether the unchanged job can succeed if it is started again. never: it will fail the same way; "
                    "maybe: it can succeed.",
           .one_of = "never maybe unknown"});
  v.Maybe("retry_why", retry.why, {.about = "The reason, as a sentence."});
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
  v.Maybe("also", also, {.about = "Other places that report it: the first hundred by path, member and offset."});
  v.MayShow("also_left_out",
            [&] { return also.empty() ? 0 : tally.reports - std::min<std::uint64_t>(tally.reports, also.size() + 1); });
  v.Show("occurrences", [&] { return tally.occurrences(); },
         {.about = "The number of distinct hosts, ranks or processes that reported it.", .least = 1});
  v.Maybe("occurrences_estimated", estimated,
          {.about = "There are more hosts than listed; occurrences is accurate to about 3 %."});
  v.MayShow("artifacts", [&] { return tally.artifacts; },
            {.about = "The number of inputs that report it, if more than one.", .least = 2});
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
  v.Need("id", failure.id,
         {.about = "Identifies the failure; independent of host, time and log prefix.", .form = &kId});
  v.Rule("code", failure.rule);
  v.MayShow("aliases", [&] { return failure.rule->aliases; });
  v.Show("title", [&] { return failure.rule->title; });
  v.Show("category", [&] { return failure.rule->category; });
  DescribeScenarios(v, failure);
  v.Need("confidence", failure.confidence, {.one_of = "low medium high"});
  v.Maybe("contradictions", failure.contradictions,
          {.about = "Present if the log contradicts itself; confidence is then low."});
  DescribeRetry(v, failure.retry);
  v.Maybe("recovered", failure.recovered,
          {.about = "A later line of the log that shows that the job went on after the failure."});
  v.Need("message", failure.message);
  v.Need("where", failure.where);
  DescribeTally(v, failure);
  v.Maybe("framework", failure.framework, {.form = &kRuleName});
  v.Facts("facts", failure.facts);
  v.Need("why", failure.why);
  v.Maybe("source_lines", failure.code,
          {.about = "Lines that the diagnosis names; only with --source-root or `whyoom run`."});
  v.Need("allocations", failure.allocations);
  v.Maybe("allocations_left_out", failure.allocations_left_out);
  DescribeProspects(v, failure.estimates);
  v.Maybe("recompilation", failure.recompilation, {.about = "The compiles of `whyoom try`."});
  v.Need("remedies", failure.remedies);
  v.Maybe("ruled_out", failure.ruled_out);
  v.Show("next", [&] { return NextOf(failure).command; }, {.about = "The command to type next."});
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
  v.Record("diagnosis_merge", "Further fields for whyoom merge.");
  v.Need("rules", rules, {.form = &kFingerprint});
  v.Need("reports", tally.reports);
  v.Need("artifacts", tally.artifacts);
  v.Need("nameless_artifacts", tally.nameless_artifacts);
  v.Need("replicas", tally.replicas);
  v.Need("repeats", tally.repeats);
  v.Maybe("restarts", tally.restarts);
  v.Maybe("restart_seconds", tally.restart_seconds);
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
  v.Record("program", "A program that compiled, and the memory that it needs according to its XLA dump or a log.");
  v.Need("id", program.id, {.about = "Identifies the program by its memory needs.", .form = &kId});
  v.Need("basis", program.basis, {.about = "The source: its XLA dump, or a line of a log.", .one_of = "dump log"});
  v.MayShow("module", [&] { return program.facts.Text("module"); });
  v.Need("where", program.where, {.about = "The dump's buffer assignment file, or the line of the log."});
  v.Need("occurrences", program.occurrences,
         {.about = "The number of dumps or lines that report the same.", .least = 1});
  v.Facts("facts", program.facts, "need_bytes",
          "need_bytes; if known, limit_bytes, chip, arguments_bytes, output_bytes, shared_output_bytes, "
          "hlo_temp_bytes, …");
  v.Need("allocations", program.allocations, {.about = "The largest allocations that are live at the peak."});
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

// A failure that occurs in more than one process or input.
struct RecurringRecord {
  const Failure* failure = nullptr;
};

void Describe(auto& v, RecordOf<RecurringRecord> auto& recurring) {
  const auto tally = [&]() -> const Tally& { return recurring.failure->tally; };
  v.Record("recurring");
  v.Show("id", [&] { return recurring.failure->id; }, {.form = &kId});
  v.Show("code", [&] { return recurring.failure->rule->code; });
  v.MayShow("program", [&] { return ProgramOf(*recurring.failure); });
  v.Show("occurrences", [&] { return tally().occurrences(); });
  v.Show("artifacts", [&] { return tally().artifacts; });
  v.MayShow("first_time", [&] { return tally().first_time; });
  v.MayShow("last_time", [&] { return tally().last_time; });
}

void Describe(auto& v, RecordOf<ShareGroup> auto& group) {
  v.Record("share_group");
  v.Need("name", group.name, {.about = "chip, framework, jax version or libtpu version."});
  v.Need("shares", group.shares);
}

template <class V>
void Describe(V& v, RecordOf<Summary> auto& summary) {
  std::map<std::string, std::uint64_t> by_code;
  std::vector<RecurringRecord> recurring;
  if constexpr (!V::kReads) {
    for (const auto& [code, share] : summary.by_code) by_code[code] = share.failures;
    for (const Failure* failure : summary.recurring) recurring.push_back({failure});
  }
  v.Record("summary");
  v.Need("artifacts", summary.artifacts);
  v.Need("bytes", summary.bytes);
  v.Need("diagnoses", summary.failures, {.about = "The number of different failures."});
  v.Need("occurrences", summary.occurrences);
  v.Need("by_code", by_code, {.about = "The number of different failures by code."});
  v.Need("by_scenario", summary.by_scenario);
  v.Need("by_program", summary.by_program);
  v.Maybe("programs_left_out", summary.programs_left_out);
  v.Need("by_remedy", summary.by_remedy, {.about = "By the first remedy."});
  v.Maybe("by_inquiry", summary.by_inquiry,
          {.about = "By the first remedy, if it is diagnostic: it gathers information, and comes before the others."});
  v.Maybe("groups", summary.groups, {.about = "The failures by chip, framework and version."});
  v.Maybe(
      "useless_restarts", summary.useless_restarts,
      {.about = "Reports by a process that had reported the same failure before, although a retry could not succeed."});
  v.Maybe("useless_seconds", summary.useless_seconds,
          {.about = "The time from the first to the last report of these failures, summed up."});
  v.Need("recurring", recurring, {.about = "The most frequent failures that occur in more than one process or input."});
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
  std::vector<std::string> shards;
};

void Describe(auto& v, RecordOf<SummaryMerge> auto& merge) {
  v.Record("summary_merge");
  v.Need("rules", merge.rules, {.form = &kFingerprint});
  v.Need("problems_left_out", merge.problems_left_out);
  v.Need("reports_left_out", merge.reports_left_out);
  v.Need("programs", merge.programs, {.about = "The number of program records."});
  v.Need("programs_left_out", merge.programs_left_out);
  std::vector<std::string> known(merge.hidden_failures.known.begin(), merge.hidden_failures.known.end());
  std::vector<std::string> ignored(merge.hidden_failures.ignored.begin(), merge.hidden_failures.ignored.end());
  v.Maybe("known", known, {.about = "Ids of failures listed in the baseline."});
  v.Maybe("ignored", ignored, {.about = "Ids of failures that --select and --ignore exclude."});
  v.Maybe("shards", merge.shards,
          {.about = "The parts of the batch that the report covers (--shard), such as 2/8; absent if it covers all."});
  if constexpr (std::remove_reference_t<decltype(v)>::kReads)
    merge.hidden_failures = {{ignored.begin(), ignored.end()}, {known.begin(), known.end()}};
}

// Counts failures that were found but are not shown.
void DescribePassedOver(auto& v, const HiddenFailures& hidden_failures) {
  v.MayShow("known", [&] { return hidden_failures.known.size(); },
            {.about = "The number of failures that are hidden because the baseline lists them, at most 5000."});
  v.MayShow("ignored", [&] { return hidden_failures.ignored.size(); },
            {.about = "The number of failures that are hidden by --select and --ignore, at most 5000."});
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
  v.Maybe("rule_files", tool.rule_files,
          {.about = "The rule files in use in addition to the built-in rules; absent if there are none."});
}

// The job of `whyoom run`.
struct JobRecord {
  int exit_status = 0;
};

void Describe(auto& v, RecordOf<JobRecord> auto& job) {
  v.Record("job", "The job that whyoom run started.");
  v.Need("exit_status", job.exit_status, {.about = "128 plus the signal number if a signal ended it.", .least = 0});
}

inline std::optional<JobRecord> JobOf(const Report& report) {
  return report.exit_status ? std::optional(JobRecord{*report.exit_status}) : std::nullopt;
}

// The output of --format json.
void Describe(auto& v, RecordOf<Report> auto& report) {
  v.Record("report");
  v.Constant("schema", kReportSchema);
  v.Need("tool", ToolRecord{report.version, report.rules_fingerprint, ShownRuleFiles(report.rule_files)});
  v.Maybe("run", JobOf(report), {.about = "Absent unless whyoom run wrote the report."});
  v.Need("diagnoses", report.failures);
  v.Maybe("programs", report.programs,
          {.about = "The programs that need most, at most a hundred; absent if there are none."});
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
  v.Maybe("run", job, {.about = "Absent unless whyoom run wrote the report."});
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
