// What the records of --format json and ndjson hold, once: from here they are written, read back, and explained in
// docs/report.schema.json. See fields.h for how to read a description.
//
// Sizes are bytes. What is not known is absent. Further fields may be added; readers pass over those that they do not
// know.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/diagnosis.h"
#include "facts/compiled_program.h"
#include "facts/prospects.h"
#include "report/finding_view.h"
#include "report/record/fields.h"
#include "report/report.h"
#include "report/summary.h"

namespace whyoom {

inline constexpr const char* kReportSchema = "whyoom.report/1";

void Describe(auto& v, RecordOf<AxisPlace> auto& axis) {
  v.Record("axis", "A dimension of an argument.");
  v.Need("array", axis.array, {.about = "The argument, as the program's user names it."});
  v.Need("number", axis.number, {.about = "From 0.", .least = 0});
  v.Need("length", axis.length, {.about = "On all devices together.", .least = 1});
  v.Maybe("name", axis.name, {.about = "What it is, where that can be told: batch, sequence, vocabulary."});
}

// A user's module and what is its own.
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
  v.Maybe("by", part.modules, {.about = "By the user's modules, the largest first; not all need be there."});
}

// In four decimals: the schedule of a large program has some ten thousand places.
template <class V>
void Describe(V& v, RecordOf<MemoryMoment> auto& moment) {
  v.Record("moment");
  double at = std::round(moment.at * 10000) / 10000;
  v.Need("at", at, {.about = "0: the begin, 1: the end.", .least = 0, .most = 1});
  v.Need("bytes", moment.bytes);
  if constexpr (V::kReads) moment.at = at;
}

void Describe(auto& v, RecordOf<Room> auto& room) {
  v.Record("room",
           "What fits, where the XLA dump tells, in the sizes of the program as its user wrote it: of all devices "
           "together. 0 does not occur: what is not known or does not fit is absent.");
  v.Maybe("batch", room.batch);
  v.Maybe("largest_batch", room.largest_batch);
  v.Maybe("micro_batches", room.micro_batches,
          {.about = "A number that fits: 4 or fewer where that does, else the fewest that do; those of the remedy."});
  v.Maybe("sequence", room.sequence);
  v.Maybe("largest_sequence", room.largest_sequence);
  v.Maybe("batch_devices", room.batch_devices,
          {.about = "The devices that the batch is split over, where they are several.", .least = 2});
  v.Maybe("batch_axis", room.batch_axis, {.about = "The dimension that batch and largest_batch mean."});
  v.Maybe("sequence_axis", room.sequence_axis, {.about = "The dimension that sequence and largest_sequence mean."});
}

// Fields of the record that they are a part of.
template <class V>
void DescribeProspects(V& v, RecordOf<std::optional<Prospects>> auto& prospects) {
  v.Group("memory", prospects, [&](auto& known) {
    v.Need("memory", known.memory,
           {.about = "What fills the memory at the peak, by kind, the largest first; where the XLA dump tells. The "
                     "bytes add up to the need."});
    v.Maybe("timeline", known.timeline,
            {.about = "What the program takes over its schedule, where the XLA dump tells: at most 64 places in order, "
                      "each the fullest of its part. What fragmentation takes is in none of them; the most of them is "
                      "what was live at the peak."});
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
  v.MaybeName("member", where.artifact.member, "The name inside an archive.");
  v.Need("line", where.line);
  v.Need("last_line", where.last_line);
  v.Need("offset", where.offset, {.about = "Bytes from the start of the input."});
  if constexpr (V::kReads) where.artifact = {BoundedPath(where.artifact.path), BoundedPath(where.artifact.member)};
}

void Describe(auto& v, RecordOf<Reason> auto& reason) {
  v.Record("reason");
  v.Need("text", reason.text);
  v.Maybe("line", reason.line);
}

// A shape stands in parts, of which the array is made again; tuples stand without their layouts.
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
    row.array = ParseArrayShape(row.shape_text).value_or(ArrayShape());  // a form that is not known keeps its text
    row.array->dtype = dtype;
    row.array->shape = shape;
    row.array->layout = layout;
  }
}

