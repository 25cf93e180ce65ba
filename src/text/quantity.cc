#include "text/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "text/regex_options.h"

namespace whyoom {
namespace {

// Each is 1024 times the previous one.
constexpr std::string_view kUnits = "BKMGTPE";
// kB is a KiB in Linux.
constexpr std::string_view kUnit = R"(B|bytes?|kB|[KMGTPE](?:i?B|i)?)";

std::int64_t BytesOfUnit(std::string_view unit) {
  const std::size_t power = unit.empty() ? 0 : unit == "kB" ? 1 : kUnits.find(unit.front());
  return std::int64_t{1} << (10 * (power == std::string_view::npos ? 0 : power));  // "bytes"
}

}  // namespace

std::optional<std::int64_t> ParseSize(std::string_view text) {
  static const Regex size(fmt::format(R"((-?)(\d+|\d{{1,3}}(?:,\d{{3}})+)(?:(?:\.(\d+) ?|\. | ?)({}))?)", kUnit));
  std::string minus, digits, decimals, unit;
  if (!re2::RE2::FullMatch(text, size, &minus, &digits, &decimals, &unit)) return std::nullopt;
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::erase(digits, ',');
  std::int64_t whole = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), whole).ec != std::errc()) whole = kMax;
  long double fraction = 0;
  decimals.insert(0, "0.");
  std::from_chars(decimals.data(), decimals.data() + decimals.size(), fraction);
  const std::int64_t unit_bytes = BytesOfUnit(unit);
  const auto part = static_cast<std::int64_t>(std::floor(fraction * static_cast<long double>(unit_bytes) + 0.5L));
  std::int64_t bytes = 0;
  const bool over =
      whole == kMax || __builtin_mul_overflow(whole, unit_bytes, &bytes) || __builtin_add_overflow(bytes, part, &bytes);
  if (over) return minus.empty() ? kMax : std::numeric_limits<std::int64_t>::min();
  return minus.empty() ? bytes : -bytes;
}

bool EndsWithUnit(std::string_view text) {
  static const Regex end(fmt::format(R"(\d(?:\.? )?(?:{})$)", kUnit));
  return re2::RE2::PartialMatch(text, end);
}

std::string FormatSize(std::int64_t bytes) {
  double value = static_cast<double>(bytes);
  if (std::abs(value) < 1024) return fmt::format("{} B", bytes);
  std::size_t unit = 0;
  do {
    value /= 1024;
    ++unit;
    // At most three digits before the point: 1000 MiB is 0.98 GiB.
  } while (unit + 1 < kUnits.size() && std::abs(value) >= (unit == 1 ? 999.95 : 999.995));
  return fmt::format("{:.{}f} {}iB", value, unit == 1 ? 1 : 2, kUnits[unit]);
}

}  // namespace whyoom
