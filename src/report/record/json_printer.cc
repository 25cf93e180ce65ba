#include <fmt/format.h>

#include <utility>

#include "diagnose/report.h"
#include "facts/array.h"
#include "report/printers.h"
#include "report/record/describe.h"

namespace whyoom {
namespace {

constexpr std::size_t kRowsBytes = std::size_t{96} << 10;

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
      if (key != "path" && key != "member") CutTexts(value);
    }
  }
}

void Shorten(Json* list, std::size_t most) {
  if (list->size() > most) list->erase(list->begin() + static_cast<std::ptrdiff_t>(most), list->end());
}

// The fields with these names, in this order.
Json Only(Json object, std::initializer_list<const char*> fields) {
  Json kept = Json::object();
  for (const char* field : fields) {
    if (object.contains(field)) kept[field] = std::move(object[field]);
  }
  return kept;
}

void CutRows(Json& failure) {
  Json& rows = failure["allocations"];
  std::size_t bytes = 0;
  std::size_t kept = 0;
  while (kept < rows.size() && (bytes += LineOf(rows[kept]).size()) <= kRowsBytes) ++kept;
  const std::uint64_t left_out =
      failure.value("allocations_left_out", std::uint64_t{0}) + static_cast<std::uint64_t>(rows.size() - kept);
  Shorten(&rows, kept);
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

std::string Pretty(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

// The records of a comparison.

static void Describe(auto& v, RecordOf<SuccessSign> auto& sign) {
  v.Need("kind", sign.kind, {.one_of = "dump statement progress"});
  v.Need("path", sign.path);
  MaybeAll(v, "line", sign.line, "text", sign.text);
}

static void Describe(auto& v, RecordOf<TotalChange> auto& total) {
  v.Need("id", total.id);
  MaybeAll(v, "before", total.before, "after", total.after);
  if (total.before && total.after) v.Need("difference", *total.after - *total.before);
}

static void Describe(auto& v, RecordOf<RowChange> auto& row) {
  v.Need("change", row.kind, {.one_of = "smaller larger gone new"});
  NeedAll(v, "count", row.count, "name", row.name);
  MaybeAll(v, "op_name", row.op_name, "source", row.source);
  if (row.kind != RowChangeKind::kNew) NeedAll(v, "shape_before", row.shape_before, "size_before", row.size_before);
  if (row.kind != RowChangeKind::kGone) NeedAll(v, "shape_after", row.shape_after, "size_after", row.size_after);
}

static void DescribeRun(RecordWriter& v, const Run& run, const RunFigures& figures) {
  NeedAll(v, "path", run.path, "failed", run.failed);
  MaybeAll(v, "code", run.code, "module", figures.module, "over_bytes", figures.over, "at_least", figures.at_least,
           "success", run.success);
}

std::string PrintJson(const Report& report) { return Pretty(ToRecord(report)); }

Json BriefRecord(Json diagnosis) {
  constexpr std::size_t kMost = 3;  // kinds of memory, remedies, and steps of the first
  Json brief = Only(std::move(diagnosis), {"id", "code", "title", "scenario", "scenario_candidates", "confidence",
                                           "contradictions", "retry", "where", "occurrences", "first_time", "framework",
                                           "facts", "why", "source_lines", "memory", "room", "remedies", "next"});
  CutTexts(brief);
  if (brief.contains("scenario")) brief["scenario"].erase("why");
  brief["facts"] = Only(std::move(brief["facts"]),
                        {"need_bytes", "have_bytes", "excess_bytes", "limit_bytes", "chip", "module", "program"});
  Shorten(&brief["why"], 2);
  if (brief.contains("memory")) Shorten(&brief["memory"], kMost);
  Shorten(&brief["remedies"], kMost);
  for (Json& remedy : brief["remedies"]) {
    for (const char* field : {"rank_reasons", "links", "gain", "note", "safety_why", "section", "patch"})
      remedy.erase(field);
    Shorten(&remedy["how"], &remedy == &brief["remedies"][0] ? kMost : 1);
  }
  return brief;
}

std::string PrintBriefJson(const Report& report) {
  std::string lines;
  for (const Failure& failure : report.failures)
    lines += (lines.empty() ? "\n" : ",\n") + LineOf(BriefRecord(ToRecord(failure)));
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
  print([&](auto& record) { DescribeHeader(record, report); });
  for (const Failure& failure : report.failures)
    print([&](auto& record) { DescribeDiagnosis(record, failure, rules); });
  for (const CompiledProgram& program : report.programs)
    print([&](auto& record) { DescribeProgram(record, program, rules); });
  for (const Problem& problem : report.problems) print([&](auto& record) { DescribeProblem(record, problem); });
  const Summary summary = Summarize(report);
  print([&](auto& record) { DescribeSummary(record, summary, report); });
  return text;
}

std::string PrintDiffJson(const Diff& diff, const std::string& version, const RuleSet& rules) {
  const Comparison& comparison = diff.comparison;
  RecordWriter json;
  json.Constant("schema", "whyoom.diff/1");
  json.Need("tool", ToolRecord{version, rules.fingerprint, ShownRuleFiles(rules.extra_files)});
  json.Constant("verdict", VerdictId(VerdictOf(comparison.change)));
  json.Constant("change", ChangeId(comparison.change));
  json.Part("before", [&](RecordWriter& part) { DescribeRun(part, diff.before, comparison.before); });
  json.Part("after", [&](RecordWriter& part) { DescribeRun(part, diff.after, comparison.after); });
  NeedAll(json, "same_job", comparison.same_job, "totals", comparison.totals);
  if (comparison.rows_compared) {
    json.Part("allocations", [&](RecordWriter& rows) {
      NeedAll(rows, "unchanged", comparison.unchanged_rows, "changed", comparison.rows);
    });
  }
  NeedAll(json, "notes", comparison.notes, "problems", diff.problems);
  return Pretty(json.Take());
}

}  // namespace whyoom
