// What is to be done, step by step, for one log.
#pragma once

#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace whyoom {

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
