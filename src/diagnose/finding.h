// One failure, as far as the log tells it: everything a printer needs.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/allocation.h"
#include "diagnose/evidence.h"
#include "input/artifact.h"
#include "rules/rule_set.h"
#include "text/timestamp.h"

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
  std::optional<bool> enough;  // alone
  std::vector<std::string> enough_with;
  std::vector<Reason> why;
  std::vector<std::string> how;  // for the framework of the log, holes filled
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
  std::vector<BudgetStep> steps;  // in the order of rank; empty where nothing can be estimated
  bool covered = false;           // the steps are estimated to save the excess
};

struct Where {
  Artifact artifact;
  std::uint64_t line = 0;
  std::uint64_t last_line = 0;
  std::uint64_t offset = 0;
};

struct Finding {
  std::string id;
  const Failure* failure = nullptr;         // borrowed from the rule set, as are all rules below
  const Scenario* scenario = nullptr;       // null where the log cannot tell
  std::vector<const Scenario*> candidates;  // then: those it leaves open
  Confidence confidence = Confidence::kLow;
  std::string message;
  Where where;
  std::vector<Where> also;                 // further places of the same failure, in order
  std::uint64_t also_left_out = 0;         // places beyond the ones kept
  std::set<std::string> hosts;             // reporters by name
  std::set<std::string> replicas;          // "replica 0 partition 34", where no prefix names the reporter
  std::set<std::string> silent_artifacts;  // artifacts with a report on lines that name no reporter
  std::set<std::string> naming_artifacts;  // artifacts with a report on lines that name one
  int repeats = 0;                         // reporters that are only counted ("[repeated 5x across cluster]")
  std::string framework;                   // empty: not seen
  std::optional<Timestamp> first_time;     // of its reports, as far as prefixes carry one
  std::optional<Timestamp> last_time;
  Evidence facts;
  std::vector<Allocation> allocations;
  std::vector<Reason> why;
  std::vector<RankedRemedy> remedies;
  std::vector<RuledOut> ruled_out;
  std::optional<Budget> budget;  // where the excess is known

  // Distinct reporters: hosts, ranks, processes. At least 1.
  std::uint64_t occurrences() const;
};

}  // namespace whyoom
