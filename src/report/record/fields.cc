#include "report/record/fields.h"

#include <chrono>
#include <cmath>
#include <cstdio>

#include "report/encodings.h"

namespace whyoom {
namespace {

bool IsId(std::string_view id) {
  return id.size() == 16 && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// Rejects names that whyoom does not write.
bool IsRuleName(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
  });
}

std::optional<Value> ReadFact(const nlohmann::json& field) {
  if (field.is_number()) return field.get<double>();
  if (field.is_boolean()) return field.get<bool>();
  if (field.is_string()) return field.get<std::string>();
  return std::nullopt;
}

}  // namespace

const TextForm kId = {"id", IsId};
const TextForm kFingerprint = {"fingerprint", nullptr};
const TextForm kRuleName = {"name", IsRuleName};

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

const nlohmann::json& RecordReader::Object(const char* key) const {
  static const nlohmann::json kNone;
  const nlohmann::json* field = Find(key);
  return field == nullptr ? kNone : *field;
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
  const nlohmann::json& fields = Object(key);
  faulty_ = faulty_ || !fields.is_object();
  if (faulty_) return;
  for (const auto& [name, field] : fields.items()) {
    const std::optional<Value> value = ReadFact(field);
    faulty_ = faulty_ || !value || !IsRuleName(name);
    if (!faulty_) facts.Set(name, *value, {});
  }
}

std::string LineOf(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

bool RecordReader::ReadText(const nlohmann::json& field, const FieldSpec& spec, std::string* text) {
  if (!field.is_string()) return false;
  *text = field.get<std::string>();
  return spec.form == nullptr || spec.form->holds == nullptr || spec.form->holds(*text);
}

// Accepts only the output of ToString(Timestamp). ParseTimestamp would reject times before 1970, which occur if an
// unset clock is shown in a zone east of Greenwich.
bool RecordReader::ReadTime(const nlohmann::json& field, Timestamp* time) {
  namespace chrono = std::chrono;
  std::string text;
  int year = 0, hour = 0, minute = 0, second = 0, fraction = 0;
  unsigned month = 0, day = 0;
  if (!ReadText(field, {}, &text)) return false;
  if (std::sscanf(text.c_str(), "%4d-%2u-%2uT%2d:%2d:%2d.%6d", &year, &month, &day, &hour, &minute, &second,
                  &fraction) < 6)
    return false;
  const chrono::year_month_day date{chrono::year(year), chrono::month(month), chrono::day(day)};
  const auto moment = chrono::sys_days(date).time_since_epoch() + chrono::hours(hour) + chrono::minutes(minute) +
                      chrono::seconds(second) + chrono::microseconds(fraction);
  *time = {moment.count(), text.ends_with('Z')};
  return date.ok() && ToString(*time) == text;
}

}  // namespace whyoom
