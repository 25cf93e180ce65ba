// From two lists of allocations alone: whether one dimension went from one length to another in several arrays.
#pragma once

#include <optional>
#include <vector>

#include "compare/difference.h"
#include "facts/allocation.h"

namespace whyoom {

// Nothing where another pair of lengths is seen nearly as often. What the dimension is, a list does not tell, so the
// difference has no name; how much must show it, the rule data says.
std::optional<Difference> OneDimension(const std::vector<Allocation>& before, const std::vector<Allocation>& after);

}  // namespace whyoom
