#include "report/report.h"

#include <utility>

#include "input/problems.h"

namespace whyoom {

Report MakeReport(const std::string& rules_fingerprint, Readings readings, const XlaDump& dump,
                  const std::optional<double>& limit) {
  Report report;
  report.version = WHYOOM_VERSION;
  report.rules_fingerprint = rules_fingerprint;
  report.artifacts = readings.artifacts;
  report.bytes = readings.bytes;
  report.problems = std::move(readings.problems);
  report.problems_left_out = readings.problems_left_out;
  ReportUnknownTimes(readings.unknown_times, &report.problems);
  if (readings.table) {
    report.findings = readings.table->Finish(dump, &report.problems);
    report.reports_left_out = readings.table->left_out();
    report.programs_left_out = readings.table->programs().left_out();
    report.programs = readings.table->programs().Take();
  }
  for (CompiledProgram& program : report.programs) {
    if (limit) program.facts.Set("limit_bytes", *limit, {});
  }
  SortProblems(&report.problems, &report.problems_left_out);
  return report;
}

}  // namespace whyoom
