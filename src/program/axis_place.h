// Where the user finds a dimension: the argument that has it, and at which place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

struct AxisPlace {
  std::string array;        // the user's path of the argument: "batch['tokens']"
  std::int64_t number = 0;  // of the dimension, from 0
  std::int64_t length = 0;  // on all devices together
  std::string name;         // "batch", "sequence", "vocabulary"; empty where nothing tells
};

// Of the arguments that have the axis the one that says most: what is fed in before weights, the largest of them.
// Nothing where no argument of the user's has it.
std::optional<AxisPlace> FindPlace(const Program& program, const Meaning& meaning, const Axis& axis);

}  // namespace whyoom
