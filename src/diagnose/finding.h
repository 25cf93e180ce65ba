// One failure as the log tells it: what all its reporters printed, joined, and nothing that is concluded from it. What
// follows is a Diagnosis (diagnose/diagnosis.h).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "facts/prospects.h"
#include "facts/tally.h"
#include "facts/where.h"
#include "input/artifact.h"
#include "rules/rule_set.h"

namespace whyoom {

// How much the report that a finding is made of tells: of the reports of one failure in many artifacts the fullest is
// kept. Counted before a dump adds to it.
struct Fullness {
  std::uint64_t row_bytes = 0;  // of its list of allocations; first, so that it only grows where findings join
  bool whole = true;            // false: a fragment of a message, good for low confidence only
  std::uint64_t numbers = 0;    // of those that the rule data wants for high confidence
  std::uint64_t facts = 0;

  friend auto operator<=>(const Fullness&, const Fullness&) = default;
};

struct Finding {
  std::string id;
  const Failure* failure = nullptr;  // borrowed from the rule set
  std::string message;
  Where where;
  Tally tally;
  Fullness fullness;
  std::string framework;  // empty: not seen
  Evidence facts;
  std::vector<Allocation> allocations;
  std::uint64_t allocations_left_out = 0;  // for lack of room
  std::optional<Problem> dump_problem;     // why its XLA dump could not be read
  std::optional<Prospects> prospects;      // what the program of its XLA dump tells

  // Places of the reports beside `where`, the first hundred or so in order.
  std::vector<Where> Also() const;
};

}  // namespace whyoom
