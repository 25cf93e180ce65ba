#include "text/timestamp.h"

#include <fmt/chrono.h>
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

// Seconds since 1970 have ten digits from 2001 to 2286; finer units append
// digits to them.
std::optional<Timestamp> ParseEpoch(std::string_view text) {
  static const Regex epoch(R"((\d{10})(?:\.(\d{1,9})|(\d{3}|\d{6}|\d{9}))?)");
  std::int64_t seconds = 0;
  std::array<std::string, 2> fraction;
  if (!re2::RE2::FullMatch(text, epoch, &seconds, &fraction[0], &fraction[1])) return std::nullopt;
  return Timestamp{(chrono::seconds(seconds) + FractionOf(fraction[0] + fraction[1])).count(), true};
}

}  // namespace

std::optional<Timestamp> ParseTimestamp(std::string_view text, const std::optional<Timestamp>& near) {
  if (const std::optional<Timestamp> time = ParseEpoch(text)) return time;
  static const Regex stamp(
      R"((?:(\d{4})([-/]?)(\d\d)([-/]?)(\d\d)|(\d\d)[-/]?(\d\d)(?:/(\d{4}))?|([A-Z][a-z]{2}) ([ \d]\d)))"
      R"([T ,] ?([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:[.,:](\d{1,9}))?)"
      R"( ?(Z|UTC|GMT|([+-])(0\d|1[0-8])(?::?([0-5]\d))?)?)");
  std::array<re2::StringPiece, 19> groups;
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (!stamp.Match(text, 0, text.size(), re2::RE2::ANCHOR_BOTH, groups.data(), groups.size())) return std::nullopt;
  const auto number = [&](std::size_t group) {
    return groups[group].empty() ? 0 : std::stoi(std::string(groups[group]));
  };
  const chrono::minutes ahead =
      (groups[16] == "-" ? -1 : 1) * (chrono::hours(number(17)) + chrono::minutes(number(18)));
  const chrono::microseconds clock = chrono::hours(number(11)) + chrono::minutes(number(12)) +
                                     chrono::seconds(number(13)) + FractionOf(std::string(groups[14])) - ahead;
  std::optional<Moment> nearest;
  const auto distance = [&](Moment moment) { return chrono::abs(moment - MomentOf(*near)); };
  const auto consider = [&](int year, int month, int day) {
    const chrono::year_month_day date = chrono::year(year) / month / day;
    if (!date.ok() || year < 1970 || year > 9998) return;
    const Moment moment = chrono::sys_days(date) + clock;
    if (!nearest || distance(moment) < distance(*nearest)) nearest = moment;
  };
  if (!groups[1].empty()) {
    if (groups[2] == groups[4]) consider(number(1), number(3), number(5));
  } else if (!near || !groups[15].empty()) {
    return std::nullopt;
  } else if (!groups[8].empty()) {
    consider(number(8), number(6), number(7));
    consider(number(8), number(7), number(6));
  } else {
    const std::size_t name = kMonths.find(std::string_view(groups[9].data(), groups[9].size()));
    if (name == std::string_view::npos) return std::nullopt;
    const chrono::year_month_day about(chrono::floor<chrono::days>(MomentOf(*near)));
    for (const int years : {0, -1, 1}) {
      const int year = static_cast<int>(about.year()) + years;
      groups[9].empty() ? consider(year, number(6), number(7))
                        : consider(year, static_cast<int>(name / 3 + 1), number(10));
    }
    // If the distance is greater, the date is a leap day, which the nearest year does not have.
    if (nearest && distance(*nearest) > chrono::days(184)) return std::nullopt;
  }
  return nearest ? std::optional(Timestamp{nearest->time_since_epoch().count(), !groups[15].empty()}) : std::nullopt;
}

std::string ToString(const Timestamp& time) {
  const Moment moment = MomentOf(time);
  const auto second = chrono::floor<chrono::seconds>(moment);
  std::string text = fmt::format("{:%FT%T}", fmt::gmtime(second.time_since_epoch().count()));
  if (second != moment) text += fmt::format(".{:06}", (moment - second).count());
  return time.zone_known ? text + "Z" : text;
}

}  // namespace whyoom
