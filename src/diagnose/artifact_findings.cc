#include "diagnose/artifact_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnose/finding_scope.h"
#include "facts/derive.h"
#include "facts/row_fields.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// A partial report is compared with this many newest findings of its code; the full comparison would be quadratic.
constexpr std::size_t kMaxCompared = 256;
constexpr std::size_t kMaxReplicas = 65536;  // more than any machine has

std::string Text(const Value& value) {
  if (const auto number = AsNumber(value)) return fmt::format("{:.0f}", *number);
  if (const auto truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? std::string() : *text;
}

// What follows from the facts, where one of the names is not known without it.
Evidence FollowsFor(const std::vector<std::string>& names, const RuleSet& rules, const Finding& finding) {
  const std::vector<DerivedFact>& derived = finding.failure->derived;
  const auto adds = [&](const DerivedFact& one) {
    const bool is_named = std::find(names.begin(), names.end(), one.name) != names.end();
    return is_named && (one.replace || finding.facts.Find(one.name) == nullptr);
  };
  const bool is_needed = std::any_of(derived.begin(), derived.end(), adds);
  return is_needed ? Derive(derived, FindingScope(rules, finding)) : Evidence();
}

// Those of the named facts that are known.
Evidence Named(const std::vector<std::string>& names, const Evidence& read, const Evidence& follows) {
  Evidence named;
  for (const std::string& name : names) {
    for (const Evidence* known : {&follows, &read}) {
      if (const Fact* fact = known->Find(name)) named.Set(name, fact->value, fact->place);
    }
  }
  return named;
}

// Those of the facts that tell failures apart that are known.
Evidence Identity(const Failure& failure, const Evidence& read, const Evidence& follows) {
  Evidence kept;
  for (const auto& [name, fact] : follows.all()) {
    const std::string& fact_name = name;
    const auto tells_none = [&](const DerivedFact& one) { return one.name == fact_name && !one.identifies; };
    if (std::none_of(failure.derived.begin(), failure.derived.end(), tells_none))
      kept.Set(name, fact.value, fact.place);
  }
  return Named(failure.identity, read, kept);
}

// "name=value" a line, in the order of the rule data: ids depend on it. Empty where nothing is known.
std::string IdentityText(const Failure& failure, const Evidence& identity) {
  std::string text;
  for (const std::string& name : failure.identity) {
    if (const Fact* fact = identity.Find(name)) text += name + "=" + Text(fact->value) + "\n";
  }
  return text;
}

void BoundTexts(Sighting* sighting) {
  if (sighting->message.size() > kLongestText) sighting->message = CutBytes(sighting->message, kLongestText);
  for (Allocation& row : sighting->rows) BoundTexts(&row);
  const Evidence facts = sighting->facts;
  for (const auto& [name, fact] : facts.all()) {
    const std::string* text = AsText(fact.value);
    if (text != nullptr && text->size() > kLongestText)
      sighting->facts.Set(name, CutBytes(*text, kLongestText), fact.place, true);
  }
}

}  // namespace

ArtifactFindings::ArtifactFindings(const RuleSet& rules, Artifact artifact)
    : rules_(&rules), artifact_{BoundedPath(artifact.path), BoundedPath(artifact.member)} {}

void ArtifactFindings::Add(std::vector<Sighting> sightings, const std::string& framework) {
  framework_ = framework;
  for (Sighting& sighting : sightings) {
    BoundTexts(&sighting);
    Finding finding;
    finding.failure = sighting.failure;
    finding.message = std::move(sighting.message);
    finding.facts = std::move(sighting.facts);
    finding.allocations = std::move(sighting.rows);
    finding.prospects = std::move(sighting.prospects);
    finding.fullness.whole = !sighting.fragment;
    finding.where = {artifact_, sighting.head.line, std::max(sighting.head.line, sighting.last_line),
                     sighting.head.offset};
    OfCode& of_code = by_code_[finding.failure->code];
    const std::vector<std::string>& names = finding.failure->identity;
    const Evidence identity = Identity(*finding.failure, finding.facts, FollowsFor(names, *rules_, finding));
    if (Entry* same = FindSame(of_code, *finding.failure, identity)) {
      Count(sighting, finding, same);
      same->identity.Add(identity);
      Join(std::move(finding), same);
    } else if (of_code.entries.size() >= FindingTable::kMostOfCode) {
      ++of_code.left_out;
    } else {
      Entry& entry = of_code.entries.emplace_back();
      if (const std::string text = IdentityText(*finding.failure, identity); !text.empty())
        of_code.by_identity.emplace(text, of_code.entries.size() - 1);
      entry.identity = identity;
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
  if (row_bytes_ + bytes > FindingTable::kMaxRowBytes) {
    finding->allocations_left_out = finding->allocations.size();
    finding->allocations.clear();
  } else {
    row_bytes_ += bytes;
  }
}

ArtifactFindings::Entry* ArtifactFindings::FindSame(OfCode& of_code, const Failure& failure, const Evidence& identity) {
  std::vector<Entry>& entries = of_code.entries;
  const auto known = of_code.by_identity.find(IdentityText(failure, identity));
  if (known != of_code.by_identity.end()) return &entries[known->second];
  const std::size_t first = entries.size() > kMaxCompared ? entries.size() - kMaxCompared : 0;
  for (std::size_t i = entries.size(); i-- > first;) {
    // Also a report without any identifying number: it says only that it happened again.
    if (!AreContrary(entries[i].identity, identity, failure.identity)) return &entries[i];
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
void ArtifactFindings::Identify(Entry* entry) const {
  Finding& finding = entry->finding;
  const Failure& failure = *finding.failure;
  finding.framework = framework_;
  finding.fullness.row_bytes = RowBytes(finding);
  finding.fullness.facts = finding.facts.all().size() + (framework_.empty() ? 0 : 1);
  const Evidence follows = Derive(failure.derived, FindingScope(*rules_, finding));
  finding.fullness.numbers = Named(failure.numbers, finding.facts, follows).all().size();
  // Partial reports may come to know together what none of them did.
  entry->identity.Add(Identity(failure, finding.facts, follows));
  const std::string identity = IdentityText(failure, entry->identity);
  finding.id = Sha256Hex(failure.code + "\n" + (identity.empty() ? finding.message : identity)).substr(0, 16);
}

FindingTable ArtifactFindings::Take() {
  std::map<std::string, Entry> by_id;
  FindingTable table(*rules_);
  for (auto& [code, of_code] : by_code_) {
    if (of_code.left_out > 0) table.LeaveOut(code, of_code.left_out);
    for (Entry& entry : of_code.entries) {
      Identify(&entry);
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
