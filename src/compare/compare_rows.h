// Finds again, in the second of two reports, the allocations of the first.
//
// Nothing in a report names an allocation for good: instructions are numbered anew by each compile, and a change of the
// program changes op names. So the surest signs are tried first, and each row is used once:
//   1. the op name and what the shape keeps: all of it; the dimensions (element type changed); the number of elements
//      (dimensions moved or merged); all dimensions but some that are divided by one whole number;
//   2. without the op name: shape; dimensions (element type changed), where the shape occurs once;
//   3. the op name alone, where it occurs once on both sides.
#pragma once

#include <cstdint>
#include <vector>

#include "facts/allocation.h"

namespace whyoom {

struct RowPair {
  const Allocation* before = nullptr;
  const Allocation* after = nullptr;
  std::int64_t factor = 1;  // the dimensions of `divided` axes were divided by it; 1: none was
  std::vector<std::size_t> divided;
};

struct MatchedRows {
  std::vector<RowPair> pairs;
  std::vector<const Allocation*> gone;
  std::vector<const Allocation*> added;
};

// Borrows the rows. Those without a size are left out.
MatchedRows MatchRows(const std::vector<Allocation>& before, const std::vector<Allocation>& after);

}  // namespace whyoom
