#include "report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "facts/masking.h"
#include "input/artifact.h"

namespace whyoom {

Report MakeReport(const std::string& rules_fingerprint, Readings readings) {
  Report report;
  report.version = WHYOOM_VERSION;
  report.rules_fingerprint = rules_fingerprint;
  report.artifacts = readings.artifacts;
  report.bytes = readings.bytes;
  report.problems = std::move(readings.problems);
  report.problems_left_out = readings.problems_left_out;
  report.hidden_findings = std::move(readings.hidden_findings);
  report.shards = std::move(readings.shards);
  ReportUnknownTimes(readings.unknown_times, &report.problems);
  if (readings.table) {
    report.findings = readings.table->Finish(&report.problems);
    report.reports_left_out = readings.table->left_out();
    report.programs_left_out = readings.table->programs().left_out();
    report.programs = readings.table->programs().Take();
  }
  for (const Diagnosis& finding : report.findings) report.hidden_findings.Erase(finding.id);
  MaskSecretsOf(&report.problems);
  SortProblems(&report.problems, &report.problems_left_out);
  return report;
}

std::vector<std::string> ShownRuleFiles(const std::vector<std::string>& files) {
  constexpr std::size_t kMost = 100;
  std::vector<std::string> shown(files.begin(),
                                 files.begin() + static_cast<std::ptrdiff_t>(std::min(files.size(), kMost)));
  if (files.size() > kMost) shown.push_back(fmt::format("and {} more", files.size() - kMost));
  return shown;
}

std::string RuleFilesPhrase(const std::vector<std::string>& files) {
  if (files.empty()) return {};
  return files.size() == 1 ? files[0] : fmt::format("{} and {} more", files[0], files.size() - 1);
}

}  // namespace whyoom