void Describe(auto& v, RecordOf<RankReasons> auto& reasons) {
  v.Record("rank_reasons", "Why the remedy stands where it does: what they are sorted by, in this order.");
  v.Need("finds_out", reasons.finds_out,
         {.about = "It finds out which scenario it is, where that has to be known first; true ranks higher."});
  v.Maybe("free", reasons.free, {.about = "As free of the remedy; false ranks higher."});
  v.Maybe("falls_short", reasons.falls_short,
          {.about = "It is estimated not to be enough, alone or with another; false ranks higher."});
  v.Need("supported", reasons.supported,
         {.about = "This log speaks for it: by evidence, or by an estimate that covers the excess, alone or with "
                   "another; true ranks higher."});
  v.Need("too_little", reasons.too_little, {.about = "It is estimated not to be enough; false ranks higher."});
  v.Need("gamble", reasons.gamble,
         {.about = "Nothing is known of it, where others were worked out on the program or the list; false ranks "
                   "higher."});
  v.Need("cost", reasons.cost,
         {.about = "To the user, 0 to 6, see rules/README.md; 0 where supported is false. The lower ranks higher."});
  v.Need("estimated", reasons.estimated, {.about = "Whether it is enough is known; true ranks higher."});
  v.Need("doubtful", reasons.doubtful, {.about = "As borderline; false ranks higher."});
  v.Need("prior", reasons.prior,
         {.about = "The rule data's order for this scenario; the lower ranks higher, and then the id decides."});
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
  v.Maybe("saves_bytes", ranked.saves_bytes, {.about = "An estimate: what the whole program needs less."});
  v.Maybe("left_bytes", ranked.left_bytes,
          {.about = "What the program then needs, against limit_bytes; absent where its need is not wholly known."});
  v.Maybe("spread_bytes", ranked.spread_bytes, {.about = "How far off left_bytes may be, up or down."});
  v.Maybe("basis", ranked.basis, {.about = "What the figures were worked out on.", .one_of = "program list"});
  v.Maybe("parts", ranked.parts, {.about = "The devices, steps or pieces that the figures are for."});
  v.Maybe("axis", ranked.axis, {.about = "What is cut into them."});
  v.Maybe("at_least", ranked.at_least,
          {.about = "saves_bytes is of what is listed, which is less than half of the need; more may be saved."});
  v.Maybe("enough", ranked.enough, {.about = "Whether the estimate covers the excess; of this remedy alone."});
  v.Maybe("borderline", ranked.borderline,
          {.about = "The excess is within spread_bytes of what is saved: enough may turn out otherwise."});
  v.Maybe("enough_with", ranked.enough_with, {.about = "Ids of remedies together with which it is enough."});
  v.Maybe("free", ranked.free, {.about = "It costs nothing and is not enough alone: reports list it apart."});
  v.MayShow("note", [&] { return ranked.remedy->note; });
  v.Need("why", ranked.why);
  v.Need("how", ranked.how);
  v.Show("links", [&] { return ranked.remedy->links; });
  v.Maybe("rank_reasons", ranked.rank_reasons, {.about = "Absent in what older versions wrote."});
  if constexpr (V::kReads) {
    for (const std::string& id : ranked.enough_with) {
      if (v.rules().FindRemedy(id) == nullptr) v.SetFaulty();
    }
  }
}

void Describe(auto& v, RecordOf<Contradiction> auto& contradiction) {
  v.Record("contradiction", "Figures of the log that cannot all be right; nothing is concluded from them.");
  v.Need("id", contradiction.id, {.form = &kRuleName});
  v.Need("text", contradiction.text);
  v.Maybe("line", contradiction.line);
  v.Facts("figures", contradiction.figures, "", "The figures as they were read; they are not among the facts.");
}

void Describe(auto& v, RecordOf<RuledOut> auto& out) {
  v.Record("ruled_out");
  v.Rule("id", out.remedy);
  v.Show("title", [&] { return out.remedy->title; });
  v.Need("why", out.why);
}

void Describe(auto& v, RecordOf<BudgetStep> auto& step) {
  v.Record("budget_step");
  v.Rule("id", step.remedy);
  v.Need("saves_bytes", step.saves_bytes);
}

void Describe(auto& v, RecordOf<Budget> auto& budget) {
  v.Record("budget");
  v.Need("excess_bytes", budget.excess_bytes);
  v.Need("steps", budget.steps);
  v.Need("covered", budget.covered);
  v.Maybe("at_most", budget.at_most, {.about = "The excess is less than that; the log's sizes are rounded."});
}

// A scenario of the finding's failure.
struct ScenarioRecord {
  std::string id;
  std::string title;
  std::string why;  // of the one that holds
};

void Describe(auto& v, RecordOf<ScenarioRecord> auto& scenario) {
  v.Record("scenario");
  v.Need("id", scenario.id);
  v.Need("title", scenario.title);
  v.Maybe("why", scenario.why);
}

