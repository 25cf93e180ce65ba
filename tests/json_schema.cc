// Only this file includes valijson, which is slow to compile.
#define VALIJSON_USE_EXCEPTIONS 1  // otherwise valijson ends the program if a schema is invalid
#if defined(__GNUC__) && !defined(__clang__)
// With sanitizers, GCC 12 warns without reason about std::regex, which valijson uses.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "json_schema.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "process.h"

using valijson::adapters::NlohmannJsonAdapter;

struct JsonSchema::State {
  nlohmann::json text;
  valijson::Schema schema;
};

JsonSchema::JsonSchema(const nlohmann::json& schema) : state_(new State{schema, {}}) {
  valijson::SchemaParser().populateSchema(NlohmannJsonAdapter(state_->text), state_->schema);
}

JsonSchema::~JsonSchema() = default;

std::vector<std::string> JsonSchema::Faults(const nlohmann::json& value) const {
  valijson::ValidationResults results;
  std::vector<std::string> faults;
  if (valijson::Validator().validate(state_->schema, NlohmannJsonAdapter(value), &results)) return faults;
  for (const valijson::ValidationResults::Error& error : results) {
    std::string place;
    for (const std::string& step : error.context) place += step;
    faults.push_back(place + ": " + error.description);
  }
  if (faults.empty()) faults.push_back("not valid");
  return faults;
}

const JsonSchema& SarifSchema() {
  static const JsonSchema schema(
      nlohmann::json::parse(ReadText(std::string(WHYOOM_SOURCE_DIR) + "/tests/schemas/sarif-schema-2.1.0.json")));
  return schema;
}
