// Describes the output of --brief --format json: a short report for readers that pay for each word, such as language
// models. It has a schema of its own, because it omits fields that a report must have. Its fields have the same names,
// positions and meanings as in a report (describe.h). Write-only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/memory_view.h"
#include "report/record/describe.h"

namespace whyoom {

inline constexpr const char* kBriefSchema = "whyoom.brief/1";

// The first `most` of a list.
template <class T>
std::vector<T> FirstOf(const std::vector<T>& list, std::size_t most) {
  return {list.begin(), list.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), most))};
}

struct BriefRemedy {
  const RankedRemedy* ranked = nullptr;
  std::size_t steps = 1;
};

void Describe(auto& v, RecordOf<BriefRemedy> auto& brief) {
  const auto ranked = [&]() -> const RankedRemedy& { return *brief.ranked; };
  v.Record("brief_remedy");
  v.Show("id", [&] { return ranked().remedy->id; }, {.about = "whyoom explain ID describes the remedy in full."});
  v.Show("title", [&] { return ranked().remedy->title; });
  v.Show("safety", [&] { return ranked().safety; }, {.one_of = "safe safe_slower risky changes_training"});
  v.MayShow("saves_bytes", [&] { return ranked().saves_bytes; });
  v.MayShow("left_bytes", [&] { return ranked().left_bytes; }, {.about = "The need with the remedy."});
  v.MayShow("spread_bytes", [&] { return ranked().spread_bytes; }, {.about = "The error of left_bytes."});
  v.MayShow("parts", [&] { return ranked().parts; }, {.about = "The number of pieces that the estimate assumes."});
  v.MayShow("split", [&] { return ranked().split; });
  v.MayShow("enough", [&] { return ranked().enough; }, {.about = "Whether this remedy alone is enough."});
  v.MayShow("borderline", [&] { return ranked().borderline; }, {.about = "The estimate permits the opposite."});
  v.MayShow("enough_with", [&] { return ranked().enough_with; });
  v.MayShow("free", [&] { return ranked().free; }, {.about = "It costs nothing; apply it with the first remedy."});
  v.MayShow(
      "setting", [&] { return ranked().compiled ? ranked().compiled->setting : std::string(); },
      {.about = "What to type, if `whyoom try` compiled the program with it; then the figures are the compiler's."});
  v.MayShow("how", [&] { return FirstOf(ranked().how, brief.steps); },
            {.about = "The first steps: three of the first remedy, one of the others."});
}

// The attempts that compiled, smallest need first.
inline std::vector<CompiledAttempt> TriedOf(const Failure& failure) {
  std::vector<CompiledAttempt> tried;
  if (failure.recompilation) tried = SortedByNeed(failure.recompilation->attempts);
  std::erase_if(tried, [](const CompiledAttempt& attempt) { return !attempt.need_bytes; });
  return tried;
}

struct BriefKind {
  std::string kind;
  std::int64_t bytes = 0;
};

void Describe(auto& v, RecordOf<BriefKind> auto& kind) {
  v.Record("brief_memory");
  v.Need("kind", kind.kind);
  v.Need("bytes", kind.bytes);
}

struct BriefDiagnosis {
  const Failure* failure = nullptr;
};

// The facts that the verdict uses.
inline Evidence BriefFacts(const Failure& failure) {
  Evidence facts;
  for (const char* name : {"need_bytes", "have_bytes", "excess_bytes", "limit_bytes", "chip", "module", "program"}) {
    if (const Fact* fact = failure.facts.Find(name)) facts.Set(name, Value(fact->value), fact->place);
  }
  return facts;
}

