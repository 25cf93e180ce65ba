// Ranks the remedies that the rule data allows for a diagnosis. The estimates come from the rule data; the order is
// defined here only.
//
// A remedy ranks higher by these criteria, most important first:
//   1. An inquiry that this log supports, if the scenario is unknown and no remedy that the log supports is estimated
//      to be enough.
//   2. A remedy that may be enough, alone or in a compiled pair, before one estimated not to be. A remedy that
//      costs nothing and is not enough alone (`free`) counts as the latter and is listed separately.
//   3. A remedy that this log supports (by a sentence of evidence, or by an estimate that covers the excess) before
//      other remedies and before inquiries.
//   4. A remedy not estimated to be too little alone before one that is. Among the former, if there are estimates on
//      the program or on a list of allocations, a remedy with an estimate before one without, unless it is a cure (5).
//   5. The cure of a mistake that the report names, unless it is estimated to be too little.
//   6. Among remedies that the log supports: lower cost to the user (docs/rules-reference.md, `cost`). Then an estimate
//      that covers the excess before none, and one that covers it including its spread before one that may not.
//   7. The order of the rule data for the scenario (`prior`): the remedy that helps most often first.
//   8. The id, so that the order is total.
// A remedy whose `ruled_out` condition is true is not offered; the diagnosis records the reason.
#pragma once

#include <string>
#include <vector>

#include "diagnose/failure_scope.h"
#include "facts/failure.h"
#include "program/listed.h"
#include "rules/rule_set.h"

namespace whyoom {

// Sets remedies and ruled_out of a diagnosis whose scenario is set. `scope` belongs to the diagnosis.
void RankRemedies(const RuleSet& rules, const FailureScope& scope, Failure* failure);

// Converts the allocation list. `scope` belongs to the failure. Skips rows without a single array of known size.
ListedProgram ToListedProgram(const Failure& failure, const FailureScope& scope);

// A name that does not exist in the log's version of a package.
struct MissingName {
  const NameVersions* need = nullptr;
  std::string version;  // as the log states it
};

// Returns all such names of a log, for the steps of all remedies; empty if the log states no versions.
std::vector<MissingName> MissingNames(const RuleSet& rules, const Scope& scope);

// Returns the steps of a remedy for a framework, or the default steps if it has none, with placeholders filled from
// `scope`. Omits steps with unknown placeholders. Steps that contain a name in `lacked` come last and state which
// version has it.
std::vector<std::string> StepsFor(const RuleSet& rules, const Remedy& remedy, const std::string& framework,
                                  const Scope& scope, const std::vector<MissingName>& lacked);

}  // namespace whyoom
