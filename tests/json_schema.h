// JSON against a schema of any form (draft 7), by valijson. Rule files have a checker of their own
// (rules/schema_check.h).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

class JsonSchema {
 public:
  explicit JsonSchema(const nlohmann::json& schema);
  ~JsonSchema();

  // What is wrong with `value`, with its place; empty where it is valid.
  std::vector<std::string> Faults(const nlohmann::json& value) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// That of SARIF 2.1.0, as it is published.
const JsonSchema& SarifSchema();
