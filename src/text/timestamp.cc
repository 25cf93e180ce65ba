#include "text/timestamp.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

namespace whyoom {
namespace {

using std::chrono::microseconds;

// Reads a stamp from left to right. Written out, because each line near a hit may have several.
class StampReader {
 public:
  explicit StampReader(std::string_view text) : text_(text) {}

  std::optional<Timestamp> Read() {
    if (const std::optional<Timestamp> time = Epoch()) return time;
    std::int64_t clock = 0;
    if (!Date() || !Clock(&clock)) return std::nullopt;
    bool zone_known = false;
    std::int64_t ahead = 0;
    if (!Zone(&zone_known, &ahead) || at_ != text_.size()) return std::nullopt;
    const std::optional<std::int64_t> day = Day(year_, month_, day_);
    if (!day) return std::nullopt;
    return Timestamp{*day + clock - ahead * kMinute, zone_known};
  }

  // What leaves the year open, or which number is the month.
  std::optional<Timestamp> ReadNear(const Timestamp& near) {
    int first = 0;
    int second = 0;
    int year = 0;
    const bool named = MonthName(&first);
    if (named) {
      if (!Take(' ') || !(Take(' ') ? Digits(1, &second) : Digits(2, &second))) return std::nullopt;
    } else {
      if (!Digits(2, &first)) return std::nullopt;
      const bool slash = Take('/');
      if (!slash) Take('-');
      if (!Digits(2, &second) || (slash && (!Take('/') || !Digits(4, &year)))) return std::nullopt;
    }
    std::int64_t clock = 0;
    if (!Clock(&clock) || at_ != text_.size()) return std::nullopt;
    const std::chrono::year_month_day about(
        std::chrono::floor<std::chrono::days>(std::chrono::sys_time<microseconds>(microseconds(near.microseconds))));
    std::optional<Timestamp> nearest;
    const auto consider = [&](int in_year, int month, int day) {
      const std::optional<std::int64_t> at = Day(in_year, static_cast<unsigned>(month), static_cast<unsigned>(day));
      if (!at) return;
      const auto distance = [&](std::int64_t moment) { return std::abs(moment - near.microseconds); };
      if (!nearest || distance(*at + clock) < distance(nearest->microseconds)) nearest = Timestamp{*at + clock, false};
    };
    if (year != 0) {
      consider(year, first, second);
      consider(year, second, first);
    } else {
      const int this_year = static_cast<int>(about.year());
      for (const int candidate : {this_year, this_year - 1, this_year + 1}) consider(candidate, first, second);
    }
    // Half a year off another year would be nearer, were the day in it: a leap day is not.
    constexpr std::int64_t kMostDays = 184;
    const bool leap = year == 0 && nearest && std::abs(nearest->microseconds - near.microseconds) > kMostDays * kDay;
    return leap ? std::nullopt : nearest;
  }

 private:
  static constexpr std::int64_t kSecond = 1000000;
  static constexpr std::int64_t kMinute = 60 * kSecond;
  static constexpr std::int64_t kDay = 24 * 60 * kMinute;

  // Microseconds from 1970 to the day's begin; nullopt where no calendar has it.
  static std::optional<std::int64_t> Day(int year, unsigned month, unsigned day) {
    const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month), std::chrono::day(day)};
    if (year < 1970 || !date.ok()) return std::nullopt;
    return microseconds(std::chrono::sys_days(date).time_since_epoch()).count();
  }

  // "Nov", as a number.
  bool MonthName(int* month) {
    constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
    const std::size_t found = kMonths.find(text_.substr(at_, 3));
    if (text_.size() < at_ + 3 || found == std::string_view::npos || found % 3 != 0) return false;
    at_ += 3;
    *month = static_cast<int>(found / 3) + 1;
    return true;
  }

