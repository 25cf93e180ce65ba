// docs/report.schema.json matches the descriptions of the records. WHYOOM_BLESS=1 writes them.
#include "unit/report/schema_maker.h"

#include <string>

#include "catch.h"
#include "recorded.h"
#include "report/record/describe.h"

namespace whyoom {
namespace TEST_FILE {

struct Sample {
  std::int64_t signed_number = 0;
  std::uint64_t count = 0;
  std::optional<std::int64_t> known;
  std::vector<std::string> names;
  Timestamp time;
};

void Describe(auto& v, RecordOf<Sample> auto& sample) {
  v.Record("sample");
  v.Need("signed_number", sample.signed_number);
  v.Need("count", sample.count);
  v.Maybe("more", sample.count);
  v.Maybe("size", sample.known);
  v.Maybe("names", sample.names);
  v.Need("time", sample.time);
  v.Maybe("way", sample.names.emplace_back(), {.one_of = "here there"});
}

constexpr std::size_t kColumns = 140;

// Formats JSON for readers: a value that fits on one line is not broken.
std::string Laid(const Json& json, std::size_t column) {
  if (!json.is_structured()) return json.dump();
  std::string flat;
  std::string deep;
  const std::string indent(column + 2, ' ');
  for (const auto& [key, value] : json.items()) {
    const std::string name = json.is_object() ? Json(key).dump() + ": " : "";
    flat += (flat.empty() ? "" : ", ") + name + Laid(value, 0);
    deep += (deep.empty() ? "\n" : ",\n") + indent + name + Laid(value, column + 2);
  }
  const std::string ends = json.is_object() ? "{}" : "[]";
  const bool fits = column + flat.size() <= kColumns && flat.find('\n') == std::string::npos;
  return ends[0] + (fits ? flat : deep + "\n" + std::string(column, ' ')) + ends[1];
}

Json Schema(const char* id, const char* title, const Json& any_of, const Json& definitions) {
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"$id", id},
          {"title", title},
          {"description",
           "Sizes are bytes. Unknown values are absent. This version may add fields; readers must ignore fields that "
           "they do not recognise."},
          {"anyOf", any_of},
          {"definitions", definitions}};
}

Json ReportSchema() {
  Json definitions = Json::object();
  Json any_of = Json::array();
  const auto add = [&](auto describe) {
    SchemaMaker maker(&definitions);
    describe(maker);
    any_of.push_back(maker.Take());
  };
  Report report;
  Failure failure;
  CompiledProgram program;
  Problem problem;
  Summary summary;
  add([&](auto& maker) { Describe(maker, report); });
  add([&](auto& maker) { DescribeHeader(maker, report); });
  add([&](auto& maker) { DescribeDiagnosis(maker, failure, ""); });
  add([&](auto& maker) { DescribeProgram(maker, program, ""); });
  add([&](auto& maker) { DescribeProblem(maker, problem); });
  add([&](auto& maker) { DescribeSummary(maker, summary, report); });
  return Schema(kReportSchema, "The output of whyoom --format json, and each line of --format ndjson", any_of,
                definitions);
}

void CheckPublished(const std::string& name, const Json& schema) {
  CheckRecorded(std::string(WHYOOM_SOURCE_DIR) + "/docs/" + name, Laid(schema, 0) + "\n");
}

TEST_CASE("a schema contains what the description states", "[report]") {
  Json definitions = Json::object();
  SchemaMaker maker(&definitions);
  Sample sample;
  Describe(maker, sample);
  CHECK(maker.Take() == Json::parse(R"({"$ref": "#/definitions/sample"})"));
  CHECK(definitions["sample"] == Json::parse(R"({
    "type": "object",
    "required": ["signed_number", "count", "time"],
    "properties": {
      "signed_number": {"type": "integer"},
      "count": {"type": "integer", "minimum": 0},
      "more": {"type": "integer", "minimum": 1},
      "size": {"type": "integer"},
      "names": {"type": "array", "items": {"type": "string"}},
      "time": {"$ref": "#/definitions/time"},
      "way": {"enum": ["here", "there"]}
    }
  })"));
  CHECK(definitions["time"]["type"] == "string");
}

TEST_CASE("the published schemas match the descriptions", "[report]") {
  CheckPublished("report.schema.json", ReportSchema());
  for (const auto& [name, about] : ReportDetails().items()) {
    CAPTURE(name);
    CHECK(UsedDetails().contains(name));
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
