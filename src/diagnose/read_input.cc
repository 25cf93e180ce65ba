#include "diagnose/read_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "diagnose/failure_scope.h"
#include "facts/array.h"
#include "facts/evidence.h"
#include "rules/recorder.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// A report that is not found by its identity is compared with this many of the newest failures of its code. Comparing
// it with all would be quadratic.
constexpr std::size_t kMaxCompared = 256;
constexpr std::size_t kMaxReplicas = 65536;                  // more than any machine has
constexpr std::size_t kMaxRowBytes = std::size_t{64} << 10;  // of an allocation list, so of 1000 failures 64 MiB

std::string Text(const Value& value) {
  if (const auto number = AsNumber(value)) return fmt::format("{:.0f}", *number);
  if (const auto truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? std::string() : *text;
}

// Returns the known facts among those that distinguish failures of one code. Derives facts only if that can add one.
Evidence IdentityOf(const RuleSet& rules, const Failure& failure) {
  const std::vector<std::string>& names = failure.rule->identity;
  const std::vector<DerivedFact>& derived = failure.rule->derived;
  const auto may_add = [&](const DerivedFact& one) {
    return (one.replace || failure.facts.Find(one.name) == nullptr) &&
           std::find(names.begin(), names.end(), one.name) != names.end();
  };
  Evidence known;
  if (std::any_of(derived.begin(), derived.end(), may_add)) known = Derive(derived, FailureScope(rules, failure));
  for (const DerivedFact& one : derived) {
    if (!one.identifies) known.Remove(one.name);
  }
  known.Add(failure.facts);
  Evidence identity;
  for (const std::string& name : names) {
    if (const Fact* fact = known.Find(name)) identity.Set(name, fact->value, fact->place);
  }
  return identity;
}

// One "name=value" per line, in the order of the rule data, because ids depend on it. Empty if none is known.
std::string IdentityText(const FailureRule& rule, const Evidence& identity) {
  std::string text;
  for (const std::string& name : rule.identity) {
    if (const Fact* fact = identity.Find(name)) text += name + "=" + Text(fact->value) + "\n";
  }
  return text;
}

// Approximate memory of a row; the same on every machine.
std::uint64_t RowBytes(const Allocation& row) {
  constexpr std::uint64_t kRow = 300;
  return kRow + row.shape_text.size() * 3 + row.op_name.size() + row.xla_label.size() + row.source_file.size();
}

// Bounds the memory of a failure. The list of a log loses its last rows, which are the smallest; the list of a
// dump is bounded by its reader.
void Truncate(Failure* failure) {
  const bool of_dump = failure->facts.Find("dump") != nullptr;
  if (failure->message.size() > kMaxTextBytes) failure->message = CutBytes(failure->message, kMaxTextBytes);
  std::size_t kept = 0;
  for (std::size_t bytes = 0; kept < failure->allocations.size(); ++kept) {
    TruncateTexts(&failure->allocations[kept]);
    bytes += RowBytes(failure->allocations[kept]);
    if (bytes > kMaxRowBytes && !of_dump) break;
  }
  failure->allocations_left_out += failure->allocations.size() - kept;
  failure->allocations.resize(kept);
  const Evidence facts = failure->facts;
  for (const auto& [name, fact] : facts.all()) {
    const std::string* text = AsText(fact.value);
    if (text != nullptr && text->size() > kMaxTextBytes)
      failure->facts.Set(name, CutBytes(*text, kMaxTextBytes), fact.place, true);
  }
}

// Sets whether the job went on: every stream that reported the failure must show it.
void SetRecovery(const Signs& signs, const std::map<std::string, LastReport>& last_reports, Failure* failure) {
  bool all = !last_reports.empty();
  for (const auto& [stream, report] : last_reports) {
    const auto own = signs.find(stream);
    all = all && own != signs.end() && own->second.ShowSurvival(report);
    if (all && (!failure->recovered || failure->recovered->line < own->second.proof->sign.line))
      failure->recovered = own->second.proof->sign;
    // A line without a stream's name may be of any stream.
    const auto may_show = [&last = report](const auto& sign) { return sign.second.MayShowSurvival(last); };
    const auto unnamed = signs.find("");
    failure->may_have_recovered = failure->may_have_recovered || (own != signs.end() && may_show(*own)) ||
                                  (unnamed != signs.end() && may_show(*unnamed)) ||
                                  (stream.empty() && std::any_of(signs.begin(), signs.end(), may_show));
  }
  if (!all) failure->recovered.reset();
}

void Join(Failure failure, Failure* kept) {
  kept->tally.Join(failure.tally);
  kept->completeness.whole = kept->completeness.whole || failure.completeness.whole;
  // Show the place of the report with the allocation list.
  if (kept->allocations.empty() && !failure.allocations.empty()) {
    kept->allocations = std::move(failure.allocations);
    kept->allocations_left_out = failure.allocations_left_out;
    kept->where = std::move(failure.where);
    kept->message = std::move(failure.message);
    failure.facts.Add(kept->facts);
    kept->facts = std::move(failure.facts);
    return;
  }
  // Reports of several hosts may be completed in another order than they start.
  if (kept->allocations.empty() && failure.where.offset < kept->where.offset) kept->where = std::move(failure.where);
  kept->facts.Add(failure.facts);
}

// The tally of one report.
Tally TallyOf(const Failure& report) {
  Tally tally;
  if (!report.stream_name.empty()) tally.hosts.Add(report.stream_name);
  tally.repeats = static_cast<std::uint64_t>(std::max(0, report.repeats - 1));
  tally.reports = 1;
  tally.AddPlace(report.where);
  tally.AddTime(report.time);
  return tally;
}

}  // namespace

