// Describes each JSON record once, field by field (describe.h). A description is called with a visitor: RecordWriter
// writes a value as JSON, RecordReader reads a value from untrusted JSON, and tests/unit/report/schema_maker.h
// generates docs/report.schema.json from it and docs/report-details.json.
//
//   void Describe(auto& v, RecordOf<BudgetStep> auto& step) {
//     v.Record("budget_step");
//     v.Rule("id", step.remedy);
//     v.Need("saves_bytes", step.saves_bytes);
//   }
//
// A visitor has these members; fields come in the order of the record:
//
//   Record(name)            the name of the record in the schema; called first
//   Need(key, value)        a field that is always present
//   Maybe(key, value)       a field that is absent if the value is empty, unknown, false, or a number below 1
//   Show, MayShow(key, f)   the same for derived values: f() returns the value; readers ignore the field
//   Rule(key, pointer)      an object of the rule data, by its code or id
//   Facts(key, evidence)    facts by name
//   Constant(key, text)     a constant text
//   Part(key, f)            a nested object; f describes it with a visitor of its own
//   Extend(value)           all fields of another record
//
// Values are texts, numbers, booleans, Timestamps, enumerations, Values of the rule data (write-only, null if unknown),
// described structures, and optionals, vectors and maps of these.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "facts/evidence.h"
#include "input/artifact.h"
#include "rules/rule_set.h"
#include "rules/suggest.h"
#include "text/timestamp.h"
#include "text/utf8.h"

namespace whyoom {

using Json = nlohmann::ordered_json;

// A record as a parameter of its description: const when written, mutable when read.
template <class R, class Record>
concept RecordOf = std::same_as<std::remove_const_t<R>, Record>;

// Properties of a text field, which readers check. docs/report-details.json describes all fields, for the schema.
struct FieldSpec {
  const char* one_of = "";  // the possible texts, separated by blanks; for an enumeration in the order of its values
  std::string_view form;    // "id", "name", "fingerprint"; the definition's name in the schema
};

// Whether the text is an id of a failure or a program, as whyoom makes it.
bool IsId(std::string_view text);

template <class T>
concept IsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
concept IsOptional = std::same_as<T, std::optional<typename T::value_type>>;
template <class T>
concept IsVector = std::same_as<T, std::vector<typename T::value_type>>;
template <class T>
concept IsMap = std::same_as<T, std::map<std::string, typename T::mapped_type>>;

template <class T>
Json ToRecord(const T& value);

// Returns a number, boolean or text; null if unknown.
Json ValueToJson(const Value& value);

class RecordWriter {
 public:
  static constexpr bool kReads = false;

  void Record(const char* /*name*/) {}
  template <class T>
  void Need(const char* key, const T& value, const FieldSpec& spec = {}) {
    json_[key] = ValueJson(value, spec);
  }
  template <class T>
  void Maybe(const char* key, const T& value, const FieldSpec& spec = {}) {
    if (IsPresent(value)) json_[key] = ValueJson(value, spec);
  }
  void Show(const char* key, auto make) { Need(key, make()); }
  void MayShow(const char* key, auto make) { Maybe(key, make()); }
  void Rule(const char* key, const FailureRule* rule) { json_[key] = rule->code; }
  void Rule(const char* key, const Remedy* remedy) { json_[key] = remedy->id; }
  void Facts(const char* key, const Evidence& facts);
  void Constant(const char* key, const char* text) { json_[key] = text; }
  void Part(const char* key, auto describe) {
    RecordWriter part;
    describe(part);
    json_[key] = part.Take();
  }
  void Extend(const auto& value) { Describe(*this, value); }

  Json Take() { return std::move(json_); }

 private:
  template <class T>
  static bool IsPresent(const T& value) {
    if constexpr (IsOptional<T>) {
      return value.has_value();
    } else if constexpr (std::is_same_v<T, bool>) {
      return value;
    } else if constexpr (IsInteger<T>) {
      return value >= 1;
    } else if constexpr (requires { value.empty(); }) {
      return !value.empty();
    } else {
      return !ToRecord(value).empty();
    }
  }
  template <class T>
  static Json ValueJson(const T& value, const FieldSpec& spec) {
    if constexpr (IsOptional<T>) {
      return value ? ValueJson(*value, spec) : Json(nullptr);
    } else if constexpr (IsVector<T>) {
      Json array = Json::array();
      for (const auto& element : value) array.push_back(ValueJson(element, spec));
      return array;
    } else if constexpr (IsMap<T>) {
      Json object = Json::object();
      for (const auto& [name, element] : value) object[name] = ValueJson(element, {});
      return object;
    } else if constexpr (std::is_enum_v<T>) {
      return WordsOf(spec.one_of).at(static_cast<std::size_t>(value));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, Json>) {
      return value;
    } else if constexpr (std::is_same_v<T, Value>) {
      return ValueToJson(value);
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      return ToString(value);
    } else if constexpr (std::is_convertible_v<T, std::string_view>) {
      return Printable(value);  // log text is cleaned when it is read; names come from the file system
    } else {
      return ToRecord(value);
    }
  }

  Json json_ = Json::object();
};

// Reads a record. The whole record is faulty if any of its fields does not have the described form.
class RecordReader {
 public:
  static constexpr bool kReads = true;

