#include "report/summary.h"

#include <algorithm>
#include <tuple>

#include "report/failure_view.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

void Count(const std::string& name, const std::string& title, std::uint64_t occurrences,
           std::map<std::string, Share>* shares) {
  Share& share = shares->try_emplace(name, Share{title}).first->second;
  ++share.failures;
  share.occurrences = SaturatingAdd(share.occurrences, occurrences);
}

}  // namespace

Summary Summarize(const Report& report) {
  Summary summary;
  summary.artifacts = report.artifacts;
  summary.bytes = report.bytes;
  summary.failures = report.failures.size();
  summary.problems = SaturatingAdd(report.problems.size(), report.problems_left_out);
  Tally times;
  for (const Failure& failure : report.failures) {
    const std::uint64_t occurrences = failure.tally.occurrences();
    summary.occurrences = SaturatingAdd(summary.occurrences, occurrences);
    Count(failure.rule->code, failure.rule->title, occurrences, &summary.by_code);
    Count(ScenarioName(failure), ScenarioTitle(failure), occurrences, &summary.by_scenario);
    if (const std::string program = ProgramOf(failure); !program.empty())
      Count(program, "", occurrences, &summary.by_program);
    if (const Remedy* first = FirstRemedy(failure)) Count(first->id, first->title, occurrences, &summary.by_remedy);
    times.AddTime(failure.tally.first_time);
    times.AddTime(failure.tally.last_time);
  }
  summary.first_time = times.first_time;
  summary.last_time = times.last_time;
  return summary;
}

Summary BoundedSummary(const Report& report) {
  constexpr std::size_t kMostShares = 100;  // of programs; codes, scenarios and remedies are fewer
  Summary summary = Summarize(report);
  if (summary.by_program.size() > kMostShares) summary.programs_left_out = summary.by_program.size() - kMostShares;
  for (std::map<std::string, Share>* shares : {&summary.by_scenario, &summary.by_program, &summary.by_remedy}) {
    std::vector<std::pair<std::string, Share>> sorted = MostFrequent(*shares);
    sorted.resize(std::min(sorted.size(), kMostShares));
    *shares = {sorted.begin(), sorted.end()};
  }
  return summary;
}

std::string PeriodText(const std::optional<Timestamp>& first, const std::optional<Timestamp>& last) {
  if (!first || !last) return {};
  const auto text = [](const Timestamp& time) {
    const std::string whole = ToString(time);
    const std::size_t point = whole.find('.');
    return point == std::string::npos ? whole : whole.substr(0, point) + (time.zone_known ? "Z" : "");
  };
  const std::string begin = text(*first);
  const std::string end = text(*last);
  return begin == end ? begin : begin + " to " + end;
}

bool IsBatch(const Report& report) {
  constexpr std::size_t kFew = 3;
  return report.failures.size() > kFew;
}

std::vector<const Failure*> MostFrequentFirst(const Report& report) {
  std::vector<const Failure*> failures;
  for (const Failure& failure : report.failures) failures.push_back(&failure);
  const auto key = [](const Failure* failure) {
    return std::pair(failure->tally.occurrences(), failure->tally.artifacts);
  };
  std::stable_sort(failures.begin(), failures.end(),
                   [&](const Failure* a, const Failure* b) { return key(a) > key(b); });
  return failures;
}

std::vector<std::pair<std::string, Share>> MostFrequent(const std::map<std::string, Share>& shares) {
  std::vector<std::pair<std::string, Share>> sorted(shares.begin(), shares.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.occurrences, a.second.failures) > std::tie(b.second.occurrences, b.second.failures);
  });
  return sorted;
}

}  // namespace whyoom
