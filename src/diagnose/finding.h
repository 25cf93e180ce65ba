// One failure as read from the log: the joined output of all its streams, without conclusions. Conclusions are in a
// Diagnosis (diagnose/diagnosis.h).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "facts/program_estimates.h"
#include "facts/sighting.h"
#include "facts/tally.h"
#include "facts/where.h"
#include "input/artifact.h"
#include "rules/rule_set.h"

namespace whyoom {

// How complete a finding's report is. If many artifacts report one failure, the most complete report is kept. Computed
// before data from a dump is added.
struct Completeness {
  std::uint64_t row_bytes = 0;  // of its allocation list; compared first, so joining findings never decreases it
  bool whole = true;            // false: a fragment of a message, with low confidence only
  std::uint64_t numbers = 0;    // number of known facts among those that high confidence requires
  std::uint64_t facts = 0;

  friend auto operator<=>(const Completeness&, const Completeness&) = default;
};

struct Finding {
  std::string id;
  const Failure* failure = nullptr;  // borrowed from the rule set
  std::string message;
  Where where;
  Tally tally;
  Completeness completeness;
  std::string framework;  // empty: none seen
  Evidence facts;
  std::vector<Allocation> allocations;
  std::uint64_t allocations_left_out = 0;     // number dropped to limit memory
  std::optional<Problem> dump_problem;        // why its XLA dump could not be read
  std::optional<ProgramEstimates> estimates;  // from the program of its XLA dump

  std::optional<Recompilation> recompilation;  // its program compiled again, with remedies

  std::optional<SurvivalSign> recovered;  // if every process that failed went on
  bool may_have_recovered = false;        // something else may have ended the job

  // Places of the reports other than `where`; about the first hundred, in order.
  std::vector<Where> Also() const;
};

}  // namespace whyoom
