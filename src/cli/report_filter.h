// Which failures are reported, and which make the exit status 1: --select, --ignore, --fail-on.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "diagnose/report.h"
#include "facts/failure.h"
#include "rules/rule_set.h"

namespace whyoom {

class Selection {
 public:
  // Selects nothing.
  Selection() = default;

  // Each name is one of:
  // - a code or alias ("E1000", "E0100"), with all its scenarios;
  // - a scenario ("E1000.3"), with its sub-scenarios ("E1000.1" includes "E1000.1.sparsecore");
  // - a code with ".?", for failures whose scenario is not decided;
  // - a pattern with * and ?, or a prefix of names;
  // - the id of a failure in a report ("0123456789abcdef").
  // Letter case does not matter. Throws Error, beginning with `option`, if a name matches nothing in the rules.
  Selection(const std::string& option, const std::vector<std::string>& names, const RuleSet& rules);

  bool empty() const { return names_.empty(); }

  // Whether the failure is selected. If its scenario is not decided: whether every candidate is.
  bool Holds(const Failure& failure) const;

  // Whether the failure may be selected: at least one candidate is.
  bool MayHold(const Failure& failure) const;

 private:
  bool MatchesScenario(const FailureRule& rule, const Scenario* scenario) const;

  std::set<std::string> names_;  // of the rules: "E1000", "E1000.2", "E1000.?"
};

class ReportFilter {
 public:
  // Borrows the options. Throws Error if they name an unknown failure.
  ReportFilter(const Options& options, const RuleSource& rules);

  // Removes the failures that the options hide.
  void Apply(Report* report) const;
  // Returns 0, 1 or 3 for the report after Apply.
  int ExitStatus(const Report& report) const;

 private:
  bool Fails(const Report& report) const;

  const Options& options_;
  Selection select_;
  Selection ignore_;
  Selection fail_on_;
};

}  // namespace whyoom
