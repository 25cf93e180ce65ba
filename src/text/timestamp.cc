#include "text/timestamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "text/numbers.h"

namespace whyoom {
namespace {

using std::chrono::microseconds;

constexpr std::int64_t kSecond = 1000000;
constexpr std::int64_t kMinute = 60 * kSecond;
constexpr std::int64_t kDay = 24 * 60 * kMinute;

using ThreeNumbers = std::array<int, 3>;

// Microseconds from 1970 to the start of a day; nullopt if the date does not exist.
std::optional<std::int64_t> DayOf(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 1970 || !date.ok()) return std::nullopt;
  return microseconds(std::chrono::sys_days(date).time_since_epoch()).count();
}

// Reads a timestamp from left to right. Faster than regular expressions, which matters if lines have many timestamps.
class TimestampReader {
 public:
  explicit TimestampReader(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }

  bool TakeOneOf(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  // Reads text that matches `format`, or nothing. In `format`, a digit stands for a number of that many digits, "M" for
  // a month's name, and any other character for itself.
  std::optional<ThreeNumbers> Scan(std::string_view format) {
    ThreeNumbers numbers = {};
    std::string_view rest = rest_;
    for (std::size_t number = 0; const char c : format) {
      const std::size_t width = c == 'M' ? 3 : IsDigit(c) ? static_cast<std::size_t>(c - '0') : 0;
      if (rest.size() < std::max<std::size_t>(width, 1)) return std::nullopt;
      if (width == 0 && rest.front() != c) return std::nullopt;
      if (width > 0) {
        const std::optional<int> read = c == 'M' ? MonthOf(rest.substr(0, 3)) : NumberOf(rest.substr(0, width));
        if (!read) return std::nullopt;
        numbers[number++] = *read;
      }
      rest.remove_prefix(std::max<std::size_t>(width, 1));
    }
    rest_ = rest;
    return numbers;
  }

  // Reads "T12:00:00.123456"; returns microseconds of the day.
  std::optional<std::int64_t> Clock() {
    if (!TakeOneOf("T ,")) return std::nullopt;
    TakeOneOf(" ");
    const std::optional<ThreeNumbers> clock = Scan("2:2:2");
    if (!clock) return std::nullopt;
    const auto [hour, minute, second] = *clock;
    if (hour > 23 || minute > 59 || second > 59) return std::nullopt;
    return (hour * 60 + minute) * kMinute + second * kSecond + FractionBehind(".,:");
  }

  // Reads digits after one of `marks` as microseconds; reads nothing and returns 0 if there are none.
  std::int64_t FractionBehind(std::string_view marks) {
    return rest_.size() > 1 && IsDigit(rest_[1]) && TakeOneOf(marks) ? Fraction() : 0;
  }

  // Reads up to nine digits of a fraction of a second as microseconds.
  std::int64_t Fraction() {
    std::int64_t unit = kSecond;
    std::int64_t fraction = 0;
    for (int digits = 0; digits < 9 && !rest_.empty() && IsDigit(rest_.front()); ++digits) {
      unit /= 10;
      fraction += (rest_.front() - '0') * unit;
      rest_.remove_prefix(1);
    }
    return fraction;
  }

  // Reads "Z", "UTC", "GMT" or "+01:00"; returns the zone's offset in minutes, to be subtracted for UTC. Without a
  // zone, reads at most a blank and returns nullopt.
  std::optional<std::int64_t> Zone() {
    TakeOneOf(" ");
    if (TakeWord("Z") || TakeWord("UTC") || TakeWord("GMT")) return 0;
    const std::string_view before = rest_;
    if (!TakeOneOf("+-")) return std::nullopt;
    std::optional<ThreeNumbers> ahead;
    for (const char* format : {"2:2", "22", "2"}) {
      if (!ahead) ahead = Scan(format);
    }
    if (ahead && (*ahead)[0] <= 18 && (*ahead)[1] <= 59)
      return (before.front() == '-' ? -1 : 1) * ((*ahead)[0] * 60 + (*ahead)[1]);
    rest_ = before;
    return std::nullopt;
  }

 private:
  static std::optional<int> NumberOf(std::string_view digits) {
    const std::optional<std::uint64_t> number = ParseWholeNumber(digits);
    return number ? std::optional(static_cast<int>(*number)) : std::nullopt;
  }

  static std::optional<int> MonthOf(std::string_view name) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t found = kMonths.find(name);
    if (found == std::string_view::npos || found % 3 != 0) return std::nullopt;
    return static_cast<int>(found / 3) + 1;
  }

