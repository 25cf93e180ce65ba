// The other locations at which a failure was reported.
#include "diagnose/diagnosis.h"

#include "catch.h"

using namespace whyoom;

TEST_CASE("the other locations omit one copy of the finding's own location", "[diagnose]") {
  Diagnosis finding;
  const Where here = {{"a", ""}, 5, 6, 50};
  const Where there = {{"b", ""}, 1, 2, 10};
  finding.where = here;
  CHECK(finding.Also().empty());
  finding.tally.places.Add(there);
  finding.tally.places.Add(here);
  finding.tally.places.Add(here);
  const std::vector<Where> also = finding.Also();
  REQUIRE(also.size() == 2);
  CHECK(CompareWhere(also[0], here) == 0);
  CHECK(CompareWhere(also[1], there) == 0);
}
