// What follows from one row of a report alone: the fields of a row that rule data may name. Each is a small function of
// the row, listed with its meaning in rules/README.md.
#pragma once

#include <string>
#include <string_view>

#include "facts/allocation.h"
#include "rules/value.h"

namespace whyoom {

// Unknown for a name that is no field, and for a field that this row does not give.
Value RowField(const Allocation& row, std::string_view name);

}  // namespace whyoom
