// Which failures of a report are told of, and which make the exit status 1: --select, --ignore, --baseline, --fail-on.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "diagnose/diagnosis.h"
#include "report/record/baseline.h"
#include "report/report.h"
#include "rules/rule_set.h"

namespace whyoom {

class Selection {
 public:
  // Of nothing.
  Selection() = default;

  // Each of `names` is a code or alias ("E1000", "E0100"), with a scenario ("E1000.3"), which means what lies below it,
  // too ("E1000.1" also "E1000.1.sparsecore"), or with ".?": where the log leaves the scenario open, as reports name
  // it; what is none of these is a pattern with * and ?, or the begin of names. Letter case does not matter. Throws
  // Error, which begins with `option`, where one names nothing that the rules know.
  Selection(const std::string& option, const std::vector<std::string>& names, const RuleSet& rules);

  bool empty() const { return names_.empty(); }

  // Whether a failure is one of those. Where the log leaves its scenario open: whether it is, whichever it was.
  bool Holds(const Diagnosis& finding) const;

  // The same, but whether it may be one of those.
  bool MayHold(const Diagnosis& finding) const;

 private:
  struct Name {
    std::string text;    // in small letters
    bool exact = false;  // a name that the rules know, so that it is no begin of another
  };
  bool Meets(const std::string& known) const;
  bool IsOpenOf(const Diagnosis& finding) const;
  bool MeetsScenario(const Failure& failure, const Scenario* scenario) const;

  std::vector<Name> names_;
};

// Whether `text` is what `pattern` says, in which * stands for any characters and ? for one.
bool MatchesGlob(std::string_view pattern, std::string_view text);

class ReportFilter {
 public:
  // Borrows the options. Throws Error where they name a failure that there is not, or the baseline cannot be read; that
  // is before anything else is.
  ReportFilter(const Options& options, const RuleSource& rules);

  // Takes out what is not to be told of, and writes the new baseline where one is asked for: all failures that are
  // left, and those that were known. Throws Error where it cannot be written.
  void Apply(Report* report) const;

  // Only the first of it: of a part of a report.
  void TakeOut(Report* report) const;

  // 0, 1 or 3 for what Apply left.
  int ExitStatus(const Report& report) const;

 private:
  bool Fails(const Report& report) const;

  const Options& options_;
  Selection select_;
  Selection ignore_;
  Selection fail_on_;
  Baseline known_;
};

}  // namespace whyoom