ArtifactFailures::ArtifactFailures(const Engine& engine, const Artifact& artifact)
    : engine_(&engine), artifact_{BoundedPath(artifact.path), BoundedPath(artifact.member)} {}

void ArtifactFailures::Add(std::vector<Failure> failures, const std::string& framework) {
  framework_ = framework;
  for (Failure& failure : failures) {
    Truncate(&failure);
    failure.where.artifact = artifact_;
    failure.where.last_line = std::max(failure.where.line, failure.where.last_line);
    failure.tally = TallyOf(failure);
    OfCode& of_code = by_code_[failure.rule->code];
    const Evidence identity = IdentityOf(engine_->rules(), failure);
    Entry* entry = FindSame(of_code, failure, identity);
    const bool is_new = entry == nullptr;
    if (is_new && of_code.entries.size() >= FailureTable::kMostOfCode) {
      ++of_code.left_out;
      continue;
    }
    if (is_new) {
      if (const std::string text = IdentityText(*failure.rule, identity); !text.empty())
        of_code.by_identity.emplace(text, of_code.entries.size());
      entry = &of_code.entries.emplace_back();
    }
    entry->identity.Add(identity);
    const Value replica = failure.facts.Get("replica");
    if (failure.stream_name.empty() && IsKnown(replica) && entry->replicas.size() < kMaxReplicas)
      entry->replicas.insert(
          fmt::format("replica {} partition {}", Text(replica), Text(failure.facts.Get("partition"))));
    if (entry->last_reports.size() < kMaxReplicas || entry->last_reports.contains(failure.stream_name))
      entry->last_reports[failure.stream_name].Add({failure.where.line, failure.time});
    if (is_new) {
      entry->failure = std::move(failure);
    } else {
      Join(std::move(failure), &entry->failure);
    }
  }
}

ArtifactFailures::Entry* ArtifactFailures::FindSame(OfCode& of_code, const Failure& failure, const Evidence& identity) {
  const FailureRule& rule = *failure.rule;
  std::vector<Entry>& entries = of_code.entries;
  const auto known = of_code.by_identity.find(IdentityText(rule, identity));
  if (known != of_code.by_identity.end()) return &entries[known->second];
  const std::size_t first = entries.size() > kMaxCompared ? entries.size() - kMaxCompared : 0;
  for (std::size_t i = entries.size(); i-- > first;) {
    // A report without identifying facts contradicts none: it only shows that the failure happened again.
    if (!Contradict(entries[i].identity, identity, rule.identity)) return &entries[i];
  }
  return nullptr;
}

