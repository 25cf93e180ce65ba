// The result of an expression: unknown, a boolean, a number or a text.
#pragma once

#include <optional>
#include <string>
#include <variant>

namespace whyoom {

struct Unknown {
  bool operator==(const Unknown&) const = default;
};

// Numbers are doubles: bytes are exact up to 2^53 (8 PiB).
using Value = std::variant<Unknown, bool, double, std::string>;

inline bool IsKnown(const Value& value) { return !std::holds_alternative<Unknown>(value); }
inline std::optional<bool> AsBool(const Value& value) {
  const bool* truth = std::get_if<bool>(&value);
  return truth != nullptr ? std::optional<bool>(*truth) : std::nullopt;
}
inline std::optional<double> AsNumber(const Value& value) {
  const double* number = std::get_if<double>(&value);
  return number != nullptr ? std::optional<double>(*number) : std::nullopt;
}
inline const std::string* AsText(const Value& value) { return std::get_if<std::string>(&value); }

}  // namespace whyoom
