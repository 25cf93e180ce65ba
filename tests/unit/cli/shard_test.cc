// Shards of a batch: the syntax, and that each path belongs to exactly one.
#include <cstdint>
#include <string>
#include <vector>

#include "catch.h"
#include "cli/options.h"
#include "input/error.h"

using namespace whyoom;

TEST_CASE("a shard is written as its index and the number of shards", "[cli]") {
  CHECK(ParseShard("0/1").count == 1);
  CHECK(ParseShard("15/16").index == 15);
  for (const char* wrong : {"", "1", "/", "1/", "/2", "-1/2", "1/0", "0/0", "2/2", "3/2", "1/2/3", "a/b", " 1/2",
                            "1.5/2", "99999999999999999999/2", "0/99999999999999999999"}) {
    INFO(wrong);
    CHECK_THROWS_AS(ParseShard(wrong), Error);
  }
}

TEST_CASE("shards have about the same size, even if paths repeat a part", "[cli]") {
  for (const std::uint64_t count : {2, 3, 8, 50}) {
    std::vector<int> sizes(count);
    for (int i = 0; i < 10000; ++i) {
      const std::string rank = "rank" + std::to_string(i);
      int taken = 0;
      for (std::uint64_t index = 0; index < count; ++index) {
        if (!Shard{index, count}.Owns(rank + "/" + rank + ".log")) continue;
        ++taken;
        ++sizes[index];
      }
      REQUIRE(taken == 1);
    }
    for (const int size : sizes) {
      CHECK(size > 7000 / static_cast<int>(count));
      CHECK(size < 13500 / static_cast<int>(count));
    }
  }
  // A shard must mean the same on every machine and in every version.
  CHECK(Shard{1, 7}.Owns("logs/a.log"));
  CHECK(Shard{2, 7}.Owns("logs/b.log"));
  CHECK(Shard{6, 7}.Owns("-"));
}
