// Arithmetic that hostile figures cannot break.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace whyoom {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

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
