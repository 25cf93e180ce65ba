// One dimension that changed, told from two lists of allocations.
#include "compare/one_dimension.h"

#include <optional>
#include <string>
#include <vector>

#include "catch.h"
#include "made_rows.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

std::vector<Allocation> ListOf(const std::vector<std::string>& shapes, std::int64_t size = 100) {
  std::vector<Allocation> rows;
  for (const std::string& shape : shapes) rows.push_back(MakeRow(shape, size));
  return rows;
}

// "64 to 32 in 2", or "nothing".
std::string Find(const std::vector<std::string>& before, const std::vector<std::string>& after) {
  const std::optional<Difference> found = OneDimension(ListOf(before), ListOf(after));
  if (!found) return "nothing";
  REQUIRE(found->from);
  REQUIRE(found->to);
  CHECK(found->change.empty());  // it has no name
  CHECK_FALSE(found->undone);
  return std::to_string(*found->from) + " to " + std::to_string(*found->to) + " in " + std::to_string(found->arrays);
}

std::string Said(const Difference& difference, const std::string& name) {
  const auto found = difference.facts.find(name);
  return found == difference.facts.end() ? "none" : Show(found->second);
}

TEST_CASE("a length that became another one in several arrays is found", "[compare]") {
  CHECK(Find({"f32[64,1024]", "f32[64,128,8]"}, {"f32[32,1024]", "f32[32,128,8]"}) == "64 to 32 in 2");
  CHECK(Find({"f32[8,1024]", "bf16[4,1024]"}, {"f32[8,4096]", "bf16[4,4096]"}) == "1024 to 4096 in 2");
}

TEST_CASE("it may occur several times in one array", "[compare]") {
  CHECK(Find({"f32[8,1024,1024]", "f32[8,1024,4]"}, {"f32[8,512,512]", "f32[8,512,4]"}) == "1024 to 512 in 2");
}

TEST_CASE("lists of nothing, or of the same, tell nothing", "[compare]") {
  CHECK(Find({}, {}) == "nothing");
  CHECK(Find({"f32[64,1024]"}, {}) == "nothing");
  CHECK(Find({}, {"f32[64,1024]"}) == "nothing");
  CHECK(Find({"f32[64,1024]", "f32[64,8]"}, {"f32[64,8]", "f32[64,1024]"}) == "nothing");
}

TEST_CASE("what changed in two ways, or in more than its lengths, is not one dimension", "[compare]") {
  CHECK(Find({"f32[64,1024]"}, {"f32[32,512]"}) == "nothing");    // two lengths
  CHECK(Find({"f32[64,1024]"}, {"bf16[32,1024]"}) == "nothing");  // another element type
  CHECK(Find({"f32[64,1024]"}, {"f32[64,32,32]"}) == "nothing");  // another rank
  CHECK(Find({"f32[64,64]"}, {"f32[32,16]"}) == "nothing");       // one length became two
}

TEST_CASE("where another pair of lengths is seen as often, it cannot be told which", "[compare]") {
  CHECK(Find({"f32[64,10]", "f32[64,20]", "f32[7,1024]", "f32[9,1024]"},
             {"f32[32,10]", "f32[32,20]", "f32[7,512]", "f32[9,512]"}) == "nothing");
  // One beside ten is no matter.
  std::vector<std::string> before = {"f32[7,1024]"};
  std::vector<std::string> after = {"f32[7,512]"};
  for (int i = 0; i < 10; ++i) {
    before.push_back("f32[64," + std::to_string(100 + i) + "]");
    after.push_back("f32[32," + std::to_string(100 + i) + "]");
  }
  CHECK(Find(before, after) == "64 to 32 in 10");
}

TEST_CASE("what has no shape or no size is passed over", "[compare]") {
  CHECK_FALSE(OneDimension({MakeRow("f32[64,1024]")}, {MakeRow("f32[32,1024]", 50)}));
  CHECK_FALSE(OneDimension({MakeRow("(f32[64,1024], u32[])", 100)}, {MakeRow("(f32[32,1024], u32[])", 50)}));
  CHECK_FALSE(OneDimension({MakeRow("f32[]", 4)}, {MakeRow("f32[32]", 50)}));
}

TEST_CASE("what the rule data may say of it", "[compare]") {
  const std::optional<Difference> found =
      OneDimension({MakeRow("f32[64,1024]{1,0}", 300), MakeRow("f32[64,8]", 100), MakeRow("f32[5,5]", 600)},
                   {MakeRow("f32[32,1024]{1,0}", 150), MakeRow("f32[32,8]", 50), MakeRow("f32[5,5]", 600)});
  REQUIRE(found);
  CHECK(Said(*found, "leads") == "true");
  CHECK(Said(*found, "listed_share") == "0.4");
  CHECK(Said(*found, "shape_before") == "'f32[64,1024]'");
  CHECK(Said(*found, "shape_after") == "'f32[32,1024]'");
}

TEST_CASE("a dimension leads where it is the first of each array", "[compare]") {
  const std::optional<Difference> found =
      OneDimension(ListOf({"f32[64,1024]", "f32[3,64]"}), ListOf({"f32[32,1024]", "f32[3,32]"}));
  REQUIRE(found);
  CHECK(found->arrays == 2);
  CHECK(Said(*found, "leads") == "false");
}

}  // namespace TEST_FILE
