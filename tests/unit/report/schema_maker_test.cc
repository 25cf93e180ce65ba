// docs/report.schema.json is what the descriptions of the records say. WHYOOM_BLESS=1 writes it.
#include "unit/report/schema_maker.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include "catch.h"
#include "process.h"
#include "report/record/describe.h"

namespace whyoom {
namespace {

struct Sample {
  std::int64_t signed_number = 0;
  std::uint64_t count = 0;
  std::optional<std::int64_t> known;
  std::vector<std::string> names;
  Timestamp time;
};

void Describe(auto& v, RecordOf<Sample> auto& sample) {
  v.Record("sample", "For this test.");
  v.Need("signed_number", sample.signed_number);
  v.Need("count", sample.count, {.about = "How many."});
  v.Maybe("more", sample.count);
  v.Maybe("known", sample.known);
  v.Maybe("names", sample.names);
  v.Need("time", sample.time);
  v.Maybe("way", sample.names.emplace_back(), {.one_of = "here there"});
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
  Finding finding;
  CompiledProgram program;
  Problem problem;
  ToolRecord tool;
  SummaryRecord summary;
  SummaryMerge merge;
  add([&](auto& maker) { Describe(maker, report); });
  add([&](auto& maker) { DescribeHeader(maker, tool); });
  add([&](auto& maker) { DescribeDiagnosis(maker, finding, ""); });
  add([&](auto& maker) { DescribeProgram(maker, program, ""); });
  add([&](auto& maker) { DescribeProblem(maker, problem); });
  add([&](auto& maker) { DescribeSummary(maker, summary, merge); });
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"$id", kReportSchema},
          {"title", "What whyoom --format json prints, and each line of --format ndjson"},
          {"description",
           "Sizes are bytes. What is not known is absent. Further fields may be added within this version; readers "
           "pass over those that they do not know."},
          {"anyOf", any_of},
          {"definitions", definitions}};
}

TEST_CASE("a schema says what a description says", "[report]") {
  Json definitions = Json::object();
  SchemaMaker maker(&definitions);
  Sample sample;
  Describe(maker, sample);
  CHECK(maker.Take() == Json::parse(R"({"$ref": "#/definitions/sample"})"));
  CHECK(definitions["sample"] == Json::parse(R"({
    "description": "For this test.",
    "type": "object",
    "required": ["signed_number", "count", "time"],
    "properties": {
      "signed_number": {"type": "integer"},
      "count": {"description": "How many.", "type": "integer", "minimum": 0},
      "more": {"type": "integer", "minimum": 1},
      "known": {"type": "integer"},
      "names": {"type": "array", "items": {"type": "string"}},
      "time": {"$ref": "#/definitions/time"},
      "way": {"enum": ["here", "there"]}
    }
  })"));
  CHECK(definitions["time"]["type"] == "string");
}

TEST_CASE("the published schema is made of the descriptions", "[report]") {
  const std::string path = std::string(WHYOOM_SOURCE_DIR) + "/docs/report.schema.json";
  const std::string made = ReportSchema().dump(2) + "\n";
  if (std::getenv("WHYOOM_BLESS") != nullptr) std::ofstream(path) << made;
  CHECK((ReadText(path) == made));
}

}  // namespace
}  // namespace whyoom
