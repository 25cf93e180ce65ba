#include <string>

#include "catch.h"
#include "facts/array.h"
#include "program/remedies.h"

using namespace whyoom;

namespace TEST_FILE {
constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::int64_t Padded(const std::string& text) {
  const auto shape = ParseArrayShape(text);
  REQUIRE(shape);
  return PaddedBytes(*shape).value();
}

TEST_CASE("a shape is parsed with its layout", "[facts]") {
  const auto shape = ParseArrayShape(" f32[11999232,4,2]{1,2,0:T(2,128)}");
  REQUIRE(shape);
  CHECK(shape->dtype == "f32");
  CHECK(shape->dims == std::vector<std::int64_t>{11999232, 4, 2});
  CHECK(shape->minor_to_major == std::vector<int>{1, 2, 0});
  CHECK(shape->tile == std::vector<std::int64_t>{2, 128});
  CHECK(shape->shape == "f32[11999232,4,2]");
  CHECK(shape->layout == "{1,2,0:T(2,128)}");
}

TEST_CASE("shapes with layouts, tiles and memory spaces are parsed, malformed ones rejected", "[facts]") {
  CHECK(ParseArrayShape("bf16[8]{0:T(1024)(128)(2,1)S(5)}")->memory_space == 5);
  CHECK(ParseArrayShape("u32[]{:T(128)S(2)}")->dims.empty());
  CHECK(ParseArrayShape("u32[]{:T(128)S(2)}")->memory_space == 2);
  CHECK(ParseArrayShape("f32[67108864,128]{1,0:T(8)L(1024)}")->layout == "{1,0:T(8)L(1024)}");
  CHECK(ParseArrayShape("f32[<=5,3]")->dims == std::vector<std::int64_t>{5, 3});
  CHECK_FALSE(ParseArrayShape("(f32[2]{0}, u32[])"));
  CHECK_FALSE(ParseArrayShape(""));
  CHECK_FALSE(ParseArrayShape("f32[1,"));
  CHECK_FALSE(ParseArrayShape("f32[-4]"));
  CHECK_FALSE(ParseArrayShape("f32[99999999999999999999]"));
  CHECK_FALSE(ParseArrayShape("f 32[4]"));
  CHECK_FALSE(ParseArrayShape("f32]4["));
  CHECK(ParseArrayShape("f32[4]{0 fusion(%a), metadata={}")->layout.empty());  // cut
  // An order that names a missing dimension is ignored.
  CHECK(ParseArrayShape("f32[4,4]{7,0}")->minor_to_major.empty());
  CHECK(ParseArrayShape("f32[4,4]{2,0}")->minor_to_major.empty());  // the dimensions are 0 and 1
  CHECK(WithoutLayouts("(f32[16,16]{1,0:T(8,128)}, u32[]{:T(128)})") == "(f32[16,16], u32[])");
}

TEST_CASE("padding follows the printed tile", "[facts]") {
  // Figures of real reports: 11.44G, 5.72G, 16.00G, and one without padding.
  CHECK(Padded("f32[11999232,4,2]{1,2,0:T(2,128)}") == 11999232LL * 2 * 128 * 4);
  CHECK(Padded("bf16[11999232,2,2]{1,2,0:T(2,128)(2,1)}") == 11999232LL * 2 * 128 * 2);
  CHECK(Padded("s32[2048,1,128,128,4]{4,3,2,0,1:T(8,128)}") == 16 * kGiB);
  CHECK(Padded("f32[16,16,4096,4096]{3,2,1,0:T(8,128)}") == 16 * kGiB);
  // Row-major 129 × 1024 pads to 136 rows, not to 256.
  CHECK(Padded("f32[129,1024]{1,0:T(8,128)}") == 136 * 1024 * 4);
  CHECK(Padded("f32[129,1024]{0,1:T(8,128)}") == 256 * 1024 * 4);
  CHECK(Padded("pred[1024]{0:T(1024)}") == 1024);
  CHECK(Padded("f32[3,3]") == 36);
}

TEST_CASE("the bytes of other element types and layouts are computed", "[facts]") {
  const auto points = *ParseArrayShape("f32[11999232,4,2]{1,2,0:T(2,128)}");
  CHECK(BytesWithElementBits(points, 16) == PaddedBytes(points).value() / 2);
  const auto row = *ParseArrayShape("f32[1048576,1]{0,1:T(1,128)}");
  // A row of f32 becomes two rows of bf16, since two elements share a word, so nothing is saved.
  CHECK(BytesWithElementBits(row, 16) == 4 * kMiB);
  CHECK(BestLayoutBytes(points) == UnpaddedBytes(points));
  const auto compact = *ParseArrayShape("f32[4096,4096]{1,0:T(8,128)}");
  CHECK(BestLayoutBytes(compact) == PaddedBytes(compact));
  const auto vector = *ParseArrayShape("f32[4096]{0:T(1024)}");
  CHECK(BestLayoutBytes(vector) == 4096 * 4);
}

TEST_CASE("a layout that is not a permutation of the dimensions is ignored", "[facts]") {
  for (const char* text : {"bf16[63,2048,32000]{2,0,0:T(8,128)}", "bf16[63,2048,32000]{2,1:T(8,128)}"}) {
    const auto shape = ParseArrayShape(text);
    REQUIRE(shape);
    CHECK(PaddedBytes(*shape) == UnpaddedBytes(*shape));
  }
}

TEST_CASE("hostile shapes saturate", "[facts]") {
  const auto huge = ParseArrayShape("f32[9223372036854775807,9223372036854775807]{1,0:T(8,128)}");
  REQUIRE(huge);
  CHECK(PaddedBytes(*huge).value() > 0);
  CHECK(BestLayoutBytes(*huge).value() > 0);
  std::string many = "f32[1";
  for (int i = 0; i < 1000; ++i) many += ",1";
  CHECK_FALSE(ParseArrayShape(many + "]"));
}

TEST_CASE("a tile of size 0 is ignored", "[facts]") {
  const auto shape = ParseArrayShape("f32[64,128]{1,0:T(0,128)}");
  REQUIRE(shape);
  CHECK(shape->tile.empty());
}

}  // namespace TEST_FILE
