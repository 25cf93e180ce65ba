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

class SchemaCheck {
 public:
  // Knows the part of JSON Schema that rules/schema.json uses. Throws Error for a schema that is none or says more, so
  // that nothing it says is passed over.
  explicit SchemaCheck(std::string_view schema);

  std::vector<SchemaFault> Run(const nlohmann::json& value) const;

 private:
  nlohmann::json schema_;
};

}  // namespace whyoom
