// The entries of rule files as what the rest of the program works with.
#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "rules/builtin.h"
#include "rules/names.h"
#include "rules/rule_loader.h"
#include "rules/suggest.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

// Signs are looked for near a hit only, so that short literals do no harm.
constexpr std::size_t kSignLiteral = 4;

std::vector<Link> BuildLinks(const RuleNode& node) {
  std::vector<Link> links;
  for (const RuleNode& item : node.Items()) links.push_back({item["title"].Text(), item["url"].Text()});
  return links;
}

template <typename Item>
void Append(std::vector<Item> more, std::vector<Item>* to) {
  to->insert(to->end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::optional<Retry> BuildRetry(const RuleNode& node) {
  if (!node.exists()) return std::nullopt;
  const std::string answer = node["answer"].Text();
  Retry retry;
  if (answer == "never") retry.answer = Retry::Answer::kNever;
  if (answer == "maybe") retry.answer = Retry::Answer::kMaybe;
  retry.why = node["why"].Text();
  return retry;
}

// A size as a message prints it, or in bytes; anything else is a fault.
std::optional<double> SizeOf(const RuleNode& node) {
  if (!node.exists()) return std::nullopt;
  if (node.is_number()) return AsNumber(node.Scalar());
  const std::optional<std::int64_t> size = ParseSize(node.Text());
  if (!size && !node.Text().empty())
    node.Report("'" + node.Text() + "' is no size", "write it as a message prints it: 15.75G");
  return size ? std::optional(static_cast<double>(*size)) : std::nullopt;
}

std::vector<ByteSet> UnpackAll(const RuleNode& node) {
  std::vector<ByteSet> sets;
  for (const std::string& packed : node.Words()) sets.push_back(UnpackBytes(packed));
  return sets;
}

TextNeeds UnpackNeeds(const RuleNode& node) {
  return {UnpackAll(node["leading"]), UnpackAll(node["line"]), UnpackAll(node["text"]), node["words"].Words()};
}

void ReportTwice(const RuleNode& node, const std::string& id, std::set<std::string>* seen,
                 const std::string& hint = "") {
  if (!id.empty() && !seen->insert(id).second)
    node.Report("the id '" + id + "' is in use already in this failure", hint);
}

}  // namespace

Expression RuleSetBuilder::UseExpression(const std::string& owner, const RuleNode& node, bool in_row) {
  // What the build has checked is parsed when it is first used.
  if (digest_ != nullptr) return Expression::Deferred(node.Text(), terms_);
  Expression expression = node.AsExpression(*terms_);
  names_.Use(owner, node, expression.name_uses(), in_row);
  typed_.push_back({owner, node, expression, in_row});
  return expression;
}

Template RuleSetBuilder::UseTemplate(const std::string& owner, const RuleNode& node, bool in_row) {
  if (digest_ != nullptr) return Template::Deferred(node.Text(), terms_);
  Template text = node.AsTemplate(*terms_);
  names_.Use(owner, node, text.name_uses(), in_row);
  return text;
}

std::optional<Expression> RuleSetBuilder::UseOptionalExpression(const std::string& owner, const RuleNode& node,
                                                                bool in_row) {
  return node.exists() ? std::optional<Expression>(UseExpression(owner, node, in_row)) : std::nullopt;
}

Sentence RuleSetBuilder::BuildSentence(const std::string& owner, const RuleNode& node) {
  Sentence sentence;
  const bool in_row = node["row"].exists();
  sentence.when = UseOptionalExpression(owner, node["when"], false);
  sentence.row = UseOptionalExpression(owner, node["row"], true);
  sentence.at = node["at"].Text();
  names_.UseFact(owner, node["at"]);
  sentence.text = UseTemplate(owner, node["text"], in_row);
  return sentence;
}

std::vector<Sentence> RuleSetBuilder::BuildSentences(const std::string& owner, const RuleNode& node) {
  std::vector<Sentence> sentences;
  for (const RuleNode& item : node.Items()) sentences.push_back(BuildSentence(owner, item));
  return sentences;
}

std::vector<RemedyUse> RuleSetBuilder::BuildRemedyUses(const RuleNode& node) {
  std::vector<RemedyUse> uses;
  for (const RuleNode& item : node.Items()) {
    remedy_references_.push_back(item["id"]);
    uses.push_back({item["id"].Text(), item["section"].Text(), item["prior"].Int(RemedyUse().prior)});
  }
  return uses;
}

void RuleSetBuilder::BuildFailure(const RuleNode& node) {
  Failure failure;
  failure.code = node["code"].Text();
  failure.aliases = node["aliases"].Words();
  failure.title = node["title"].Text();
  failure.category = node["category"].Text();
  failure.phase = node["phase"].Text();
  failure.about = node["about"].Words();
  if (node["about"].is_string()) failure.about = {node["about"].Text()};
  failure.links = BuildLinks(node["links"]);
  failure.absorbed_by = node["absorbed_by"].Words();
  failure.consequence_of = node["consequence_of"].Words();
  failure.identity = node["identity"].Words();
  failure.numbers = node["numbers"].Words();
  for (const char* key : {"absorbed_by", "consequence_of"}) {
    for (const RuleNode& item : node[key].Items()) code_references_.push_back(item);
  }
  for (const char* key : {"identity", "numbers"}) {
    for (const RuleNode& item : node[key].Items()) names_.UseFact(failure.code, item);
  }
  BuildHeads(node, &failure);
  BuildFacts(node, &failure);
  BuildReader(node, &failure);
  failure.retry = BuildRetry(node["retry"]);
  BuildScenarios(node, &failure);
  failure.why = BuildSentences(failure.code, node["why"]);
  failure.remedies = BuildRemedyUses(node["remedies"]);
  BuildExamples(node["examples"], &failure);
  set_.failures_.push_back(std::move(failure));
}

void RuleSetBuilder::BuildHeads(const RuleNode& node, Failure* failure) {
  std::set<std::string> ids;
  for (const Head& head : failure->heads) ids.insert(head.id);
  for (const RuleNode& item : node["heads"].Items()) {
    Head head;
    head.id = item["id"].Text();
    ReportTwice(item["id"], head.id, &ids,
                "heads of all files are added up; `whyoom rules list` names the files that are in use");
    head.pattern = PatternNode(item).AsPattern();
    head.line_start = item["line_start"].Bool();
    head.fragment = item["fragment"].Bool();
    head.of_report = item["of_report"].Bool();
    const bool all_left_out = std::exchange(is_left_out_, is_left_out_ || IsHeadDisabled(failure->code, head.id));
    CollectLiterals(head.pattern, PatternNode(item), "head");
    is_left_out_ = all_left_out;
    failure->heads.push_back(std::move(head));
  }
}

void RuleSetBuilder::BuildFacts(const RuleNode& node, Failure* failure) {
  for (const RuleNode& item : node["facts"].Items()) {
    failure->facts.push_back(PatternNode(item).AsPattern());
    CollectLiterals(failure->facts.back());
  }
  Append(node["contexts"].Words(), &failure->contexts);
  for (const RuleNode& item : node["contexts"].Items()) context_references_[failure->code].push_back(item);
  Append(BuildDerived(failure->code, node["derived"]), &failure->derived);
}

void RuleSetBuilder::BuildReader(const RuleNode& node, Failure* failure) {
  failure->reader = node["reader"].Text();
  if (node["memory_space"].exists()) failure->memory_space = node["memory_space"].Text();
  const std::vector<std::string>& readers = ReaderNames();
  if (!failure->reader.empty() && std::find(readers.begin(), readers.end(), failure->reader) == readers.end()) {
    const std::string meant = DidYouMean(failure->reader, readers);
    node["reader"].Report("unknown reader '" + failure->reader + "'",
                          meant.empty() ? "readers are " + Listing(readers) : meant);
    names_.Forgive(failure->code);
  }
  failure->of_dump = node["of_dump"].Bool();
}

std::vector<DerivedFact> RuleSetBuilder::BuildDerived(const std::string& owner, const RuleNode& node) {
  std::vector<DerivedFact> all;
  for (const RuleNode& item : node.Items()) {
    DerivedFact derived;
    derived.name = item["fact"].Text();
    derived.from = UseExpression(owner, item["from"], false);
    derived.when = UseOptionalExpression(owner, item["when"], false);
    derived.replace = item["replace"].Bool();
    derived.identifies = !item["identifies"].exists() || item["identifies"].Bool();
    all.push_back(std::move(derived));
  }
  return all;
}

void RuleSetBuilder::BuildScenarios(const RuleNode& node, Failure* failure) {
  std::set<std::string> ids;
  for (const RuleNode& item : node["scenarios"].Items()) {
    Scenario scenario;
    scenario.id = item["id"].Text();
    ReportTwice(item["id"], scenario.id, &ids);
    scenario.title = item["title"].Text();
    scenario.priority = item["priority"].Int(0);
    scenario.when = UseExpression(failure->code, item["when"], false);
    scenario.about = item["about"].Text();
    scenario.retry = BuildRetry(item["retry"]);
    scenario.why = BuildSentences(failure->code, item["why"]);
    scenario.remedies = BuildRemedyUses(item["remedies"]);
    failure->scenarios.push_back(std::move(scenario));
  }
}

void RuleSetBuilder::BuildExamples(const RuleNode& node, Failure* failure) {
  Append(AllExamples(node["match"]), &failure->match);
  Append(AllExamples(node["no_match"]), &failure->no_match);
  std::vector<std::string> ids;
  for (const Scenario& scenario : failure->scenarios) ids.push_back(scenario.id);
  for (const RuleNode& item : node["match"].Items()) {
    const std::string id = item["scenario"].Text();
    if (id.empty() || std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
    item["scenario"].Report("unknown scenario '" + id + "'", DidYouMean(id, ids));
  }
}

void RuleSetBuilder::BuildRemedy(const RuleNode& node) {
  Remedy remedy;
  remedy.id = node["id"].Text();
  remedy.title = node["title"].Text();
  remedy.safety = node["safety"].Text();
  remedy.safe_why = node["safe_why"].Text();
  for (const RuleNode& other : node["safety_when"].Items()) {
    remedy.safety_when.push_back(
        {UseExpression("", other["when"], false), other["safety"].Text(), other["safe_why"].Text()});
  }
  remedy.cost = node["cost"].Int(0);
  remedy.inquiry = node["inquiry"].Bool();
  remedy.gain = node["gain"].Text();
  remedy.telltale = node["telltale"].Text();
  remedy.note = node["note"].Text();
  AddAdvice(node, &remedy);
  remedy.change = node["change"].Text();
  remedy.in_parts = node["in_parts"].Text();
  if (!remedy.in_parts.empty() && remedy.in_parts.find(kPartsHole) == std::string::npos)
    node["in_parts"].Report(std::string("it says nowhere how many: ") + kPartsHole);
  remedy.spread_percent = node["spread_percent"].Int(0);
  remedy.when = UseOptionalExpression("", node["when"], false);
  remedy.saves = UseOptionalExpression("", node["saves"], false);
  set_.remedies_.emplace(remedy.id, remedy);
}

void RuleSetBuilder::CheckFramework(const std::string& framework, const RuleNode& node) {
  const Section& frameworks = sections_["frameworks"];
  if (frameworks.empty() || frameworks.contains(framework)) return;
  std::vector<std::string> known;
  for (const auto& [id, one] : frameworks) known.push_back(id);
  node.ReportKey("there is no framework '" + framework + "'", DidYouMean(framework, known));
}

// What an extension may add to. Its steps stand before those there, since a team's own are nearer to the job.
void RuleSetBuilder::AddAdvice(const RuleNode& node, Remedy* remedy) {
  for (const auto& [framework, steps] : node["how"].Members()) {
    CheckFramework(framework, steps);
    std::vector<Template> how;
    for (const RuleNode& step : steps.Items()) {
      how.push_back(UseTemplate("", step, false));
    }
    std::vector<Template>& all = remedy->how[framework == default_framework_ ? "" : framework];
    all.insert(all.begin(), std::make_move_iterator(how.begin()), std::make_move_iterator(how.end()));
  }
  for (const auto& [framework, snippet] : node["snippets"].Members()) {
    CheckFramework(framework, snippet);
    const std::string language = snippet["language"].Text();
    remedy->snippets[framework == default_framework_ ? "" : framework] = {
        language.empty() ? "python" : language, snippet["before"].Lines(), snippet["after"].Lines()};
    if (snippet["before"].Lines() == snippet["after"].Lines())
      snippet["after"].Report("this is what stands before it, too", "say what the remedy changes");
  }
  Append(BuildLinks(node["links"]), &remedy->links);
  Append(BuildSentences("", node["evidence"]), &remedy->evidence);
  Append(BuildSentences("", node["ruled_out"]), &remedy->ruled_out);
  Append(node["with"].Words(), &remedy->with);
  for (const RuleNode& item : node["with"].Items()) remedy_references_.push_back(item);
}

void RuleSetBuilder::BuildExtension(const RuleNode& node) {
  const std::string name = node["extends"].Text();
  if (name.empty()) return;
  const auto failure = std::find_if(set_.failures_.begin(), set_.failures_.end(), [&](const Failure& one) {
    return one.code == name || std::find(one.aliases.begin(), one.aliases.end(), name) != one.aliases.end();
  });
  const auto remedy = set_.remedies_.find(name);
  if (failure == set_.failures_.end() && remedy == set_.remedies_.end()) {
    std::vector<std::string> known;
    for (const Failure& one : set_.failures_) known.push_back(one.code);
    for (const auto& [id, one] : set_.remedies_) known.push_back(id);
    node["extends"].Report("there is no failure and no remedy '" + name + "'", DidYouMean(name, known));
    return;
  }
  const bool of_failure = failure != set_.failures_.end();
  const std::vector<std::string> others =
      of_failure ? std::vector<std::string>{"how", "snippets", "evidence", "ruled_out", "with"}
                 : std::vector<std::string>{"heads", "facts", "contexts", "derived", "why", "remedies", "examples"};
  for (const std::string& key : others) {
    if (node[key].exists())
      node[key].ReportKey("'" + key + "' is of " + (of_failure ? "remedies" : "failures") + ", and '" + name +
                          "' is a " + (of_failure ? "failure" : "remedy"));
  }
  if (of_failure) {
    ExtendFailure(node, &*failure);
  } else {
    AddAdvice(node, &remedy->second);
  }
}

void RuleSetBuilder::ExtendFailure(const RuleNode& node, Failure* failure) {
  BuildHeads(node, failure);
  BuildFacts(node, failure);
  Append(BuildSentences(failure->code, node["why"]), &failure->why);
  Append(BuildLinks(node["links"]), &failure->links);
  // A remedy is offered whatever the scenario: its own evidence says where it helps.
  for (const RemedyUse& use : BuildRemedyUses(node["remedies"])) {
    failure->remedies.push_back(use);
    for (Scenario& scenario : failure->scenarios) {
      if (!scenario.remedies.empty()) scenario.remedies.push_back(use);
    }
  }
  BuildExamples(node["examples"], failure);
}

Trace RuleSetBuilder::BuildTrace(const std::string& owner, const RuleNode& node) {
  Trace trace;
  trace.id = node["id"].Text();
  trace.prior = node["prior"].Int(0);
  trace.otherwise = node["otherwise"].Bool();
  trace.when = UseOptionalExpression(owner, node["when"], false);
  trace.why = BuildSentences(owner, node["why"]);
  for (const RuleNode& item : node["remedies"].Items()) {
    remedy_references_.push_back(item["id"]);
    trace.remedies.push_back({item["id"].Text(), UseOptionalExpression(owner, item["when"], false)});
  }
  return trace;
}

void RuleSetBuilder::BuildComparison() {
  for (const auto& [id, node] : sections_["traces"]) set_.traces_.push_back(BuildTrace(NameCheck::kComparison, node));
  for (const auto& [id, node] : sections_["notes"]) set_.notes_.push_back(BuildTrace(NameCheck::kComparison, node));
  for (std::vector<Trace>* all : {&set_.traces_, &set_.notes_}) {
    std::stable_sort(all->begin(), all->end(), [](const Trace& a, const Trace& b) { return a.prior < b.prior; });
  }
}

void RuleSetBuilder::BuildContradiction(const RuleNode& node) {
  if (!node["when"].exists() && !node["row"].exists())
    node["id"].Report("neither 'when' nor 'row' says when the figures contradict each other", "give it one of them");
  for (const RuleNode& item : node["figures"].Items()) names_.UseFact("", item);
  ContradictionRule rule{node["id"].Text(), BuildSentence("", node), node["figures"].Words(), node["list"].Bool()};
  if (rule.list) rule.figures.push_back("listed");  // the number of its rows
  set_.contradictions_.push_back(std::move(rule));
}

void RuleSetBuilder::BuildWording() {
  for (const auto& [id, node] : sections_[kWording]) {
    CheckAskedFor(kWording, id, node);
    const bool of_comparison = id.starts_with("diff.");
    set_.wording_.emplace(id, BuildSentences(of_comparison ? NameCheck::kComparison : "", node));
  }
}

void RuleSetBuilder::BuildThresholds() {
  for (const auto& [id, node] : sections_[kThresholds]) {
    CheckAskedFor(kThresholds, id, node);
    set_.thresholds_.emplace(id, AsNumber(node["share"].Scalar()).value_or(0));
  }
}

void RuleSetBuilder::CollectNearbyLiterals(const Pattern& pattern, const RuleNode& node) {
  if (digest_ != nullptr) return;
  const std::vector<std::string> literals = pattern.Literals(kSignLiteral);
  if (literals.empty() && pattern.ok()) {
    node.Report("not each of its alternatives holds a literal of " + std::to_string(kSignLiteral) + " characters",
                "it would not be looked for: make the alternatives patterns of their own");
  }
  nearby_literals_.insert(literals.begin(), literals.end());
}

void RuleSetBuilder::BuildContext(const RuleNode& node) {
  Context context;
  context.id = node["id"].Text();
  std::vector<RuleNode> patterns = node["patterns"].Items();
  if (node["pattern"].exists()) patterns.insert(patterns.begin(), node["pattern"]);
  context.nearby = node["nearby"].Bool();
  if (patterns.empty()) node.Report("a context without a pattern", "give it 'pattern' or 'patterns'");
  for (const RuleNode& item : patterns) {
    context.patterns.push_back(item.AsPattern());
    if (context.nearby) {
      CollectNearbyLiterals(context.patterns.back(), item);
    } else {
      CollectLiterals(context.patterns.back(), item, "context");
    }
  }
  context.job_wide = node["job_wide"].Bool();
  context.of_next_failure = node["of_next_failure"].Bool();
  context.of_report = node["of_report"].Bool();
  if (node["until"].exists()) {
    context.until = node["until"].AsPattern();
    CollectNearbyLiterals(context.until, node["until"]);
    if (!context.of_next_failure)
      node["until"].Report("only what is said of one program ends", "give it \"of_next_failure\": true");
  }
  for (const RuleNode& item : node["examples"]["until"].Items()) context.until_examples.push_back(item.Lines());
  context.is_program = node["program"].Bool();
  context.derived = BuildDerived(ContextOwner(context.id), node["derived"]);
  if (!context.derived.empty() && !context.is_program)
    node["derived"].Report("only a context that states a program derives facts", "give it \"program\": true");
  context.match = AllExamples(node["examples"]["match"]);
  context.no_match = AllExamples(node["examples"]["no_match"]);
  set_.contexts_.push_back(std::move(context));
}

void RuleSetBuilder::BuildFramework(const RuleNode& node) {
  Framework framework;
  framework.id = node["id"].Text();
  framework.name = node["name"].exists() ? node["name"].Text() : framework.id;
  for (const RuleNode& alias : node["aliases"].Items()) framework.aliases.push_back(alias.Text());
  framework.priority = node["priority"].Int(0);
  for (const RuleNode& item : node["signs"].Items()) {
    framework.signs.push_back(item.AsPattern());
    if (digest_ != nullptr) continue;
    const std::vector<std::string> literals = framework.signs.back().Literals(kSignLiteral);
    sign_literals_.insert(literals.begin(), literals.end());
  }
  for (const RuleNode& item : node["examples"].Items()) framework.examples.push_back(item.Lines());
  set_.frameworks_.push_back(std::move(framework));
}

void RuleSetBuilder::BuildChip(const RuleNode& node) {
  Chip chip;
  chip.id = node["id"].Text();
  for (const RuleNode& item : node["limits"].Items()) {
    if (const std::optional<double> limit = SizeOf(item)) chip.limits.push_back(*limit);
  }
  for (const RuleNode& item : node["targets"].Items()) {
    if (const std::optional<double> limit = SizeOf(item["limit"]))
      chip.targets.push_back({item["pattern"].AsPattern(), *limit});
  }
  set_.chips_.push_back(std::move(chip));
}

void RuleSetBuilder::BuildVersions(const RuleNode& node) {
  NameVersions versions{node["id"].Text(), node["package"].Text(), node["since"].Text(), node["until"].Text()};
  if (versions.since.empty() && versions.until.empty())
    node["id"].Report("neither 'since' nor 'until' says which releases have it", "leave it out where each release has");
  if (!versions.since.empty() && !versions.until.empty() && CompareVersions(versions.until, versions.since) < 0)
    node["until"].Report("this is before " + versions.since + ", since when it is there",
                         "the last release that has it");
  set_.name_versions_.push_back(std::move(versions));
}

void RuleSetBuilder::BuildQuotation(const RuleNode& node) {
  Quotation quotation;
  quotation.id = node["id"].Text();
  quotation.pattern = node["pattern"].AsPattern();
  if (node["after"].exists()) quotation.after = node["after"].AsPattern();
  if (node["unless"].exists()) quotation.unless = node["unless"].AsPattern();
  if (node["unless_after"].exists()) quotation.unless_after = node["unless_after"].AsPattern();
  quotation.in_source = node["in_source"].Bool();
  quotation.source_line = node["source_line"].Bool();
  if (digest_ != nullptr)
    quotation.needed = {UnpackNeeds(node[kQuotationNeeds]["before"]), UnpackNeeds(node[kQuotationNeeds]["from_head"])};
  for (const RuleNode& item : node["examples"].Items()) quotation.examples.push_back(item.Lines());
  for (const RuleNode& item : node["logs"].Items()) quotation.logs.push_back(item.Lines());
  set_.quotations_.push_back(std::move(quotation));
}

void RuleSetBuilder::BuildSuspect(const RuleNode& node) {
  Suspect suspect;
  suspect.id = node["id"].Text();
  suspect.pattern = node["pattern"].AsPattern();
  CollectLiterals(suspect.pattern, node["pattern"], "suspect");
  for (const RuleNode& item : node["unless"].Items()) suspect.unless.push_back(item.AsPattern());
  suspect.match = AllExamples(node["examples"]["match"]);
  suspect.no_match = AllExamples(node["examples"]["no_match"]);
  set_.suspects_.push_back(std::move(suspect));
}

void RuleSetBuilder::BuildErrorLine(const RuleNode& node) {
  ErrorLine line;
  line.id = node["id"].Text();
  line.pattern = node["pattern"].AsPattern();
  line.healthy = node["healthy"].Bool();
  for (const RuleNode& item : node["examples"].Items()) line.examples.push_back(item.Lines());
  set_.error_lines_.push_back(std::move(line));
}

void RuleSetBuilder::BuildProgressLine(const RuleNode& node) {
  ProgressLine line;
  line.id = node["id"].Text();
  line.pattern = node["pattern"].AsPattern();
  if (node["unless"].exists()) line.unless = node["unless"].AsPattern();
  line.compiles = node["compiles"].Bool();
  for (const RuleNode& item : node["examples"].Items()) line.examples.push_back(item.Lines());
  for (const RuleNode& item : node["logs"].Items()) line.no_match.push_back(item.Lines());
  set_.progress_.push_back(std::move(line));
}

void RuleSetBuilder::BuildAffix(const RuleNode& node) {
  Affix affix;
  affix.id = node["id"].Text();
  affix.place = node["place"].Text() == "suffix" ? Affix::Place::kSuffix : Affix::Place::kPrefix;
  affix.pattern = node["pattern"].Text();
  if (digest_ != nullptr) {
    const RuleNode signs = node[kAffixSigns];
    affix.signs = {UnpackAll(signs["bytes"]), UnpackAll(signs["needed"]), signs["literals"].Words()};
  }
  if (!node.file().trusted) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    const re2::RE2 re(affix.pattern, options);
    if (!re.ok()) node["pattern"].Report("RE2 refuses the pattern: " + re.error());
    static const std::vector<std::string> groups = {"reporter", "repeats", "time", "goes_on"};
    for (const auto& [name, number] : re.NamedCapturingGroups()) {
      if (std::find(groups.begin(), groups.end(), name) != groups.end()) continue;
      const std::string meant = DidYouMean(name, groups);
      node["pattern"].ReportAt(affix.pattern.find("<" + name + ">") + 1, "unknown group '" + name + "'",
                               meant.empty() ? "groups are " + Listing(groups) : meant);
    }
  }
  const std::vector<RuleNode> examples = node["examples"].Items();
  const std::vector<RuleNode> leaves = node["leaves"].Items();
  if (examples.size() != leaves.size() && !examples.empty() && !leaves.empty()) {
    node["leaves"].Report(
        std::to_string(leaves.size()) + " leaves for " + std::to_string(examples.size()) + " examples",
        "give what is left of each example, in their order");
  }
  for (std::size_t i = 0; i < std::min(examples.size(), leaves.size()); ++i) {
    set_.affix_examples_.push_back({affix.id, examples[i].Text(), leaves[i].Text()});
  }
  set_.affixes_.push_back(std::move(affix));
}

}  // namespace whyoom
