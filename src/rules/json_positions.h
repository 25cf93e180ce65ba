// Parses JSON and keeps the place of each value and key, so that faults in rule data have a line and column. Written
// here because no JSON library in Debian keeps places.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace whyoom {

struct JsonPlace {
  std::size_t line = 1;    // 1-based
  std::size_t column = 1;  // 1-based, in bytes
};

struct JsonFault {
  std::size_t offset = 0;
  std::string what;
  std::string hint;
};

class JsonDocument {
 public:
  struct Limits {
    std::size_t bytes = std::size_t{4} << 20;
    std::size_t values = 500'000;
    int depth = 64;
  };

  // Copies `text`. Accepts strict JSON (RFC 8259) in valid UTF-8 without duplicate keys. Never throws. If faults() is
  // not empty, value() is null if the text is not JSON, else it lacks the faulty parts.
  static JsonDocument Parse(std::string_view text);
  static JsonDocument Parse(std::string_view text, const Limits& limits);

  // Whether the document was parsed from text; if not, it has no places.
  bool has_places() const { return !offsets_.empty(); }

  const nlohmann::json& value() const { return value_; }
  const std::vector<JsonFault>& faults() const { return faults_; }

  JsonPlace PlaceAt(std::size_t offset) const;

  // The text of line `number`, 1-based; empty if there is none.
  std::string_view LineText(std::size_t number) const;

  // The place of the value, or of the key, at JSON pointer `pointer`. If it does not exist, that of the nearest
  // existing parent's value.
  JsonPlace PlaceOf(const std::string& pointer) const;
  JsonPlace PlaceOfKey(const std::string& pointer) const;

  // The place of byte `at` of the string at `pointer`. An array of strings counts as the strings joined by a
  // one-byte separator; nested arrays are joined without a separator. Accounts for escapes.
  JsonPlace PlaceInText(const std::string& pointer, std::size_t at) const;

 private:
  friend class JsonScanner;
  struct Offsets {
    std::size_t key = 0;
    std::size_t value = 0;
  };
  const Offsets& Find(std::string pointer) const;
  JsonPlace PlaceInPieces(const std::string& pointer, std::size_t at, std::size_t joint) const;

  std::string text_;
  nlohmann::json value_;
  std::vector<JsonFault> faults_;
  std::unordered_map<std::string, Offsets> offsets_;  // by pointer
  std::vector<std::size_t> line_starts_ = {0};
};

// `key` as a token of a JSON pointer.
std::string PointerToken(std::string_view key);

}  // namespace whyoom
