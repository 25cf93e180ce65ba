// The fields of a JSON record that anybody may have written: each is taken where it has the type that is wanted, else
// the record is faulty.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace whyoom {

class RecordFields {
 public:
  // Borrows the record. What is no object has no fields.
  explicit RecordFields(const nlohmann::json& record) : record_(record) { faulty_ = !record.is_object(); }

  // Of an absent field: nothing, without fault.
  std::optional<std::string> Text(const char* key);
  std::optional<std::uint64_t> Count(const char* key);   // no negative number
  std::optional<std::int64_t> Integer(const char* key);  // within ±9.2e18
  std::optional<double> Number(const char* key);
  std::optional<bool> Truth(const char* key);

  // Of an absent field: empty, and the record is faulty.
  std::string NeedText(const char* key) { return Needed(Text(key)); }
  std::uint64_t NeedCount(const char* key) { return Needed(Count(key)); }
  std::int64_t NeedInteger(const char* key) { return Needed(Integer(key)); }
  bool NeedTruth(const char* key) { return Needed(Truth(key)); }

  // An array's elements, or an object; empty where the field is absent.
  const nlohmann::json& Array(const char* key);
  const nlohmann::json& Object(const char* key);

  // A path or member, from its bytes where it could not be shown; absent: empty.
  std::string Name(const char* key);

  void SetFaulty() { faulty_ = true; }
  bool faulty() const { return faulty_; }

 private:
  const nlohmann::json* Find(const char* key) const;
  template <typename T>
  T Needed(std::optional<T> value) {
    faulty_ = faulty_ || !value;
    return value ? *std::move(value) : T();
  }

  const nlohmann::json& record_;
  bool faulty_ = false;
};

}  // namespace whyoom
