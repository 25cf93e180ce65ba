#include "diagnose/merger.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "diagnose/conclude.h"
#include "diagnose/rank.h"
#include "rules/sha256.h"

namespace whyoom {
namespace {

constexpr std::size_t kMaxAlso = 100;
// A partial report is compared with this many newest findings of its code; the full comparison would be quadratic.
constexpr std::size_t kMaxCompared = 256;
// Different failures of one code that a report holds. Who has more than that reads the first ones.
constexpr std::size_t kMaxFindingsOfCode = 1000;
// What all lists of allocations may hold together: memory must not grow with the logs.
constexpr std::size_t kMaxRowBytes = std::size_t{64} << 20;

std::string Text(const Value& value) {
  if (const auto number = AsNumber(value)) return fmt::format("{:.0f}", *number);
  if (const auto truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? std::string() : *text;
}

// The identity facts that are known, "name=value" each.
std::vector<std::string> Identity(const Finding& finding) {
  std::vector<std::string> parts;
  for (const std::string& name : finding.failure->identity) {
    if (const Fact* fact = finding.facts.Find(name)) parts.push_back(name + "=" + Text(fact->value));
  }
  return parts;
}

// The same as one text; empty where none is known.
std::string IdentityText(const Finding& finding) {
  std::string text;
  for (const std::string& part : Identity(finding)) text += part + "\n";
  return text;
}

std::string Id(const Finding& finding) {
  const std::string identity = IdentityText(finding);
  const std::string text = finding.failure->code + "\n" + (identity.empty() ? finding.message : identity);
  return Sha256Hex(text).substr(0, 16);
}

bool Differ(const Finding& a, const Finding& b) {
  return std::any_of(a.failure->identity.begin(), a.failure->identity.end(), [&](const std::string& name) {
    const Fact* one = a.facts.Find(name);
    const Fact* other = b.facts.Find(name);
    return one != nullptr && other != nullptr && one->value != other->value;
  });
}

}  // namespace

void Merger::Add(const Artifact& artifact, std::vector<Draft> drafts, const std::string& framework) {
  if (artifacts_ == 0 || artifact.path != last_artifact_.path || artifact.member != last_artifact_.member) {
    last_artifact_ = artifact;
    ++artifacts_;
  }
  if (const auto known = frameworks_.find(artifacts_); known != frameworks_.end()) known->second = framework;
  time_filter_.Apply(&drafts);
  for (Draft& draft : drafts) {
    Finding finding;
    finding.failure = draft.failure;
    finding.message = std::move(draft.message);
    finding.facts = std::move(draft.facts);
    finding.allocations = std::move(draft.rows);
    finding.framework = framework;
    finding.where = {artifact, draft.head.line, std::max(draft.head.line, draft.last_line), draft.head.offset};
    DeriveFacts(rules_, &finding);
    OfCode& of_code = by_code_[finding.failure->code];
    const std::string identity = IdentityText(finding);
    Entry* same = FindSame(of_code, finding, identity);
    if (same != nullptr) {
      Join(artifact, draft, std::move(finding), same);
    } else if (of_code.entries.size() >= kMaxFindingsOfCode) {
      ++of_code.left_out;
    } else {
      same = &of_code.entries.emplace_back();
      if (!identity.empty()) of_code.by_identity.emplace(identity, of_code.entries.size() - 1);
      same->artifact = artifacts_;
      frameworks_[artifacts_] = framework;
      same->fragment = draft.fragment;
      same->finding = std::move(finding);
      KeepRows(&same->finding);
      Join(artifact, draft, {}, same);
    }
  }
}

// Lists of allocations are kept as long as there is room for them.
void Merger::KeepRows(Finding* finding) {
  std::size_t bytes = 0;
  for (const Allocation& row : finding->allocations) {
    bytes += sizeof(Allocation) + row.shape_text.size() * 3 + row.op_name.size() + row.xla_label.size() +
             row.source_file.size();
  }
  if (row_bytes_ + bytes > kMaxRowBytes) {
    finding->allocations.clear();
    rows_left_out_ = true;
  } else {
    row_bytes_ += bytes;
  }
}

Merger::Entry* Merger::FindSame(OfCode& of_code, const Finding& finding, const std::string& identity) {
  std::vector<Entry>& entries = of_code.entries;
  const auto known = of_code.by_identity.find(identity);
  if (known != of_code.by_identity.end()) return &entries[known->second];
  const std::size_t first = entries.size() > kMaxCompared ? entries.size() - kMaxCompared : 0;
  for (std::size_t i = entries.size(); i-- > first;) {
    if (Differ(entries[i].finding, finding)) continue;
    // A report without any identifying number says only that it happened again: that is the same failure in the same
    // artifact, but not across artifacts.
    const bool tells = !identity.empty() && !Identity(entries[i].finding).empty();
    const bool same_artifact = entries[i].artifact == artifacts_;
    if (tells || same_artifact || (identity.empty() && entries[i].finding.message == finding.message))
      return &entries[i];
  }
  return nullptr;
}

void Merger::Join(const Artifact& artifact, const Draft& draft, Finding&& finding, Entry* entry) {
  Finding& kept = entry->finding;
  const std::string place = artifact.path + "\n" + artifact.member;
  if (draft.reporter.empty()) {
    kept.silent_artifacts.insert(place);
    const Value replica = (finding.failure == nullptr ? kept : finding).facts.Get("replica");
    const Value partition = (finding.failure == nullptr ? kept : finding).facts.Get("partition");
    if (IsKnown(replica)) kept.replicas.insert(fmt::format("replica {} partition {}", Text(replica), Text(partition)));
  } else {
    kept.hosts.insert(draft.reporter);
    kept.naming_artifacts.insert(place);
  }
  kept.repeats += std::max(0, draft.repeats - 1);
  if (draft.time) {
    kept.first_time = std::min(kept.first_time.value_or(*draft.time), *draft.time);
    kept.last_time = std::max(kept.last_time.value_or(*draft.time), *draft.time);
  }
  if (finding.failure == nullptr) return;  // it is the first report itself
  entry->fragment = entry->fragment && draft.fragment;
  const bool earlier = entry->artifact == artifacts_ && finding.where.offset < kept.where.offset;
  // The place shown is where the most can be read.
  if (kept.allocations.empty() && !finding.allocations.empty()) {
    kept.allocations = std::move(finding.allocations);
    KeepRows(&kept);
    std::swap(kept.where, finding.where);
    std::swap(kept.message, finding.message);
    finding.facts.Add(kept.facts);
    std::swap(kept.facts, finding.facts);
  } else {
    // Reports of several hosts become complete in another order than they stand in the log.
    if (earlier && kept.allocations.empty()) std::swap(kept.where, finding.where);
    kept.facts.Add(finding.facts);
  }
  if (kept.framework.empty()) kept.framework = finding.framework;
  if (kept.also.size() < kMaxAlso) {
    kept.also.push_back(std::move(finding.where));
  } else {
    ++kept.also_left_out;
  }
}

namespace {

// A report that the log does not hold, from the dump of the same compile.
void TakeDump(const XlaDump& dump, Finding* finding, std::vector<Problem>* problems) {
  if (dump.empty() || finding->failure->reader.empty() || finding->failure->phase != "compile" ||
      (!finding->allocations.empty() && finding->allocations.front().kind != kRequested))
    return;
  std::vector<Allocation> rows;
  const Value named = finding->facts.Get("module");
  const std::string* module = AsText(named);
  Problem problem;
  if (!dump.Read(module == nullptr ? "" : *module, &finding->facts, &rows, &problem)) {
    problems->push_back(problem);
    return;
  }
  finding->allocations = std::move(rows);
}

}  // namespace

void Merger::TellLimits(std::vector<Problem>* problems) const {
  for (const auto& [code, of_code] : by_code_) {
    if (of_code.left_out == 0) continue;
    problems->push_back({code, "",
                         fmt::format("more than {} different failures; {} more reports are left out",
                                     kMaxFindingsOfCode, of_code.left_out)});
  }
  if (rows_left_out_)
    problems->push_back({"lists of allocations", "", "more than fit into memory; of some findings they are left out"});
}

std::vector<Finding> Merger::Finish(const XlaDump& dump, std::vector<Problem>* problems) {
  TellLimits(problems);
  time_filter_.TellUnknown(problems);
  std::vector<Entry> entries;
  for (auto& [code, of_code] : by_code_)
    std::move(of_code.entries.begin(), of_code.entries.end(), std::back_inserter(entries));
  by_code_.clear();
  const auto order = [](const Entry& entry) { return std::pair(entry.artifact, entry.finding.where.offset); };
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) { return order(a) < order(b); });
  // What is known to follow from another failure comes behind it; else the first in the log is the root cause.
  std::map<std::string, std::set<std::string>> codes_by_artifact;
  std::set<std::string> codes;
  const auto place = [](const Entry& entry) {
    return entry.finding.where.artifact.path + "\n" + entry.finding.where.artifact.member;
  };
  for (const Entry& entry : entries) {
    codes.insert(entry.finding.failure->code);
    codes_by_artifact[place(entry)].insert(entry.finding.failure->code);
  }
  std::stable_partition(entries.begin(), entries.end(), [&](const Entry& entry) {
    const std::vector<std::string>& causes = entry.finding.failure->consequence_of;
    // Within one log the order of the lines says what came first.
    const std::set<std::string>& here = codes_by_artifact[place(entry)];
    return std::none_of(causes.begin(), causes.end(),
                        [&](const std::string& code) { return codes.contains(code) && !here.contains(code); });
  });
  std::vector<Finding> findings;
  for (Entry& entry : entries) {
    Finding& finding = entry.finding;
    if (const std::string& seen = frameworks_[entry.artifact]; !seen.empty()) finding.framework = seen;
    TakeDump(dump, &finding, problems);
    DeriveFacts(rules_, &finding);
    Classify(entry.fragment, &finding);
    RankRemedies(rules_, &finding);
    finding.id = Id(finding);
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace whyoom