void Describe(auto& v, RecordOf<BriefDiagnosis> auto& brief) {
  constexpr std::size_t kRemedies = 3;
  constexpr std::size_t kSteps = 3;  // of the first
  constexpr std::size_t kKinds = 3;
  constexpr std::size_t kTried = 5;
  const Failure none;
  const Failure& failure = brief.failure == nullptr ? none : *brief.failure;
  std::optional<ScenarioRecord> scenario;
  std::vector<ScenarioRecord> candidates;
  std::vector<BriefRemedy> remedies;
  std::vector<BriefKind> kinds;
  if (failure.estimates) {
    for (const MemoryPart& part : FirstOf(failure.estimates->memory, kKinds)) kinds.push_back({part.kind, part.bytes});
  }
  if (failure.scenario != nullptr) scenario = {failure.scenario->id, failure.scenario->title, ""};
  for (const Scenario* candidate : failure.candidates) candidates.push_back({candidate->id, candidate->title, ""});
  for (std::size_t i = 0; i < std::min(failure.remedies.size(), kRemedies); ++i)
    remedies.push_back({&failure.remedies[i], i == 0 ? kSteps : 1});
  for (std::size_t i = kRemedies; i < failure.remedies.size(); ++i) {
    if (failure.remedies[i].free) remedies.push_back({&failure.remedies[i], 1});
  }
  v.Record("brief_diagnosis");
  v.Need("id", failure.id, {.form = &kId});
  v.Show("code", [&] { return failure.rule->code; });
  v.Show("title", [&] { return failure.rule->title; });
  v.Maybe("scenario", scenario, {.about = "Without the why of a full report."});
  v.Maybe("scenario_candidates", candidates);
  v.Need("confidence", failure.confidence, {.one_of = "low medium high"});
  v.Maybe("contradictions", failure.contradictions);
  v.Show("retry", [&] { return failure.retry.answer; }, {.one_of = "never maybe unknown"});
  v.Need("where", failure.where);
  v.Show("occurrences", [&] { return failure.tally.occurrences(); }, {.least = 1});
  v.Maybe("framework", failure.framework, {.form = &kRuleName});
  v.Facts("facts", BriefFacts(failure), "",
          "need_bytes, have_bytes, excess_bytes, limit_bytes, chip, module and program, if known.");
  v.MayShow("why", [&] { return FirstOf(failure.why, 2); }, {.about = "The first two reasons."});
  v.Maybe("source_lines", failure.code,
          {.about = "Lines that the diagnosis names; only with --source-root or `whyoom run`."});
  v.Maybe("memory", kinds, {.about = "The three largest kinds of memory at the peak."});
  v.MayShow("fits", [&] { return failure.estimates ? FitTexts(failure.estimates->room) : std::vector<std::string>(); },
            {.about = "Sizes of the program that would fit."});
  v.Need("remedies", remedies, {.about = "The first three, then those that cost nothing."});
  v.MayShow("tried", [&] { return FirstOf(TriedOf(failure), kTried); },
            {.about = "The changes that `whyoom try` compiled, smallest need first: at most five."});
  v.Show("next", [&] { return NextOf(failure).command; }, {.about = "The command to type next."});
}

struct BriefReport {
  std::vector<BriefDiagnosis> failures;
  std::uint64_t count = 0;  // of diagnoses
  std::uint64_t artifacts = 0;
  std::uint64_t programs = 0;
  std::uint64_t problems = 0;
  std::string problem;  // the first one
  HiddenFailures hidden_failures = {};
};

void Describe(auto& v, RecordOf<BriefReport> auto& report) {
  v.Record("brief");
  v.Constant("schema", kBriefSchema);
  v.Need("diagnoses", report.failures);
  v.Part("summary", [&](auto& part) {
    part.Record("brief_summary");
    part.Need("artifacts", report.artifacts);
    part.Need("diagnoses", report.count);
    part.Maybe("programs", report.programs,
               {.about = "The number of programs that fit; a full report describes them."});
    part.Need("problem_count", report.problems);
    part.Maybe("problem", report.problem, {.about = "The first problem; a full report lists all."});
    DescribePassedOver(part, report.hidden_failures);
  });
}

}  // namespace whyoom
