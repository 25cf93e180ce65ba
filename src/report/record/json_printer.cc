#include "report/record/json_printer.h"

#include <fmt/format.h>

#include <utility>

#include "diagnose/report.h"
#include "facts/array.h"
#include "report/layout.h"
#include "report/record/describe.h"
#include "report/record/describe_brief.h"
#include "report/record/describe_diff.h"

namespace whyoom {
namespace {

constexpr std::size_t kRowsBytes = std::size_t{96} << 10;

bool IsName(const std::string& key) {
  return key == "path" || key == "member" || key == "path_bytes" || key == "member_bytes";
}

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

std::string FirstProblem(const Report& report) {
  if (report.problems.empty()) return {};
  const Problem& first = report.problems.front();
  return CutBytes(ArtifactText({first.path, first.member}) + ": " + Printable(first.what), kMaxTextBytes);
}

}  // namespace

std::string PrintJson(const Report& report) {
  return ToRecord(report).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string PrintBriefJson(const Report& report) {
  // The diagnoses are printed separately, one per line.
  const BriefReport brief = {{},
                             report.failures.size(),
                             report.artifacts,
                             report.programs.size() + report.programs_left_out,
                             report.problems.size() + report.problems_left_out,
                             FirstProblem(report),
                             report.hidden_failures};
  std::string lines;
  for (const Failure& failure : report.failures) {
    Json json = ToRecord(BriefDiagnosis{&failure});
    CutTexts(json);
    lines += (lines.empty() ? "\n" : ",\n") + LineOf(json);
  }
  return fmt::format("{{\"schema\": \"{}\", \"diagnoses\": [{}],\n\"summary\": {}}}\n", kBriefSchema, lines,
                     LineOf(ToRecord(brief)["summary"]));
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
  const SummaryMerge merge = {rules,
                              report.problems_left_out,
                              report.reports_left_out,
                              report.programs.size(),
                              report.programs_left_out,
                              report.hidden_failures,
                              report.shards};
  print([&](auto& record) { DescribeSummary(record, summary, merge); });
  return text;
}

std::string PrintDiffJson(const Diff& diff, const std::string& version, const RuleSet& rules) {
  RecordWriter record;
  DescribeDiff(record, diff, ToolRecord{version, rules.fingerprint, ShownRuleFiles(rules.extra_files)});
  return record.Take().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
