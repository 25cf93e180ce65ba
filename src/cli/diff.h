// whyoom diff BEFORE AFTER.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/file_writer.h"
#include "cli/options.h"
#include "compare/compare.h"
#include "diagnose/diagnosis.h"
#include "read/engine.h"
#include "report/text/text_printer.h"
#include "rules/rule_set.h"

namespace whyoom {

struct Diff;  // report/diff.h

// Reads and compares the two runs that the options name. Throws where nothing of one can be read. The outputs are what
// no input may be. Borrows the engine's rules.
Diff MakeDiff(const Engine& engine, const Options& options, const OutputFiles& outputs);

// MakeDiff, and writes what came of it. Returns the exit status: 0 AFTER fits, 1 it is still over, 3 something could
// not be read whole, 4 nothing shows whether AFTER fits.
int RunDiff(const RuleSet& rules, const Options& options, const TextOptions& text, const OutputFiles& outputs);

// The findings of two runs that belong together: same code and module, else same code, else the first of each. An index
// is nullopt where that run has no finding.
struct FindingPair {
  std::optional<std::size_t> before;
  std::optional<std::size_t> after;
};
FindingPair MatchFindings(const std::vector<Diagnosis>& before, const std::vector<Diagnosis>& after);

// A run that failed in this way.
Run MakeRun(const std::string& path, const Diagnosis& finding);

}  // namespace whyoom