template <class V>
void DescribeScenarios(V& v, RecordOf<Diagnosis> auto& finding) {
  std::optional<ScenarioRecord> scenario;
  std::vector<ScenarioRecord> candidates;
  if constexpr (!V::kReads) {
    if (finding.scenario != nullptr) scenario = {finding.scenario->id, finding.scenario->title, ""};
    for (const Reason& reason : finding.why)
      if (scenario) scenario->why += (scenario->why.empty() ? "" : " ") + reason.text;
    for (const Scenario* candidate : finding.candidates) candidates.push_back({candidate->id, candidate->title, ""});
  }
  v.Maybe("scenario", scenario);
  v.Maybe("scenario_candidates", candidates, {.about = "Where the log cannot tell: those that it leaves open."});
  if constexpr (V::kReads) {
    const auto find = [&](const ScenarioRecord& record) -> const Scenario* {
      for (const Scenario& known : finding.failure->scenarios) {
        if (known.id == record.id) return &known;
      }
      v.SetFaulty();
      return nullptr;
    };
    if (v.faulty()) return;
    if (scenario) finding.scenario = find(*scenario);
    for (const ScenarioRecord& candidate : candidates) finding.candidates.push_back(find(candidate));
  }
}

// Always written; reports of before it was said hold none.
template <class V>
void DescribeRetry(V& v, RecordOf<Retry> auto& retry) {
  std::optional<Retry::Answer> answer;
  if constexpr (!V::kReads) answer = retry.answer;
  v.Maybe("retry", answer,
          {.about = "Whether the same job can succeed when it is started again and nothing was changed: never, it will "
                    "fail the same way; maybe, it can succeed.",
           .one_of = "never maybe unknown"});
  v.Maybe("retry_why", retry.why, {.about = "A sentence that says why."});
  if constexpr (V::kReads) retry.answer = answer.value_or(Retry::Answer::kUnknown);
}

template <class V>
void DescribeTally(V& v, RecordOf<Diagnosis> auto& finding) {
  auto& tally = finding.tally;
  std::vector<Where> also;
  std::vector<std::string> hosts;
  bool estimated = false;
  if constexpr (!V::kReads) {
    also = finding.Also();
    hosts = tally.hosts.names();
    estimated = !tally.hosts.complete();
  }
  v.Maybe("also", also, {.about = "Further places, the first hundred by path, member and offset."});
  v.MayShow("also_left_out",
            [&] { return also.empty() ? 0 : tally.reports - std::min<std::uint64_t>(tally.reports, also.size() + 1); });
  v.Show("occurrences", [&] { return tally.occurrences(); },
         {.about = "Distinct hosts, ranks or processes that reported it.", .least = 1});
  v.Maybe("occurrences_estimated", estimated, {.about = "More hosts than are listed; to about 3 %."});
  v.MayShow("artifacts", [&] { return tally.artifacts; },
            {.about = "Inputs with a report of it, where more than one.", .least = 2});
  v.Maybe("first_time", tally.first_time);
  v.Maybe("last_time", tally.last_time);
  v.Need("hosts", hosts);
  if constexpr (V::kReads) {
    for (const std::string& host : hosts) tally.hosts.Add(host);
    if (estimated) tally.hosts.SetIncomplete();
    for (Where& where : also) tally.places.Add(std::move(where));
    tally.places.Add(finding.where);
  }
}

template <class V>
void Describe(V& v, RecordOf<Diagnosis> auto& finding) {
  v.Record("diagnosis");
  v.Need("id", finding.id,
         {.about = "The same failure has the same id, whatever the host, time or prefix.", .form = &kId});
  v.Rule("code", finding.failure);
  v.MayShow("aliases", [&] { return finding.failure->aliases; });
  v.Show("title", [&] { return finding.failure->title; });
  v.Show("category", [&] { return finding.failure->category; });
  DescribeScenarios(v, finding);
  v.Need("confidence", finding.confidence, {.one_of = "low medium high"});
  v.Maybe("contradictions", finding.contradictions, {.about = "Where the log contradicts itself; confidence is low."});
  DescribeRetry(v, finding.retry);
  v.Need("message", finding.message);
  v.Need("where", finding.where);
  DescribeTally(v, finding);
  v.Maybe("framework", finding.framework, {.form = &kRuleName});
  v.Facts("facts", finding.facts);
  v.Need("why", finding.why);
  v.Need("allocations", finding.allocations);
  v.Maybe("allocations_left_out", finding.allocations_left_out);
  DescribeProspects(v, finding.prospects);
  v.Need("remedies", finding.remedies);
  v.Maybe("ruled_out", finding.ruled_out);
  v.Maybe("budget", finding.budget);
  v.Show("links", [&] { return finding.failure->links; });
}

