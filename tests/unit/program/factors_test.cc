#include <vector>

#include "catch.h"
#include "program/dimensions.h"

using namespace whyoom;

namespace TEST_FILE {

std::vector<std::int64_t> SizesOf(const Factors& factors, const std::vector<int>& row) {
  std::vector<std::int64_t> sizes;
  for (const int factor : factors.Expand(row)) sizes.push_back(factors.size(factor));
  return sizes;
}

TEST_CASE("equal dimensions become one, and a dimension of 1 is none", "[program]") {
  Factors factors;
  const int a = factors.Add(8);
  const int b = factors.Add(8);
  const int one = factors.Add(1);
  CHECK(factors.Equate({a, one}, {b}));
  CHECK(factors.Expand(a) == factors.Expand(b));
  CHECK(factors.Expand(one).empty());
}

TEST_CASE("a joined dimension is split into what it was joined from, everywhere", "[program]") {
  Factors factors;
  const int batch = factors.Add(4);
  const int sequence = factors.Add(128);
  const int tokens = factors.Add(512);
  const int same_tokens = factors.Add(512);
  CHECK(factors.Equate(tokens, same_tokens));
  CHECK(factors.Equate({batch, sequence}, {tokens}));
  CHECK(factors.Expand(same_tokens) == std::vector<int>{factors.Expand(batch)[0], factors.Expand(sequence)[0]});
  // Taken apart again in another way: heads of 32 from a sequence of 128.
  const int blocks = factors.Add(4);
  const int block = factors.Add(32);
  CHECK(factors.Equate({sequence}, {blocks, block}));
  CHECK(SizesOf(factors, {same_tokens}) == std::vector<std::int64_t>{4, 4, 32});
}

TEST_CASE("sizes that do not divide each other stay apart", "[program]") {
  Factors factors;
  const int a = factors.Add(6);
  const int b = factors.Add(4);
  CHECK_FALSE(factors.Equate(a, b));
  CHECK(factors.Expand(a) != factors.Expand(b));
}

TEST_CASE("related dimensions are of one family, whatever their sizes", "[program]") {
  Factors factors;
  const int whole = factors.Add(2049);
  const int slice = factors.Add(2048);
  const int other = factors.Add(2048);
  factors.Relate(whole, slice);
  factors.JoinFamilies();
  CHECK(factors.Family(whole) == factors.Family(slice));
  CHECK(factors.Family(whole) != factors.Family(other));
}

TEST_CASE("dimensions without elements are the same only where they are as long", "[program]") {
  Factors factors;
  const int none = factors.Add(0);
  const int also_none = factors.Add(0);
  const int some = factors.Add(4096);
  CHECK_FALSE(factors.Equate({none, some}, {some, none}));
  CHECK_FALSE(factors.Equate(some, none));
  CHECK(factors.Equate(none, also_none));
  CHECK(factors.Expand(none) == factors.Expand(also_none));
}

TEST_CASE("rows of many parts are brought together in one go", "[program]") {
  // Each of 400 dimensions is split into 30; each pair of parts is to cost a step, not each step all the parts.
  constexpr std::size_t kDimensions = 400;
  Factors factors;
  std::vector<int> joined, other;
  for (std::size_t i = 0; i < kDimensions; ++i) {
    for (std::vector<int>* row : {&joined, &other}) {
      row->push_back(factors.Add(std::int64_t{1} << 30));
      std::vector<int> parts;
      for (int part = 0; part < 30; ++part) parts.push_back(factors.Add(2));
      REQUIRE(factors.Equate({row->back()}, parts));
    }
  }
  const std::size_t before = factors.steps();
  CHECK(factors.Equate(joined, other));
  CHECK(factors.Expand(joined) == factors.Expand(other));
  CHECK(factors.steps() - before <= 2 * 30 * kDimensions + 1);
}

}  // namespace TEST_FILE
