#include "diagnose/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "facts/evidence.h"

namespace whyoom {

void HiddenFailures::Join(const HiddenFailures& other) {
  ignored.insert(other.ignored.begin(), other.ignored.end());
  known.insert(other.known.begin(), other.known.end());
  for (const std::string& id : known) ignored.erase(id);
  for (std::set<std::string>* ids : {&ignored, &known}) {
    while (ids->size() > kMost) ids->erase(std::prev(ids->end()));
  }
}

void Report::Join(Report other) {
  if (!table) {
    table = std::move(other.table);
  } else if (other.table) {
    table->Join(std::move(*other.table));
  }
  artifacts += other.artifacts;
  retry = retry || other.retry;
  bytes += other.bytes;
  unknown_times += other.unknown_times;
  std::move(other.problems.begin(), other.problems.end(), std::back_inserter(problems));
  problems_left_out += other.problems_left_out;
  hidden_failures.Join(other.hidden_failures);
  BoundProblems(&problems, &problems_left_out);
}

Report MakeReport(const std::string& rules_fingerprint, Report found) {
  Report report = std::move(found);
  report.version = WHYOOM_VERSION;
  report.rules_fingerprint = rules_fingerprint;
  if (const std::uint64_t reports = report.unknown_times; reports > 0)
    report.problems.push_back(
        {"time range", "",
         fmt::format("{} of failures {} no time that can be compared with --since or --until; {} kept",
                     reports == 1 ? "1 report" : fmt::format("{} reports", reports), reports == 1 ? "has" : "have",
                     reports == 1 ? "it was" : "they were"),
         true, Problem::kNote});
  if (report.table) {
    report.failures = report.table->Finish(&report.problems);
    report.reports_left_out = report.table->left_out();
    report.programs_left_out = report.table->programs().left_out();
    report.programs = report.table->programs().Take();
    report.table.reset();
  }
  for (const Failure& failure : report.failures) {
    report.hidden_failures.ignored.erase(failure.id);
    report.hidden_failures.known.erase(failure.id);
  }
  MaskSecretsOf(&report.problems);
  SortProblems(&report.problems, &report.problems_left_out);
  return report;
}

std::vector<std::string> ShownRuleFiles(const std::vector<std::string>& files) {
  constexpr std::size_t kMost = 100;
  std::vector<std::string> shown = files;
  shown.resize(std::min(files.size(), kMost));
  if (files.size() > kMost) shown.push_back(fmt::format("and {} more", files.size() - kMost));
  return shown;
}

}  // namespace whyoom
