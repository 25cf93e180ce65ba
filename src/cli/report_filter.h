// Which failures are reported, and which make the exit status 1: --select, --ignore, --fail-on.
//
// The value of these options is a list. Each element is one of:
// - a code or alias ("E1000", "E0100"), with all its scenarios;
// - a scenario ("E1000.3"), with its sub-scenarios ("E1000.1" includes "E1000.1.sparsecore");
// - a code with ".?", for failures whose scenario is not decided;
// - a pattern of these names with * and ?;
// - the id of a failure in a report ("0123456789abcdef").
// Letter case does not matter.
#pragma once

#include "cli/options.h"
#include "diagnose/report.h"
#include "rules/rule_set.h"

namespace whyoom {

class ReportFilter {
 public:
  // Borrows the options. Throws Error if an element matches nothing in the rules.
  ReportFilter(const Options& options, const RuleSource& rules);

  // Removes the failures that the options hide. If the scenario of a failure is not decided, --select needs one of its
  // candidates, and --ignore all, to report the failure rather than hiding it.
  void Apply(Report* report) const;
  // Returns 0, 1 or 3 for the report after Apply.
  int ExitStatus(const Report& report) const;

 private:
  const Options& options_;
};

}  // namespace whyoom
