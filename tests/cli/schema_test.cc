// docs/report.schema.json describes every field that the program prints. tests/schemas/validate.py validates the
// outputs.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

namespace fs = std::filesystem;

json Published(const std::string& name) {
  return json::parse(ReadText(std::string(WHYOOM_SOURCE_DIR) + "/docs/" + name));
}

const json& Schema() {
  static const json schema = Published("report.schema.json");
  return schema;
}

const json& Resolve(const json& schema) {
  if (!schema.contains("$ref")) return schema;
  const std::string reference = schema["$ref"];
  return Schema()["definitions"].at(reference.substr(reference.rfind('/') + 1));
}

// Returns the schema of the field `key`, or null.
const json* Describing(const json& unresolved, const std::string& key) {
  const json& schema = Resolve(unresolved);
  if (schema.contains("properties") && schema["properties"].contains(key)) return &schema["properties"][key];
  if (schema.contains("additionalProperties")) return &schema["additionalProperties"];
  if (schema.contains("allOf")) return Describing(schema["allOf"][0], key);
  return nullptr;
}

void CheckDescribed(const json& schema, const json& value, const std::string& place) {
  if (value.is_object()) {
    for (const auto& [key, field] : value.items()) {
      INFO(place << "/" << key);
      const json* description = Describing(schema, key);
      CHECK(description != nullptr);
      if (description != nullptr) CheckDescribed(*description, field, place + "/" + key);
    }
  } else if (value.is_array()) {
    for (const json& element : value) CheckDescribed(Resolve(schema)["items"], element, place + "/-");
  }
}

std::vector<std::string> Inputs(const ScratchFolder& scratch) {
  std::vector<std::string> inputs;
  for (const auto& entry : fs::directory_iterator(fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "cases"))
    inputs.push_back((entry.path() / "log").string());
  inputs.push_back((fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "programs" / "train-step" / "dump").string());
  std::string fleet;
  for (int i = 0; i < 1500; ++i)
    fleet += "[rank" + std::to_string(i) +
             "]: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was not "
             "possible. There are 6.43M free.\n";
  inputs.push_back(
      scratch.Write("fl\xff"
                    "eet.log",
                    fleet));
  inputs.push_back(scratch.path() + "/gone.log");
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

TEST_CASE("every field of an output is described in the published schema", "[cli]") {
  const ScratchFolder scratch;
  std::vector<std::string> arguments = Inputs(scratch);
  arguments.insert(arguments.begin(), {"--format", "json"});
  const json report = json::parse(RunWhyoom(arguments).out);
  CHECK(report["diagnoses"].size() > 15);
  CHECK(report["programs"].size() >= 4);
  CheckDescribed(Schema()["definitions"]["report"], report, "");

  arguments[1] = "ndjson";
  const std::string records = RunWhyoom(arguments).out;
  for (std::size_t begin = 0; begin < records.size(); begin = records.find('\n', begin) + 1) {
    const json record = json::parse(records.substr(begin, records.find('\n', begin) - begin));
    const std::string definition = record["type"].get<std::string>() + "_record";
    CheckDescribed(Schema()["definitions"][definition], record, definition);
  }
}

}  // namespace TEST_FILE
