#include "report/summary.h"

#include <algorithm>
#include <tuple>

#include "report/finding_view.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestValue = 100;  // bytes

void Count(const std::string& name, const std::string& title, std::uint64_t occurrences,
           std::map<std::string, Share>* shares) {
  Share& share = shares->try_emplace(name, Share{title}).first->second;
  ++share.diagnoses;
  share.occurrences = SaturatingAdd(share.occurrences, occurrences);
}

// The value of a label in the path of the failure's first input; empty if the pattern does not match.
std::string ValueOf(const PathLabel& label, const Diagnosis& finding) {
  const Artifact& artifact = finding.where.artifact;
  const std::string path = artifact.path + (artifact.member.empty() ? "" : "/" + artifact.member);
  re2::StringPiece groups[2];
  const int count = std::min(1, label.pattern->NumberOfCapturingGroups()) + 1;
  if (!label.pattern->Match(path, 0, path.size(), re2::RE2::UNANCHORED, groups, count)) return {};
  return CutBytes(Printable(std::string(groups[count - 1])), kLongestValue);
}

class Groups {
 public:
  explicit Groups(const std::vector<PathLabel>& labels) : labels_(labels) {
    for (const char* name : {"chip", "framework", "jax version", "libtpu version", kWeek})
      groups_.push_back({name, {}});
    for (const PathLabel& label : labels) groups_.push_back({label.name, {}});
  }

  void Add(const Diagnosis& finding, std::uint64_t occurrences) {
    std::size_t at = 0;
    const auto add = [&](const std::string& value) {
      if (!value.empty()) Count(value, "", occurrences, &groups_[at].shares);
      ++at;
    };
    const auto fact = [&](const char* name) { return CutBytes(Printable(finding.facts.Text(name)), kLongestValue); };
    add(fact("chip"));
    add(finding.framework);
    add(fact("jax_version"));
    add(fact("libtpu_version"));
    add(finding.tally.first_time ? WeekOf(*finding.tally.first_time) : "");
    for (const PathLabel& label : labels_) add(ValueOf(label, finding));
  }

  std::vector<ShareGroup> Take() {
    std::erase_if(groups_, [](const ShareGroup& group) { return group.shares.empty(); });
    return std::move(groups_);
  }

 private:
  const std::vector<PathLabel>& labels_;
  std::vector<ShareGroup> groups_;
};

void CountUseless(const Diagnosis& finding, std::uint64_t occurrences, Summary* summary) {
  const Tally& tally = finding.tally;
  if (finding.retry.answer != Retry::Answer::kNever || tally.reports <= occurrences) return;
  summary->useless_restarts = SaturatingAdd(summary->useless_restarts, tally.reports - occurrences);
  constexpr std::int64_t kSecond = 1'000'000;
  if (tally.first_time && tally.last_time)
    summary->useless_seconds +=
        std::max<std::int64_t>(0, (tally.last_time->microseconds - tally.first_time->microseconds) / kSecond);
}

void SortByFrequency(std::vector<const Diagnosis*>* findings) {
  const auto key = [](const Diagnosis* finding) {
    return std::pair(finding->tally.occurrences(), finding->tally.artifacts);
  };
  std::stable_sort(findings->begin(), findings->end(),
                   [&](const Diagnosis* a, const Diagnosis* b) { return key(a) > key(b); });
}

}  // namespace

Summary Summarize(const Report& report) {
  Summary summary;
  summary.artifacts = report.artifacts;
  summary.bytes = report.bytes;
  summary.diagnoses = report.findings.size();
  summary.problems = SaturatingAdd(report.problems.size(), report.problems_left_out);
  Tally times;
  Groups groups(report.labels);
  for (const Diagnosis& finding : report.findings) {
    const std::uint64_t occurrences = finding.tally.occurrences();
    summary.occurrences = SaturatingAdd(summary.occurrences, occurrences);
    Count(finding.failure->code, finding.failure->title, occurrences, &summary.by_code);
    Count(ScenarioName(finding), ScenarioTitle(finding), occurrences, &summary.by_scenario);
    if (const std::string program = ProgramOf(finding); !program.empty())
      Count(program, "", occurrences, &summary.by_program);
    if (const Remedy* remedy = FirstRemedy(finding)) Count(remedy->id, remedy->title, occurrences, &summary.by_remedy);
    const Remedy* first = finding.remedies.empty() ? nullptr : finding.remedies.front().remedy;
    if (first != nullptr && first->inquiry) Count(first->id, first->title, occurrences, &summary.by_inquiry);
    groups.Add(finding, occurrences);
    CountUseless(finding, occurrences, &summary);
    times.AddTime(finding.tally.first_time);
    times.AddTime(finding.tally.last_time);
    if (occurrences > 1 || finding.tally.artifacts > 1) summary.recurring.push_back(&finding);
  }
  summary.groups = groups.Take();
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
  std::vector<std::map<std::string, Share>*> all = {&summary.by_scenario, &summary.by_program, &summary.by_remedy};
  for (ShareGroup& group : summary.groups) all.push_back(&group.shares);
  for (std::map<std::string, Share>* shares : all) {
    if (shares->size() <= kMostShares) continue;
    const auto sorted = MostFrequent(*shares);
    *shares = {sorted.begin(), sorted.begin() + kMostShares};
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

std::string WeekOf(const Timestamp& time) {
  constexpr std::int64_t kDay = std::int64_t{86'400} * 1'000'000;
  constexpr std::int64_t kWeek = 7 * kDay;
  constexpr std::int64_t kFirstMonday = 4 * kDay;  // 1970-01-05
  const std::int64_t since = time.microseconds - kFirstMonday;
  const std::int64_t weeks = since / kWeek - (since % kWeek < 0 ? 1 : 0);
  return ToString(Timestamp{kFirstMonday + weeks * kWeek, time.zone_known}).substr(0, 10);
}

bool IsBatch(const Report& report) {
  constexpr std::size_t kFew = 3;
  return report.findings.size() > kFew;
}

std::vector<const Diagnosis*> MostFrequentFirst(const Report& report) {
  std::vector<const Diagnosis*> findings;
  for (const Diagnosis& finding : report.findings) findings.push_back(&finding);
  SortByFrequency(&findings);
  return findings;
}

std::vector<std::pair<std::string, Share>> MostFrequent(const std::map<std::string, Share>& shares) {
  std::vector<std::pair<std::string, Share>> sorted(shares.begin(), shares.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.occurrences, a.second.diagnoses) > std::tie(b.second.occurrences, b.second.diagnoses);
  });
  return sorted;
}

}  // namespace whyoom