  char Next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool IsDigit() const { return Next() >= '0' && Next() <= '9'; }
  bool Take(char c) {
    if (Next() != c) return false;
    ++at_;
    return true;
  }
  bool TakeOneOf(std::string_view characters) {
    return Next() != '\0' && characters.find(Next()) != std::string_view::npos && Take(Next());
  }
  bool TakeWord(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool Digits(int count, int* value) {
    *value = 0;
    for (int i = 0; i < count; ++i, ++at_) {
      if (!IsDigit()) return false;
      *value = *value * 10 + (Next() - '0');
    }
    return true;
  }

  // Seconds since 1970 have had ten digits since 2001, and will until 2286; finer units have their digits behind these.
  std::optional<Timestamp> Epoch() {
    constexpr std::size_t kSecondsDigits = 10;
    const std::size_t digits = std::min(text_.find_first_not_of("0123456789"), text_.size());
    if (digits != 10 && digits != 13 && digits != 16 && digits != 19) return std::nullopt;
    std::int64_t seconds = 0;
    for (; at_ < kSecondsDigits; ++at_) seconds = seconds * 10 + (Next() - '0');
    const std::int64_t fraction = digits == kSecondsDigits ? Fraction(".") : FractionDigits();
    if (at_ != text_.size()) return std::nullopt;
    return Timestamp{seconds * kSecond + fraction, true};
  }

  // "2026-11-20", "2026/11/20" or "20261120".
  bool Date() {
    if (!Digits(4, &year_)) return false;
    const char separator = Next();
    const bool separated = TakeOneOf("-/");
    int month = 0;
    int day = 0;
    if (!Digits(2, &month) || (separated && !Take(separator)) || !Digits(2, &day)) return false;
    month_ = static_cast<unsigned>(month);
    day_ = static_cast<unsigned>(day);
    return true;
  }

  // "T12:00:00.123456", in microseconds of the day.
  bool Clock(std::int64_t* clock) {
    if (!TakeOneOf("T ,")) return false;
    Take(' ');
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (!Digits(2, &hour) || !Take(':') || !Digits(2, &minute) || !Take(':') || !Digits(2, &second)) return false;
    if (hour > 23 || minute > 59 || second > 59) return false;
    *clock = (hour * 60 + minute) * kMinute + second * kSecond + Fraction(".,:");
    return true;
  }

  // Microseconds of the digits behind one of `separators`; 0, and nothing read, where there are none.
  std::int64_t Fraction(std::string_view separators) {
    const std::size_t begin = at_;
    if (!TakeOneOf(separators)) return 0;
    const std::int64_t fraction = FractionDigits();
    if (at_ == begin + 1) at_ = begin;
    return fraction;
  }

  // Nine digits at most: a tenth of a second first.
  std::int64_t FractionDigits() {
    std::int64_t unit = kSecond;
    std::int64_t fraction = 0;
    for (const std::size_t begin = at_; IsDigit() && at_ < begin + 9; ++at_) {
      unit /= 10;
      fraction += (Next() - '0') * unit;
    }
    return fraction;
  }

  // "Z", "UTC", "GMT" or "+01:00"; `ahead` is how many minutes the clock is before UTC. Nothing at all is no fault.
  bool Zone(bool* known, std::int64_t* ahead) {
    Take(' ');
    *known = true;
    if (Take('Z') || TakeWord("UTC") || TakeWord("GMT")) return true;
    const char sign = Next();
    if (!TakeOneOf("+-")) {
      *known = false;
      return true;
    }
    int hours = 0;
    int minutes = 0;
    if (!Digits(2, &hours)) return false;
    if ((Take(':') || IsDigit()) && !Digits(2, &minutes)) return false;
    *ahead = (sign == '-' ? -1 : 1) * (hours * 60 + minutes);
    return hours <= 18 && minutes <= 59;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  int year_ = 0;
  unsigned month_ = 0;
  unsigned day_ = 0;
};

}  // namespace

std::optional<Timestamp> ParseTimestamp(std::string_view text) { return StampReader(text).Read(); }

std::optional<Timestamp> ParseTimestampNear(std::string_view text, const Timestamp& near) {
  return StampReader(text).ReadNear(near);
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

}  // namespace whyoom
