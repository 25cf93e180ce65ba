#include "report/record/json_printer.h"

#include "report/record/report_json.h"

namespace whyoom {

std::string PrintJson(const Report& report) {
  Json json = {{"schema", kReportSchema}, {"tool", ToolJson(report)}, {"diagnoses", Json::array()}};
  for (const Finding& finding : report.findings) json["diagnoses"].push_back(FindingJson(finding));
  if (!report.programs.empty()) {
    json["programs"] = Json::array();
    for (const CompiledProgram& program : report.programs) json["programs"].push_back(ProgramJson(program));
  }
  if (report.programs_left_out > 0) json["programs_left_out"] = report.programs_left_out;
  json["summary"] = SummaryJson(report);
  json["summary"]["problems"] = Json::array();
  for (const Problem& problem : report.problems) json["summary"]["problems"].push_back(ProblemJson(problem));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
