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
std::string Content(const Finding& finding) {
  std::string text = finding.message + "\n" + finding.framework + "\n";
  for (const auto& [name, fact] : finding.facts.all()) {
    const std::string* value = AsText(fact.value);
    text += name + "=" + (value != nullptr ? *value : fmt::format("{}", AsNumber(fact.value).value_or(0))) + "\n";
  }
  return text;
}

bool IsBetter(const Finding& a, const Finding& b) {
  if (a.completeness != b.completeness) return a.completeness > b.completeness;
  const int order = CompareWhere(a.where, b.where);
  return order != 0 ? order < 0 : Content(a) < Content(b);
}

// The id does not change, because it is computed from the unmasked text.
void MaskSecretsOf(Finding* finding) {
  finding->message = MaskSecrets(finding->message);
  MaskSecretsOf(&finding->facts);
  MaskSecretsOf(&finding->allocations);
  MaskSecretsOf(&finding->estimates);
  if (finding->recovered) finding->recovered->text = MaskSecrets(finding->recovered->text);
}

// Also masks the conclusions, which contain facts; a merged report may come from an older version of whyoom.
void MaskSecretsOf(Diagnosis* diagnosis) {
  MaskSecretsOf(static_cast<Finding*>(diagnosis));
  for (Reason& reason : diagnosis->why) reason.text = MaskSecrets(reason.text);
  for (RuledOut& out : diagnosis->ruled_out) out.why = MaskSecrets(out.why);
  for (RankedRemedy& ranked : diagnosis->remedies) {
    for (Reason& reason : ranked.why) reason.text = MaskSecrets(reason.text);
    for (std::string& step : ranked.how) step = MaskSecrets(step);
  }
}

