#include "report/table_record.h"

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "facts/array_shape.h"
#include "report/finding_reader.h"
#include "report/record_fields.h"
#include "report/report_json.h"

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

std::optional<FindingTable::Entry> ReadEntry(const json& record, const RuleSet& rules) {
  RecordFields fields(record);
  std::optional<Diagnosis> diagnosis = ReadFinding(fields.Object("diagnosis"), rules);
  if (!diagnosis || !ReadShapes(fields.Array("shapes"), &*diagnosis)) return std::nullopt;
  const bool concluded = fields.NeedTruth("concluded");
  if (fields.faulty()) return std::nullopt;
  if (concluded) return *std::move(diagnosis);
  return Finding(*std::move(diagnosis));
}

}  // namespace

std::string PrintTable(const FindingTable& table, const std::string& rules_fingerprint) {
  Json findings = Json::array();
  for (const FindingTable::Entry* entry : table.entries()) {
    const auto* concluded = std::get_if<Diagnosis>(entry);
    const Diagnosis diagnosis = concluded != nullptr ? *concluded : Diagnosis{FindingOf(*entry)};
    Json json = FindingJson(diagnosis);
    json["merge"] = MergeJson(diagnosis, rules_fingerprint);
    findings.push_back(
        {{"diagnosis", std::move(json)}, {"shapes", ShapesJson(diagnosis)}, {"concluded", concluded != nullptr}});
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
    std::optional<FindingTable::Entry> entry = ReadEntry(element, rules);
    if (!entry) return std::nullopt;
    table.Add(*std::move(entry));
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
