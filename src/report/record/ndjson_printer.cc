#include "report/record/ndjson_printer.h"

#include <string>
#include <utility>

#include "report/layout.h"
#include "report/record/report_json.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestText = 2000;
constexpr std::size_t kRowsBytes = std::size_t{96} << 10;

std::string Dump(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

bool IsName(const std::string& key) {
  return key == "path" || key == "member" || key == "path_bytes" || key == "member_bytes";
}

// Paths stay whole: they say where it is.
void CutTexts(Json& json) {
  if (auto* text = json.get_ptr<std::string*>()) {
    if (text->size() > kLongestText) *text = CutBytes(*text, kLongestText);
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

void CutRows(Json& diagnosis) {
  Json& rows = diagnosis["allocations"];
  std::size_t bytes = 0;
  std::size_t kept = 0;
  while (kept < rows.size() && (bytes += Dump(rows[kept]).size()) <= kRowsBytes) ++kept;
  const std::uint64_t left_out =
      diagnosis.value("allocations_left_out", std::uint64_t{0}) + static_cast<std::uint64_t>(rows.size() - kept);
  rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(kept), rows.end());
  diagnosis.erase("allocations_left_out");  // fields have their order: it stands last, whether there was one or not
  if (left_out > 0) diagnosis["allocations_left_out"] = left_out;
}

Json Typed(const char* type, const Json& fields) {
  Json json = {{"type", type}};
  json.update(fields);
  return json;
}

}  // namespace

std::string PrintNdjson(const Report& report) {
  std::string text;
  const auto print = [&](const char* type, const Json& fields) { text += Dump(Typed(type, fields)) + "\n"; };
  print("header", {{"schema", kReportSchema}, {"tool", ToolJson(report)}});
  for (const Finding& finding : report.findings) {
    Json json = FindingJson(finding);
    CutTexts(json);
    CutRows(json);
    json["merge"] = MergeJson(finding, report.rules_fingerprint);
    print("diagnosis", json);
  }
  for (const CompiledProgram& program : report.programs) {
    Json json = ProgramJson(program);
    CutTexts(json);
    json["merge"] = {{"rules", report.rules_fingerprint}};
    print("program", json);
  }
  for (const Problem& problem : report.problems) {
    Json json = ProblemJson(problem);
    CutTexts(json);
    if (problem.of_report) json["of_report"] = true;
    print("problem", json);
  }
  Json summary = SummaryJson(report);
  summary["merge"] = {{"rules", report.rules_fingerprint},
                      {"problems_left_out", report.problems_left_out},
                      {"reports_left_out", report.reports_left_out},
                      {"programs", report.programs.size()},
                      {"programs_left_out", report.programs_left_out}};
  print("summary", summary);
  return text;
}

}  // namespace whyoom
