// The other locations at which a failure was reported.
#include "catch.h"
#include "facts/failure.h"

using namespace whyoom;

TEST_CASE("the other locations omit one copy of the finding's own location", "[diagnose]") {
  Failure failure;
  const Where here = {{"a", ""}, 5, 6, 50};
  const Where there = {{"b", ""}, 1, 2, 10};
  failure.where = here;
  CHECK(failure.Also().empty());
  failure.tally.places.Add(there);
  failure.tally.places.Add(here);
  failure.tally.places.Add(here);
  const std::vector<Where> also = failure.Also();
  REQUIRE(also.size() == 2);
  CHECK(CompareWhere(also[0], here) == 0);
  CHECK(CompareWhere(also[1], there) == 0);
}
