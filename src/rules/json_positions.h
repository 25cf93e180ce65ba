// JSON text with the way back from each value and key to its place in the text, so that whatever is
// wrong with rule data can be said with line and column. Own, because no JSON library of Debian keeps places.
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

  // Copies `text`. Strict JSON (RFC 8259), valid UTF-8, no key twice in an object. Never throws; where
  // faults() is not empty after that, value() is null if the text is not JSON, else without what is at fault.
  static JsonDocument Parse(std::string_view text);
  static JsonDocument Parse(std::string_view text, const Limits& limits);

  // Whether there is a text: else places say nothing.
  bool is_placed() const { return !offsets_.empty(); }

  const nlohmann::json& value() const { return value_; }
  const std::vector<JsonFault>& faults() const { return faults_; }

  JsonPlace PlaceAt(std::size_t offset) const;

  // The text of the line `number`, 1-based; empty where there is none.
  std::string_view LineText(std::size_t number) const;

  // Of the value or of the key that JSON pointer `pointer` ends in; the nearest parent's value where it does not exist.
  JsonPlace PlaceOf(const std::string& pointer) const;
  JsonPlace PlaceOfKey(const std::string& pointer) const;

  // Of byte `at` of the string at `pointer`; of an array of strings, of their text joined by one byte
  // each; of an array in it, of its strings joined by nothing. Escapes are accounted for.
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
  std::vector<std::size_t> line_starts_;
};

// `key` as a token of a JSON pointer.
std::string PointerToken(std::string_view key);

}  // namespace whyoom
