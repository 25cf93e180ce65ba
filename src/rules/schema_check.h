// Validates a rule file against rules/schema.json and describes errors in the terms of the file.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct SchemaFault {
  std::string pointer;  // JSON pointer to the value, or to the member whose key is wrong
  bool at_key = false;
  std::string what;
  std::string hint;
};

// Supports the JSON Schema keywords that rules/schema.json uses; ignores others.
std::vector<SchemaFault> CheckSchema(const nlohmann::json& schema, const nlohmann::json& value);

}  // namespace whyoom
