// Estimates by name.
#include "catch.h"
#include "facts/compiled_program.h"

using namespace whyoom;

TEST_CASE("remedies are found by name", "[facts]") {
  ProgramEstimates estimates;
  estimates.changes.resize(2);
  estimates.changes[0].change = "half_batch";
  estimates.changes[1].change = "bfloat16";
  CHECK(estimates.Find("bfloat16") == &estimates.changes[1]);
  CHECK(estimates.Find("donate") == nullptr);
}
