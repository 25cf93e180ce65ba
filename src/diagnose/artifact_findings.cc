#include "diagnose/artifact_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnose/finding_scope.h"
#include "facts/derive.h"
#include "facts/row_fields.h"
#include "rules/names.h"
#include "rules/sha256.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// A report that is not found by its identity is compared with this many of the newest findings of its code. Comparing
// it with all would be quadratic.
constexpr std::size_t kMaxCompared = 256;
constexpr std::size_t kMaxReplicas = 65536;  // more than any machine has

std::string Text(const Value& value) {
  if (const auto number = AsNumber(value)) return fmt::format("{:.0f}", *number);
  if (const auto truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? std::string() : *text;
}

// Returns the derived facts; empty if deriving them would not add any of the named facts.
Evidence FollowsFor(const std::vector<std::string>& names, const RuleSet& rules, const Diagnosis& finding) {
  const std::vector<DerivedFact>& derived = finding.failure->derived;
  const auto adds = [&](const DerivedFact& one) {
    const bool is_named = std::find(names.begin(), names.end(), one.name) != names.end();
    return is_named && (one.replace || finding.facts.Find(one.name) == nullptr);
  };
  const bool is_needed = std::any_of(derived.begin(), derived.end(), adds);
  return is_needed ? Derive(derived, FindingScope(rules, finding)) : Evidence();
}

// Returns the known facts among `names`.
Evidence Named(const std::vector<std::string>& names, const Evidence& read, const Evidence& follows) {
  Evidence named;
  for (const std::string& name : names) {
    for (const Evidence* known : {&follows, &read}) {
      if (const Fact* fact = known->Find(name)) named.Set(name, fact->value, fact->place);
    }
  }
  return named;
}

// Returns the known facts among those that distinguish failures of one code.
Evidence Identity(const Failure& failure, const Evidence& read, const Evidence& follows) {
  Evidence kept;
  for (const auto& [name, fact] : follows.all()) {
    const std::string& fact_name = name;
    const auto does_not_identify = [&](const DerivedFact& one) { return one.name == fact_name && !one.identifies; };
    if (std::none_of(failure.derived.begin(), failure.derived.end(), does_not_identify))
      kept.Set(name, fact.value, fact.place);
  }
  return Named(failure.identity, read, kept);
}

// One "name=value" per line, in the order of the rule data, because ids depend on it. Empty if none is known.
std::string IdentityText(const Failure& failure, const Evidence& identity) {
  std::string text;
  for (const std::string& name : failure.identity) {
    if (const Fact* fact = identity.Find(name)) text += name + "=" + Text(fact->value) + "\n";
  }
  return text;
}

// The job and the number of an attempt in a path: "logs/job-17.log #2" for "logs/job-17.attempt2.log". The logs of a
// job's hosts count as one. Empty if the path has no such number.
std::string AttemptIn(const std::string& path) {
  const std::string lower = LowerAscii(path);
  const auto has = [&](std::string_view word) { return lower.find(word) != std::string::npos; };
  if (!has("attempt") && !has("retry") && !has("restart")) return "";  // no need to compile the expressions
  static const Regex attempt(R"((?i)^(.*?)[._/-]?(?:attempt|retry|restart)[._-]?(\d+)(.*)$)");
  static const Regex host(R"((?i)\b(host|node|worker|rank|process|proc|task|replica|pod)[._-]?\d+)");
  std::string before;
  std::string number;
  std::string behind;
  if (!re2::RE2::FullMatch(path, attempt, &before, &number, &behind)) return "";
  std::string job = before + behind;
  re2::RE2::GlobalReplace(&job, host, R"(\1)");
  return job + " #" + number;
}

void TruncateTexts(Sighting* sighting) {
  if (sighting->message.size() > kMaxTextBytes) sighting->message = CutBytes(sighting->message, kMaxTextBytes);
  for (Allocation& row : sighting->rows) TruncateTexts(&row);
  const Evidence facts = sighting->facts;
  for (const auto& [name, fact] : facts.all()) {
    const std::string* text = AsText(fact.value);
    if (text != nullptr && text->size() > kMaxTextBytes)
      sighting->facts.Set(name, CutBytes(*text, kMaxTextBytes), fact.place, true);
  }
}

// Whether both have a compiler's report, and their figures differ.
bool HaveOtherReports(const Diagnosis& one, const Diagnosis& other) {
  std::vector<std::string> figures = ReaderFacts(one.failure->reader);
  std::erase_if(figures, [](const std::string& name) { return !name.ends_with("_bytes"); });
  return Contradict(one.facts, other.facts, figures);
}

// Sets whether the job went on: every stream that reported the failure must show it.
void SetRecovery(const Signs& signs, const std::map<std::string, LastReport>& last_reports, Diagnosis* finding) {
  bool all = !last_reports.empty();
  for (const auto& [stream, report] : last_reports) {
    const auto own = signs.find(stream);
    all = all && own != signs.end() && own->second.ShowSurvival(report);
    if (all && (!finding->recovered || finding->recovered->line < own->second.proof->sign.line))
      finding->recovered = own->second.proof->sign;
    // A line without a stream's name may be of any stream.
    const auto may_show = [&last = report](const auto& sign) { return sign.second.MayShowSurvival(last); };
    const auto unnamed = signs.find("");
    finding->may_have_recovered = finding->may_have_recovered || (own != signs.end() && may_show(*own)) ||
                                  (unnamed != signs.end() && may_show(*unnamed)) ||
                                  (stream.empty() && std::any_of(signs.begin(), signs.end(), may_show));
  }
  if (!all) finding->recovered.reset();
}

}  // namespace

