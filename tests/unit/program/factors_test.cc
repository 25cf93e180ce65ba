#include <vector>

#include "catch.h"
#include "program/dimensions.h"

using namespace whyoom;

namespace TEST_FILE {

std::vector<std::int64_t> SizesOf(const Factors& factors, const FactorIds& factor_ids) {
  std::vector<std::int64_t> sizes;
  for (const FactorId factor : factors.Expand(factor_ids)) sizes.push_back(factors.size(factor));
  return sizes;
}

TEST_CASE("equated dimensions have the same factors, and a dimension of size 1 has none", "[program]") {
  Factors factors;
  const FactorId a = factors.Add(8);
  const FactorId b = factors.Add(8);
  const FactorId one = factors.Add(1);
  CHECK(factors.Equate({a, one}, {b}));
  CHECK(factors.Expand({a}) == factors.Expand({b}));
  CHECK(factors.Expand({one}).empty());
}

TEST_CASE("a merged dimension is split into its parts in all arrays", "[program]") {
  Factors factors;
  const FactorId batch = factors.Add(4);
  const FactorId sequence = factors.Add(128);
  const FactorId tokens = factors.Add(512);
  const FactorId same_tokens = factors.Add(512);
  CHECK(factors.Equate(tokens, same_tokens));
  CHECK(factors.Equate({batch, sequence}, {tokens}));
  CHECK(factors.Expand({same_tokens}) == FactorIds{factors.Expand({batch})[0], factors.Expand({sequence})[0]});
  // Split again in another way: heads of 32 from a sequence of 128.
  const FactorId blocks = factors.Add(4);
  const FactorId block = factors.Add(32);
  CHECK(factors.Equate({sequence}, {blocks, block}));
  CHECK(SizesOf(factors, {same_tokens}) == std::vector<std::int64_t>{4, 4, 32});
}

TEST_CASE("sizes that do not divide each other stay separate", "[program]") {
  Factors factors;
  const FactorId a = factors.Add(6);
  const FactorId b = factors.Add(4);
  CHECK_FALSE(factors.Equate(a, b));
  CHECK(factors.Expand({a}) != factors.Expand({b}));
}

TEST_CASE("related dimensions are in one group, whatever their sizes", "[program]") {
  Factors factors;
  const FactorId whole = factors.Add(2049);
  const FactorId slice = factors.Add(2048);
  const FactorId other = factors.Add(2048);
  factors.Relate(whole, slice);
  factors.JoinGroups();
  CHECK(factors.GroupOf(whole) == factors.GroupOf(slice));
  CHECK(factors.GroupOf(whole) != factors.GroupOf(other));
}

TEST_CASE("dimensions of size 0 are only equal to each other", "[program]") {
  Factors factors;
  const FactorId none = factors.Add(0);
  const FactorId also_none = factors.Add(0);
  const FactorId some = factors.Add(4096);
  CHECK_FALSE(factors.Equate({none, some}, {some, none}));
  CHECK_FALSE(factors.Equate(some, none));
  CHECK(factors.Equate(none, also_none));
  CHECK(factors.Expand({none}) == factors.Expand({also_none}));
}

TEST_CASE("equating long lists of factors takes linear time", "[program]") {
  // Each of 400 dimensions is split into 30 factors. The cost must grow with the pairs of factors, not with their
  // square.
  constexpr std::size_t kDimensions = 400;
  Factors factors;
  FactorIds joined, other;
  for (std::size_t i = 0; i < kDimensions; ++i) {
    for (FactorIds* row : {&joined, &other}) {
      row->push_back(factors.Add(std::int64_t{1} << 30));
      FactorIds parts;
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
