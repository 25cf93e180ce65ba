// The time range of --since and --until.
#pragma once

#include <optional>

#include "text/timestamp.h"

namespace whyoom {

// The half-open range [since, until); an absent bound is no limit. A bound without a time zone is compared with each
// timestamp as printed: with the local time of a logger that names no zone, and with UTC if the zone is known.
struct TimeRange {
  std::optional<Timestamp> since;
  std::optional<Timestamp> until;

  // Returns nullopt if that is unknown: there is no time, or it has no time zone although the bound has one.
  std::optional<bool> Contains(const std::optional<Timestamp>& time) const {
    if (!since && !until) return true;
    if (!time) return std::nullopt;
    const auto known = [&](const std::optional<Timestamp>& bound) {
      return !bound || time->zone_known || !bound->zone_known;
    };
    if (known(since) && since && time->microseconds < since->microseconds) return false;
    if (known(until) && until && time->microseconds >= until->microseconds) return false;
    return known(since) && known(until) ? std::optional(true) : std::nullopt;
  }
};

}  // namespace whyoom
