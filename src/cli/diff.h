// whyoom diff BEFORE AFTER.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/file_writer.h"
#include "cli/options.h"
#include "diagnose/compare.h"
#include "facts/failure.h"
#include "read/engine.h"
#include "report/text/text_printer.h"
#include "rules/rule_set.h"

namespace whyoom {

struct Diff;  // report/diff.h

// Reads and compares the two runs of the options. Throws Error if a run cannot be read at all, or if an input is one of
// `outputs`. Borrows the engine's rules.
Diff MakeDiff(const Engine& engine, const Options& options, const OutputFiles& outputs);

// Calls MakeDiff and writes the result. Returns the exit status: 0 AFTER fits, 1 it needs too much or fails, 3 some
// input could not be read completely, 4 no evidence whether AFTER fits.
int RunDiff(const RuleSet& rules, const Options& options, const TextOptions& text, const OutputFiles& outputs);

// The failures of two runs to compare: same code and module, else same code, else the first of each. An index is
// nullopt if that run has no failure.
struct FailurePair {
  std::optional<std::size_t> before;
  std::optional<std::size_t> after;
};
FailurePair MatchFailures(const std::vector<Failure>& before, const std::vector<Failure>& after);

// Makes a run that failed with `failure`.
Run MakeRun(const std::string& path, const Failure& failure);

}  // namespace whyoom
