// Arithmetic that hostile figures cannot break.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace whyoom {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Of a text that is nothing but digits; nullopt also where 64 bits do not hold it.
inline std::optional<std::uint64_t> WholeNumber(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

// The sum, or the largest number there is. Of numbers that are not negative.
template <typename Integer>
constexpr Integer AddBounded(Integer a, Integer b) {
  Integer sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<Integer>::max() : sum;
}

inline constexpr double kMostBytes = 9.0e18;  // that 64 bits hold

// A figure that was computed, as bytes; beyond the most it comes to that.
inline std::int64_t WholeBytes(double bytes) {
  return static_cast<std::int64_t>(std::clamp(bytes, -kMostBytes, kMostBytes));
}

}  // namespace whyoom
