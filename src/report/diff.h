// What a comparison of two runs is printed from.
#pragma once

#include <vector>

#include "compare/compare.h"
#include "input/artifact.h"

namespace whyoom {

struct Diff {
  Run before;
  Run after;
  Comparison comparison;
  std::vector<Problem> problems;
};

}  // namespace whyoom