// What merging needs beside the fields for people, so that it comes to what reading the logs at once would have.
template <class V>
void DescribeMerge(V& v, RecordOf<Diagnosis> auto& finding, std::string rules) {
  auto& tally = finding.tally;
  std::map<std::string, std::uint64_t> lines;
  if constexpr (!V::kReads) {
    for (const auto& [name, fact] : finding.facts.all()) {
      if (fact.place.line > 0) lines[name] = fact.place.line;
    }
  }
  v.Record("diagnosis_merge", "What whyoom merge needs beside the fields for people.");
  v.Need("rules", rules, {.form = &kFingerprint});
  v.Need("reports", tally.reports);
  v.Need("artifacts", tally.artifacts);
  v.Need("nameless_artifacts", tally.nameless_artifacts);
  v.Need("replicas", tally.replicas);
  v.Need("repeats", tally.repeats);
  v.Need("row_bytes", finding.fullness.row_bytes);
  v.Need("whole", finding.fullness.whole);
  v.Need("numbers", finding.fullness.numbers);
  v.Need("facts", finding.fullness.facts);
  v.Need("fact_lines", lines);
  v.Maybe("dump_problem", finding.dump_problem);
  if constexpr (V::kReads) {
    for (const auto& [name, line] : lines) {
      if (const Fact* fact = finding.facts.Find(name)) finding.facts.Set(name, Value(fact->value), {line, 0}, true);
    }
    if (finding.dump_problem) finding.dump_problem->of_report = true;
  }
}

template <class V>
void Describe(V& v, RecordOf<CompiledProgram> auto& program) {
  v.Record("program",
           "A program that was compiled and is no failure: what it takes, as its XLA dump tells or a log states.");
  v.Need("id", program.id, {.about = "Of what it takes: the same program has the same id.", .form = &kId});
  v.Need("basis", program.basis, {.about = "Who tells: its XLA dump, or a line of a log.", .one_of = "dump log"});
  v.MayShow("module", [&] { return program.facts.Text("module"); });
  v.Need("where", program.where, {.about = "The dump's buffer assignment, or the line."});
  v.Need("occurrences", program.occurrences, {.about = "Dumps, or lines that state the same.", .least = 1});
  v.Facts("facts", program.facts, "need_bytes",
          "need_bytes; where known limit_bytes, chip, arguments_bytes, output_bytes, shared_output_bytes, "
          "hlo_temp_bytes, …");
  v.Need("allocations", program.allocations, {.about = "The largest that are live at the peak."});
  DescribeProspects(v, program.prospects);
  if constexpr (V::kReads) {
    if (program.basis != "dump" && program.basis != "log") v.SetFaulty();
  }
}

void Describe(auto& v, RecordOf<Share> auto& share) {
  v.Record("share");
  v.Need("diagnoses", share.diagnoses);
  v.Need("occurrences", share.occurrences);
}

// A failure of more than one process or input.
struct RecurringRecord {
  const Diagnosis* finding = nullptr;
};

void Describe(auto& v, RecordOf<RecurringRecord> auto& recurring) {
  const auto tally = [&]() -> const Tally& { return recurring.finding->tally; };
  v.Record("recurring");
  v.Show("id", [&] { return recurring.finding->id; }, {.form = &kId});
  v.Show("code", [&] { return recurring.finding->failure->code; });
  v.MayShow("program", [&] { return ProgramOf(*recurring.finding); });
  v.Show("occurrences", [&] { return tally().occurrences(); });
  v.Show("artifacts", [&] { return tally().artifacts; });
  v.MayShow("first_time", [&] { return tally().first_time; });
  v.MayShow("last_time", [&] { return tally().last_time; });
}

