// Estimates by name.
#include "facts/prospects.h"

#include "catch.h"

using namespace whyoom;

TEST_CASE("remedies and pairs are found by name, pairs in either order", "[facts]") {
  Prospects prospects;
  prospects.changes.resize(2);
  prospects.changes[0].change = "half_batch";
  prospects.changes[1].change = "bfloat16";
  prospects.pairs = {{"half_batch", "bfloat16", 5}, {"bfloat16", "donate", 6}};
  CHECK(prospects.Find("bfloat16") == &prospects.changes[1]);
  CHECK(prospects.Find("donate") == nullptr);
  CHECK(prospects.Find("half_batch", "bfloat16")->left_bytes == 5);
  CHECK(prospects.Find("bfloat16", "half_batch")->left_bytes == 5);
  CHECK(prospects.Find("donate", "bfloat16")->left_bytes == 6);
  CHECK(prospects.Find("donate", "half_batch") == nullptr);
  CHECK(prospects.Find("half_batch", "half_batch") == nullptr);
}
