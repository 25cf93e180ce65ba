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
#include "diagnose/rank.h"
#include "read/framework_signs.h"

namespace whyoom {
namespace {

// What all lists of allocations of a code may hold together: memory must not grow with the logs.
constexpr std::uint64_t kMaxRowBytes = std::uint64_t{64} << 20;

// All of a finding's own facts as one text, to tell apart what stands at the same place of inputs with the same name.
std::string Content(const Finding& finding) {
  std::string text = finding.message + "\n" + finding.framework + "\n";
  for (const auto& [name, fact] : finding.facts.all()) {
    const std::string* value = AsText(fact.value);
    text += name + "=" + (value != nullptr ? *value : fmt::format("{}", AsNumber(fact.value).value_or(0))) + "\n";
  }
  return text;
}

bool IsBetter(const Finding& a, const Finding& b) {
  if (a.fullness != b.fullness) return a.fullness > b.fullness;
  const int order = Order(a.where, b.where);
  return order != 0 ? order < 0 : Content(a) < Content(b);
}

// A report that the log does not hold, from the dump of the same compile.
void TakeDump(const RuleSet& rules, const XlaDump& dump, Finding* finding) {
  if (dump.empty() || finding->failure->reader.empty() || finding->failure->phase != "compile" ||
      (!finding->allocations.empty() && finding->allocations.front().kind != kRequested))
    return;
  std::vector<Allocation> rows;
  Problem problem;
  const std::optional<double> limit = finding->facts.Number("limit_bytes");
  Prospects prospects;
  std::vector<std::string> sources;
  if (!dump.Read(finding->facts.Text("module"), rules.role_words(), limit.value_or(0), &finding->facts, &rows,
                 &prospects, &sources, &problem)) {
    problem.of_report = true;
    finding->dump_problem = std::move(problem);
    return;
  }
  if (!problem.what.empty()) {
    problem.of_report = true;
    finding->dump_problem = std::move(problem);
  }
  finding->allocations = std::move(rows);
  finding->framework = FrameworkOf(rules.frameworks(), sources, finding->framework);
  if (!prospects.changes.empty()) finding->prospects = std::move(prospects);
}

void Conclude(const RuleSet& rules, const XlaDump& dump, Finding* finding) {
  if (finding->concluded) return;
  TakeDump(rules, dump, finding);
  DeriveFacts(rules, finding);
  Classify(rules, !finding->fullness.whole, finding);
  RankRemedies(rules, finding);
  finding->concluded = true;
}

std::string PlaceName(const Finding& finding) {
  return finding.where.artifact.path + "\n" + finding.where.artifact.member;
}

// By place; but what is known to follow from another failure comes behind it. Within one log the order of the lines
// says what came first: that is the root cause.
void SortByCause(std::vector<Finding>* findings) {
  std::sort(findings->begin(), findings->end(), [](const Finding& a, const Finding& b) {
    const int order = Order(a.where, b.where);
    return order != 0 ? order < 0 : std::tie(a.failure->code, a.id) < std::tie(b.failure->code, b.id);
  });
  std::map<std::string, std::set<std::string>> codes_by_artifact;
  std::set<std::string> codes;
  for (const Finding& finding : *findings) {
    codes.insert(finding.failure->code);
    codes_by_artifact[PlaceName(finding)].insert(finding.failure->code);
  }
  std::stable_partition(findings->begin(), findings->end(), [&](const Finding& finding) {
    const std::vector<std::string>& causes = finding.failure->consequence_of;
    const std::set<std::string>& here = codes_by_artifact.at(PlaceName(finding));
    return std::none_of(causes.begin(), causes.end(),
                        [&](const std::string& code) { return codes.contains(code) && !here.contains(code); });
  });
}

// Takes out what dumps said by themselves and a log tells of, too: the log that took its list from the dump, or has one
// of its own and names the module. Here, so that the parts of a batch come to the same as the whole.
void DropTold(std::vector<Finding>* findings) {
  std::set<std::string> dumps;
  std::set<std::string> modules;
  const auto is_of_dump = [](const Finding& finding) { return XlaDump::IsDumpFile(finding.where.artifact.path); };
  for (const Finding& finding : *findings) {
    if (is_of_dump(finding) || finding.failure->reader.empty() || finding.failure->phase != "compile") continue;
    const std::string dump = finding.facts.Text("dump");
    (dump.empty() ? modules : dumps).insert(dump.empty() ? finding.facts.Text("module") : dump);
  }
  std::erase_if(*findings, [&](const Finding& finding) {
    return is_of_dump(finding) &&
           (dumps.contains(finding.facts.Text("dump")) || modules.contains(finding.facts.Text("module")));
  });
}

}  // namespace

std::uint64_t RowBytes(const Finding& finding) {
  constexpr std::uint64_t kRow = 300;
  std::uint64_t bytes = 0;
  for (const Allocation& row : finding.allocations) {
    bytes += kRow + row.shape_text.size() * 3 + row.op_name.size() + row.xla_label.size() + row.source_file.size();
  }
  return bytes;
}

void JoinFindings(Finding finding, Finding* kept) {
  if (IsBetter(finding, *kept)) std::swap(finding, *kept);
  kept->tally.Join(finding.tally);
}

void FindingTable::Add(Finding finding) {
  OfCode& of_code = by_code_[finding.failure->code];
  of_code.row_bytes += finding.allocations.empty() ? 0 : finding.fullness.row_bytes;
  const auto same = of_code.by_id.find(finding.id);
  if (same != of_code.by_id.end()) {
    JoinFindings(std::move(finding), &same->second);
  } else {
    const std::string id = finding.id;
    of_code.by_id.emplace(id, std::move(finding));
    if (of_code.by_id.size() > kMostOfCode) {
      const auto last = std::prev(of_code.by_id.end());
      LeaveOut(last->second.failure->code, last->second.tally.reports);
      of_code.by_id.erase(last);
    }
  }
  if (of_code.row_bytes > kMaxRowBytes) DropRows(&of_code);
}

void FindingTable::LeaveOut(const std::string& code, std::uint64_t reports) {
  std::uint64_t& count = left_out_[code];
  count += std::min(reports, std::numeric_limits<std::uint64_t>::max() - count);
}

// Keeps the lists of the findings with the smallest ids. A list that does not fit now will not later: findings before
// it only come to be more and fuller. What follows from it is concluded before it goes, so that it does not matter
// when.
void FindingTable::DropRows(OfCode* of_code) const {
  std::uint64_t before = 0;
  of_code->row_bytes = 0;
  for (auto& [id, finding] : of_code->by_id) {
    if (before > kMaxRowBytes && !finding.allocations.empty()) {
      Conclude(*rules_, XlaDump(), &finding);
      finding.allocations_left_out += finding.allocations.size();
      finding.allocations.clear();
    }
    before += finding.fullness.row_bytes;
    of_code->row_bytes += finding.allocations.empty() ? 0 : finding.fullness.row_bytes;
  }
}

void FindingTable::Join(FindingTable other) {
  for (const auto& [code, reports] : other.left_out_) LeaveOut(code, reports);
  for (auto& [code, of_code] : other.by_code_) {
    for (auto& [id, finding] : of_code.by_id) Add(std::move(finding));
  }
  programs_.Join(std::move(other.programs_));
}

std::vector<const Finding*> FindingTable::findings() const {
  std::vector<const Finding*> all;
  for (const auto& [code, of_code] : by_code_) {
    for (const auto& [id, finding] : of_code.by_id) all.push_back(&finding);
  }
  return all;
}

void FindingTable::TellLimits(const std::vector<Finding>& findings, std::vector<Problem>* problems) const {
  for (const auto& [code, reports] : left_out_) {
    problems->push_back(
        {code, "", fmt::format("more than {} different failures; {} more reports are left out", kMostOfCode, reports),
         true});
  }
  const bool rows_left_out = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.allocations.empty() && finding.allocations_left_out > 0;
  });
  if (rows_left_out) {
    problems->push_back(
        {"lists of allocations", "", "more than fit into memory; of some findings they are left out", true});
  }
}

std::vector<Finding> FindingTable::Finish(const XlaDump& dump, std::vector<Problem>* problems) {
  std::vector<Finding> findings;
  for (auto& [code, of_code] : by_code_) {
    DropRows(&of_code);
    for (auto& [id, finding] : of_code.by_id) findings.push_back(std::move(finding));
  }
  by_code_.clear();
  SortByCause(&findings);
  std::set<std::string> told;  // of one dump many findings may lack the same
  for (Finding& finding : findings) {
    Conclude(*rules_, dump, &finding);
    if (finding.dump_problem && told.insert(finding.dump_problem->path + "\n" + finding.dump_problem->what).second)
      problems->push_back(*finding.dump_problem);
  }
  DropTold(&findings);
  TellLimits(findings, problems);
  return findings;
}

}  // namespace whyoom