// Adds the report of the same compile's dump to a finding without an allocation list.
void AddReportOf(const XlaDump& dump, const RuleSet& rules, Finding* finding) {
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

// A failure that ended one job was not survived, even if another job went on.
void JoinRecovery(const Finding& other, Finding* kept) {
  if (!other.recovered) kept->recovered.reset();
  kept->may_have_recovered = kept->may_have_recovered || other.may_have_recovered;
}

// As JoinFindings; keeps the conclusions of the kept entry.
void JoinEntries(FindingTable::Entry entry, FindingTable::Entry* kept) {
  if (IsBetter(FindingOf(entry), FindingOf(*kept))) std::swap(entry, *kept);
  auto* diagnosis = std::get_if<Diagnosis>(kept);
  const auto* other = std::get_if<Diagnosis>(&entry);
  if (diagnosis != nullptr && other != nullptr && diagnosis->recovered && !other->recovered)
    diagnosis->retry = other->retry;
  std::visit([&](Finding& finding) { JoinRecovery(FindingOf(entry), &finding); }, *kept);
  std::visit([&](Finding& finding) { finding.tally.Join(FindingOf(entry).tally); }, *kept);
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

double NeedOf(const Finding& finding) { return finding.facts.Number("program_need_bytes").value_or(0); }

bool IsOfDump(const Finding& finding) { return XlaDump::IsDumpFile(finding.where.artifact.path); }

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
bool IsSameCompile(const Recompilation& recompilation, const Finding& finding) {
  if (finding.failure->phase != "compile") return false;
  if (finding.facts.Find("dump") != nullptr && !recompilation.dump.empty())
    return finding.facts.Text("dump") == recompilation.dump;
  const std::string module = finding.facts.Text("module");
  return module.empty() || module == recompilation.module;
}

}  // namespace

void LoggedDumps::Add(const Finding& finding) {
  if (IsOfDump(finding) || finding.failure->reader.empty() || finding.failure->phase != "compile") return;
  const std::string module = finding.facts.Text("module");
  if (finding.facts.Find("dump") != nullptr) {
    used.emplace(module, NeedOf(finding));
  } else {
    named.insert(module);
  }
}

std::uint64_t RowBytes(const Finding& finding) {
  constexpr std::uint64_t kRow = 300;
  std::uint64_t bytes = 0;
  for (const Allocation& row : finding.allocations) {
    bytes += kRow + row.shape_text.size() * 3 + row.op_name.size() + row.xla_label.size() + row.source_file.size();
  }
  return bytes;
}

const Finding& FindingOf(const FindingTable::Entry& entry) {
  return std::visit([](const Finding& finding) -> const Finding& { return finding; }, entry);
}

void JoinFindings(Finding finding, Finding* kept) {
  if (IsBetter(finding, *kept)) std::swap(finding, *kept);
  JoinRecovery(finding, kept);
  kept->tally.Join(finding.tally);
}

Diagnosis FindingTable::ToDiagnosis(Entry entry) const {
  if (auto* diagnosis = std::get_if<Diagnosis>(&entry)) return std::move(*diagnosis);
  if (!framework_.empty()) std::get<Finding>(entry).framework = framework_;
  if (no_dump_) std::get<Finding>(entry).facts.Set("no_dump", true, {});
  if (Finding& finding = std::get<Finding>(entry); recompilation_ && IsSameCompile(*recompilation_, finding))
    finding.recompilation = recompilation_;
  Recorder* const recorder = recorder_for_ ? recorder_for_(std::get<Finding>(entry)) : nullptr;
  return Conclude(*rules_, std::get<Finding>(std::move(entry)), Figures::kChecked, recorder);
}

void FindingTable::Add(Entry entry) {
  std::visit([](auto& kept) { MaskSecretsOf(&kept); }, entry);
  Keep(std::move(entry));
}

void FindingTable::Keep(Entry entry) {
  const Finding& finding = FindingOf(entry);
  const std::string& code = finding.failure->code;
  OfCode& of_code = by_code_[code];
  of_code.row_bytes += finding.allocations.empty() ? 0 : finding.completeness.row_bytes;
  const auto same = of_code.by_id.find(finding.id);
  if (same != of_code.by_id.end()) {
    JoinEntries(std::move(entry), &same->second);
  } else {
    const std::string id = finding.id;
    of_code.by_id.emplace(id, std::move(entry));
    if (of_code.by_id.size() > kMostOfCode) {
      const auto last = std::prev(of_code.by_id.end());
      LeaveOut(code, FindingOf(last->second).tally.reports);
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
void FindingTable::DropRows(OfCode* of_code) const {
  std::uint64_t before = 0;
  of_code->row_bytes = 0;
  for (auto& [id, entry] : of_code->by_id) {
    const Finding& full = FindingOf(entry);
    if (before > kMaxRowBytes && !full.allocations.empty() && full.completeness.row_bytes > 0) {
      Diagnosis diagnosis = ToDiagnosis(std::move(entry));
      diagnosis.allocations_left_out += diagnosis.allocations.size();
      diagnosis.allocations.clear();
      entry = std::move(diagnosis);
    }
    const Finding& finding = FindingOf(entry);
    before += finding.completeness.row_bytes;
    of_code->row_bytes += finding.allocations.empty() ? 0 : finding.completeness.row_bytes;
  }
}

void FindingTable::Join(FindingTable other) {
  for (const auto& [code, reports] : other.left_out_) LeaveOut(code, reports);
  for (auto& [code, of_code] : other.by_code_) {
    for (auto& [id, entry] : of_code.by_id) Keep(std::move(entry));
  }
  programs_.Join(std::move(other.programs_));
}

std::vector<const FindingTable::Entry*> FindingTable::entries() const {
  std::vector<const Entry*> all;
  for (const auto& [code, of_code] : by_code_) {
    for (const auto& [id, entry] : of_code.by_id) all.push_back(&entry);
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
    for (auto& [id, entry] : of_code.by_id) {
      if (auto* finding = std::get_if<Finding>(&entry)) AddReportOf(dump, *rules_, finding);
    }
  }
}

std::vector<Diagnosis> FindingTable::Finish(std::vector<Problem>* problems) {
  std::vector<Diagnosis> diagnoses;
  for (auto& [code, of_code] : by_code_) {
    DropRows(&of_code);
    for (auto& [id, entry] : of_code.by_id) diagnoses.push_back(ToDiagnosis(std::move(entry)));
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
