// whyoom diff BEFORE AFTER.
#pragma once

#include <utility>
#include <vector>

#include "cli/options.h"
#include "cli/output.h"
#include "facts/failure.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

struct Diff;  // report/command_documents.h

// Reads and compares the two runs of the options. Throws Error if a run cannot be read at all, or if an input is one of
// `outputs`. Borrows the engine's rules.
Diff MakeDiff(const Engine& engine, const Options& options, const OutputFiles& outputs);

// Calls MakeDiff and writes the result. Returns the exit status: 0 AFTER fits, 1 it needs too much or fails, 3 some
// input could not be read completely, 4 no evidence whether AFTER fits.
int RunDiff(const RuleSet& rules, const Options& options, const OutputFiles& outputs);

// The failures of two runs to compare, borrowed: same code and module, else same code, else the first of each; null if
// a run has no failure.
using FailurePair = std::pair<const Failure*, const Failure*>;
FailurePair MatchFailures(const std::vector<Failure>& before, const std::vector<Failure>& after);

}  // namespace whyoom
