#include "report/record/json_printer.h"

#include <fmt/format.h>

#include <utility>

#include "diagnose/report.h"
#include "facts/array.h"
#include "report/layout.h"
#include "report/record/describe.h"

namespace whyoom {
namespace {

constexpr std::size_t kRowsBytes = std::size_t{96} << 10;

bool IsName(const std::string& key) { return key == "path" || key == "member"; }

// Paths are not cut, because they identify the place.
void CutTexts(Json& json) {
  if (auto* text = json.get_ptr<std::string*>()) {
    if (text->size() > kMaxTextBytes) *text = CutBytes(*text, kMaxTextBytes);
    return;
  }
  if (json.is_array()) {
    for (Json& element : json) CutTexts(element);
  } else if (json.is_object()) {
    for (auto& [key, value] : json.items()) {
      if (!IsName(key)) CutTexts(value);
    }
  }
}

void CutRows(Json& failure) {
  Json& rows = failure["allocations"];
  std::size_t bytes = 0;
  std::size_t kept = 0;
  while (kept < rows.size() && (bytes += LineOf(rows[kept]).size()) <= kRowsBytes) ++kept;
  const std::uint64_t left_out =
      failure.value("allocations_left_out", std::uint64_t{0}) + static_cast<std::uint64_t>(rows.size() - kept);
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end());
  failure.erase("allocations_left_out");  // keeps it the last field
  if (left_out > 0) failure["allocations_left_out"] = left_out;
}

// Cuts long texts and lists of allocations, except in summaries and in the fields for merging.
std::string RecordLine(Json json) {
  const Json merge = json.value("merge", Json());
  json.erase("merge");
  if (json["type"] != "summary") CutTexts(json);
  if (json["type"] == "diagnosis") CutRows(json);
  if (!merge.is_null()) json["merge"] = merge;
  return LineOf(json) + "\n";
}

Json ListJson(const auto& list, auto write) {
  Json array = Json::array();
  for (const auto& element : list) array.push_back(write(element));
  return array;
}

// One of the two runs of a diff.
Json RunJson(const Run& run, const RunFigures& figures) {
  constexpr const char* kSigns[] = {"dump", "statement", "progress", "exit_status"};  // by SuccessSign::Kind
  RecordWriter json;
  NeedAll(json, "path", run.path, "failed", run.failed);
  MaybeAll(json, "code", run.code, "module", figures.module, "over_bytes", figures.over, "at_least", figures.at_least);
  if (const auto& sign = run.success) {
    json.Part("success", [&](RecordWriter& part) {
      part.Constant("kind", kSigns[static_cast<std::size_t>(sign->kind)]);
      part.Need("path", sign->path);
      MaybeAll(part, "line", sign->line, "text", sign->text);
    });
  }
  return json.Take();
}

Json TotalJson(const TotalChange& total) {
  RecordWriter json;
  json.Need("id", total.id);
  MaybeAll(json, "before", total.before, "after", total.after);
  if (total.before && total.after) json.Need("difference", *total.after - *total.before);
  return json.Take();
}

Json RowJson(const RowChange& row) {
  constexpr const char* kChanges[] = {"smaller", "larger", "gone", "new"};  // by RowChangeKind
  RecordWriter json;
  json.Constant("change", kChanges[static_cast<std::size_t>(row.kind)]);
  NeedAll(json, "count", row.count, "name", row.name);
  MaybeAll(json, "op_name", row.op_name, "source", row.source);
  if (row.kind != RowChangeKind::kNew) NeedAll(json, "shape_before", row.shape_before, "size_before", row.size_before);
  if (row.kind != RowChangeKind::kGone) NeedAll(json, "shape_after", row.shape_after, "size_after", row.size_after);
  return json.Take();
}

}  // namespace