template <class V>
void Describe(V& v, RecordOf<Summary> auto& summary) {
  std::map<std::string, std::uint64_t> by_code;
  std::vector<RecurringRecord> recurring;
  if constexpr (!V::kReads) {
    for (const auto& [code, share] : summary.by_code) by_code[code] = share.diagnoses;
    for (const Diagnosis* finding : summary.recurring) recurring.push_back({finding});
  }
  v.Record("summary");
  v.Need("artifacts", summary.artifacts);
  v.Need("bytes", summary.bytes);
  v.Need("diagnoses", summary.diagnoses, {.about = "Different failures."});
  v.Need("occurrences", summary.occurrences);
  v.Need("by_code", by_code, {.about = "Different failures by code."});
  v.Need("by_scenario", summary.by_scenario);
  v.Need("by_program", summary.by_program);
  v.Maybe("programs_left_out", summary.programs_left_out);
  v.Need("by_remedy", summary.by_remedy, {.about = "By the first remedy that is a cure."});
  v.Maybe("by_inquiry", summary.by_inquiry,
          {.about = "By what finds out more, of the failures whose first remedy is that: to be done before any cure."});
  v.Need("recurring", recurring,
         {.about = "The failures of more than one process or input that were reported most often."});
  v.Maybe("first_time", summary.first_time);
  v.Maybe("last_time", summary.last_time);
  v.Need("problem_count", summary.problems);
}

// What merging needs of a summary.
struct SummaryMerge {
  std::string rules;
  std::uint64_t problems_left_out = 0;
  std::map<std::string, std::uint64_t> reports_left_out;  // by code
  std::uint64_t programs = 0;
  std::uint64_t programs_left_out = 0;
  PassedOver passed_over = {};
  std::vector<std::string> shards;
};

void Describe(auto& v, RecordOf<SummaryMerge> auto& merge) {
  v.Record("summary_merge");
  v.Need("rules", merge.rules, {.form = &kFingerprint});
  v.Need("problems_left_out", merge.problems_left_out);
  v.Need("reports_left_out", merge.reports_left_out);
  v.Need("programs", merge.programs, {.about = "How many records of them there are."});
  v.Need("programs_left_out", merge.programs_left_out);
  std::vector<std::string> known(merge.passed_over.known.begin(), merge.passed_over.known.end());
  std::vector<std::string> ignored(merge.passed_over.ignored.begin(), merge.passed_over.ignored.end());
  v.Maybe("known", known, {.about = "Ids of the failures that a baseline knows."});
  v.Maybe("ignored", ignored, {.about = "Ids of those that --select and --ignore leave out."});
  v.Maybe("shards", merge.shards,
          {.about = "The parts of a batch that it is of (--shard), such as 2/8; absent where it is the whole."});
  if constexpr (std::remove_reference_t<decltype(v)>::kReads)
    merge.passed_over = {{ignored.begin(), ignored.end()}, {known.begin(), known.end()}};
}

// How many failures are found and not told of.
void DescribePassedOver(auto& v, const PassedOver& passed_over) {
  v.MayShow("known", [&] { return passed_over.known.size(); },
            {.about = "Failures that are not among the diagnoses, since the baseline knows them; at most 5000 are "
                      "counted."});
  v.MayShow("ignored", [&] { return passed_over.ignored.size(); },
            {.about = "The same of those that --select and --ignore leave out."});
}

// Who made a report.
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
          {.about = "The rule files in use beside the built-in data; absent where that is all."});
}

// What `whyoom run` records of its job.
struct JobRecord {
  int exit_status = 0;
};

void Describe(auto& v, RecordOf<JobRecord> auto& job) {
  v.Record("job", "The job of a report that whyoom run wrote.");
  v.Need("exit_status", job.exit_status, {.about = "128 and the signal's number where a signal ended it.", .least = 0});
}

inline std::optional<JobRecord> JobOf(const Report& report) {
  return report.exit_status ? std::optional(JobRecord{*report.exit_status}) : std::nullopt;
}

// What --format json prints.
void Describe(auto& v, RecordOf<Report> auto& report) {
  v.Record("report");
  v.Constant("schema", kReportSchema);
  v.Need("tool", ToolRecord{report.version, report.rules_fingerprint, RuleFilesTold(report.rule_files)});
  v.Maybe("run", JobOf(report), {.about = "Absent unless whyoom run wrote the report."});
  v.Need("diagnoses", report.findings);
  v.Maybe("programs", report.programs,
          {.about = "Those that need most, a hundred at most; absent where there are none."});
  v.Maybe("programs_left_out", report.programs_left_out);
  v.Part("summary", [&](auto& part) {
    part.Extend(BoundedSummary(report));
    part.Need("problems", report.problems);
    DescribePassedOver(part, report.passed_over);
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
void DescribeDiagnosis(V& v, RecordOf<Diagnosis> auto& finding, const std::string& rules) {
  v.Record("diagnosis_record");
  v.Constant("type", "diagnosis");
  v.Extend(finding);
  v.Part("merge", [&](auto& part) { DescribeMerge(part, finding, rules); });
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
  DescribePassedOver(v, merge.passed_over);
  v.Need("merge", merge);
}

}  // namespace whyoom
