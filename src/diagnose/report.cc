#include "diagnose/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iterator>
#include <utility>

#include "facts/evidence.h"
#include "text/numbers.h"

namespace whyoom {

void Report::Join(Report other) {
  if (!table) {
    table = std::move(other.table);
  } else if (other.table) {
    table->Join(std::move(*other.table));
  }
  artifacts = SaturatingAdd(artifacts, other.artifacts);
  retry = retry || other.retry;
  bytes = SaturatingAdd(bytes, other.bytes);
  std::move(other.problems.begin(), other.problems.end(), std::back_inserter(problems));
  problems_left_out = SaturatingAdd(problems_left_out, other.problems_left_out);
  constexpr std::size_t kMostHidden = 5000;  // the smallest ids, so that the order does not matter
  hidden.merge(other.hidden);
  while (hidden.size() > kMostHidden) hidden.erase(std::prev(hidden.end()));
  BoundProblems(&problems, &problems_left_out);
}

Report MakeReport(const std::string& rules_fingerprint, Report found) {
  Report report = std::move(found);
  report.version = WHYOOM_VERSION;
  report.rules_fingerprint = rules_fingerprint;
  if (report.table) {
    report.failures = report.table->Finish(&report.problems);
    report.reports_left_out = report.table->left_out();
    report.programs_left_out = report.table->programs().left_out();
    report.programs = report.table->programs().Take();
    report.table.reset();
  }
  for (const Failure& failure : report.failures) {
    report.hidden.erase(failure.id);
  }
  MaskSecretsOf(&report.problems);
  SortProblems(&report.problems, &report.problems_left_out);
  return report;
}

bool FailsAgain(const Report& report) {
  constexpr std::array kCrashes = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS};
  constexpr int kLastSignal = 64;
  const int status = report.exit_status.value_or(0);
  const bool is_signal = status > 128 && status <= 128 + kLastSignal;
  if (status == 0 || (is_signal && std::find(kCrashes.begin(), kCrashes.end(), status - 128) == kCrashes.end()))
    return false;
  const bool is_unknown = std::any_of(report.problems.begin(), report.problems.end(),
                                      [](const Problem& problem) { return problem.is_unknown_error(); });
  if (report.failures.empty() || !report.reports_left_out.empty() || is_unknown) return false;
  return std::all_of(report.failures.begin(), report.failures.end(), [](const Failure& failure) {
    return failure.retry.answer == Retry::Answer::kNever && !failure.recovered && !failure.may_have_recovered;
  });
}

std::vector<std::string> ShownRuleFiles(const std::vector<std::string>& files) {
  constexpr std::size_t kMost = 100;
  std::vector<std::string> shown = files;
  shown.resize(std::min(files.size(), kMost));
  if (files.size() > kMost) shown.push_back(fmt::format("and {} more", files.size() - kMost));
  return shown;
}

}  // namespace whyoom
