#include "rules/rule_value.h"

namespace whyoom {
namespace {

void Add(const nlohmann::json& json, flexbuffers::Builder* builder) {
  switch (json.type()) {
    case nlohmann::json::value_t::object: {
      const std::size_t start = builder->StartMap();
      for (const auto& [key, value] : json.items()) {
        builder->Key(key);
        Add(value, builder);
      }
      builder->EndMap(start);
      return;
    }
    case nlohmann::json::value_t::array: {
      const std::size_t start = builder->StartVector();
      for (const nlohmann::json& item : json) Add(item, builder);
      builder->EndVector(start, /*typed=*/false, /*fixed=*/false);
      return;
    }
    case nlohmann::json::value_t::string:
      builder->String(json.get_ref<const std::string&>());
      return;
    case nlohmann::json::value_t::boolean:
      builder->Bool(json.get<bool>());
      return;
    case nlohmann::json::value_t::number_integer:
    case nlohmann::json::value_t::number_unsigned:
      builder->Int(json.get<std::int64_t>());
      return;
    case nlohmann::json::value_t::number_float:
      builder->Double(json.get<double>());
      return;
    default:
      builder->Null();
  }
}

}  // namespace

std::string RuleValue::Pack(const nlohmann::json& json) {
  flexbuffers::Builder builder(/*initial_size=*/1024, flexbuffers::BUILDER_FLAG_SHARE_KEYS_AND_STRINGS);
  Add(json, &builder);
  builder.Finish();
  const std::vector<std::uint8_t>& bytes = builder.GetBuffer();
  return std::string(bytes.begin(), bytes.end());
}

std::string_view RuleValue::text() const {
  if (!is_packed_) return json_->get_ref<const std::string&>();
  const flexbuffers::String text = packed_.AsString();
  return {text.c_str(), text.length()};
}

RuleValue RuleValue::Find(const std::string& key) const {
  if (is_packed_) {
    const flexbuffers::Reference found = packed_.AsMap()[key];
    return found.IsNull() ? RuleValue() : RuleValue(found);
  }
  const auto found = json_->find(key);
  return found == json_->end() ? RuleValue() : RuleValue(&*found);
}

std::vector<std::string> RuleValue::Keys() const {
  std::vector<std::string> keys;
  if (is_packed_) {
    const flexbuffers::TypedVector packed = packed_.AsMap().Keys();
    for (std::size_t i = 0; i < packed.size(); ++i) keys.emplace_back(packed[i].AsKey());
  } else {
    for (const auto& [key, value] : json_->items()) keys.push_back(key);
  }
  return keys;
}

}  // namespace whyoom
