// Where the user finds a dimension: the argument that has it, and at which place.
#pragma once

#include <optional>

#include "facts/prospects.h"
#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

// Of the arguments that have the axis the one that says most: what is fed in before weights, the largest of them.
// Nothing where no argument of the user's has it.
std::optional<AxisPlace> FindPlace(const Program& program, const Meaning& meaning, const Axis& axis);

}  // namespace whyoom
