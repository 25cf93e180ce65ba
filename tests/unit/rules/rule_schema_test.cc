// rules/schema.json, which editors use to explain keys and offer values.
#include "unit/rules/rule_schema.h"

#include <algorithm>
#include <cctype>
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

// A visitor that ignores the values. Records become definitions.
class SchemaMaker {
 public:
  explicit SchemaMaker(Json* definitions) : definitions_(*definitions) {}

  void Record(const char* title, const char* about) {
    title_ = title;
    about_ = about;
  }
  template <class T>
  void Need(const char* key, const T& value, const RuleField& field = {}) {
    required_.push_back(key);
    Maybe(key, value, field);
  }
  template <class T>
  void Maybe(const char* key, const T& /*value*/, const RuleField& field = {}) {
    Json described = {{"description", field.about}};
    described.update(TypeOf<T>(field));
    properties_[key] = described;
  }
  template <class T>
  void Short(const char* key, const T& value, const RuleField& field) {
    types_ = {"string", "array", "object"};
    Need(key, value, field);
  }
  template <class T>
  void Self(const T& /*value*/, const RuleField& field) {
    self_ = TypeOf<T>(field);
  }
  template <class T>
  void Unstored(const char* key, const T& value, const RuleField& field) {
    Maybe(key, value, field);
  }
  void OwnedBy(const std::string& /*owner*/) {}
  void Check(bool, const char*, const std::string&, const std::string& = "") {}
  void Distinct(const char*, const auto&) {}
  void Computed(const std::string&) {}
  void Samples(const whyoom::Samples& samples) {
    MaybeSamples(samples);
    required_.push_back("examples");
  }
  void Samples(const whyoom::Samples& samples, const auto& /*matches*/) { Samples(samples); }
  void MaybeSamples(const whyoom::Samples& samples) {
    Maybe("examples", samples.examples, {.about = "Texts that the entry must match."});
    Maybe("counterexamples", samples.counterexamples, {.about = "Similar texts that it must not match."});
  }
  void CheckAffix(const std::string&) { Samples(whyoom::Samples()); }
  void TriggerTexts(const char* key, const char* about) { Maybe(key, std::vector<std::string>(), {.about = about}); }

  template <class T>
  void Section(const char* key, const std::vector<T>& /*entries*/, const char* about) {
    properties_[key] = {{"description", about}, {"type", "array"}, {"items", Define<T>()}};
  }
  template <class T>
  void ByName(const char* key, const std::vector<T>& /*entries*/, const char* about) {
    properties_[key] = {{"description", about}, {"type", "object"}, {"additionalProperties", Define<T>()}};
  }
  template <class T>
  void Settings(const char* key, const T& /*record*/) {
    SchemaMaker maker(&definitions_);
    T value;
    Describe(maker, value);
    properties_[key] = maker.Object();
  }
  void Add(const char* key, const Json& property) { properties_[key] = property; }

  Json Object() {
    Json object = {
        {"title", title_}, {"description", about_}, {"type", types_.size() == 1 ? Json(types_[0]) : Json(types_)}};
    object["additionalProperties"] = false;
    if (!required_.empty()) object["required"] = required_;
    object["properties"] = properties_;
    return object;
  }

 private:
  template <class T>
  Json Define() {
    SchemaMaker maker(&definitions_);
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
      return {{"type", "integer"}, {"minimum", field.least}, {"maximum", field.most}};
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
      RuleField item = field;
      item.about = "";
      return {{"type", {"array", "string"}}, {"items", TypeOf<typename T::value_type>(item)}};
    } else {
      return Define<T>();
    }
  }

  Json& definitions_;
  std::string title_;
  std::string about_;
  std::vector<std::string> types_ = {"object"};
  std::vector<std::string> required_;
  Json properties_ = Json::object();
  Json self_;
};

Json Texts(const char* description) {
  return {{"description", description}, {"type", {"string", "array"}}, {"items", Reference("pieces")}};
}

Json Titled(const char* title, const char* description) {
  Json texts = Texts(description);
  texts["title"] = title;
  return texts;
}

std::string MakeSchema() {
  Json definitions = {{"pieces",
                       {{"description", "A string, or an array of strings that are joined without a separator."},
                        {"type", {"string", "array"}},
                        {"items", {{"type", "string"}}}}},
                      {"text", Texts("A text.")},
                      {"lines", Texts("Lines of a log. An array of strings is joined with line breaks.")},
                      {"facts",
                       {{"description", "Facts by name."},
                        {"type", "object"},
                        {"additionalProperties", {{"type", {"number", "string", "boolean"}}}}}},
                      {"pattern", Titled("Pattern", "A regular expression in RE2 syntax with two additions.")},
                      {"expression", Titled("Expression",
                                            "A condition or formula; docs/rules-language.md lists operators, functions "
                                            "and names.")}};
  SchemaMaker maker(&definitions);
  maker.Record("Rules of whyoom", "A rule file of whyoom; rules/README.md shows how to write one.");
  maker.Add("$schema", {{"description", "The address of this schema, for editors."}, {"type", "string"}});
  maker.Add("$comment", {{"description", "A comment for people who edit the file."}, {"type", {"string", "array"}}});
  maker.Add("format", {{"description", "The version of the rule format."}, {"enum", Json::array({"whyoom.rules/1"})}});
  RuleData none;
  DescribeSections(maker, none);
  maker.Add(
      "extensions",
      {{"description",
        "Changes to existing failures and remedies: keys of such an entry, and the "
        "code or id in `extends`."},
       {"type", "array"},
       {"items",
        {{"type", "object"},
         {"required", Json::array({"extends"})},
         {"properties",
          {{"extends", {{"description", "The code of the failure or id of the remedy."}, {"type", "string"}}}}}}}});
  maker.Add("disable", {{"description",
                         "Entries to remove: `remedies/bf16`, `failures/E1001`, "
                         "`contexts/vllm_config`, `failures/E1000/heads/used_of`."},
                        {"type", "array"},
                        {"items", {{"type", "string"}}}});
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"$id", "whyoom.rules/1"}};
  schema.update(maker.Object());
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
