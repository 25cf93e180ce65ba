#include "text/timestamp.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <array>
#include <chrono>

#include "text/regex_options.h"

namespace whyoom {
namespace {

namespace chrono = std::chrono;

using Moment = chrono::sys_time<chrono::microseconds>;

Moment MomentOf(const Timestamp& time) { return Moment(chrono::microseconds(time.microseconds)); }

// The digits of a fraction of a second, truncated to microseconds.
chrono::microseconds FractionOf(std::string digits) {
  digits.resize(6, '0');
  return chrono::microseconds(std::stoi(digits));
}

// What follows a date. Groups: the fields of Clock.
constexpr std::string_view kClock = R"([T ,] ?(\d\d):(\d\d):(\d\d)(?:[.,:](\d{1,9}))?)";

struct Clock {
  int hour = 0;
  int minute = 0;
  int second = 0;
  std::string fraction;
};

// The moment without regard to a zone; nullopt if the date or the time of day does not exist.
std::optional<Moment> MomentOf(int year, int month, int day, const Clock& clock) {
  const chrono::year_month_day date = chrono::year(year) / month / day;
  if (!date.ok() || year < 1970 || clock.hour > 23 || clock.minute > 59 || clock.second > 59) return std::nullopt;
  return chrono::sys_days(date) + chrono::hours(clock.hour) + chrono::minutes(clock.minute) +
         chrono::seconds(clock.second) + FractionOf(clock.fraction);
}

// Seconds since 1970 have ten digits from 2001 to 2286; finer units append digits to them.
std::optional<Timestamp> ParseEpoch(std::string_view text) {
  static const Regex epoch(R"((\d{10})(?:\.(\d{1,9})|(\d{3}|\d{6}|\d{9}))?)");
  std::int64_t seconds = 0;
  std::array<std::string, 2> fraction;
  if (!re2::RE2::FullMatch(text, epoch, &seconds, &fraction[0], &fraction[1])) return std::nullopt;
  return Timestamp{(chrono::seconds(seconds) + FractionOf(fraction[0] + fraction[1])).count(), true};
}

}  // namespace

std::optional<Timestamp> ParseTimestamp(std::string_view text) {
  if (const std::optional<Timestamp> time = ParseEpoch(text)) return time;
  static const Regex stamp(R"((\d{4})([-/]?)(\d\d)([-/]?)(\d\d))" + std::string(kClock) +
                           R"( ?(Z|UTC|GMT|[+-](?:0\d|1[0-8])(?::?[0-5]\d)?)?)");
  int year = 0;
  int month = 0;
  int day = 0;
  std::array<std::string, 2> marks;
  Clock clock;
  std::string zone;
  if (!re2::RE2::FullMatch(text, stamp, &year, &marks[0], &month, &marks[1], &day, &clock.hour, &clock.minute,
                           &clock.second, &clock.fraction, &zone) ||
      marks[0] != marks[1])
    return std::nullopt;
  std::optional<Moment> moment = MomentOf(year, month, day, clock);
  if (!moment) return std::nullopt;
  if (zone.size() > 1 && (zone[0] == '+' || zone[0] == '-')) {
    const int minutes = zone.size() > 3 ? std::stoi(zone.substr(zone.size() - 2)) : 0;
    const chrono::minutes ahead = chrono::hours(std::stoi(zone.substr(1, 2))) + chrono::minutes(minutes);
    *moment -= zone[0] == '-' ? -ahead : ahead;
  }
  return Timestamp{moment->time_since_epoch().count(), !zone.empty()};
}

std::optional<Timestamp> ParseTimestampNear(std::string_view text, const Timestamp& near) {
  static const Regex stamp(R"((?:(\d\d)[-/]?(\d\d)(?:/(\d{4}))?|([A-Z][a-z]{2}) ([ \d]\d)))" + std::string(kClock));
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  std::array<std::string, 2> numbers;  // day and month, in unknown order if there is a year
  std::string year, month_name, day;
  Clock clock;
  if (!re2::RE2::FullMatch(text, stamp, &numbers[0], &numbers[1], &year, &month_name, &day, &clock.hour, &clock.minute,
                           &clock.second, &clock.fraction) ||
      kMonths.find(month_name) == std::string_view::npos)
    return std::nullopt;
  std::optional<Moment> nearest;
  const auto distance = [&](Moment moment) { return chrono::abs(moment - MomentOf(near)); };
  const auto consider = [&](int of_year, int of_month, int of_day) {
    const std::optional<Moment> moment = MomentOf(of_year, of_month, of_day, clock);
    if (moment && (!nearest || distance(*moment) < distance(*nearest))) nearest = moment;
  };
  if (!month_name.empty()) numbers = {std::to_string(kMonths.find(month_name) / 3 + 1), day};
  const int first = std::stoi(numbers[0]);
  const int second = std::stoi(numbers[1]);
  if (!year.empty()) {
    consider(std::stoi(year), first, second);
    consider(std::stoi(year), second, first);
  } else {
    const chrono::year_month_day about(chrono::floor<chrono::days>(MomentOf(near)));
    for (const int years : {0, -1, 1}) consider(static_cast<int>(about.year()) + years, first, second);
    // If the distance is greater, the date is a leap day, which the nearest year does not have.
    if (nearest && distance(*nearest) > chrono::days(184)) return std::nullopt;
  }
  return nearest ? std::optional(Timestamp{nearest->time_since_epoch().count(), false}) : std::nullopt;
}

std::string ToString(const Timestamp& time) {
  const Moment moment = MomentOf(time);
  const auto midnight = chrono::floor<chrono::days>(moment);
  const chrono::year_month_day date(midnight);
  const chrono::hh_mm_ss<chrono::microseconds> clock(moment - midnight);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                 clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() != 0) text += fmt::format(".{:06}", clock.subseconds().count());
  return time.zone_known ? text + "Z" : text;
}

}  // namespace whyoom
