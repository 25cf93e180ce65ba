#include "report/summary.h"

#include <algorithm>
#include <tuple>

#include "report/failure_view.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestValue = 100;  // bytes

void Count(const std::string& name, const std::string& title, std::uint64_t occurrences,
           std::map<std::string, Share>* shares) {
  Share& share = shares->try_emplace(name, Share{title}).first->second;
  ++share.failures;
  share.occurrences = SaturatingAdd(share.occurrences, occurrences);
}

void AddToGroups(const Failure& failure, std::uint64_t occurrences, std::map<std::string, ShareGroup>* groups) {
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty())
      Count(value, "", occurrences, &groups->try_emplace(name, ShareGroup{name, {}}).first->second.shares);
  };
  const auto fact = [&](const char* name) { return CutBytes(Printable(failure.facts.Text(name)), kLongestValue); };
  add("chip", fact("chip"));
  add("framework", failure.framework);
  add("jax version", fact("jax_version"));
  add("libtpu version", fact("libtpu_version"));
}

// Counts a process's restarts that could not succeed.
void CountUseless(const Failure& failure, Summary* summary) {
  if (failure.retry.answer != Retry::Answer::kNever) return;
  summary->useless_restarts = SaturatingAdd(summary->useless_restarts, failure.tally.restarts);
  summary->useless_seconds += failure.tally.restart_seconds;
}

void SortByFrequency(std::vector<const Failure*>* failures) {
  const auto key = [](const Failure* failure) {
    return std::pair(failure->tally.occurrences(), failure->tally.artifacts);
  };
  std::stable_sort(failures->begin(), failures->end(),
                   [&](const Failure* a, const Failure* b) { return key(a) > key(b); });
}

}  // namespace

Summary Summarize(const Report& report) {
  Summary summary;
  summary.artifacts = report.artifacts;
  summary.bytes = report.bytes;
  summary.failures = report.failures.size();
  summary.problems = SaturatingAdd(report.problems.size(), report.problems_left_out);
  Tally times;
  std::map<std::string, ShareGroup> groups;
  for (const Failure& failure : report.failures) {
    const std::uint64_t occurrences = failure.tally.occurrences();
    summary.occurrences = SaturatingAdd(summary.occurrences, occurrences);
    Count(failure.rule->code, failure.rule->title, occurrences, &summary.by_code);
    Count(ScenarioName(failure), ScenarioTitle(failure), occurrences, &summary.by_scenario);
    if (const std::string program = ProgramOf(failure); !program.empty())
      Count(program, "", occurrences, &summary.by_program);
    if (const Remedy* first = FirstRemedy(failure)) {
      Count(first->id, first->title, occurrences, &summary.by_remedy);
      if (first->inquiry) Count(first->id, first->title, occurrences, &summary.by_inquiry);
    }
    AddToGroups(failure, occurrences, &groups);
    CountUseless(failure, &summary);
    times.AddTime(failure.tally.first_time);
    times.AddTime(failure.tally.last_time);
    if (occurrences > 1 || failure.tally.artifacts > 1) summary.recurring.push_back(&failure);
  }
  for (auto& [name, group] : groups) summary.groups.push_back(std::move(group));
  summary.first_time = times.first_time;
  summary.last_time = times.last_time;
  SortByFrequency(&summary.recurring);
  return summary;
}

Summary BoundedSummary(const Report& report) {
  constexpr std::size_t kMostShares = 100;  // of programs; codes, scenarios and remedies are fewer
  constexpr std::size_t kMostRecurring = 50;
  Summary summary = Summarize(report);
  if (summary.by_program.size() > kMostShares) summary.programs_left_out = summary.by_program.size() - kMostShares;
  // Removes the less frequent shares, and returns their sum.
  const auto cut = [&](std::map<std::string, Share>* shares) {
    Share rest;
    if (shares->size() <= kMostShares) return rest;
    const auto sorted = MostFrequent(*shares);
    *shares = {sorted.begin(), sorted.begin() + kMostShares};
    for (std::size_t i = kMostShares; i < sorted.size(); ++i) {
      rest.failures += sorted[i].second.failures;
      rest.occurrences = SaturatingAdd(rest.occurrences, sorted[i].second.occurrences);
    }
    return rest;
  };
  for (std::map<std::string, Share>* shares : {&summary.by_scenario, &summary.by_program, &summary.by_remedy})
    cut(shares);
  for (ShareGroup& group : summary.groups) {
    if (const Share rest = cut(&group.shares); rest.failures > 0) group.shares.emplace("(more)", rest);
  }
  if (summary.recurring.size() > kMostRecurring) summary.recurring.resize(kMostRecurring);
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
  SortByFrequency(&failures);
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
