// Generates a JSON schema from the descriptions of records (report/record/describe.h). A visitor like RecordWriter and
// RecordReader (report/record/fields.h), but it ignores the values. Structures become definitions.
#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <set>
#include <string>
#include <type_traits>

#include "report/record/fields.h"

namespace whyoom {

// Descriptions for the schema, by "record", "record.field" or the name of a form.
inline const Json& ReportDetails() {
  static const Json details = Json::parse(std::ifstream(WHYOOM_SOURCE_DIR "/docs/report-details.json"));
  return details;
}
inline std::set<std::string>& UsedDetails() {
  static std::set<std::string> used;
  return used;
}

class SchemaMaker {
 public:
  static constexpr bool kReads = false;

  // Adds the definitions that the record needs to `definitions`.
  explicit SchemaMaker(Json* definitions) : definitions_(*definitions) {}

  void Record(const char* name) { name_ = path_ = name; }
  template <class T>
  void Need(const char* key, const T& /*value*/, const FieldSpec& spec = {}) {
    required_.push_back(key);
    properties_[key] = Detailed(key, TypeOf<T>(spec, 0));
  }
  template <class T>
  void Maybe(const char* key, const T& /*value*/, const FieldSpec& spec = {}) {
    properties_[key] = Detailed(key, TypeOf<T>(spec, 1));
  }
  template <class Make>
  void Show(const char* key, Make /*make*/) {
    Need(key, std::decay_t<std::invoke_result_t<Make>>());
  }
  template <class Make>
  void MayShow(const char* key, Make /*make*/) {
    Maybe(key, std::decay_t<std::invoke_result_t<Make>>());
  }
  void Rule(const char* key, const FailureRule* /*failure*/) { Need(key, std::string()); }
  void Rule(const char* key, const Remedy* /*remedy*/) { Need(key, std::string()); }
  void Facts(const char* key, const Evidence& /*facts*/) {
    required_.push_back(key);
    properties_[key] =
        Detailed(key, {{"type", "object"}, {"additionalProperties", {{"type", {"number", "string", "boolean"}}}}});
  }
  void Constant(const char* key, const char* text) {
    required_.push_back(key);
    properties_[key] = {{"enum", Json::array({text})}};
  }
  void Part(const char* key, auto describe) {
    SchemaMaker part(&definitions_);
    part.path_ = path_ + "." + key;
    describe(part);
    required_.push_back(key);
    properties_[key] = part.Take();
  }
  template <class T>
  void Extend(const T& /*value*/) {
    base_ = Define<T>();
  }

  // Returns the schema of the visited record. If the record has a name, adds a definition and returns a reference to
  // it.
  Json Take() {
    Json schema = Json::object();
    if (base_.is_null()) {
      schema["type"] = "object";
    } else {
      schema["allOf"] = Json::array({base_});
    }
    if (!required_.empty()) schema["required"] = required_;
    schema["properties"] = properties_;
    return name_.empty() ? schema : Refer(name_, With(name_, schema));
  }

 private:
  static constexpr std::int64_t kNoLeast = std::numeric_limits<std::int64_t>::min();

  // Returns `schema` with what docs/report-details.json says about `name`; its description is first.
  static Json With(const std::string& name, const Json& schema) {
    const Json& details = ReportDetails();
    const auto found = details.find(name);
    if (found == details.end()) return schema;
    UsedDetails().insert(name);
    Json described = Json::object();
    if (found->is_string()) {
      described["description"] = *found;
      described.update(schema);
      return described;
    }
    if (found->contains("description")) described["description"] = found->at("description");
    described.update(schema);
    described.update(*found);
    return described;
  }
  // "*.key" describes a field of several records.
  Json Detailed(const std::string& key, const Json& type) const {
    const std::string own = path_ + "." + key;
    return With(ReportDetails().contains(own) ? own : "*." + key, type);
  }
  Json Refer(const std::string& name, const Json& definition) {
    definitions_[name] = definition;
    return {{"$ref", "#/definitions/" + name}};
  }
  template <class T>
  Json Define() {
    SchemaMaker maker(&definitions_);
    T value{};
    Describe(maker, value);
    return maker.Take();
  }

  // `least` is the minimum for a number if its description does not state one.
  template <class T>
  Json TypeOf(const FieldSpec& spec, std::int64_t least) {
    if constexpr (IsOptional<T>) {
      return TypeOf<typename T::value_type>(spec, kNoLeast);
    } else if constexpr (IsVector<T>) {
      return {{"type", "array"}, {"items", TypeOf<typename T::value_type>(spec, 0)}};
    } else if constexpr (IsMap<T>) {
      return {{"type", "object"}, {"additionalProperties", TypeOf<typename T::mapped_type>({}, 0)}};
    } else if constexpr (std::is_same_v<T, Value>) {
      return {{"type", {"number", "string", "boolean", "null"}}};
    } else if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_same_v<T, double>) {
      return NumberType("number", kNoLeast);
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      return NumberType("integer", least > 0 ? least : kNoLeast);  // may be negative
    } else if constexpr (IsInteger<T>) {
      return NumberType("integer", least);
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      return FormType("time");
    } else if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) {
      if (!spec.form.empty()) return FormType(std::string(spec.form));
      if (*spec.one_of != '\0') return {{"enum", WordsOf(spec.one_of)}};
      return {{"type", "string"}};
    } else {
      return Define<T>();
    }
  }
  static Json NumberType(const char* type, std::int64_t least) {
    Json number = {{"type", type}};
    if (least != kNoLeast) number["minimum"] = least;
    return number;
  }
  Json FormType(const std::string& name) { return Refer(name, With(name, {{"type", "string"}})); }

  Json& definitions_;
  std::string name_;
  std::string path_;  // of the fields in docs/report-details.json: the record, or a part of one
  Json base_;
  Json required_ = Json::array();
  Json properties_ = Json::object();
};

}  // namespace whyoom
