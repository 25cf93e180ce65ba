#include "text/timestamp.h"

#include "catch.h"

namespace whyoom {
namespace {

TEST_CASE("A timestamp prints as ISO 8601", "[text]") {
  CHECK(ToString(Timestamp{1795176000123456, true}) == "2026-11-20T12:00:00.123456Z");
  CHECK(ToString(Timestamp{1795176000000000, false}) == "2026-11-20T12:00:00");
  CHECK(ToString(Timestamp{-1, true}) == "1969-12-31T23:59:59.999999Z");
}

}  // namespace
}  // namespace whyoom
