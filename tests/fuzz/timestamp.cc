// Any text as a timestamp, and as one without a year.
#include "text/timestamp.h"

#include "fuzz/choices.h"
#include "fuzz/fuzz.h"

using namespace whyoom;

namespace {

constexpr std::int64_t kDay = std::int64_t{86'400} * 1'000'000;
constexpr std::int64_t kLast = 2'932'897 * kDay;  // the end of 9999

// The largest offset of a time zone from UTC.
constexpr std::int64_t kMostAhead = kDay;

void CheckRange(const Timestamp& time) {
  Require(time.microseconds >= -kMostAhead, "no timestamp is before 1970");
  Require(time.microseconds < kLast + kMostAhead, "no timestamp is after 9999");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = Bytes(data, size);
  if (const std::optional<Timestamp> time = ParseTimestamp(text)) {
    CheckRange(*time);
    const std::string printed = ToString(*time);
    Require(time->microseconds < 0 || time->microseconds >= kLast || ParseTimestamp(printed) == time,
            "a printed timestamp is parsed again");
  }

  Choices choices(text);
  const std::string_view stamp = choices.Bytes(60);
  const std::optional<Timestamp> near = ParseTimestamp(choices.Rest());
  if (!near) return 0;
  const std::optional<Timestamp> time = ParseTimestamp(stamp, near);
  if (!time || ParseTimestamp(stamp)) return 0;
  Require(!time->zone_known, "the time zone is unknown");
  Require(time->microseconds >= 0 && time->microseconds < kLast + 366 * kDay, "the year exists");
  Require(ParseTimestamp(stamp, time) == time, "the nearest timestamp is nearest to itself");
  return 0;
}
