// The other locations at which a failure was reported.
#include "catch.h"
#include "facts/failure.h"

using namespace whyoom;

TEST_CASE("the other locations omit the failure's own location", "[diagnose]") {
  Failure failure;
  const Where here = {{"a", ""}, 5, 6, 50};
  const Where there = {{"b", ""}, 1, 2, 10};
  failure.where = here;
  CHECK(failure.Also().empty());
  failure.tally.AddPlace(there);
  failure.tally.AddPlace(here);
  failure.tally.AddPlace(here);
  const std::vector<Where> also = failure.Also();
  REQUIRE(also.size() == 1);
  CHECK(((also[0] <=> there) == 0));
}
