// A moment that a logger wrote before a line.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

struct Timestamp {
  std::int64_t microseconds = 0;  // since 1970-01-01T00:00:00; UTC where the zone is known, else the writer's own clock
  bool zone_known = false;

  // By the clock's reading; between loggers in different zones that did not write them, the order is theirs to know.
  friend std::strong_ordering operator<=>(const Timestamp&, const Timestamp&) = default;
  friend bool operator==(const Timestamp&, const Timestamp&) = default;
};

// The moment that a logger's stamp names: "2026-11-20T12:00:00.123456789Z", "2026-11-20 12:00:00,123",
// "2026/11/20 12:00:00 +0100", "20261120 12:00:00.123456", or the time since 1970 in seconds ("1795176000.25"), milli-,
// micro- or nanoseconds (by the number of digits: 10, 13, 16, 19), which is UTC. What is finer than a microsecond is
// cut off. nullopt for what leaves the moment open (no year, a year of two digits, 11/20/2026 that others write
// 20/11/2026), for what no calendar knows (month 13, 24:00, the year 1 that stands for "never"), and for anything else.
std::optional<Timestamp> ParseTimestamp(std::string_view text);

// The same for a stamp that leaves the year open ("1120 10:05:00.123456", "11-20 10:05:00", "Nov 20 10:05:00") or the
// order of day and month ("11/20/2026 10:05:00"): of what it may mean the moment nearest to `near`, which the same log
// names in full.
std::optional<Timestamp> ParseTimestampNear(std::string_view text, const Timestamp& near);

// ISO 8601, "2026-11-20T12:00:00.123456", with a "Z" where the zone is known; a fraction of zero is left out.
std::string ToString(const Timestamp& time);

}  // namespace whyoom
