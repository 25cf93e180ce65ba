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
// A partial report is compared with this many newest findings of its code; more different failures of one code in one
// run are rare, and the full comparison would be quadratic.
constexpr std::size_t kMaxCompared = 256;

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

std::string Id(const Finding& finding) {
  const std::vector<std::string> identity = Identity(finding);
  std::string text = finding.failure->code + "\n";
  for (const std::string& part : identity) text += part + "\n";
  if (identity.empty()) text += finding.message;
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
  for (Draft& draft : drafts) {
    Finding finding;
    finding.failure = draft.failure;
    finding.message = std::move(draft.message);
    finding.facts = std::move(draft.facts);
    finding.allocations = std::move(draft.rows);
    finding.framework = framework;
    finding.where = {artifact, draft.head.line, std::max(draft.head.line, draft.last_line), draft.head.offset};
    DeriveFacts(rules_, &finding);
    Entry* same = FindSame(draft, finding);
    if (same == nullptr) {
      same = &by_code_[finding.failure->code].emplace_back();
      same->order = ++arrivals_;
      same->fragment = draft.fragment;
      same->finding = std::move(finding);
      Join(artifact, draft, {}, same);
    } else {
      Join(artifact, draft, std::move(finding), same);
    }
  }
}

Merger::Entry* Merger::FindSame(const Draft& draft, const Finding& finding) {
  std::vector<Entry>& entries = by_code_[draft.failure->code];
  const std::size_t first = entries.size() > kMaxCompared ? entries.size() - kMaxCompared : 0;
  const std::vector<std::string> identity = Identity(finding);
  for (std::size_t i = entries.size(); i-- > first;) {
    const bool same_artifact = entries[i].finding.where.artifact.path == finding.where.artifact.path &&
                               entries[i].finding.where.artifact.member == finding.where.artifact.member;
    if (Differ(entries[i].finding, finding)) continue;
    // A report without any identifying number says only that it happened again: that is the same failure in the same
    // artifact, but not across artifacts.
    const bool tells = !identity.empty() && !Identity(entries[i].finding).empty();
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
  if (finding.failure == nullptr) return;  // it is the first report itself
  entry->fragment = entry->fragment && draft.fragment;
  // The place shown is where the most can be read.
  if (kept.allocations.empty() && !finding.allocations.empty()) {
    kept.allocations = std::move(finding.allocations);
    std::swap(kept.where, finding.where);
    std::swap(kept.message, finding.message);
    finding.facts.Add(kept.facts);
    std::swap(kept.facts, finding.facts);
  } else {
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
      !finding->allocations.empty())
    return;
  const Value named = finding->facts.Get("module");
  const std::string* module = AsText(named);
  Problem problem;
  if (!dump.Read(module == nullptr ? "" : *module, &finding->facts, &finding->allocations, &problem))
    problems->push_back(problem);
}

}  // namespace

std::vector<Finding> Merger::Finish(const XlaDump& dump, std::vector<Problem>* problems) {
  std::vector<Entry> entries;
  for (auto& [code, of_code] : by_code_) std::move(of_code.begin(), of_code.end(), std::back_inserter(entries));
  by_code_.clear();
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.order < b.order; });
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