std::string PrintJson(const Report& report) {
  return ToRecord(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json BriefRecord(const Failure& failure) {
  static constexpr const char* kFields[] = {
      "id",         "code",           "title",    "scenario", "scenario_candidates",
      "confidence", "contradictions", "retry",    "where",    "occurrences",
      "first_time", "framework",      "facts",    "why",      "source_lines",
      "memory",     "room",           "remedies", "next"};
  static constexpr const char* kFacts[] = {"need_bytes", "have_bytes", "excess_bytes", "limit_bytes",
                                           "chip",       "module",     "program"};
  static constexpr const char* kOfRemedy[] = {"rank_reasons", "links",   "gain", "note",
                                              "safety_why",   "section", "patch"};
  constexpr std::size_t kMost = 3;  // kinds of memory, remedies, and steps of the first
  Json whole = ToRecord(failure);
  Json brief;
  for (const char* field : kFields) {
    if (whole.contains(field)) brief[field] = std::move(whole[field]);
  }
  CutTexts(brief);
  const auto shorten = [](Json* list, std::size_t most) {
    if (list->size() > most) list->erase(list->begin() + static_cast<std::ptrdiff_t>(most), list->end());
  };
  if (brief.contains("scenario")) brief["scenario"].erase("why");
  Json facts = Json::object();
  for (const char* fact : kFacts) {
    if (brief["facts"].contains(fact)) facts[fact] = brief["facts"][fact];
  }
  brief["facts"] = std::move(facts);
  shorten(&brief["why"], 2);
  if (brief.contains("memory")) shorten(&brief["memory"], kMost);
  shorten(&brief["remedies"], kMost);
  for (std::size_t i = 0; i < brief["remedies"].size(); ++i) {
    Json& remedy = brief["remedies"][i];
    for (const char* field : kOfRemedy) remedy.erase(field);
    shorten(&remedy["how"], i == 0 ? kMost : 1);
  }
  return brief;
}

std::string PrintBriefJson(const Report& report) {
  std::string lines;
  for (const Failure& failure : report.failures) lines += (lines.empty() ? "\n" : ",\n") + LineOf(BriefRecord(failure));
  Json summary = {{"artifacts", report.artifacts},
                  {"diagnoses", report.failures.size()},
                  {"problem_count", report.problems.size() + report.problems_left_out}};
  if (!report.problems.empty()) {
    summary["problems"] = Json::array({ToRecord(report.problems.front())});
    CutTexts(summary);
  }
  return fmt::format("{{\"schema\": \"{}\", \"diagnoses\": [{}],\n\"summary\": {}}}\n", kReportSchema, lines,
                     LineOf(summary));
}

std::string PrintNdjson(const Report& report) {
  const std::string& rules = report.rules_fingerprint;
  std::string text;
  const auto print = [&](auto describe) {
    RecordWriter record;
    describe(record);
    text += RecordLine(record.Take());
  };
  const ToolRecord tool = {report.version, rules, ShownRuleFiles(report.rule_files)};
  print([&](auto& record) { DescribeHeader(record, tool, JobOf(report)); });
  for (const Failure& failure : report.failures)
    print([&](auto& record) { DescribeDiagnosis(record, failure, rules); });
  for (const CompiledProgram& program : report.programs)
    print([&](auto& record) { DescribeProgram(record, program, rules); });
  for (const Problem& problem : report.problems) print([&](auto& record) { DescribeProblem(record, problem); });
  const Summary summary = BoundedSummary(report);
  const SummaryMerge merge = {
      rules,        report.problems_left_out, report.reports_left_out, report.programs.size(), report.programs_left_out,
      report.hidden};
  print([&](auto& record) { DescribeSummary(record, summary, merge); });
  return text;
}

std::string PrintDiffJson(const Diff& diff, const std::string& version, const RuleSet& rules) {
  const Comparison& comparison = diff.comparison;
  RecordWriter json;
  json.Constant("schema", "whyoom.diff/1");
  json.Need("tool", ToolRecord{version, rules.fingerprint, ShownRuleFiles(rules.extra_files)});
  json.Constant("verdict", VerdictId(VerdictOf(comparison.change)));
  json.Constant("change", ChangeId(comparison.change));
  json.Need("before", RunJson(diff.before, comparison.before));
  json.Need("after", RunJson(diff.after, comparison.after));
  json.Need("same_job", comparison.same_job);
  json.Need("totals", ListJson(comparison.totals, TotalJson));
  if (comparison.rows_compared) {
    json.Part("allocations", [&](RecordWriter& rows) {
      rows.Need("unchanged", comparison.unchanged_rows);
      rows.Need("changed", ListJson(comparison.rows, RowJson));
    });
  }
  NeedAll(json, "notes", comparison.notes, "problems", diff.problems);
  return json.Take().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
