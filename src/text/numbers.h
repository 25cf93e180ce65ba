// Arithmetic that cannot overflow, for figures from untrusted logs.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace whyoom {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Parses a text of digits only; nullopt otherwise or if it exceeds 64 bits.
inline std::optional<std::uint64_t> ParseWholeNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// The sum of two non-negative numbers, or the largest number if it overflows.
template <typename Integer>
constexpr Integer SaturatingAdd(Integer a, Integer b) {
  Integer sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<Integer>::max() : sum;
}

inline constexpr double kMaxBytes = 9.0e18;  // fits into 64 bits

// Converts a computed figure to bytes, clamped to ±kMaxBytes.
inline std::int64_t ClampToBytes(double bytes) {
  return static_cast<std::int64_t>(std::clamp(bytes, -kMaxBytes, kMaxBytes));
}

}  // namespace whyoom
