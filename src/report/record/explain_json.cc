#include "report/record/explain_json.h"

#include <set>
#include <utility>
#include <vector>

#include "report/record/describe_explanation.h"
#include "report/report.h"

namespace whyoom {
namespace {

constexpr std::size_t kLeastLiteral = 4;  // a shorter one occurs in every log

std::string SourceOf(const std::optional<Expression>& expression) { return expression ? expression->source() : ""; }

std::vector<ExplainedSentence> ToRecords(const std::vector<Sentence>& sentences) {
  std::vector<ExplainedSentence> records;
  for (const Sentence& sentence : sentences) {
    const std::string outline = sentence.text.Outline();
    const std::string& written = sentence.text.source();
    records.push_back(
        {outline, written == outline ? "" : written, SourceOf(sentence.when), SourceOf(sentence.row), sentence.at});
  }
  return records;
}

std::vector<ExplainedUse> ToRecords(const std::vector<RemedyUse>& uses) {
  std::vector<ExplainedUse> records;
  for (const RemedyUse& use : InOrder(uses)) records.push_back({use.remedy, use.section, use.prior});
  return records;
}

ExplainedScenario ToRecord(const Scenario& scenario) {
  return {scenario.id,    scenario.title, scenario.priority,       scenario.when.source(),
          scenario.about, scenario.retry, ToRecords(scenario.why), ToRecords(scenario.remedies)};
}

std::vector<std::string> LiteralsOf(const Failure& failure) {
  std::set<std::string> literals;
  for (const HeaderPattern& head : failure.header_patterns) {
    for (std::string& literal : head.pattern.Literals(kLeastLiteral)) literals.insert(std::move(literal));
  }
  return {literals.begin(), literals.end()};
}

ExplainedFailure ToRecord(const Failure& failure, const std::vector<const Scenario*>& scenarios) {
  ExplainedFailure record;
  record.code = failure.code;
  record.aliases = failure.aliases;
  record.title = failure.title;
  record.category = failure.category;
  record.phase = failure.phase;
  record.about = failure.about;
  record.retry = failure.retry;
  record.links = failure.links;
  record.literals = LiteralsOf(failure);
  for (const Scenario* scenario : scenarios) record.scenarios.push_back(ToRecord(*scenario));
  record.why = ToRecords(failure.why);
  record.without_scenario = ToRecords(failure.remedies);
  return record;
}

std::vector<std::string> TopicsThatName(const RuleSet& rules, const Remedy& remedy) {
  std::vector<std::string> topics;
  for (const Use& use : UsesOf(rules, remedy))
    topics.push_back(use.failure->code + (use.scenario == nullptr ? "" : "." + use.scenario->id));
  return topics;
}

ExplainedRemedy ToRecord(const RuleSet& rules, const RemedyEntry& entry, const Frameworks& frameworks) {
  const Remedy& remedy = *entry.remedy;
  ExplainedRemedy record;
  record.id = remedy.id;
  record.title = remedy.title;
  record.section = entry.section;
  record.scenarios = entry.scenarios;
  record.safety = remedy.safety;
  record.safe_why = remedy.safe_why;
  for (const ConditionalSafety& other : remedy.safety_when)
    record.safety_when.push_back({other.when.source(), other.safety, other.safe_why});
  record.cost = remedy.cost;
  record.cost_about = CostWord(remedy);
  record.inquiry = remedy.inquiry;
  record.gain = remedy.gain;
  record.telltale = remedy.telltale;
  record.note = remedy.note;
  const std::vector<Steps> all = StepsIn(rules, remedy, frameworks);
  for (const Steps& steps : all) {
    if (steps.framework != nullptr)
      record.how.push_back({steps.framework->id, steps.framework->name, steps.plain, steps.of_log});
  }
  const std::vector<ShownSnippet> snippets = SnippetsIn(rules, remedy, frameworks);
  for (const ShownSnippet& one : snippets) {
    ExplainedSnippet snippet{one.framework->id, one.framework->name, one.snippet->language};
    const CodeChange change = ChangeIn(*one.snippet);
    for (const doc::CodeLine& line : change.before) snippet.before.push_back(line.text);
    for (const doc::CodeLine& line : change.after) snippet.after.push_back(line.text);
    record.snippets.push_back(std::move(snippet));
  }
  for (const NameVersions* versions : VersionsIn(rules, all, snippets))
    record.versions.push_back({versions->id, versions->package, versions->since, versions->until});
  record.when = SourceOf(remedy.when);
  record.evidence = ToRecords(remedy.evidence);
  record.ruled_out = ToRecords(remedy.ruled_out);
  record.saves = SourceOf(remedy.saves);
  record.with = remedy.with;
  record.helps = TopicsThatName(rules, remedy);
  record.links = remedy.links;
  return record;
}

}  // namespace

std::string PrintExplanationJson(const RuleSet& rules, const Explanation* explanation, const Frameworks& frameworks,
                                 const std::string& version) {
  ExplainHeader header;
  header.tool = {version, rules.fingerprint(), ShownRuleFiles(rules.extra_files())};
  if (!frameworks.empty()) header.framework = frameworks.front()->id;
  std::vector<ExplainedRemedy> remedies;
  if (explanation != nullptr) {
    header.topic = explanation->topic;
    for (const RemedyEntry& entry : explanation->remedies) remedies.push_back(ToRecord(rules, entry, frameworks));
  } else {
    for (const auto& [id, remedy] : rules.remedies())
      remedies.push_back(ToRecord(rules, RemedyEntry{&remedy}, frameworks));
  }
  RecordWriter record;
  if (explanation == nullptr) {
    std::vector<ExplainedFailure> failures;
    for (const Failure& failure : rules.failures()) {
      std::vector<const Scenario*> scenarios;
      for (const Scenario& scenario : failure.scenarios) scenarios.push_back(&scenario);
      failures.push_back(ToRecord(failure, scenarios));
    }
    DescribeExplainedTopic(record, header, failures, remedies);
  } else if (explanation->failure == nullptr) {
    DescribeExplainedTopic(record, header, remedies.front());
  } else {
    DescribeExplainedTopic(record, header, ToRecord(*explanation->failure, explanation->scenarios), remedies);
  }
  return record.Take().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace whyoom
