#include "diagnose/failure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "diagnose/conclude.h"
#include "facts/evidence.h"
#include "read/context_facts.h"
#include "text/secrets.h"

namespace whyoom {
namespace {

// Returns the failure's facts as a text, to order failures at the same place in different inputs of the same name.
std::string Content(const Failure& failure) {
  std::string text = failure.message + "\n" + failure.framework + "\n";
  for (const auto& [name, fact] : failure.facts.all()) text += name + "=" + ValueText(fact.value) + "\n";
  return text;
}

bool IsBetter(const Failure& a, const Failure& b) {
  if (a.completeness != b.completeness) return a.completeness > b.completeness;
  const auto order = a.where <=> b.where;
  return order != 0 ? order < 0 : Content(a) < Content(b);
}

void JoinFailures(Failure failure, Failure* kept) {
  if (IsBetter(failure, *kept)) std::swap(failure, *kept);
  if (failure.is_concluded() && kept->is_concluded() && kept->recovered && !failure.recovered)
    kept->retry = failure.retry;
  // A failure that ended one job was not survived, even if another job went on.
  if (!failure.recovered) kept->recovered.reset();
  kept->may_have_recovered = kept->may_have_recovered || failure.may_have_recovered;
  kept->tally.Join(failure.tally);
}

// The id does not change, because it is computed from the unmasked text. Also masks the conclusions, which contain
// facts; a merged report may come from an older version of whyoom.
void MaskSecretsOf(Failure* failure) {
  failure->message = MaskSecrets(failure->message);
  failure->facts.MaskSecrets();
  for (Allocation& row : failure->allocations) MaskSecretsOf(&row);
  if (failure->estimates) MaskSecretsOf(&*failure->estimates);
  if (failure->recovered) failure->recovered->text = MaskSecrets(failure->recovered->text);
  for (Reason& reason : failure->why) reason.text = MaskSecrets(reason.text);
  for (RuledOut& out : failure->ruled_out) out.why = MaskSecrets(out.why);
  for (RankedRemedy& ranked : failure->remedies) {
    for (Reason& reason : ranked.why) reason.text = MaskSecrets(reason.text);
    for (std::string& step : ranked.how) step = MaskSecrets(step);
  }
}

// Adds the report of the same compile's dump to a failure without an allocation list.
void AddReportOf(const XlaDump& dump, const RuleSet& rules, Failure* failure) {
  if (failure->rule->memory_space.empty() || failure->rule->phase != "compile" ||
      (!failure->allocations.empty() && failure->allocations.front().kind != kRequestedAllocation))
    return;
  Problem problem;
  const Evidence& facts = failure->facts;
  std::optional<DumpReading> reading = dump.Read(facts.Text("module"), rules.role_words, facts.Number("used_bytes"),
                                                 facts.Number("limit_bytes").value_or(0), &problem);
  if (!problem.what.empty()) {
    problem.of_report = true;
    failure->dump_problem = std::move(problem);
  }
  if (!reading) return;
  failure->facts.Add(reading->facts);
  failure->allocations = std::move(reading->rows);
  failure->framework = FrameworkOf(rules.frameworks, reading->sources, failure->framework);
  if (!reading->estimates.changes.empty()) failure->estimates = std::move(reading->estimates);
  MaskSecretsOf(failure);
}

// Sorts by place. Moves known consequences of failures in other logs to the end; within a log, the first failure is the
// root cause.
void SortByCause(std::vector<Failure>* failures) {
  std::sort(failures->begin(), failures->end(), [](const Failure& a, const Failure& b) {
    const auto order = a.where <=> b.where;
    return order != 0 ? order < 0 : std::tie(a.rule->code, a.id) < std::tie(b.rule->code, b.id);
  });
  const auto in_artifact = [](const Failure& failure, const std::string& code) {
    return std::tuple(failure.where.artifact.path, failure.where.artifact.member, code);
  };
  std::set<std::tuple<std::string, std::string, std::string>> reported;
  std::set<std::string> codes;
  for (const Failure& failure : *failures) {
    codes.insert(failure.rule->code);
    reported.insert(in_artifact(failure, failure.rule->code));
  }
  std::stable_partition(failures->begin(), failures->end(), [&](const Failure& failure) {
    const std::vector<std::string>& causes = failure.rule->consequence_of;
    return std::none_of(causes.begin(), causes.end(), [&](const std::string& code) {
      return codes.contains(code) && !reported.contains(in_artifact(failure, code));
    });
  });
}

double NeedOf(const Failure& failure) { return failure.facts.Number("program_need_bytes").value_or(0); }

bool IsOfDump(const Failure& failure) { return XlaDump::IsDumpFile(failure.where.artifact.path); }

// Whether the failure is that of the compile. A dump may contain several compiles of one module.
bool IsSameCompile(const Recompilation& recompilation, const Failure& failure) {
  if (failure.rule->phase != "compile") return false;
  if (failure.facts.Find("dump") != nullptr && !recompilation.dump.empty())
    return failure.facts.Text("dump") == recompilation.dump;
  const std::string module = failure.facts.Text("module");
  return module.empty() || module == recompilation.module;
}

}  // namespace

void AddCompile(const Failure& failure, LoggedCompiles* logged) {
  if (IsOfDump(failure) || failure.rule->memory_space.empty() || failure.rule->phase != "compile") return;
  const bool has_dump = failure.facts.Find("dump") != nullptr;
  logged->emplace(failure.facts.Text("module"), has_dump ? std::optional(NeedOf(failure)) : std::nullopt);
}

Failure FailureTable::Concluded(Failure failure) {
  if (failure.is_concluded()) return failure;
  if (!settings.framework.empty()) failure.framework = settings.framework;
  if (settings.no_dump) failure.facts.Set("no_dump", true, {});
  if (settings.recompilation && IsSameCompile(*settings.recompilation, failure))
    failure.recompilation = settings.recompilation;
  const Where& where = failure.where;
  const std::uint64_t line = settings.recorded_line;
  const bool is_asked = line == 0 || (where.line <= line && line <= where.last_line);
  Recorder* const recorder = is_asked && recorded_ < kMostRecorded ? settings.recorder : nullptr;
  if (recorder != nullptr) ++recorded_;
  RecordedStep step(recorder, failure.rule->code, failure.rule->title);
  if (step.is_recorded())
    step.Set("", fmt::format("{} {}, lines {} to {}", where.artifact.path, where.artifact.member, where.line,
                             where.last_line));
  return Conclude(*rules_, std::move(failure), Figures::kChecked, recorder);
}

void FailureTable::Add(Failure failure) {
  MaskSecretsOf(&failure);
  Keep(std::move(failure));
}

void FailureTable::Keep(Failure failure) {
  const std::string code = failure.rule->code;
  std::map<std::string, Failure>& of_code = by_code_[code];
  const auto [same, is_new] = of_code.try_emplace(failure.id);
  if (!is_new) return JoinFailures(std::move(failure), &same->second);
  same->second = std::move(failure);
  if (of_code.size() <= kMostOfCode) return;
  const auto last = std::prev(of_code.end());
  LeaveOut(code, last->second.tally.reports);
  of_code.erase(last);
}

void FailureTable::LeaveOut(const std::string& code, std::uint64_t reports) {
  std::uint64_t& count = left_out_[code];
  count += std::min(reports, std::numeric_limits<std::uint64_t>::max() - count);
}

void FailureTable::Join(FailureTable other) {
  for (const auto& [code, reports] : other.left_out_) LeaveOut(code, reports);
  for (auto& [code, of_code] : other.by_code_) {
    for (auto& [id, failure] : of_code) Keep(std::move(failure));
  }
  programs_.Join(std::move(other.programs_));
}

std::vector<const Failure*> FailureTable::entries() const {
  std::vector<const Failure*> all;
  for (const auto& [code, of_code] : by_code_) {
    for (const auto& [id, failure] : of_code) all.push_back(&failure);
  }
  return all;
}

void FailureTable::AddDump(const XlaDump& dump) {
  if (dump.empty()) return;
  for (auto& [code, of_code] : by_code_) {
    for (auto& [id, failure] : of_code) {
      if (!failure.is_concluded()) AddReportOf(dump, *rules_, &failure);
    }
  }
}

std::vector<Failure> FailureTable::Finish(std::vector<Problem>* problems) {
  std::vector<Failure> failures;
  for (auto& [code, of_code] : by_code_) {
    for (auto& [id, failure] : of_code) failures.push_back(Concluded(std::move(failure)));
  }
  by_code_.clear();
  SortByCause(&failures);
  std::set<std::string> reported;  // several failures may have the same problem with one dump
  for (const Failure& failure : failures) {
    const std::optional<Problem>& problem = failure.dump_problem;
    if (problem && reported.insert(problem->path + "\n" + problem->what).second) problems->push_back(*problem);
  }
  // Drops failures of dumps that a log also reports. Done at the end, so that a merged batch gives the same result as
  // one run.
  LoggedCompiles logged;
  for (const Failure& failure : failures) AddCompile(failure, &logged);
  std::erase_if(failures, [&](const Failure& failure) {
    const std::string module = failure.facts.Text("module");
    return IsOfDump(failure) && (logged.contains({module, std::nullopt}) || logged.contains({module, NeedOf(failure)}));
  });
  for (const auto& [code, reports] : left_out_)
    problems->push_back(
        {code, "", fmt::format("more than {} different failures; {} more reports were dropped", kMostOfCode, reports),
         true});
  return failures;
}

}  // namespace whyoom
