// One failure, as far as the log tells it: everything a printer needs.
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

enum class Confidence { kLow, kMedium, kHigh };

// A sentence about this log, and the line that proves it.
struct Reason {
  std::string text;
  std::uint64_t line = 0;  // 0: no one line
};

struct RankedRemedy {
  int rank = 0;
  const Remedy* remedy = nullptr;
  std::string section;
  std::optional<std::int64_t> saves_bytes;
  std::optional<std::int64_t> left_bytes;    // what the program then needs, and
  std::optional<std::int64_t> spread_bytes;  // how far off that may be; only where the program tells
  std::string basis;                         // of the figures: "program", "list"; empty where there are none
  std::int64_t parts = 0;                    // devices, steps or pieces that they are for, and
  std::optional<AxisPlace> axis;             // what is cut into them; only where the program tells
  bool at_least = false;                     // saves_bytes is of what is listed, and most of the need is not
  std::optional<bool> enough;                // alone
  bool borderline = false;                   // the spread reaches past what would be enough, or up to it
  std::vector<std::string> enough_with;
  std::vector<Reason> why;
  std::vector<std::string> how;  // for the framework of the log, holes filled
  std::string safety;            // the remedy's, or what this log makes of it
  std::string safe_why;
};

struct RuledOut {
  const Remedy* remedy = nullptr;
  std::string why;
};

// What to do together so that it fits, see diagnose/budget.h.
struct BudgetStep {
  const Remedy* remedy = nullptr;
  std::int64_t saves_bytes = 0;  // of what the steps before leave; the steps add up
};

struct Budget {
  std::int64_t excess_bytes = 0;
  bool at_most = false;           // the excess is less than that; sizes are rounded
  std::vector<BudgetStep> steps;  // in the order of rank; empty where nothing can be estimated
  bool covered = false;           // the steps are estimated to save the excess
};

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
  const Failure* failure = nullptr;         // borrowed from the rule set, as are all rules below
  const Scenario* scenario = nullptr;       // null where the log cannot tell
  std::vector<const Scenario*> candidates;  // then: those it leaves open
  Confidence confidence = Confidence::kLow;
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
  bool concluded = false;                  // what follows is set, as are scenario, candidates and confidence
  std::vector<Reason> why;
  std::vector<RankedRemedy> remedies;
  std::vector<RuledOut> ruled_out;
  std::optional<Budget> budget;  // where the excess is known

  // Places of the reports beside `where`, the first hundred or so in order.
  std::vector<Where> Also() const;
};

}  // namespace whyoom
