// Editors use rules/schema.json to explain keys and offer values.
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "rules/schema_check.h"

namespace whyoom {
namespace TEST_FILE {

using nlohmann::json;

const json& Schema() {
  static const json schema = json::parse(RuleSet::SchemaText());
  return schema;
}

const json& Target(const json& node) {
  return node.contains("$ref") ? Schema().at(json::json_pointer(node["$ref"].get<std::string>().substr(1))) : node;
}

bool IsDescribed(const json& node) { return !node.value("description", "").empty(); }

// Calls `see` with the path and schema of each property, including those inside open objects and arrays.
template <typename See>
void Walk(const json& node, const std::string& place, See see) {
  const json properties = node.value("properties", json::object());
  for (const auto& [key, property] : properties.items()) {
    see(place + "/" + key, property);
    Walk(property, place + "/" + key, see);
  }
  for (const char* inside : {"additionalProperties", "items"}) {
    if (node.contains(inside) && node[inside].is_object()) Walk(node[inside], place + "/*", see);
  }
}

template <typename See>
void WalkAll(See see) {
  Walk(Schema(), "", see);
  for (const auto& [name, definition] : Schema()["definitions"].items()) Walk(definition, name, see);
}

TEST_CASE("every key of a rule file has a description", "[rules]") {
  std::size_t keys = 0;
  WalkAll([&](const std::string& place, const json& property) {
    INFO(place);
    CHECK(IsDescribed(property));
    ++keys;
  });
  CHECK(keys > 200);
  for (const auto& [name, definition] : Schema()["definitions"].items()) {
    INFO(name);
    CHECK(IsDescribed(definition));
    const bool is_object = definition.value("type", json()) == "object" && definition.contains("properties");
    if (is_object) CHECK_FALSE(definition.value("title", "").empty());
  }
}

TEST_CASE("keys with fixed values list them for editors", "[rules]") {
  std::set<std::string> listed;
  WalkAll([&](const std::string& place, const json& property) {
    if (Target(property).contains("enum") || Target(property).contains("examples"))
      listed.insert(place.substr(place.rfind('/') + 1));
  });
  for (const char* key : {"format", "phase", "answer", "safety", "change", "place", "reader", "memory_space", "section",
                          "pattern", "when", "fact"}) {
    INFO(key);
    CHECK(listed.contains(key));
  }
}

TEST_CASE("editors offer all frameworks", "[rules]") {
  for (const char* of : {"how", "more_steps"}) {
    std::set<std::string> offered;
    for (const auto& [id, steps] : Schema()["definitions"][of]["properties"].items()) offered.insert(id);
    std::set<std::string> known;
    for (const Framework& framework : BuiltInRules().frameworks()) known.insert(framework.id);
    CHECK(offered == known);
  }
}

TEST_CASE("examples in the schema are valid, and a file can name its schema", "[rules]") {
  WalkAll([&](const std::string& place, const json& property) {
    INFO(place);
    json alone = Target(property);
    if (!alone.contains("examples")) return;
    alone["definitions"] = Schema()["definitions"];
    for (const json& example : alone["examples"]) CHECK(CheckSchema(alone, example).empty());
  });
  CHECK(Schema()["$id"] == "whyoom.rules/1");
  const std::string named = R"({"$schema": "schema.json", "format": "whyoom.rules/1", "remedies": []})";
  CHECK(CheckSchema(json::parse(RuleSet::SchemaText()), json::parse(named)).empty());
}

}  // namespace TEST_FILE
}  // namespace whyoom
