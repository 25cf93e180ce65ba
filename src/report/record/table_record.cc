#include "report/record/table_record.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "facts/array_shape.h"
#include "report/record/finding_reader.h"
#include "report/record/record_fields.h"
#include "report/record/report_json.h"

namespace whyoom {
namespace {

using nlohmann::json;

// A report shows shapes without the layouts of tuples; what is concluded later may ask for them.
Json ShapesJson(const Finding& finding) {
  Json shapes = Json::array();
  for (const Allocation& row : finding.allocations) shapes.push_back(row.shape_text);
  return shapes;
}

bool ReadShapes(const json& shapes, Finding* finding) {
  if (shapes.size() != finding->allocations.size()) return false;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto* text = shapes[i].get_ptr<const std::string*>();
    if (text == nullptr) return false;
    Allocation& row = finding->allocations[i];
    row.shape_text = *text;
    row.array = ParseArrayShape(row.shape_text);
  }
  return true;
}

std::optional<Finding> ReadKept(const json& record, const RuleSet& rules) {
  RecordFields fields(record);
  std::optional<Finding> finding = ReadFinding(fields.Object("diagnosis"), rules);
  if (!finding || !ReadShapes(fields.Array("shapes"), &*finding)) return std::nullopt;
  finding->concluded = fields.NeedTruth("concluded");
  return fields.faulty() ? std::nullopt : std::move(finding);
}

}  // namespace

std::string PrintTable(const FindingTable& table, const std::string& rules_fingerprint) {
  Json findings = Json::array();
  for (const Finding* finding : table.findings()) {
    Json diagnosis = FindingJson(*finding);
    diagnosis["merge"] = MergeJson(*finding, rules_fingerprint);
    findings.push_back(
        {{"diagnosis", std::move(diagnosis)}, {"shapes", ShapesJson(*finding)}, {"concluded", finding->concluded}});
  }
  Json programs = Json::array();
  for (const CompiledProgram* program : table.programs().programs()) programs.push_back(ProgramJson(*program));
  const Json json = {{"rules", rules_fingerprint},
                     {"findings", std::move(findings)},
                     {"reports_left_out", table.left_out()},
                     {"programs", std::move(programs)},
                     {"programs_left_out", table.programs().left_out()}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::optional<FindingTable> ReadTable(std::string_view text, const RuleSet& rules) {
  const json record = json::parse(text, nullptr, false);
  RecordFields fields(record);
  if (fields.NeedText("rules") != rules.fingerprint()) return std::nullopt;
  FindingTable table(rules);
  for (const json& element : fields.Array("findings")) {
    std::optional<Finding> finding = ReadKept(element, rules);
    if (!finding) return std::nullopt;
    table.Add(*std::move(finding));
  }
  for (const json& element : fields.Array("programs")) {
    std::optional<CompiledProgram> program = ReadProgram(element);
    if (!program) return std::nullopt;
    table.programs().Add(*std::move(program));
  }
  table.programs().LeaveOut(fields.NeedCount("programs_left_out"));
  RecordFields left_out(fields.Object("reports_left_out"));
  for (const Failure& failure : rules.failures()) {
    if (const auto reports = left_out.Count(failure.code.c_str())) table.LeaveOut(failure.code, *reports);
  }
  if (fields.faulty() || left_out.faulty()) return std::nullopt;
  return table;
}

}  // namespace whyoom