  // Borrows both. A record that is no JSON object is faulty. Rules are needed if the record refers to any.
  explicit RecordReader(const nlohmann::json& record, const RuleSet* rules = nullptr)
      : record_(record), rules_(rules), faulty_(!record.is_object()) {}

  void Record(const char* /*name*/) {}
  template <class T>
  void Need(const char* key, T& value, const FieldSpec& spec = {}) {
    const nlohmann::json* field = Find(key);
    faulty_ = faulty_ || field == nullptr || !Read(*field, spec, &value);
  }
  template <class T>
  void Maybe(const char* key, T& value, const FieldSpec& spec = {}) {
    if (Find(key) != nullptr) Need(key, value, spec);
  }
  void Show(const char* /*key*/, auto /*make*/) {}
  void MayShow(const char* /*key*/, auto /*make*/) {}
  void Rule(const char* key, const FailureRule*& rule);
  void Rule(const char* key, const Remedy*& remedy);
  void Facts(const char* key, Evidence& facts);
  void Constant(const char* /*key*/, const char* /*text*/) {}
  void Part(const char* key, auto describe) {
    const nlohmann::json none;
    const nlohmann::json* field = Find(key);
    RecordReader part(field == nullptr ? none : *field, rules_);
    describe(part);
    faulty_ = faulty_ || part.faulty_;
  }
  void Extend(auto& value) { Describe(*this, value); }

  const RuleSet& rules() const { return *rules_; }
  void SetFaulty() { faulty_ = true; }
  bool faulty() const { return faulty_; }

 private:
  const nlohmann::json* Find(const char* key) const;

  template <class T>
  bool Read(const nlohmann::json& field, const FieldSpec& spec, T* value) {
    if constexpr (IsOptional<T>) {
      return Read(field, spec, &value->emplace());
    } else if constexpr (IsVector<T>) {
      const auto read = [&](const nlohmann::json& element) { return Read(element, spec, &value->emplace_back()); };
      return field.is_array() && std::all_of(field.begin(), field.end(), read);
    } else if constexpr (IsMap<T>) {
      const auto read = [&](const auto& element) { return Read(element.value(), {}, &(*value)[element.key()]); };
      return field.is_object() && std::all_of(field.items().begin(), field.items().end(), read);
    } else if constexpr (std::is_enum_v<T>) {
      std::string text;
      if (!ReadText(field, spec, &text)) return false;
      const std::vector<std::string> words = WordsOf(spec.one_of);
      *value = static_cast<T>(std::find(words.begin(), words.end(), text) - words.begin());
      return true;
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (!IsNumberOf<T>(field)) return false;
      *value = field.get<T>();
      return true;
    } else if constexpr (std::is_same_v<T, Value>) {
      return ReadValue(field, value);
    } else if constexpr (std::is_same_v<T, Timestamp>) {
      return ReadTime(field, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return ReadText(field, spec, value);
    } else {
      RecordReader record(field, rules_);
      Describe(record, *value);
      return !record.faulty_;
    }
  }
  template <class T>
  static bool IsNumberOf(const nlohmann::json& field) {
    if constexpr (std::is_same_v<T, double>) return field.is_number();
    if constexpr (std::is_same_v<T, bool>) return field.is_boolean();
    // The parser stores an integer as signed only if it is negative.
    if (!field.is_number_unsigned()) return field.is_number_integer() && std::is_same_v<T, std::int64_t>;
    return field.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  }
  static bool ReadText(const nlohmann::json& field, const FieldSpec& spec, std::string* text);
  static bool ReadValue(const nlohmann::json& field, Value* value);
  static bool ReadTime(const nlohmann::json& field, Timestamp* time);

  const nlohmann::json& record_;
  const RuleSet* rules_;
  bool faulty_;
};

template <class T>
Json ToRecord(const T& value) {
  RecordWriter record;
  Describe(record, value);
  return record.Take();
}

// Returns the value that ToRecord wrote; nullopt for any other JSON.
template <class T>
std::optional<T> FromRecord(const nlohmann::json& json, const RuleSet* rules = nullptr) {
  RecordReader record(json, rules);
  T value;
  Describe(record, value);
  return record.faulty() ? std::nullopt : std::optional(std::move(value));
}

// Returns one line of ASCII.
std::string LineOf(const Json& json);

// Several fields at once: NeedAll(v, "first", value.first, "second", value.second).
void NeedAll(auto& v, const char* key, auto& value, auto&... more) {
  v.Need(key, value);
  if constexpr (sizeof...(more) > 0) NeedAll(v, more...);
}
void MaybeAll(auto& v, const char* key, auto& value, auto&... more) {
  v.Maybe(key, value);
  if constexpr (sizeof...(more) > 0) MaybeAll(v, more...);
}

void Describe(auto& v, RecordOf<Problem> auto& problem) {
  v.Record("problem");
  v.Need("path", problem.path);
  v.Maybe("member", problem.member);
  v.Need("what", problem.what);
  MaybeAll(v, "kind", problem.kind, "line", problem.line, "text", problem.text, "occurrences", problem.occurrences);
}

// A line of --format ndjson.
template <class V>
void DescribeProblem(V& v, RecordOf<Problem> auto& problem) {
  v.Record("problem_record");
  v.Constant("type", "problem");
  v.Extend(problem);
  v.Maybe("of_report", problem.of_report);
}

}  // namespace whyoom
