// Checks the form of a rule file against rules/schema.json, and says what is wrong in words of the file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct SchemaFault {
  std::string pointer;  // JSON pointer to the value, or to the member whose key is meant
  bool at_key = false;
  std::string what;
  std::string hint;
};

// Implements the part of JSON Schema that rules/schema.json uses; other keywords are ignored.
std::vector<SchemaFault> CheckSchema(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace whyoom
