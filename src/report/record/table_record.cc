#include "report/record/table_record.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "facts/array.h"
#include "report/record/describe.h"

namespace whyoom {
namespace {

// A failure that is read back may still become a diagnosis. That needs the layouts of tuples, which reports omit.
template <class V>
void DescribeEntry(V& v, RecordOf<Failure> auto& failure, bool& concluded, const std::string& rules) {
  std::vector<std::string> shapes;
  if constexpr (!V::kReads) {
    for (const Allocation& row : failure.allocations) shapes.push_back(row.shape_text);
  }
  v.Part("diagnosis", [&](auto& part) {
    part.Extend(failure);
    part.Part("merge", [&](auto& merge) { DescribeMerge(merge, failure, rules); });
  });
  v.Need("shapes", shapes);
  v.Need("concluded", concluded);
  if constexpr (V::kReads) {
    if (shapes.size() != failure.allocations.size()) return v.SetFaulty();
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      failure.allocations[i].shape_text = shapes[i];
      failure.allocations[i].array = ParseArrayShape(shapes[i]);
    }
  }
}

// The fields of a table other than its failures and programs.
struct TableRecord {
  std::string rules;
  std::map<std::string, std::uint64_t> reports_left_out;  // by code
  std::uint64_t programs_left_out = 0;
};

void Describe(auto& v, RecordOf<TableRecord> auto& record) {
  v.Need("rules", record.rules);
  v.Need("reports_left_out", record.reports_left_out);
  v.Need("programs_left_out", record.programs_left_out);
}

}  // namespace

Json ToRecord(const FailureTable& table, const std::string& rules_fingerprint) {
  Json json = ToRecord(TableRecord{rules_fingerprint, table.left_out(), table.programs().left_out()});
  json["findings"] = Json::array();
  for (const Failure* failure : table.entries()) {
    bool concluded = failure->is_concluded();
    RecordWriter kept;
    DescribeEntry(kept, *failure, concluded, rules_fingerprint);
    json["findings"].push_back(kept.Take());
  }
  json["programs"] = Json::array();
  for (const CompiledProgram& program : table.programs().programs()) json["programs"].push_back(ToRecord(program));
  return json;
}

std::optional<FailureTable> TableFromRecord(const nlohmann::json& json, const RuleSet& rules) {
  const std::optional<TableRecord> record = FromRecord<TableRecord>(json);
  if (!record || record->rules != rules.fingerprint) return std::nullopt;
  const nlohmann::json failures = json.value("findings", nlohmann::json());
  const nlohmann::json programs = json.value("programs", nlohmann::json());
  if (!failures.is_array() || !programs.is_array()) return std::nullopt;
  FailureTable table(rules);
  for (const nlohmann::json& element : failures) {
    RecordReader kept(element, &rules);
    Failure failure;
    bool concluded = false;
    DescribeEntry(kept, failure, concluded, "");
    if (kept.faulty()) return std::nullopt;
    if (concluded) failure.rules = &rules;
    table.Add(std::move(failure));
  }
  for (const nlohmann::json& element : programs) {
    std::optional<CompiledProgram> program = FromRecord<CompiledProgram>(element);
    if (!program) return std::nullopt;
    table.programs().Add(*std::move(program));
  }
  table.programs().LeaveOut(record->programs_left_out);
  for (const auto& [code, reports] : record->reports_left_out) table.LeaveOut(code, reports);
  return table;
}

}  // namespace whyoom