  std::string_view rest_;
};

// Seconds since 1970 have ten digits from 2001 to 2286; finer units append digits to them.
std::optional<Timestamp> ParseEpoch(std::string_view text) {
  constexpr std::size_t kSecondsDigits = 10;
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits != 10 && digits != 13 && digits != 16 && digits != 19) return std::nullopt;
  const auto seconds = static_cast<std::int64_t>(ParseWholeNumber(text.substr(0, kSecondsDigits)).value_or(0));
  TimestampReader rest(text.substr(kSecondsDigits));
  const std::int64_t fraction = digits > kSecondsDigits ? rest.Fraction() : rest.FractionBehind(".");
  if (!rest.at_end()) return std::nullopt;
  return Timestamp{seconds * kSecond + fraction, true};
}

}  // namespace

std::optional<Timestamp> ParseTimestamp(std::string_view text) {
  if (const std::optional<Timestamp> time = ParseEpoch(text)) return time;
  TimestampReader stamp(text);
  std::optional<ThreeNumbers> date;
  for (const char* format : {"4-2-2", "4/2/2", "422"}) {
    if (!date) date = stamp.Scan(format);
  }
  const std::optional<std::int64_t> clock = date ? stamp.Clock() : std::nullopt;
  if (!clock) return std::nullopt;
  const std::optional<std::int64_t> ahead = stamp.Zone();
  const std::optional<std::int64_t> day = DayOf((*date)[0], (*date)[1], (*date)[2]);
  if (!day || !stamp.at_end()) return std::nullopt;
  return Timestamp{*day + *clock - ahead.value_or(0) * kMinute, ahead.has_value()};
}

std::optional<Timestamp> ParseTimestampNear(std::string_view text, const Timestamp& near) {
  TimestampReader stamp(text);
  std::optional<ThreeNumbers> date;
  for (const char* format : {"2/2/4", "2-2", "22", "M 2", "M  1"}) {
    if (!date) date = stamp.Scan(format);
  }
  const std::optional<std::int64_t> clock = date ? stamp.Clock() : std::nullopt;
  if (!clock || !stamp.at_end()) return std::nullopt;
  std::optional<Timestamp> nearest;
  const auto distance = [&](std::int64_t moment) { return std::abs(moment - near.microseconds); };
  const auto consider = [&](int year, int month, int day) {
    const std::optional<std::int64_t> begin = DayOf(year, month, day);
    if (begin && (!nearest || distance(*begin + *clock) < distance(nearest->microseconds)))
      nearest = Timestamp{*begin + *clock, false};
  };
  const auto [first, second, year] = *date;
  if (year != 0) {
    consider(year, first, second);
    consider(year, second, first);
    return nearest;
  }
  const std::chrono::year_month_day about(
      std::chrono::floor<std::chrono::days>(std::chrono::sys_time<microseconds>(microseconds(near.microseconds))));
  const int this_year = static_cast<int>(about.year());
  for (const int candidate : {this_year, this_year - 1, this_year + 1}) consider(candidate, first, second);
  // If the distance is greater, the date is a leap day, which the nearest year does not have.
  constexpr std::int64_t kMaxDays = 184;
  return nearest && distance(nearest->microseconds) > kMaxDays * kDay ? std::nullopt : nearest;
}

std::string ToString(const Timestamp& time) {
  const std::chrono::sys_time<microseconds> moment{microseconds(time.microseconds)};
  const auto day = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss<microseconds> clock(moment - day);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                 clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:06}", clock.subseconds().count());
  return time.zone_known ? text + "Z" : text;
}

std::string WeekOf(const Timestamp& time) {
  constexpr std::int64_t kDay = std::int64_t{86'400} * 1'000'000;
  constexpr std::int64_t kSevenDays = 7 * kDay;
  constexpr std::int64_t kFirstMonday = 4 * kDay;  // 1970-01-05
  const std::int64_t since = time.microseconds - kFirstMonday;
  const std::int64_t weeks = since / kSevenDays - (since % kSevenDays < 0 ? 1 : 0);
  return ToString(Timestamp{kFirstMonday + weeks * kSevenDays, time.zone_known}).substr(0, 10);
}

}  // namespace whyoom
