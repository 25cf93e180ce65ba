// Orders the remedies that the rule data allows for a diagnosis. The estimates come from the rule data; the order from
// here alone.
//
// What ranks higher, in this order of importance:
//   1. where the scenario is not known, and nothing that the log speaks for is estimated to be enough: what finds it
//      out, if this log speaks for it;
//   2. a remedy that may be enough, alone or with one that it names, before one whose estimate says that it is not.
//   What
//      costs nothing and is not enough alone counts as the latter (`free`): it is listed apart;
//   3. what this log speaks for (a sentence of evidence, or an estimate that covers the excess, alone or with another),
//      before what it does not and before what only finds out more;
//   4. what is not estimated to be too little alone, before what is; a missing estimate does not count as too little,
//      unless others were worked out on the program's values or on those of a list;
//   5. among those that the log speaks for, the lower cost to the user (rules/README.md, `cost`), and at the same cost
//      an estimate that covers the excess before none, and one that covers it with its spread before one that may not;
//   6. the rule data's own order for the scenario (`prior`): where nothing else is known, what was most often the cure;
//   7. the id, so that the order is total.
// A remedy whose `ruled_out` holds is not offered at all; the diagnosis keeps the reason.
#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/finding_scope.h"
#include "rules/rule_set.h"

namespace whyoom {

// Sets remedies, ruled_out and the budget of a diagnosis whose scenario is set.
// `scope` is of it.
void RankRemedies(const RuleSet& rules, const FindingScope& scope, Diagnosis* diagnosis);

// A name that the log's release of a package does not have.
struct LackedName {
  const NameVersions* need = nullptr;
  std::string version;  // that the log tells
};

// All of a log, for the steps of all remedies: none of a log that tells no release.
std::vector<LackedName> LackedNames(const RuleSet& rules, const Scope& scope);

// The steps of a remedy in a framework, or of the default one where it has none of its own, filled with what `scope`
// knows; those that need what is not known are left out. A step that holds a lacked name stands behind the others, and
// says which release has it.
std::vector<std::string> StepsFor(const RuleSet& rules, const Remedy& remedy, const std::string& framework,
                                  const Scope& scope, const std::vector<LackedName>& lacked);

}  // namespace whyoom
