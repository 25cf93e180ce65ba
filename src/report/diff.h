// The comparison of two runs, for printing.
#pragma once

#include <vector>

#include "compare/compare.h"
#include "input/artifact.h"
#include "report/document.h"
#include "rules/rule_set.h"

namespace whyoom {

struct Diff {
  Run before;
  Run after;
  Comparison comparison;
  std::vector<Problem> problems;
};

// `rules` provides the titles of remedies.
doc::Blocks DiffBlocks(const Diff& diff, const RuleSet& rules);

}  // namespace whyoom
