#include "report/record/fields.h"

#include <re2/re2.h>

#include <cmath>

namespace whyoom {
namespace {

// Rejects names that whyoom does not write.
bool IsRuleName(std::string_view name) {
  static const re2::RE2 form("[A-Za-z0-9_.-]{1,64}");
  return re2::RE2::FullMatch(name, form);
}

bool HasForm(const std::string& text, const FieldSpec& spec) {
  if (*spec.one_of != '\0') {
    const std::vector<std::string> words = WordsOf(spec.one_of);
    return std::find(words.begin(), words.end(), text) != words.end();
  }
  return spec.form == "id" ? IsId(text) : spec.form != "name" || IsRuleName(text);
}

}  // namespace

bool IsId(std::string_view text) {
  return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Json ValueToJson(const Value& value) {
  if (const auto number = AsNumber(value)) {
    constexpr double kExact = 9.2e18;
    if (std::abs(*number) < kExact && *number == std::floor(*number)) return static_cast<std::int64_t>(*number);
    return std::isfinite(*number) ? Json(*number) : Json(nullptr);
  }
  if (const auto truth = AsBool(value)) return *truth;
  const std::string* text = AsText(value);
  return text == nullptr ? Json(nullptr) : Json(Printable(*text));
}

void RecordWriter::Facts(const char* key, const Evidence& facts) {
  Json json = Json::object();
  for (const auto& [name, fact] : facts.all()) {
    if (Json value = ValueToJson(fact.value); !value.is_null()) json[name] = std::move(value);
  }
  json_[key] = std::move(json);
}

const nlohmann::json* RecordReader::Find(const char* key) const {
  if (!record_.is_object()) return nullptr;
  const auto found = record_.find(key);
  return found == record_.end() ? nullptr : &*found;
}

void RecordReader::Rule(const char* key, const FailureRule*& rule) {
  std::string code;
  Need(key, code);
  rule = rules_->FindFailure(code);
  faulty_ = faulty_ || rule == nullptr || rule->code != code;
}

void RecordReader::Rule(const char* key, const Remedy*& remedy) {
  std::string id;
  Need(key, id);
  remedy = rules_->FindRemedy(id);
  faulty_ = faulty_ || remedy == nullptr;
}

void RecordReader::Facts(const char* key, Evidence& facts) {
  std::map<std::string, Value> values;
  Need(key, values);
  for (const auto& [name, value] : values) {
    faulty_ = faulty_ || !IsRuleName(name);
    facts.Set(name, Value(value), {});
  }
}

std::string LineOf(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

bool RecordReader::ReadText(const nlohmann::json& field, const FieldSpec& spec, std::string* text) {
  if (!field.is_string()) return false;
  *text = field.get<std::string>();
  return HasForm(*text, spec);
}

bool RecordReader::ReadValue(const nlohmann::json& field, Value* value) {
  if (field.is_number()) *value = field.get<double>();
  if (field.is_boolean()) *value = field.get<bool>();
  if (field.is_string()) *value = field.get<std::string>();
  return field.is_primitive() && !field.is_null();
}

// Accepts only the output of ToString(Timestamp).
bool RecordReader::ReadTime(const nlohmann::json& field, Timestamp* time) {
  std::string text;
  const auto read = ReadText(field, {}, &text) ? ParseTimestamp(text) : std::nullopt;
  *time = read.value_or(Timestamp());
  return read && ToString(*read) == text;
}

}  // namespace whyoom
