#include "text/timestamp.h"

#include <fmt/format.h>

#include <chrono>

namespace whyoom {

std::string ToString(const Timestamp& time) {
  using std::chrono::microseconds;
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
