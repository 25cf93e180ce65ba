// The validator supports everything that rules/schema.json uses.
#include "rules/schema_check.h"

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "catch.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace TEST_FILE {

using nlohmann::json;

// "pointer: what" for each fault.
std::string Faults(const std::string& schema, const json& value) {
  std::string all;
  for (const SchemaFault& fault : CheckSchema(json::parse(schema), value))
    all += fault.pointer + ": " + fault.what + "\n";
  return all;
}

// Adds the keywords of a schema node and of all nodes inside it.
void AddKeywords(const json& node, std::set<std::string>* keywords) {
  for (const auto& [key, value] : node.items()) {
    keywords->insert(key);
    if (key == "properties" || key == "definitions") {
      for (const json& member : value) AddKeywords(member, keywords);
    } else if (value.is_object()) {
      AddKeywords(value, keywords);
    }
  }
}

TEST_CASE("rules/schema.json uses only supported keywords", "[rules]") {
  std::set<std::string> keywords;
  AddKeywords(json::parse(RuleSet::SchemaText()), &keywords);
  const std::set<std::string> known = {"$id",         "$ref",        "$schema", "additionalProperties",
                                       "definitions", "description", "details", "enum",
                                       "examples",    "items",       "maximum", "minItems",
                                       "minLength",   "minimum",     "pattern", "properties",
                                       "required",    "title",       "type"};
  for (const std::string& keyword : keywords) {
    INFO(keyword);
    CHECK(known.contains(keyword));
  }
}

TEST_CASE("each keyword is validated at any depth", "[rules]") {
  CHECK(Faults(R"({"type": "object"})", json::array()) == ": expected an object, found an array\n");
  CHECK(Faults(R"({"type": ["string", "number"]})", true) == ": expected a text or a number, found true\n");
  CHECK(Faults(R"({"enum": ["a", "b"]})", "c") == ": 'c' is not allowed here\n");
  CHECK(Faults(R"({"required": ["a"]})", json::object()) == ": the key 'a' is missing\n");
  CHECK(Faults(R"({"properties": {"a": {}}, "additionalProperties": false})", {{"b", 1}}) == "/b: unknown key 'b'\n");
  CHECK(Faults(R"({"additionalProperties": {"type": "integer"}})", {{"b", 1.5}}) ==
        "/b: expected an integer, found a number\n");
  CHECK(Faults(R"({"minItems": 1})", json::array()) == ": the array is empty\n");
  CHECK(Faults(R"({"minLength": 1})", "") == ": the text is empty\n");
  CHECK(Faults(R"({"minimum": 1, "maximum": 3})", 4) == ": 4 is out of range\n");
  CHECK(Faults(R"({"pattern": "^a"})", "b") == ": 'b' does not match ^a\n");
  CHECK(Faults(R"({"definitions": {"a": {"$ref": "#/definitions/b"}, "b": {"type": "string"}},
                   "properties": {"x": {"items": {"$ref": "#/definitions/a"}}}})",
               {{"x", {"good", 1, {"bad"}}}}) ==
        "/x/1: expected a text, found a number\n/x/2: expected a text, found an array\n");
}

}  // namespace TEST_FILE
}  // namespace whyoom
