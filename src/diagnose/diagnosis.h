// A failure and what follows from it: the scenario, the reasons, and the remedies in order. Only Conclude
// (diagnose/conclude.h) makes one of a finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/finding.h"
#include "facts/prospects.h"
#include "rules/rule_set.h"

namespace whyoom {

enum class Confidence { kLow, kMedium, kHigh };

// A sentence about this log, and the line that proves it.
struct Reason {
  std::string text;
  std::uint64_t line = 0;  // 0: no one line
};

// Figures of the log that cannot all be right. They are not among the facts, and nothing is derived from them.
struct Contradiction {
  std::string id;  // the rule's
  std::string text;
  std::uint64_t line = 0;  // 0: no one line
  Evidence figures;        // as they were read
};

// What a remedy's place among the others is decided by, see diagnose/rank.h: compared part by part, in this order.
struct RankReasons {
  bool finds_out = false;    // what is not known and would have to be first
  bool free = false;         // listed apart, after the others
  bool falls_short = false;  // too little, and with any other remedy, too
  bool supported = false;    // the log speaks for it, or it is estimated to be enough, alone or with another
  bool too_little = false;
  bool gamble = false;     // nothing is known of it, where others were worked out
  int cost = 0;            // to the user; where the log does not speak for it, 0
  bool estimated = false;  // whether it is enough
  bool doubtful = false;   // enough, or too little, only as far as the estimate is right
  int prior = 0;           // the rule data's own order
};

struct RankedRemedy {
  int rank = 0;
  std::optional<RankReasons> rank_reasons;  // of reports from before they were told: none
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
  std::vector<std::string> enough_with;      // ids, in order of rank
  bool free = false;                         // costs nothing and is not enough alone: listed apart from the others
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

// Of the finding it is made of, `facts` also hold what follows from them by the rule data, and neither `facts` nor
// `allocations` hold what the log contradicts.
struct Diagnosis : Finding {
  Diagnosis() = default;
  // Of a finding of which nothing is concluded yet.
  explicit Diagnosis(Finding finding) : Finding(std::move(finding)) {}

  const RuleSet* rules = nullptr;           // what concluded it; borrowed, as are all rules below
  const Scenario* scenario = nullptr;       // null where the log cannot tell
  std::vector<const Scenario*> candidates;  // then: those it leaves open
  std::vector<Contradiction> contradictions;
  Confidence confidence = Confidence::kLow;
  Retry retry;  // whether the same job can succeed when it is started again; without a word: unknown
  std::vector<Reason> why;
  std::vector<RankedRemedy> remedies;
  std::vector<RuledOut> ruled_out;
  std::optional<Budget> budget;  // where the excess is known
};

struct PassedOver {
  // Of each kind: those with the smallest ids are kept, which does not depend on who came first.
  static constexpr std::size_t kMost = 5000;

  std::set<std::string> ignored;  // not asked for
  std::set<std::string> known;    // by a baseline

  bool empty() const { return ignored.empty() && known.empty(); }

  // Commutative and associative. What is known to one part and not asked for in another counts as known.
  void Join(const PassedOver& other) {
    ignored.insert(other.ignored.begin(), other.ignored.end());
    known.insert(other.known.begin(), other.known.end());
    for (const std::string& id : known) ignored.erase(id);
    for (std::set<std::string>* ids : {&ignored, &known}) {
      while (ids->size() > kMost) ids->erase(std::prev(ids->end()));
    }
  }

  // Of a failure that is told of after all.
  void Erase(const std::string& id) {
    ignored.erase(id);
    known.erase(id);
  }
};

}  // namespace whyoom
