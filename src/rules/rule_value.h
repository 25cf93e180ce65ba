// A value of rule data, to be read: of a rule file, or of what the build has packed of the files that are compiled in,
// which needs no parsing at a start. Packed data is in FlexBuffers, since these can be read where they lie.
#pragma once

#include <flatbuffers/flexbuffers.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

class RuleValue {
 public:
  RuleValue() = default;  // there is none
  // Borrows it; null: there is none.
  explicit RuleValue(const nlohmann::json* json) : json_(json) {}
  // Borrows the bytes, which are right and begin at a multiple of eight.
  static RuleValue OfPacked(std::string_view packed) {
    return RuleValue(flexbuffers::GetRoot(reinterpret_cast<const std::uint8_t*>(packed.data()), packed.size()));
  }
  static std::string Pack(const nlohmann::json& json);

  bool exists() const { return json_ != nullptr || is_packed_; }
  bool is_null() const { return is_packed_ ? packed_.IsNull() : json_ != nullptr && json_->is_null(); }
  bool is_object() const { return is_packed_ ? packed_.IsMap() : json_ != nullptr && json_->is_object(); }
  bool is_array() const { return is_packed_ ? packed_.IsUntypedVector() : json_ != nullptr && json_->is_array(); }
  bool is_string() const { return is_packed_ ? packed_.IsString() : json_ != nullptr && json_->is_string(); }
  bool is_bool() const { return is_packed_ ? packed_.IsBool() : json_ != nullptr && json_->is_boolean(); }
  bool is_number() const { return is_packed_ ? packed_.IsNumeric() : json_ != nullptr && json_->is_number(); }
  bool is_integer() const { return is_packed_ ? packed_.IsInt() : json_ != nullptr && json_->is_number_integer(); }

  // Each only of a value of that kind.
  std::string_view text() const;
  bool boolean() const { return is_packed_ ? packed_.AsBool() : json_->get<bool>(); }
  std::int64_t integer() const { return is_packed_ ? packed_.AsInt64() : json_->get<std::int64_t>(); }
  double number() const { return is_packed_ ? packed_.AsDouble() : json_->get<double>(); }
  std::size_t size() const { return is_packed_ ? packed_.AsVector().size() : json_->size(); }
  RuleValue At(std::size_t item) const {
    return is_packed_ ? RuleValue(packed_.AsVector()[item]) : RuleValue(&(*json_)[item]);
  }
  RuleValue Find(const std::string& key) const;  // of an object; none where it has no such key
  std::vector<std::string> Keys() const;         // of an object, ascending

  // Of a rule file's own value.
  const nlohmann::json& json() const { return *json_; }

 private:
  explicit RuleValue(flexbuffers::Reference packed) : packed_(packed), is_packed_(true) {}

  const nlohmann::json* json_ = nullptr;
  flexbuffers::Reference packed_;
  bool is_packed_ = false;
};

}  // namespace whyoom
