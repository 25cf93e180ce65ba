#include "report/summary.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "report/layout.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestProgram = 200;

void Count(const std::string& name, std::uint64_t occurrences, std::map<std::string, Share>* shares) {
  Share& share = (*shares)[name];
  ++share.diagnoses;
  share.occurrences = AddBounded(share.occurrences, occurrences);
}

void SortByFrequency(std::vector<const Diagnosis*>* findings) {
  const auto key = [](const Diagnosis* finding) {
    return std::pair(finding->tally.occurrences(), finding->tally.artifacts);
  };
  std::stable_sort(findings->begin(), findings->end(),
                   [&](const Diagnosis* a, const Diagnosis* b) { return key(a) > key(b); });
}

}  // namespace

std::string ScenarioName(const Diagnosis& finding) {
  const Failure& failure = *finding.failure;
  if (finding.scenario != nullptr) return failure.code + "." + finding.scenario->id;
  return failure.scenarios.empty() ? failure.code : failure.code + ".?";
}

std::string ProgramOf(const Diagnosis& finding) {
  for (const char* name : {"module", "program"}) {
    const Fact* fact = finding.facts.Find(name);
    const std::string* text = fact == nullptr ? nullptr : AsText(fact->value);
    if (text != nullptr && !text->empty()) return CutBytes(Printable(*text), kLongestProgram);
  }
  return {};
}

const Remedy* FirstRemedy(const Diagnosis& finding) {
  for (const RankedRemedy& ranked : finding.remedies) {
    if (!ranked.remedy->inquiry) return ranked.remedy;
  }
  return finding.remedies.empty() ? nullptr : finding.remedies.front().remedy;
}

Summary Summarize(const Report& report) {
  Summary summary;
  summary.diagnoses = report.findings.size();
  summary.problems = AddBounded(report.problems.size(), report.problems_left_out);
  Tally times;
  for (const Diagnosis& finding : report.findings) {
    const std::uint64_t occurrences = finding.tally.occurrences();
    summary.occurrences = AddBounded(summary.occurrences, occurrences);
    Count(finding.failure->code, occurrences, &summary.by_code);
    Count(ScenarioName(finding), occurrences, &summary.by_scenario);
    if (const std::string program = ProgramOf(finding); !program.empty())
      Count(program, occurrences, &summary.by_program);
    if (const Remedy* remedy = FirstRemedy(finding)) Count(remedy->id, occurrences, &summary.by_remedy);
    times.AddTime(finding.tally.first_time);
    times.AddTime(finding.tally.last_time);
    if (occurrences > 1 || finding.tally.artifacts > 1) summary.recurring.push_back(&finding);
  }
  summary.first_time = times.first_time;
  summary.last_time = times.last_time;
  SortByFrequency(&summary.recurring);
  return summary;
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
