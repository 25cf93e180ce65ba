// rules/schema.json, which editors use to explain keys and offer values.
#include "unit/rules/rule_schema.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "recorded.h"
#include "rules/describe_rules.h"
#include "rules/suggest.h"

namespace whyoom {
namespace TEST_FILE {

using Json = nlohmann::ordered_json;

Json Reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

// The entry of docs/rules-details.json for "Sentence", "Sentence.text" or "file.remedies".
std::string About(const std::string& name) {
  static const Json details = Json::parse(std::ifstream(WHYOOM_SOURCE_DIR "/docs/rules-details.json"));
  const auto found = details.find(name);
  return found == details.end() ? "" : found->value("about", "");
}

// A visitor that ignores the values. Records become definitions.
class SchemaMaker {
 public:
  SchemaMaker(Json* definitions, std::string title) : definitions_(*definitions), title_(std::move(title)) {}

  void Record(const char* title) { title_ = title; }
  template <class T>
  void Need(const char* key, const T& value, const RuleField& field = {}) {
    required_.push_back(key);
    Maybe(key, value, field);
  }
  template <class T>
  void Maybe(const char* key, const T& /*value*/, const RuleField& field = {}) {
    AddKey(key, TypeOf<T>(field));
  }
  template <class T>
  void Short(const char* key, const T& value, const RuleField& field) {
    types_ = {"string", "array", "object"};
    field.is_needed ? Need(key, value, field) : Maybe(key, value, field);
  }
  template <class T>
  void Self(const T& /*value*/, const RuleField& field = {}) {
    self_ = TypeOf<T>(field);
  }
  void Check(bool, const char*, const std::string&, const std::string& = "") {}
  void Computed(const std::string&) {}
  void Samples(const whyoom::Samples& samples, const auto& /*matches*/, bool is_needed = true) {
    Maybe("examples", samples.examples);
    Maybe("counterexamples", samples.counterexamples);
    if (is_needed) required_.push_back("examples");
  }
  void CheckAffix(const std::string&) { Samples(whyoom::Samples(), kUnchecked); }
  void TriggerTexts(const char* key) { Maybe(key, std::vector<std::string>()); }

  template <class T>
  void Section(const char* key, const std::vector<T>& /*entries*/) {
    AddKey(key, {{"type", "array"}, {"items", Define<T>()}});
  }
  template <class T>
  void ByName(const char* key, const std::vector<T>& /*entries*/) {
    AddKey(key, {{"type", "object"}, {"additionalProperties", Define<T>()}});
  }
  template <class T>
  void Settings(const char* key, const T& /*record*/) {
    SchemaMaker maker(&definitions_, "");
    T value;
    Describe(maker, value);
    properties_[key] = maker.Object();
  }
  void AddKey(const std::string& key, const Json& type) {
    properties_[key] = {{"description", About(title_ + "." + key)}};
    properties_[key].update(type);
  }

  Json Object() {
    Json object = {{"title", title_},
                   {"description", About(title_)},
                   {"type", types_.size() == 1 ? Json(types_[0]) : Json(types_)}};
    object["additionalProperties"] = false;
    if (!required_.empty()) object["required"] = required_;
    object["properties"] = properties_;
    if (types_.size() > 1) object["items"] = Reference("pieces");
    return object;
  }

 private:
  template <class T>
  Json Define() {
    SchemaMaker maker(&definitions_, "");
    T value;
    Describe(maker, value);
    if (!maker.self_.is_null()) return maker.self_;
    std::string name = maker.title_;
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return c == ' ' ? '_' : static_cast<char>(std::tolower(c)); });
    definitions_[name] = maker.Object();
    return Reference(name);
  }

