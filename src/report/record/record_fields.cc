#include "report/record/record_fields.h"

#include <limits>

#include "report/record/base64.h"

namespace whyoom {

using nlohmann::json;

const json* RecordFields::Find(const char* key) const {
  if (!record_.is_object()) return nullptr;
  const auto found = record_.find(key);
  return found == record_.end() ? nullptr : &*found;
}

std::optional<std::string> RecordFields::Text(const char* key) {
  const json* field = Find(key);
  if (field == nullptr) return std::nullopt;
  const auto* text = field->get_ptr<const std::string*>();
  faulty_ = faulty_ || text == nullptr;
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::optional<std::uint64_t> RecordFields::Count(const char* key) {
  const json* field = Find(key);
  if (field == nullptr) return std::nullopt;
  if (field->is_number_unsigned()) return field->get<std::uint64_t>();
  faulty_ = true;
  return std::nullopt;
}

std::optional<std::int64_t> RecordFields::Integer(const char* key) {
  const json* field = Find(key);
  if (field == nullptr) return std::nullopt;
  const bool fits = field->is_number_unsigned()
                        ? field->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()}
                        : field->is_number_integer();
  if (fits) return field->get<std::int64_t>();
  faulty_ = true;
  return std::nullopt;
}

std::optional<double> RecordFields::Number(const char* key) {
  const json* field = Find(key);
  if (field == nullptr) return std::nullopt;
  if (field->is_number()) return field->get<double>();
  faulty_ = true;
  return std::nullopt;
}

std::optional<bool> RecordFields::Truth(const char* key) {
  const json* field = Find(key);
  if (field == nullptr) return std::nullopt;
  if (field->is_boolean()) return field->get<bool>();
  faulty_ = true;
  return std::nullopt;
}

const json& RecordFields::Array(const char* key) {
  static const json kEmpty = json::array();
  const json* field = Find(key);
  if (field != nullptr && field->is_array()) return *field;
  faulty_ = faulty_ || field != nullptr;
  return kEmpty;
}

const json& RecordFields::Object(const char* key) {
  static const json kEmpty = json::object();
  const json* field = Find(key);
  if (field != nullptr && field->is_object()) return *field;
  faulty_ = faulty_ || field != nullptr;
  return kEmpty;
}

std::string RecordFields::Name(const char* key) {
  const std::optional<std::string> bytes = Text((std::string(key) + "_bytes").c_str());
  if (!bytes) return Text(key).value_or(std::string());
  const std::optional<std::string> name = FromBase64(*bytes);
  faulty_ = faulty_ || !name;
  return name.value_or(std::string());
}

}  // namespace whyoom
