#include "text/timestamp.h"

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

// The parsed timestamp, or "none".
std::string Read(std::string_view text) {
  const std::optional<Timestamp> time = ParseTimestamp(text);
  return time ? ToString(*time) : "none";
}

TEST_CASE("a timestamp prints as ISO 8601", "[text]") {
  CHECK(ToString(Timestamp{1795176000123456, true}) == "2026-11-20T12:00:00.123456Z");
  CHECK(ToString(Timestamp{1795176000000000, false}) == "2026-11-20T12:00:00");
  CHECK(ToString(Timestamp{-1, true}) == "1969-12-31T23:59:59.999999Z");
}

TEST_CASE("loggers' timestamps are parsed", "[text]") {
  CHECK(Read("2026-11-20T12:00:00") == "2026-11-20T12:00:00");
  CHECK(Read("2026-11-20 12:00:00,123") == "2026-11-20T12:00:00.123000");
  CHECK(Read("2026-11-20, 12:00:00 UTC") == "2026-11-20T12:00:00Z");
  CHECK(Read("2026/11/20 12:00:00.5 GMT") == "2026-11-20T12:00:00.500000Z");
  CHECK(Read("2026-11-20T12:00:00.123456789Z") == "2026-11-20T12:00:00.123456Z");
  CHECK(Read("2026-11-20T12:00:00.1234567Z") == "2026-11-20T12:00:00.123456Z");
  CHECK(Read("2026-11-20T00:30:00+01:00") == "2026-11-19T23:30:00Z");
  CHECK(Read("2026-11-20 12:00:05 -0730") == "2026-11-20T19:30:05Z");
  CHECK(Read("2026-11-20T12:00:05+09") == "2026-11-20T03:00:05Z");
  CHECK(Read("20261120 12:00:00.272763") == "2026-11-20T12:00:00.272763");
  CHECK(Read("2028-02-29T23:59:59Z") == "2028-02-29T23:59:59Z");
}

TEST_CASE("the unit of a time since 1970 follows from its number of digits", "[text]") {
  CHECK(Read("1795176000") == "2026-11-20T12:00:00Z");
  CHECK(Read("1795176000.25") == "2026-11-20T12:00:00.250000Z");
  CHECK(Read("1795176000.123456789") == "2026-11-20T12:00:00.123456Z");
  CHECK(Read("1795176000123") == "2026-11-20T12:00:00.123000Z");
  CHECK(Read("1795176000123456") == "2026-11-20T12:00:00.123456Z");
  CHECK(Read("1795176000123456789") == "2026-11-20T12:00:00.123456Z");
  for (const std::string_view text : {"5.0", "179517600", "17951760001", "1795176000123.5", "1795176000.", "9e9"}) {
    CAPTURE(text);
    CHECK(Read(text) == "none");
  }
}

TEST_CASE("an ambiguous or impossible timestamp is rejected", "[text]") {
  for (const std::string_view text : {
           "",
           "1120 12:00:00.272763",
           "Nov 20 12:00:05",
           "26/11/20 12:00:05",
           "11/20/2026 12:00:05",
           "2026-13-20T12:00:00",
           "2026-00-20T12:00:00",
           "2026-02-29T12:00:00",
           "2026-11-31T12:00:00",
           "2026-11-20T24:00:00",
           "2026-11-20T12:60:00",
           "2026-11-20T12:00:60",
           "0001-01-01T00:00:00Z",
           "9999-12-31T23:59:59-18:00",  // in the year 10000, which no report can contain
           "2026-11-20",
           "2026-11-20T12:00",
           "2026-11/20T12:00:00",
           "2026-11-20T12:00:00.",
           "2026-11-20T12:00:00.1234567890",
           "2026-11-20T12:00:00+1",
           "2026-11-20T12:00:00+19:00",
           "2026-11-20T12:00:00+01:60",
           "2026-11-20T12:00:00 CET",
           "2026-11-20T12:00:00Z boom",
       }) {
    CAPTURE(text);
    CHECK(Read(text) == "none");
  }
}

std::string Near(const std::string& text, const std::string& near) {
  const std::optional<Timestamp> time = ParseTimestamp(text, ParseTimestamp(near));
  return time ? ToString(*time) : "none";
}

TEST_CASE("an ambiguous timestamp resolves to the time nearest to another one", "[text]") {
  CHECK(Near("1120 10:05:00.123456", "2026-11-18 10:00:00") == "2026-11-20T10:05:00.123456");
  CHECK(Near("11-20 10:05:00", "2026-11-18T10:00:00Z") == "2026-11-20T10:05:00");
  CHECK(Near("Nov 20 10:05:00", "2026-11-18 10:00:00") == "2026-11-20T10:05:00");
  CHECK(Near("Nov  2 10:05:00", "2026-11-18 10:00:00") == "2026-11-02T10:05:00");
  CHECK(Near("0101 00:01:00", "2026-12-31 23:50:00") == "2027-01-01T00:01:00");
  CHECK(Near("1231 23:59:00", "2027-01-01 00:10:00") == "2026-12-31T23:59:00");
  CHECK(Near("0229 10:00:00", "2027-03-01 00:00:00") == "none");
  CHECK(Near("0229 10:00:00", "2028-03-01 00:00:00") == "2028-02-29T10:00:00");
  CHECK(Near("11/20/2026 10:05:00", "2020-01-01 00:00:00") == "2026-11-20T10:05:00");
  CHECK(Near("20/11/2026 10:05:00", "2020-01-01 00:00:00") == "2026-11-20T10:05:00");
  CHECK(Near("03/04/2026 10:05:00", "2026-04-02 00:00:00") == "2026-04-03T10:05:00");
  CHECK(Near("03/04/2026 10:05:00", "2026-03-05 00:00:00") == "2026-03-04T10:05:00");
  for (const char* wrong : {"", "1320 10:05:00", "11-20", "Nov20 10:05:00", "ovD 20 10:05:00", "11/20/26 10:05:00",
                            "1120 10:05:00 boom", "1120 24:00:00"}) {
    CAPTURE(wrong);
    CHECK(Near(wrong, "2026-11-18 10:00:00") == "none");
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
