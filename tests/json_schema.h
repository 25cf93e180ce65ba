// Validates JSON against a schema (draft 7) with valijson. Rule files have their own checker (rules/schema_check.h).
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

class JsonSchema {
 public:
  explicit JsonSchema(const nlohmann::json& schema);
  ~JsonSchema();

  // The errors in `value`, with their places; empty if it is valid.
  std::vector<std::string> Faults(const nlohmann::json& value) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The published schema of SARIF 2.1.0.
const JsonSchema& SarifSchema();
