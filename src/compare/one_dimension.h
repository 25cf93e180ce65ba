// From two lists of allocations alone: whether one dimension went from one length to another in several arrays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compare/difference.h"
#include "facts/allocation.h"

namespace whyoom {

// Nothing where fewer than two arrays show it, or another pair of lengths nearly as often. What the dimension is, a
// list does not tell, so the difference has no name.
std::optional<Difference> OneDimension(const std::vector<Allocation>& before, const std::vector<Allocation>& after);

// What leaves such a trace, the likeliest first; names as Difference has them.
std::vector<std::string> TracesOfDimension();

}  // namespace whyoom
