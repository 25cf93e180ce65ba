// Valijson is slow to compile: it stays in this file.
#ifndef VALIJSON_USE_EXCEPTIONS
#define VALIJSON_USE_EXCEPTIONS 1  // else it ends the program where a schema is wrong
#endif
#if defined(__GNUC__) && !defined(__clang__)
// GCC 12 is wrong about std::regex, which valijson uses, when it builds with sanitizers.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "rules/schema_check.h"

#include <exception>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "input/error.h"
#include "rules/json_positions.h"
#include "rules/schema_explain.h"

namespace whyoom {

struct SchemaCheck::State {
  nlohmann::json text;
  valijson::Schema schema;
};

SchemaCheck::SchemaCheck(std::string_view schema) : state_(std::make_unique<State>()) {
  try {
    state_->text = nlohmann::json::parse(schema);
    valijson::SchemaParser().populateSchema(valijson::adapters::NlohmannJsonAdapter(state_->text), state_->schema);
  } catch (const std::exception& fault) {
    throw Error(std::string("the schema of the rule files cannot be used: ") + fault.what());
  }
}

SchemaCheck::~SchemaCheck() = default;

namespace {

// Valijson names places "<root>", "[key]", "[0]".
std::vector<std::string> PathOf(const std::vector<std::string>& context) {
  std::vector<std::string> path;
  for (std::size_t i = 1; i < context.size(); ++i) path.push_back(context[i].substr(1, context[i].size() - 2));
  return path;
}

// It also complains of each value that holds a bad one.
bool IsEcho(const std::string& description) { return description.starts_with("Failed to validate"); }

}  // namespace

std::vector<SchemaFault> SchemaCheck::Run(const nlohmann::json& value) const {
  std::vector<SchemaFault> faults;
  valijson::ValidationResults results;
  valijson::Validator validator;
  if (validator.validate(state_->schema, valijson::adapters::NlohmannJsonAdapter(value), &results)) return faults;
  std::set<std::vector<std::string>> explained;
  for (const valijson::ValidationResults::Error& error : results) {
    if (IsEcho(error.description)) continue;
    const std::vector<std::string> path = PathOf(error.context);
    if (!explained.insert(path).second) continue;
    std::vector<SchemaFault> words = ExplainFailure(state_->text, value, path);
    if (words.empty()) {
      std::string pointer;
      for (const std::string& step : path) pointer += "/" + PointerToken(step);
      words.push_back({pointer, false, error.description, ""});
    }
    faults.insert(faults.end(), words.begin(), words.end());
  }
  if (faults.empty())
    faults.push_back({"", false, "the file does not have the form that rules/schema.json describes", ""});
  return faults;
}

}  // namespace whyoom
