// Timestamps that loggers write before a line.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

struct Timestamp {
  std::int64_t microseconds = 0;  // since 1970-01-01T00:00:00; in UTC if the
                                  // zone is known, else in local time
  bool zone_known = false;

  // Compares the numbers. If a zone is unknown, the order of two loggers' times
  // is unreliable.
  friend std::strong_ordering operator<=>(const Timestamp &, const Timestamp &) = default;
  friend bool operator==(const Timestamp &, const Timestamp &) = default;
};

// Parses a logger's timestamp: "2026-11-20T12:00:00.123456789Z", "2026-11-20
// 12:00:00,123", "2026/11/20 12:00:00 +0100", "20261120 12:00:00.123456", or
// the time since 1970 in seconds ("1795176000.25"), milli-, micro- or
// nanoseconds (10, 13, 16 or 19 digits), which is UTC. Truncates to
// microseconds.
//
// A timestamp without a year ("1120 10:05:00.123456", "11-20 10:05:00", "Nov 20
// 10:05:00") or with day and month in unknown order ("11/20/2026 10:05:00") is
// the possible time that is nearest to `near`, an unambiguous time from the
// same log. Returns nullopt if `near` is absent, for impossible times (month
// 13, 24:00, the year 1 that means "never"), and for anything else, such as a
// two-digit year.
std::optional<Timestamp> ParseTimestamp(std::string_view text, const std::optional<Timestamp> &near = std::nullopt);

// ISO 8601, "2026-11-20T12:00:00.123456", with a "Z" if the zone is known;
// omits a zero fraction.
std::string ToString(const Timestamp &time);

}  // namespace whyoom
