// Estimates by name.
#include "facts/program_estimates.h"

#include "catch.h"

using namespace whyoom;

TEST_CASE("remedies and pairs are found by name, pairs in either order", "[facts]") {
  ProgramEstimates estimates;
  estimates.changes.resize(2);
  estimates.changes[0].change = "half_batch";
  estimates.changes[1].change = "bfloat16";
  estimates.pairs = {{"half_batch", "bfloat16", 5}, {"bfloat16", "donate", 6}};
  CHECK(estimates.Find("bfloat16") == &estimates.changes[1]);
  CHECK(estimates.Find("donate") == nullptr);
  CHECK(estimates.Find("half_batch", "bfloat16")->left_bytes == 5);
  CHECK(estimates.Find("bfloat16", "half_batch")->left_bytes == 5);
  CHECK(estimates.Find("donate", "bfloat16")->left_bytes == 6);
  CHECK(estimates.Find("donate", "half_batch") == nullptr);
  CHECK(estimates.Find("half_batch", "half_batch") == nullptr);
}
