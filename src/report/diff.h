// The comparison of two runs, for printing.
#pragma once

#include <vector>

#include "diagnose/compare.h"
#include "input/artifact.h"
#include "report/document.h"

namespace whyoom {

struct Diff {
  Run before;
  Run after;
  Comparison comparison;
  std::vector<Problem> problems;
};

doc::Blocks DiffBlocks(const Diff& diff);

}  // namespace whyoom