  template <class T>
  Json TypeOf(const RuleField& field) {
    if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) {
      if (*field.one_of != '\0') return {{"enum", WordsOf(field.one_of)}};
      if (*field.form != '\0') return {{"type", "string"}, {"pattern", field.form}};
      return Reference(field.lines ? "lines" : "text");
    } else if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_same_v<T, int>) {
      return {{"type", "integer"}, {"minimum", 0}, {"maximum", field.most}};
    } else if constexpr (std::is_same_v<T, double>) {
      return {{"type", {"number", "string"}}};
    } else if constexpr (std::is_same_v<T, Expression>) {
      return Reference("expression");
    } else if constexpr (std::is_same_v<T, Template>) {
      return Reference("text");
    } else if constexpr (std::is_same_v<T, Pattern>) {
      return Reference("pattern");
    } else if constexpr (std::is_same_v<T, std::map<std::string, Value>>) {
      return Reference("facts");
    } else if constexpr (requires { typename T::mapped_type; }) {
      return {{"type", "object"}, {"additionalProperties", TypeOf<typename T::mapped_type>({})}};
    } else if constexpr (requires(T value) { value.has_value(); }) {
      return TypeOf<typename T::value_type>(field);
    } else if constexpr (requires(T value) { value.begin(); }) {
      return {{"type", {"array", "string"}}, {"items", TypeOf<typename T::value_type>(field)}};
    } else {
      return Define<T>();
    }
  }

  Json& definitions_;
  std::string title_;
  std::vector<std::string> types_ = {"object"};
  std::vector<std::string> required_;
  Json properties_ = Json::object();
  Json self_;
};

// A text, or an array of texts; `title` if the page has a heading for it.
Json Texts(const std::string& name, const char* title = "") {
  Json texts = {{"description", About(name)}, {"type", {"string", "array"}}, {"items", Reference("pieces")}};
  if (*title != '\0') texts["title"] = title;
  return texts;
}

std::string MakeSchema() {
  const Json pieces = {
      {"description", About("pieces")}, {"type", {"string", "array"}}, {"items", {{"type", "string"}}}};
  const Json facts = {{"description", About("facts")},
                      {"type", "object"},
                      {"additionalProperties", {{"type", {"number", "string", "boolean"}}}}};
  Json definitions = {{"pieces", pieces},
                      {"text", Texts("text")},
                      {"lines", Texts("lines")},
                      {"facts", facts},
                      {"pattern", Texts("Pattern", "Pattern")},
                      {"expression", Texts("Expression", "Expression")}};
  SchemaMaker maker(&definitions, "file");
  maker.AddKey("$schema", {{"type", "string"}});
  maker.AddKey("$comment", {{"type", {"string", "array"}}});
  maker.AddKey("format", {{"enum", Json::array({"whyoom.rules/1"})}});
  RuleSet none;
  DescribeSections(maker, none);
  const Json extends = {{"description", About("extends")}, {"type", "string"}};
  maker.AddKey(
      "extensions",
      {{"type", "array"},
       {"items",
        {{"type", "object"}, {"required", Json::array({"extends"})}, {"properties", {{"extends", extends}}}}}});
  maker.AddKey("disable", {{"type", "array"}, {"items", {{"type", "string"}}}});
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", "whyoom.rules/1"}};
  schema.update(maker.Object());
  schema["title"] = "Rules of whyoom";
  schema["required"] = Json::array({"format"});
  schema["definitions"] = definitions;
  return schema.dump(1) + "\n";
}

TEST_CASE("the published schema of rule files matches the descriptions", "[rules]") {
  CheckRecorded(WHYOOM_SOURCE_DIR "/rules/schema.json", RuleSchema());
}

TEST_CASE("every key of a rule file has a description", "[rules]") {
  const Json schema = Json::parse(RuleSchema());
  std::size_t keys = 0;
  for (const auto& [name, definition] : schema["definitions"].items()) {
    CHECK_FALSE(definition["description"].get<std::string>().empty());
    const Json properties = definition.value("properties", Json::object());
    for (const auto& [key, property] : properties.items()) {
      INFO(name << " " << key);
      CHECK_FALSE(property["description"].get<std::string>().empty());
      ++keys;
    }
  }
  CHECK(keys > 100);
}

}  // namespace TEST_FILE

const std::string& RuleSchema() {
  static const std::string schema = TEST_FILE::MakeSchema();
  return schema;
}

}  // namespace whyoom
