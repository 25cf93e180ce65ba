#include "diagnose/artifact_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnose/conclude.h"
#include "rules/sha256.h"

namespace whyoom {
namespace {

// A partial report is compared with this many newest findings of its code; the full comparison would be quadratic.
constexpr std::size_t kMaxCompared = 256;
// What all lists of allocations of an artifact may hold together: memory must not grow with the log.
constexpr std::size_t kMaxRowBytes = std::size_t{64} << 20;
constexpr std::size_t kMaxReplicas = 65536;  // more than any machine has

std::string Text(const Value& value) {
  if (const auto number = AsNumber(value)) return fmt::format("{:.0f}", *number);
  if (const auto truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? std::string() : *text;
}

// The identity facts that are known, "name=value" a line; empty where none is.
std::string IdentityText(const Finding& finding) {
  std::string text;
  for (const std::string& name : finding.failure->identity) {
    if (const Fact* fact = finding.facts.Find(name)) text += name + "=" + Text(fact->value) + "\n";
  }
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

ArtifactFindings::ArtifactFindings(const RuleSet& rules, Artifact artifact)
    : rules_(&rules), artifact_{BoundedPath(artifact.path), BoundedPath(artifact.member)} {}

void ArtifactFindings::Add(std::vector<Sighting> sightings, const std::string& framework) {
  framework_ = framework;
  for (Sighting& sighting : sightings) {
    Finding finding;
    finding.failure = sighting.failure;
    finding.message = std::move(sighting.message);
    finding.facts = std::move(sighting.facts);
    finding.allocations = std::move(sighting.rows);
    finding.prospects = std::move(sighting.prospects);
    finding.fullness.whole = !sighting.fragment;
    finding.where = {artifact_, sighting.head.line, std::max(sighting.head.line, sighting.last_line),
                     sighting.head.offset};
    DeriveFacts(*rules_, &finding);
    OfCode& of_code = by_code_[finding.failure->code];
    const std::string identity = IdentityText(finding);
    if (Entry* same = FindSame(of_code, finding, identity)) {
      Count(sighting, finding, same);
      Join(std::move(finding), same);
    } else if (of_code.entries.size() >= FindingTable::kMostOfCode) {
      ++of_code.left_out;
    } else {
      Entry& entry = of_code.entries.emplace_back();
      if (!identity.empty()) of_code.by_identity.emplace(identity, of_code.entries.size() - 1);
      Count(sighting, finding, &entry);
      finding.tally = std::move(entry.finding.tally);
      entry.finding = std::move(finding);
      KeepRows(&entry.finding);
    }
  }
}

// Lists of allocations are kept as long as there is room for them.
void ArtifactFindings::KeepRows(Finding* finding) {
  const std::size_t bytes = RowBytes(*finding);
  if (row_bytes_ + bytes > kMaxRowBytes) {
    finding->allocations_left_out = finding->allocations.size();
    finding->allocations.clear();
  } else {
    row_bytes_ += bytes;
  }
}

ArtifactFindings::Entry* ArtifactFindings::FindSame(OfCode& of_code, const Finding& finding,
                                                    const std::string& identity) {
  std::vector<Entry>& entries = of_code.entries;
  const auto known = of_code.by_identity.find(identity);
  if (known != of_code.by_identity.end()) return &entries[known->second];
  const std::size_t first = entries.size() > kMaxCompared ? entries.size() - kMaxCompared : 0;
  for (std::size_t i = entries.size(); i-- > first;) {
    // Also a report without any identifying number: it says only that it happened again.
    if (!Differ(entries[i].finding, finding)) return &entries[i];
  }
  return nullptr;
}

void ArtifactFindings::Count(const Sighting& sighting, const Finding& finding, Entry* entry) {
  Tally& tally = entry->finding.tally;
  if (!sighting.reporter.empty()) {
    entry->named = true;
    tally.hosts.Add(sighting.reporter);
  } else if (const Value replica = finding.facts.Get("replica");
             IsKnown(replica) && entry->replicas.size() < kMaxReplicas) {
    const Value partition = finding.facts.Get("partition");
    entry->replicas.insert(fmt::format("replica {} partition {}", Text(replica), Text(partition)));
  }
  tally.repeats += static_cast<std::uint64_t>(std::max(0, sighting.repeats - 1));
  ++tally.reports;
  tally.places.Add(finding.where);
  tally.AddTime(sighting.time);
}

void ArtifactFindings::Join(Finding&& finding, Entry* entry) {
  Finding& kept = entry->finding;
  kept.fullness.whole = kept.fullness.whole || finding.fullness.whole;
  // The place shown is where the most can be read.
  if (kept.allocations.empty() && !finding.allocations.empty()) {
    kept.allocations = std::move(finding.allocations);
    kept.allocations_left_out = 0;
    KeepRows(&kept);
    kept.where = std::move(finding.where);
    kept.message = std::move(finding.message);
    finding.facts.Add(kept.facts);
    kept.facts = std::move(finding.facts);
    return;
  }
  // Reports of several hosts become complete in another order than they stand in the log.
  if (kept.allocations.empty() && finding.where.offset < kept.where.offset) kept.where = std::move(finding.where);
  kept.facts.Add(finding.facts);
}

// Sets what the table goes by. From the log alone: what a dump adds to a finding must not make it another one.
void ArtifactFindings::Identify(Finding* finding) const {
  const Failure& failure = *finding->failure;
  finding->framework = framework_;
  finding->fullness.row_bytes = RowBytes(*finding);
  finding->fullness.facts = finding->facts.all().size() + (framework_.empty() ? 0 : 1);
  Evidence as_read = finding->facts;
  DeriveFacts(*rules_, finding);
  finding->fullness.numbers = static_cast<std::uint64_t>(
      std::count_if(failure.numbers.begin(), failure.numbers.end(),
                    [&](const std::string& name) { return finding->facts.Find(name) != nullptr; }));
  finding->id = Id(*finding);
  finding->facts = std::move(as_read);
}

FindingTable ArtifactFindings::Take() {
  std::map<std::string, Entry> by_id;
  FindingTable table(*rules_);
  for (auto& [code, of_code] : by_code_) {
    if (of_code.left_out > 0) table.LeaveOut(code, of_code.left_out);
    for (Entry& entry : of_code.entries) {
      Identify(&entry.finding);
      auto [same, is_new] = by_id.try_emplace(entry.finding.id);
      if (is_new) {
        same->second = std::move(entry);
        continue;
      }
      // Partial reports between them made two entries of one failure.
      same->second.named = same->second.named || entry.named;
      same->second.replicas.merge(entry.replicas);
      JoinFindings(std::move(entry.finding), &same->second.finding);
    }
  }
  by_code_.clear();
  for (auto& [id, entry] : by_id) {
    Tally& tally = entry.finding.tally;
    tally.artifacts = 1;
    tally.nameless_artifacts = entry.named ? 0 : 1;
    tally.replicas = entry.replicas.size();
    table.Add(std::move(entry.finding));
  }
  return table;
}

}  // namespace whyoom
