#include "program/factors.h"

#include <vector>

#include "catch.h"

using namespace whyoom;

namespace {

std::vector<std::int64_t> SizesOf(const Factors& factors, const std::vector<int>& row) {
  std::vector<std::int64_t> sizes;
  for (const int factor : factors.Expand(row)) sizes.push_back(factors.size(factor));
  return sizes;
}

}  // namespace

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
  CHECK(factors.Equate({tokens}, {same_tokens}));
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
  CHECK_FALSE(factors.Equate({a}, {b}));
  CHECK(factors.Expand(a) != factors.Expand(b));
}

TEST_CASE("related dimensions are of one family, whatever their sizes", "[program]") {
  Factors factors;
  const int whole = factors.Add(2049);
  const int slice = factors.Add(2048);
  const int other = factors.Add(2048);
  factors.Relate({whole}, {slice});
  factors.JoinFamilies();
  CHECK(factors.Family(whole) == factors.Family(slice));
  CHECK(factors.Family(whole) != factors.Family(other));
}