// Completes the tally when all reports have been counted.
void ArtifactFailures::Close(const Signs& signs, Entry* entry) {
  SetRecovery(signs, entry->last_reports, &entry->failure);
  Tally& tally = entry->failure.tally;
  tally.artifacts = 1;
  tally.nameless_artifacts = tally.hosts.count() == 0 ? 1 : 0;
  tally.replicas = entry->replicas.size();
}

// Sets the fields that the table uses. Uses the log only, so that data from a dump does not change the id.
void ArtifactFailures::Identify(Entry* entry) const {
  Failure& failure = entry->failure;
  const FailureRule& rule = *failure.rule;
  failure.framework = framework_;
  for (const Allocation& row : failure.allocations) failure.completeness.row_bytes += RowBytes(row);
  failure.completeness.facts = failure.facts.all().size() + (framework_.empty() ? 0 : 1);
  const Evidence follows = Derive(rule.derived, FailureScope(engine_->rules(), failure));
  failure.completeness.numbers =
      static_cast<std::uint64_t>(std::count_if(rule.numbers.begin(), rule.numbers.end(), [&](const std::string& name) {
        return failure.facts.Find(name) != nullptr || follows.Find(name) != nullptr;
      }));
  // Joined partial reports may yield facts that none of them yields alone.
  entry->identity.Add(IdentityOf(engine_->rules(), failure));
  const std::string identity = IdentityText(rule, entry->identity);
  failure.id = Sha256Hex(rule.code + "\n" + (identity.empty() ? failure.message : identity)).substr(0, 16);
}

FailureTable ArtifactFailures::TakeTable(const Signs& signs) {
  FailureTable table(engine_->rules());
  for (auto& [code, of_code] : by_code_) {
    if (of_code.left_out > 0) table.LeaveOut(code, of_code.left_out);
    for (Entry& entry : of_code.entries) {
      Identify(&entry);
      Close(signs, &entry);
      table.Add(std::move(entry.failure));  // joins partial reports that got the same id only now
    }
  }
  by_code_.clear();
  return table;
}

Report ArtifactFailures::Finish(ReadEnd end) {
  Report report;
  report.artifacts = 1;
  report.bytes = end.bytes;
  for (Problem& problem : end.problems) {
    problem.path = artifact_.path;
    problem.member = artifact_.member;
    report.problems.push_back(std::move(problem));
  }
  if (!by_code_.empty()) report.table = TakeTable(end.signs);
  if (end.programs.empty()) return report;
  if (!report.table) report.table.emplace(engine_->rules());
  end.programs.SetArtifact(artifact_);
  report.table->programs().Join(std::move(end.programs));
  return report;
}

InputStreams::InputStreams(const Artifact& input, const Limits& limits, const ReadOptions& options)
    : stop_(options.control, limits),
      members_(input, OpenFile(input.path, &stop_), limits, options.control),
      options_(options) {
  options_.stop = &stop_;
}

Report InputStreams::Finish() {
  std::vector<Problem> problems = members_.TakeProblems();
  std::move(problems.begin(), problems.end(), std::back_inserter(report_.problems));
  BoundProblems(&report_.problems, &report_.problems_left_out);
  report_.retry = report_.retry || members_.may_differ();
  report_.artifacts = std::max<std::uint64_t>(report_.artifacts, 1);
  return std::move(report_);
}

Report ReadArtifact(const Engine& engine, const Artifact& artifact, ByteSource& source, const ReadOptions& options) {
  RecordedStep step(options.recorder, artifact.path, artifact.member);
  FailureReader reader(engine, source, options);
  ArtifactFailures found(engine, artifact);
  for (std::vector<Failure> more = reader.Next(); !more.empty(); more = reader.Next())
    found.Add(std::move(more), reader.framework());
  return found.Finish(reader.Finish());
}

Report ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, const ReadOptions& options) {
  InputStreams streams(input, limits, options);
  for (Artifact artifact; ByteSource* part = streams.Next(&artifact);)
    streams.Add(ReadArtifact(engine, artifact, *part, streams.options()));
  return streams.Finish();
}

}  // namespace whyoom
