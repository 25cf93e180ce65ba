#include "diagnose/finding_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "diagnose/conclude.h"
#include "facts/masking.h"
#include "read/context_facts.h"
#include "text/secrets.h"

namespace whyoom {
namespace {

// Returns the finding's facts as a text, to order findings at the same place in different inputs of the same name.
std::string Content(const Diagnosis& finding) {
  std::string text = finding.message + "\n" + finding.framework + "\n";
  for (const auto& [name, fact] : finding.facts.all()) {
    const std::string* value = AsText(fact.value);
    text += name + "=" + (value != nullptr ? *value : fmt::format("{}", AsNumber(fact.value).value_or(0))) + "\n";
  }
  return text;
}

bool IsBetter(const Diagnosis& a, const Diagnosis& b) {
  if (a.completeness != b.completeness) return a.completeness > b.completeness;
  const int order = CompareWhere(a.where, b.where);
  return order != 0 ? order < 0 : Content(a) < Content(b);
}

// The id does not change, because it is computed from the unmasked text. Also masks the conclusions, which contain
// facts; a merged report may come from an older version of whyoom.
void MaskSecretsOf(Diagnosis* finding) {
  finding->message = MaskSecrets(finding->message);
  MaskSecretsOf(&finding->facts);
  MaskSecretsOf(&finding->allocations);
  MaskSecretsOf(&finding->estimates);
  if (finding->recovered) finding->recovered->text = MaskSecrets(finding->recovered->text);
  for (Reason& reason : finding->why) reason.text = MaskSecrets(reason.text);
  for (RuledOut& out : finding->ruled_out) out.why = MaskSecrets(out.why);
  for (RankedRemedy& ranked : finding->remedies) {
    for (Reason& reason : ranked.why) reason.text = MaskSecrets(reason.text);
    for (std::string& step : ranked.how) step = MaskSecrets(step);
  }
}

// Adds the report of the same compile's dump to a finding without an allocation list.
void AddReportOf(const XlaDump& dump, const RuleSet& rules, Diagnosis* finding) {
  if (finding->failure->reader.empty() || finding->failure->phase != "compile" ||
      (!finding->allocations.empty() && finding->allocations.front().kind != kRequestedAllocation))
    return;
  Problem problem;
  const Evidence& facts = finding->facts;
  std::optional<DumpReading> reading = dump.Read(facts.Text("module"), rules.role_words(), facts.Number("used_bytes"),
                                                 facts.Number("limit_bytes").value_or(0), &problem);
  if (!problem.what.empty()) {
    problem.of_report = true;
    finding->dump_problem = std::move(problem);
  }
  if (!reading) return;
  finding->facts.Add(reading->facts);
  finding->allocations = std::move(reading->rows);
  finding->framework = FrameworkOf(rules.frameworks(), reading->sources, finding->framework);
  if (!reading->estimates.changes.empty()) finding->estimates = std::move(reading->estimates);
  MaskSecretsOf(finding);
}

std::string PlaceName(const Diagnosis& diagnosis) {
  return diagnosis.where.artifact.path + "\n" + diagnosis.where.artifact.member;
}

// Sorts by place. Moves known consequences of failures in other logs to the end; within a log, the first failure is the
// root cause.
void SortByCause(std::vector<Diagnosis>* diagnoses) {
  std::sort(diagnoses->begin(), diagnoses->end(), [](const Diagnosis& a, const Diagnosis& b) {
    const int order = CompareWhere(a.where, b.where);
    return order != 0 ? order < 0 : std::tie(a.failure->code, a.id) < std::tie(b.failure->code, b.id);
  });
  std::map<std::string, std::set<std::string>> codes_by_artifact;
  std::set<std::string> codes;
  for (const Diagnosis& diagnosis : *diagnoses) {
    codes.insert(diagnosis.failure->code);
    codes_by_artifact[PlaceName(diagnosis)].insert(diagnosis.failure->code);
  }
  std::stable_partition(diagnoses->begin(), diagnoses->end(), [&](const Diagnosis& diagnosis) {
    const std::vector<std::string>& causes = diagnosis.failure->consequence_of;
    const std::set<std::string>& here = codes_by_artifact.at(PlaceName(diagnosis));
    return std::none_of(causes.begin(), causes.end(),
                        [&](const std::string& code) { return codes.contains(code) && !here.contains(code); });
  });
}

double NeedOf(const Diagnosis& finding) { return finding.facts.Number("program_need_bytes").value_or(0); }

bool IsOfDump(const Diagnosis& finding) { return XlaDump::IsDumpFile(finding.where.artifact.path); }

// Drops findings of dumps that a log also reports. Done at the end, so that a merged batch gives the same result as one
// run.
void DropReportedDumps(std::vector<Diagnosis>* diagnoses) {
  LoggedDumps logged;
  for (const Diagnosis& diagnosis : *diagnoses) logged.Add(diagnosis);
  std::erase_if(*diagnoses, [&](const Diagnosis& diagnosis) {
    const std::string module = diagnosis.facts.Text("module");
    return IsOfDump(diagnosis) && (logged.named.contains(module) || logged.used.contains({module, NeedOf(diagnosis)}));
  });
}

// Whether the failure is that of the compile. A dump may contain several compiles of one module.
bool IsSameCompile(const Recompilation& recompilation, const Diagnosis& finding) {
  if (finding.failure->phase != "compile") return false;
  if (finding.facts.Find("dump") != nullptr && !recompilation.dump.empty())
    return finding.facts.Text("dump") == recompilation.dump;
  const std::string module = finding.facts.Text("module");
  return module.empty() || module == recompilation.module;
}

}  // namespace

void LoggedDumps::Add(const Diagnosis& finding) {
  if (IsOfDump(finding) || finding.failure->reader.empty() || finding.failure->phase != "compile") return;
  const std::string module = finding.facts.Text("module");
  if (finding.facts.Find("dump") != nullptr) {
    used.emplace(module, NeedOf(finding));
  } else {
    named.insert(module);
  }
}

std::uint64_t RowBytes(const Diagnosis& finding) {
  constexpr std::uint64_t kRow = 300;
  std::uint64_t bytes = 0;
  for (const Allocation& row : finding.allocations) {
    bytes += kRow + row.shape_text.size() * 3 + row.op_name.size() + row.xla_label.size() + row.source_file.size();
  }
  return bytes;
}

void JoinFindings(Diagnosis finding, Diagnosis* kept) {
  if (IsBetter(finding, *kept)) std::swap(finding, *kept);
  if (finding.is_concluded() && kept->is_concluded() && kept->recovered && !finding.recovered)
    kept->retry = finding.retry;
  // A failure that ended one job was not survived, even if another job went on.
  if (!finding.recovered) kept->recovered.reset();
  kept->may_have_recovered = kept->may_have_recovered || finding.may_have_recovered;
  kept->tally.Join(finding.tally);
}

Diagnosis FindingTable::Concluded(Diagnosis finding) {
  if (finding.is_concluded()) return finding;
  if (!framework_.empty()) finding.framework = framework_;
  if (no_dump_) finding.facts.Set("no_dump", true, {});
  if (recompilation_ && IsSameCompile(*recompilation_, finding)) finding.recompilation = recompilation_;
  const Where& where = finding.where;
  const bool is_asked = recorded_line_ == 0 || (where.line <= recorded_line_ && recorded_line_ <= where.last_line);
  Recorder* const recorder = is_asked && recorded_ < kMostRecorded ? recorder_ : nullptr;
  if (recorder != nullptr) ++recorded_;
  RecordedStep step(recorder, finding.failure->code, finding.failure->title);
  step.Set("", fmt::format("{} {}, lines {} to {}", where.artifact.path, where.artifact.member, where.line,
                           where.last_line));
  return Conclude(*rules_, std::move(finding), Figures::kChecked, recorder);
}

void FindingTable::Add(Diagnosis finding) {
  MaskSecretsOf(&finding);
  Keep(std::move(finding));
}

void FindingTable::Keep(Diagnosis finding) {
  const std::string code = finding.failure->code;
  OfCode& of_code = by_code_[code];
  of_code.row_bytes += finding.allocations.empty() ? 0 : finding.completeness.row_bytes;
  const auto same = of_code.by_id.find(finding.id);
  if (same != of_code.by_id.end()) {
    JoinFindings(std::move(finding), &same->second);
  } else {
    const std::string id = finding.id;
    of_code.by_id.emplace(id, std::move(finding));
    if (of_code.by_id.size() > kMostOfCode) {
      const auto last = std::prev(of_code.by_id.end());
      LeaveOut(code, last->second.tally.reports);
      of_code.by_id.erase(last);
    }
  }
  if (of_code.row_bytes > kMaxRowBytes) DropRows(&of_code);
}

void FindingTable::LeaveOut(const std::string& code, std::uint64_t reports) {
  std::uint64_t& count = left_out_[code];
  count += std::min(reports, std::numeric_limits<std::uint64_t>::max() - count);
}

// Keeps the lists of the findings with the smallest ids. A list that is dropped now would also be dropped later,
// because the findings before it only grow in number and size. Lists from a dump are not counted and are kept. Draws
// the conclusions before dropping a list, so that the result does not depend on when that happens.
void FindingTable::DropRows(OfCode* of_code) {
  std::uint64_t before = 0;
  of_code->row_bytes = 0;
  for (auto& [id, finding] : of_code->by_id) {
    if (before > kMaxRowBytes && !finding.allocations.empty() && finding.completeness.row_bytes > 0) {
      finding = Concluded(std::move(finding));
      finding.allocations_left_out += finding.allocations.size();
      finding.allocations.clear();
    }
    before += finding.completeness.row_bytes;
    of_code->row_bytes += finding.allocations.empty() ? 0 : finding.completeness.row_bytes;
  }
}

void FindingTable::Join(FindingTable other) {
  for (const auto& [code, reports] : other.left_out_) LeaveOut(code, reports);
  for (auto& [code, of_code] : other.by_code_) {
    for (auto& [id, finding] : of_code.by_id) Keep(std::move(finding));
  }
  programs_.Join(std::move(other.programs_));
}

std::vector<const Diagnosis*> FindingTable::entries() const {
  std::vector<const Diagnosis*> all;
  for (const auto& [code, of_code] : by_code_) {
    for (const auto& [id, finding] : of_code.by_id) all.push_back(&finding);
  }
  return all;
}

void FindingTable::ReportLimits(const std::vector<Diagnosis>& diagnoses, std::vector<Problem>* problems) const {
  for (const auto& [code, reports] : left_out_) {
    problems->push_back(
        {code, "", fmt::format("more than {} different failures; {} more reports were dropped", kMostOfCode, reports),
         true});
  }
  const bool rows_left_out = std::any_of(diagnoses.begin(), diagnoses.end(), [](const Diagnosis& diagnosis) {
    return diagnosis.allocations.empty() && diagnosis.allocations_left_out > 0;
  });
  if (rows_left_out) {
    problems->push_back(
        {"allocation lists", "", "too large for the memory limit; the lists of some findings were dropped", true});
  }
}

void FindingTable::AddDump(const XlaDump& dump) {
  if (dump.empty()) return;
  for (auto& [code, of_code] : by_code_) {
    DropRows(&of_code);
    for (auto& [id, finding] : of_code.by_id) {
      if (!finding.is_concluded()) AddReportOf(dump, *rules_, &finding);
    }
  }
}

std::vector<Diagnosis> FindingTable::Finish(std::vector<Problem>* problems) {
  std::vector<Diagnosis> diagnoses;
  for (auto& [code, of_code] : by_code_) {
    DropRows(&of_code);
    for (auto& [id, finding] : of_code.by_id) diagnoses.push_back(Concluded(std::move(finding)));
  }
  by_code_.clear();
  SortByCause(&diagnoses);
  std::set<std::string> reported;  // several findings may have the same problem with one dump
  for (const Diagnosis& diagnosis : diagnoses) {
    const std::optional<Problem>& problem = diagnosis.dump_problem;
    if (problem && reported.insert(problem->path + "\n" + problem->what).second) problems->push_back(*problem);
  }
  DropReportedDumps(&diagnoses);
  ReportLimits(diagnoses, problems);
  return diagnoses;
}

}  // namespace whyoom
