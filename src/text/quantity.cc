#include "text/quantity.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "text/numbers.h"

namespace whyoom {
namespace {

constexpr std::string_view kUnits = "BKMGTPE";  // each is 1024 times the previous one
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::string_view TakeDigits(std::string_view* text) {
  std::size_t count = 0;
  while (count < text->size() && IsDigit((*text)[count])) ++count;
  const std::string_view digits = text->substr(0, count);
  text->remove_prefix(count);
  return digits;
}

// Reads digits with or without thousands commas; returns false if they are malformed. Saturates at kMax.
bool TakeWhole(std::string_view* text, std::int64_t* whole) {
  std::string digits(TakeDigits(text));
  if (digits.empty()) return false;
  const bool grouped = digits.size() <= 3;
  while (!text->empty() && text->front() == ',') {
    text->remove_prefix(1);
    const std::string_view group = TakeDigits(text);
    if (!grouped || group.size() != 3) return false;
    digits += group;
  }
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), *whole);
  if (result.ec == std::errc::result_out_of_range) *whole = kMax;
  return true;
}

// The value of the digits after a decimal point.
long double Fraction(std::string_view digits) {
  long double value = 0;
  long double place = 1;
  for (const char digit : digits.substr(0, 24)) {  // more digits do not affect a byte
    place /= 10;
    value += place * (digit - '0');
  }
  return value;
}

// Accepts "", "B", "K", "KB", "KiB", "Ki", "kB" (KiB in Linux), "bytes"; returns nullopt for anything else.
std::optional<std::int64_t> UnitBytes(std::string_view unit) {
  if (unit.empty() || unit == "byte" || unit == "bytes") return 1;
  if (unit == "kB") return 1024;
  const std::size_t power = kUnits.find(unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = unit.substr(1);
  const bool usual = rest.empty() || (power > 0 && (rest == "B" || rest == "i" || rest == "iB"));
  if (!usual) return std::nullopt;
  return std::int64_t{1} << (10 * power);
}

}  // namespace

std::optional<std::int64_t> ParseSize(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  std::int64_t whole = 0;
  if (!TakeWhole(&text, &whole)) return std::nullopt;
  long double fraction = 0;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    const std::string_view digits = TakeDigits(&text);
    if (digits.empty() && (text.empty() || text.front() != ' ')) return std::nullopt;
    if (!digits.empty() && text.empty()) return std::nullopt;
    fraction = Fraction(digits);
  }
  if (text.size() > 1 && text.front() == ' ') text.remove_prefix(1);
  const std::optional<std::int64_t> unit = UnitBytes(text);
  if (!unit) return std::nullopt;

  std::int64_t bytes = 0;
  const auto part = static_cast<std::int64_t>(std::floor(fraction * static_cast<long double>(*unit) + 0.5L));
  const bool over =
      whole == kMax || __builtin_mul_overflow(whole, *unit, &bytes) || __builtin_add_overflow(bytes, part, &bytes);
  if (over) return negative ? kMin : kMax;
  return negative ? -bytes : bytes;
}

bool EndsWithUnit(std::string_view text) {
  const std::size_t last_digit = text.find_last_of("0123456789");
  if (last_digit == std::string_view::npos) return false;
  constexpr std::size_t kLongest = 6;  // " bytes"
  const std::string_view unit = text.substr(last_digit + 1);
  return !unit.empty() && unit.size() <= kLongest && unit.back() != '.' && unit.back() != ' ' &&
         ParseSize("1" + std::string(unit)).has_value();
}

std::string FormatSize(std::int64_t bytes) {
  // Unsigned, because the smallest int64 has no positive counterpart.
  const std::uint64_t magnitude = bytes < 0 ? -static_cast<std::uint64_t>(bytes) : static_cast<std::uint64_t>(bytes);
  const std::string sign = bytes < 0 ? "-" : "";
  if (magnitude < 1024) return sign + std::to_string(magnitude) + " B";
  std::size_t unit = 1;
  double value = static_cast<double>(magnitude) / 1024;
  // At most three digits before the point: 1000 MiB is 0.98 GiB.
  while (unit + 1 < kUnits.size() && value >= (unit == 1 ? 999.95 : 999.995)) {
    value /= 1024;
    ++unit;
  }
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::fixed,
                                 unit == 1 ? 1 : 2);  // not printf, which depends on the locale
  return sign + std::string(digits.data(), end.ptr) + " " + kUnits[unit] + "iB";
}

}  // namespace whyoom
