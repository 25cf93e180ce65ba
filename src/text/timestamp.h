// A moment that a logger wrote before a line.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace whyoom {

struct Timestamp {
  std::int64_t microseconds = 0;  // since 1970-01-01T00:00:00; UTC where the zone is known, else the writer's own clock
  bool zone_known = false;

  // By the clock's reading; between loggers in different zones that did not write them, the order is theirs to know.
  friend std::strong_ordering operator<=>(const Timestamp&, const Timestamp&) = default;
  friend bool operator==(const Timestamp&, const Timestamp&) = default;
};

// ISO 8601, "2026-11-20T12:00:00.123456", with a "Z" where the zone is known; a fraction of zero is left out.
std::string ToString(const Timestamp& time);

}  // namespace whyoom
