// Generates a JSON schema from the descriptions of records (report/record/describe.h). A visitor like RecordWriter and
// RecordReader (report/record/fields.h), but it ignores the values. Structures become definitions.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "report/record/fields.h"

namespace whyoom {

class SchemaMaker {
 public:
  static constexpr bool kReads = false;

  // Adds the definitions that the record needs to `definitions`.
  explicit SchemaMaker(Json* definitions) : definitions_(*definitions) {}

  void Record(const char* name, const char* about = "") {
    name_ = name;
    about_ = about;
  }
  template <class T>
  void Need(const char* key, const T& /*value*/, const FieldSpec& spec = {}) {
    required_.push_back(key);
    properties_[key] = With(spec.about, TypeOf<T>(spec, 0));
  }
  template <class T>
  void Maybe(const char* key, const T& /*value*/, const FieldSpec& spec = {}) {
    properties_[key] = With(spec.about, TypeOf<T>(spec, 1));
  }
  template <class Make>
  void Show(const char* key, Make /*make*/, const FieldSpec& spec = {}) {
    Need(key, std::decay_t<std::invoke_result_t<Make>>(), spec);
  }
  template <class Make>
  void MayShow(const char* key, Make /*make*/, const FieldSpec& spec = {}) {
    Maybe(key, std::decay_t<std::invoke_result_t<Make>>(), spec);
  }
  void NeedName(const char* key, const std::string& name, const char* about = "") {
    required_.push_back(key);
    MaybeName(key, name, about);
  }
  void MaybeName(const char* key, const std::string& /*name*/, const char* about = "") {
    properties_[key] = With(about, {{"type", "string"}});
    properties_[std::string(key) + "_bytes"] = FormType(kBase64);
  }
  void Rule(const char* key, const FailureRule* /*failure*/) { Need(key, std::string()); }
  void Rule(const char* key, const Remedy* /*remedy*/) { Need(key, std::string()); }
  void Facts(const char* key, const Evidence& /*facts*/, const char* needed = "", const char* about = "") {
    Json type = {{"type", "object"}};
    if (*needed != '\0') type["required"] = Json::array({needed});
    type["additionalProperties"] = {{"type", {"number", "string", "boolean"}}};
    required_.push_back(key);
    properties_[key] = With(about, type);
  }
  void Constant(const char* key, const char* text) {
    required_.push_back(key);
    properties_[key] = {{"enum", Json::array({text})}};
  }
  void Part(const char* key, auto describe) {
    SchemaMaker part(&definitions_);
    describe(part);
    required_.push_back(key);
    properties_[key] = part.Take();
  }
  template <class T>
  void Group(const char* /*key*/, std::optional<T>& value, auto describe) {
    const Json required = required_;
    describe(value.emplace());
    required_ = required;
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
    return name_.empty() ? schema : Refer(name_, With(about_, schema));
  }

 private:
  static constexpr std::int64_t kNoLeast = std::numeric_limits<std::int64_t>::min();

  // Returns `schema` with the description first, if there is one.
  static Json With(const char* about, const Json& schema) {
    if (*about == '\0') return schema;
    Json described = {{"description", about}};
    described.update(schema);
    return described;
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
      return {{"type", "array"}, {"items", TypeOf<typename T::value_type>({}, 0)}};
    } else if constexpr (IsMap<T>) {
      return {{"type", "object"}, {"additionalProperties", TypeOf<typename T::mapped_type>({}, 0)}};
    } else if constexpr (std::is_same_v<T, Value>) {
      return {{"type", {"number", "string", "boolean", "null"}}};
    } else if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_same_v<T, double>) {
      return NumberType("number", spec, kNoLeast);
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
      return NumberType("integer", spec, least > 0 ? least : kNoLeast);  // may be negative
    } else if constexpr (IsInteger<T>) {
      return NumberType("integer", spec, least);
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      return FormType(kTime);
    } else if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) {
      if (spec.form != nullptr) return FormType(*spec.form);
      if (*spec.one_of != '\0') return {{"enum", WordsOf(spec.one_of)}};
      return {{"type", "string"}};
    } else {
      return Define<T>();
    }
  }
  Json NumberType(const char* type, const FieldSpec& spec, std::int64_t least) {
    Json number = {{"type", type}};
    least = spec.least.value_or(least);
    if (least != kNoLeast) number["minimum"] = least;
    if (spec.most) number["maximum"] = *spec.most;
    return number;
  }
  Json FormType(const TextForm& form) {
    return Refer(form.name, With(form.about, {{"type", "string"}, {"pattern", form.pattern}}));
  }

  Json& definitions_;
  std::string name_;
  const char* about_ = "";
  Json base_;
  Json required_ = Json::array();
  Json properties_ = Json::object();
};

}  // namespace whyoom