ArtifactFindings::ArtifactFindings(const RuleSet& rules, const Artifact& artifact)
    : rules_(&rules), artifact_{BoundedPath(artifact.path), BoundedPath(artifact.member)} {}

void ArtifactFindings::Add(std::vector<Sighting> sightings, const std::string& framework) {
  framework_ = framework;
  for (Sighting& sighting : sightings) {
    TruncateTexts(&sighting);
    Diagnosis finding;
    finding.failure = sighting.failure;
    finding.message = std::move(sighting.message);
    finding.facts = std::move(sighting.facts);
    finding.allocations = std::move(sighting.rows);
    finding.estimates = std::move(sighting.estimates);
    finding.completeness.whole = !sighting.fragment;
    finding.where = {artifact_, sighting.head.line, std::max(sighting.head.line, sighting.last_line),
                     sighting.head.offset};
    OfCode& of_code = by_code_[finding.failure->code];
    const std::vector<std::string>& names = finding.failure->identity;
    const Evidence identity = Identity(*finding.failure, finding.facts, FollowsFor(names, *rules_, finding));
    if (Entry* same = FindSame(of_code, finding, identity)) {
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

// Keeps the allocation list unless the lists exceed the limit.
void ArtifactFindings::KeepRows(Diagnosis* finding) {
  const std::size_t bytes = RowBytes(*finding);
  if (row_bytes_ + bytes > FindingTable::kMaxRowBytes) {
    finding->allocations_left_out = finding->allocations.size();
    finding->allocations.clear();
  } else {
    row_bytes_ += bytes;
  }
}

ArtifactFindings::Entry* ArtifactFindings::FindSame(OfCode& of_code, const Diagnosis& finding,
                                                    const Evidence& identity) {
  const Failure& failure = *finding.failure;
  std::vector<Entry>& entries = of_code.entries;
  const auto known = of_code.by_identity.find(IdentityText(failure, identity));
  if (known != of_code.by_identity.end()) return &entries[known->second];
  const std::size_t first = entries.size() > kMaxCompared ? entries.size() - kMaxCompared : 0;
  for (std::size_t i = entries.size(); i-- > first;) {
    // A report without identifying facts contradicts none: it only shows that the failure happened again.
    if (!Contradict(entries[i].identity, identity, failure.identity) && !HaveOtherReports(entries[i].finding, finding))
      return &entries[i];
  }
  return nullptr;
}

void ArtifactFindings::Count(const Sighting& sighting, const Diagnosis& finding, Entry* entry) const {
  Tally& tally = entry->finding.tally;
  if (!sighting.stream_name.empty()) {
    entry->named = true;
    tally.hosts.Add(sighting.stream_name);
  } else if (const Value replica = finding.facts.Get("replica");
             IsKnown(replica) && entry->replicas.size() < kMaxReplicas) {
    const Value partition = finding.facts.Get("partition");
    entry->replicas.insert(fmt::format("replica {} partition {}", Text(replica), Text(partition)));
  }
  tally.repeats += static_cast<std::uint64_t>(std::max(0, sighting.repeats - 1));
  ++tally.reports;
  if (entry->last_reports.size() < kMaxReplicas || entry->last_reports.contains(sighting.stream_name))
    entry->last_reports[sighting.stream_name].Add({sighting.head.line, sighting.time});
  tally.places.Add(finding.where);
  tally.AddTime(sighting.time);
  constexpr std::size_t kMostStreams = 1000;
  if (!sighting.time) return;
  std::set<std::string>& streams = entry->streams_by_week[WeekOf(*sighting.time)];
  if (streams.size() < kMostStreams) streams.insert(sighting.stream_name);
}

// Completes the tally when all reports have been counted.
void ArtifactFindings::Close(const Signs& signs, Entry* entry) const {
  SetRecovery(signs, entry->last_reports, &entry->finding);
  Tally& tally = entry->finding.tally;
  tally.artifacts = 1;
  tally.nameless_artifacts = entry->named ? 0 : 1;
  tally.replicas = entry->replicas.size();
  // A process may print a failure twice. Reports are restarts only if their times show that a job could start between.
  constexpr std::int64_t kSecond = 1'000'000;
  constexpr std::int64_t kShortestStart = 20;  // seconds
  const std::int64_t seconds =
      tally.last_time ? (tally.last_time->microseconds - tally.first_time->microseconds) / kSecond : 0;
  tally.restarts = std::min(tally.reports - std::min(tally.reports, tally.occurrences()),
                            static_cast<std::uint64_t>(seconds / kShortestStart));
  if (tally.restarts > 0) tally.restart_seconds = seconds;
  for (const auto& [week, streams] : entry->streams_by_week) tally.groups.Add(kWeek, week, streams.size());
  if (const std::string attempt = AttemptIn(artifact_.path); !attempt.empty()) tally.groups.Add(kAttempts, attempt, 1);
}

void ArtifactFindings::Join(Diagnosis&& finding, Entry* entry) {
  Diagnosis& kept = entry->finding;
  kept.completeness.whole = kept.completeness.whole || finding.completeness.whole;
  // Show the place of the report with the allocation list.
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
  // Reports of several hosts may be completed in another order than they start.
  if (kept.allocations.empty() && finding.where.offset < kept.where.offset) kept.where = std::move(finding.where);
  kept.facts.Add(finding.facts);
}

// Sets the fields that the table uses. Uses the log only, so that data from a dump does not change the id.
void ArtifactFindings::Identify(Entry* entry) const {
  Diagnosis& finding = entry->finding;
  const Failure& failure = *finding.failure;
  finding.framework = framework_;
  finding.completeness.row_bytes = RowBytes(finding);
  finding.completeness.facts = finding.facts.all().size() + (framework_.empty() ? 0 : 1);
  const Evidence follows = Derive(failure.derived, FindingScope(*rules_, finding));
  finding.completeness.numbers = Named(failure.numbers, finding.facts, follows).all().size();
  // Joined partial reports may yield facts that none of them yields alone.
  entry->identity.Add(Identity(failure, finding.facts, follows));
  const std::string identity = IdentityText(failure, entry->identity);
  finding.id = Sha256Hex(failure.code + "\n" + (identity.empty() ? finding.message : identity)).substr(0, 16);
}

FindingTable ArtifactFindings::Take(const Signs& signs) {
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
      // Two partial reports did not show that they report the same failure, so they became two entries.
      same->second.named = same->second.named || entry.named;
      same->second.replicas.merge(entry.replicas);
      for (auto& [week, streams] : entry.streams_by_week) same->second.streams_by_week[week].merge(streams);
      for (const auto& [stream, report] : entry.last_reports) same->second.last_reports[stream].Add(report);
      JoinFindings(std::move(entry.finding), &same->second.finding);
    }
  }
  by_code_.clear();
  for (auto& [id, entry] : by_id) {
    Close(signs, &entry);
    table.Add(std::move(entry.finding));
  }
  return table;
}

}  // namespace whyoom
