// Which failures of a report are told of, and which make the exit status 1: --select, --ignore, --baseline, --fail-on.
#pragma once

#include "cli/options.h"
#include "report/record/baseline.h"
#include "report/report.h"
#include "report/selection.h"
#include "rules/rule_set.h"

namespace whyoom {

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
