// Builds records from the entries of rule files: lists the fields of each record and checks constraints on them.
#include <algorithm>
#include <functional>
#include <type_traits>
#include <utility>

#include "rules/builtin.h"
#include "rules/names.h"
#include "rules/rule_loader.h"
#include "rules/suggest.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

// Signs are searched for only near a prefilter match, so short literals are affordable.
constexpr std::size_t kSignLiteral = 4;

// A size as messages print it, or a number of bytes; reports anything else.
std::optional<double> SizeOf(const RuleNode& node) {
  if (node.is_number()) return AsNumber(node.Scalar());
  const std::optional<std::int64_t> size = ParseSize(node.Text());
  if (size) return static_cast<double>(*size);
  if (!node.Text().empty()) node.Report("'" + node.Text() + "' is not a size", "write it as messages print it: 15.75G");
  return std::nullopt;
}

// A fact whose name ends with "_bytes" may be written as a size.
Value FactOf(const std::string& name, const RuleNode& node) {
  if (!name.ends_with("_bytes") || !node.is_string()) return node.Scalar();
  const std::optional<double> size = SizeOf(node);
  return size ? Value(*size) : Value(Unknown{});
}

void Append(const std::vector<Example>& more, std::vector<Example>* to) {
  to->insert(to->end(), more.begin(), more.end());
}

void Append(const std::vector<Example>& more, std::vector<std::string>* to) {
  for (const Example& example : more) to->push_back(example.text);
}

// Sorts the formulas of each fact by priority, among the positions that they occupy in the list.
void SortByPriority(std::vector<DerivedFact>* derived) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < derived->size(); ++i) places[(*derived)[i].name].push_back(i);
  const std::vector<DerivedFact> as_given = *derived;
  for (const auto& [name, given] : places) {
    std::vector<std::size_t> sorted = given;
    std::ranges::stable_sort(sorted, std::greater(), [&](std::size_t i) { return as_given[i].priority; });
    for (std::size_t i = 0; i < given.size(); ++i) (*derived)[given[i]] = as_given[sorted[i]];
  }
}

// Reports ids that occur more than once. Items before `begin` are from other files.
template <class Item>
void ReportDuplicates(const std::vector<Item>& items, std::size_t begin, const RuleNode& node,
                      const std::string& hint) {
  const std::vector<RuleNode> nodes = node.Items();
  std::set<std::string> seen;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].id.empty() || seen.insert(items[i].id).second || i < begin) continue;
    nodes[i - begin]["id"].Report("the id '" + items[i].id + "' is already in use in this failure", hint);
  }
}

// How the member of an object or the item of a list is read.
enum class Literals { kNone, kTrigger, kSetting, kRare, kNearby, kSign };
struct FieldOptions {
  bool in_row = false;                          // expressions may use fields of a row
  bool lines = false;                           // strings of a list are joined with line breaks
  bool is_fact = false;                         // the texts are names of facts
  std::vector<RuleNode>* references = nullptr;  // the texts are ids of other entries
  Literals literals = Literals::kNone;          // of patterns: which literals to collect
  const char* what = "";                        // kind of entry, for faults
};

}  // namespace

// Reads the members of a JSON object into the fields of a record. Fields without a member keep their value; lists are
// appended to. The schema check handles types, required and unknown members.
class RuleSetBuilder::Fields {
 public:
  // `owner` provides the facts for expressions, see NameCheck::Use.
  Fields(RuleSetBuilder* builder, RuleNode node, std::string owner)
      : builder_(*builder), node_(std::move(node)), owner_(std::move(owner)) {}

  void Describe(Link& link) {
    Field("title", link.title);
    Field("url", link.url);
  }

  void Describe(Sentence& sentence) {
    Field("when", sentence.when);
    Field("row", sentence.row, {.in_row = true});
    Field("at", sentence.at, {.is_fact = true});
    Field("mistake", sentence.mistake);
    Field("cure", sentence.cure, {.references = &builder_.remedy_references_});
    Field("text", sentence.text, {.in_row = sentence.row.has_value()});
  }

  void Describe(RemedyUse& use) {
    Read(node_.is_string() ? node_ : node_["id"], use.remedy, {.references = &builder_.remedy_references_});
    for (const RemedyUse& listed : builder_.listed_remedies_) {
      if (listed.remedy == use.remedy) use = listed;
    }
    Field("section", use.section);
    Field("prior", use.prior);
    if (use.section.empty() && !use.remedy.empty())
      node_.Report("the remedy '" + use.remedy + "' has no \"section\"",
                   "add one, or list the remedy in the failure's own remedies");
  }

  void Describe(Retry& retry) {
    const std::string answer = node_["answer"].Text();
    if (answer == "never") retry.answer = Retry::Answer::kNever;
    if (answer == "maybe") retry.answer = Retry::Answer::kMaybe;
    Field("why", retry.why);
  }

  void Describe(Example& example) {
    Read(node_.is_object() ? node_["text"] : node_, example.text, {.lines = true});
    Field("why", example.why);
    Field("facts", example.facts);
    int count = 1;
    Field("count", count);
    example.count = static_cast<std::size_t>(std::max(0, count));
    if (node_["scenario"].exists()) example.scenario = node_["scenario"].Text();
    example.built_in = node_.file().built_in;
  }

  void Describe(HeaderPattern& head) {
    Field("id", head.id);
    Field("line_start", head.line_start);
    Field("fragment", head.fragment);
    Field("of_report", head.of_report);
    Field("unless", head.unless);
    const bool all_left_out = builder_.is_disabled_;
    builder_.is_disabled_ = all_left_out || builder_.IsHeaderDisabled(owner_, head.id);
    Read(node_, head.pattern, {.literals = Literals::kTrigger, .what = "head"});
    builder_.is_disabled_ = all_left_out;
  }

  void Describe(DerivedFact& derived) {
    Field("fact", derived.name);
    Field("from", derived.from);
    Field("when", derived.when);
    Field("priority", derived.priority);
    Field("replace", derived.replace);
    Field("identifies", derived.identifies);
  }

  void Describe(Scenario& scenario) {
    Field("id", scenario.id);
    Field("title", scenario.title);
    Field("priority", scenario.priority);
    Field("when", scenario.when);
    Field("about", scenario.about);
    Field("retry", scenario.retry);
    Field("why", scenario.why);
    Field("remedies", scenario.remedies);
  }

  void Describe(FailureRule& failure) {
    Field("code", failure.code);
    owner_ = failure.code;
    Field("aliases", failure.aliases);
    Field("title", failure.title);
    Field("category", failure.category);
    Field("phase", failure.phase);
    Field("about", failure.about);
    Field("absorbed_by", failure.absorbed_by, {.references = &builder_.code_references_});
    Field("consequence_of", failure.consequence_of, {.references = &builder_.code_references_});
    Field("identity", failure.identity, {.is_fact = true});
    Field("numbers", failure.numbers, {.is_fact = true});
    Field("reader", failure.reader);
    Field("memory_space", failure.memory_space);
    Field("of_dump", failure.of_dump);
    Field("retry", failure.retry);
    Field("remedies", failure.remedies);
    builder_.listed_remedies_ = failure.remedies;
    Field("scenarios", failure.scenarios);
    builder_.listed_remedies_.clear();
    ReportDuplicates(failure.scenarios, 0, node_["scenarios"], "");
    DescribeExtension(failure);
    builder_.CheckReader(node_, failure);
  }

  // The members that an extension can also add to a failure.
  void DescribeExtension(FailureRule& failure) {
    const std::size_t header_patterns = failure.header_patterns.size();
    Field("heads", failure.header_patterns);
    ReportDuplicates(failure.header_patterns, header_patterns, node_["heads"],
                     "heads of all files are combined; `whyoom rules list` shows the files in use");
    Field("facts", failure.facts, {.literals = Literals::kRare});
    Field("contexts", failure.contexts, {.references = &builder_.context_references_[failure.code]});
    Field("derived", failure.derived);
    SortByPriority(&failure.derived);
    Field("why", failure.why);
    Field("links", failure.links);
    const RuleNode examples = node_["examples"];
    Fields(&builder_, examples, owner_).DescribeExamples(failure);
    builder_.CheckScenarios(examples["match"], failure);
  }

  void DescribeExamples(auto& entry) {
    Field("match", entry.match);
    Field("no_match", entry.no_match);
  }

  void Describe(ConditionalSafety& other) {
    Field("when", other.when);
    Field("safety", other.safety);
    Field("safe_why", other.safe_why);
  }

  void Describe(Remedy& remedy) {
    Field("id", remedy.id);
    Field("title", remedy.title);
    Field("safety", remedy.safety);
    Field("safe_why", remedy.safe_why);
    Field("safety_when", remedy.safety_when);
    Field("cost", remedy.cost);
    Field("inquiry", remedy.inquiry);
    Field("gain", remedy.gain);
    Field("telltale", remedy.telltale);
    Field("note", remedy.note);
    Field("change", remedy.change);
    Field("in_parts", remedy.in_parts);
    Field("spread_percent", remedy.spread_percent);
    Field("when", remedy.when);
    Field("saves", remedy.saves);
    DescribeExtension(remedy);
    if (!remedy.in_parts.empty() && remedy.in_parts.find(kPartsPlaceholder) == std::string::npos)
      node_["in_parts"].Report(std::string("the placeholder for the number is missing: ") + kPartsPlaceholder);
  }

  // The members that an extension can also add to a remedy. The extension's steps come first, because a team's own
  // steps are closer to the job.
  void DescribeExtension(Remedy& remedy) {
    for (const auto& [framework, node] : node_["how"].Members()) {
      std::vector<Template> steps;
      Read(node, steps, {});
      std::vector<Template>& all = remedy.how[builder_.FrameworkOf(framework, node)];
      all.insert(all.begin(), steps.begin(), steps.end());
    }
    for (const auto& [framework, node] : node_["snippets"].Members())
      Read(node, remedy.snippets[builder_.FrameworkOf(framework, node)] = {}, {});
    Field("links", remedy.links);
    Field("evidence", remedy.evidence);
    Field("ruled_out", remedy.ruled_out);
    Field("with", remedy.with, {.references = &builder_.remedy_references_});
  }

  void Describe(Snippet& snippet) {
    snippet.language = "python";
    Field("language", snippet.language);
    Field("before", snippet.before, {.lines = true});
    Field("after", snippet.after, {.lines = true});
    if (snippet.before == snippet.after)
      node_["after"].Report("this is identical to 'before'", "show what the remedy changes");
  }

  void Describe(Note& note) {
    owner_ = NameCheck::kComparison;
    Field("id", note.id);
    Field("prior", note.prior);
    Field("when", note.when);
    Field("why", note.why);
  }

  void Describe(ContradictionRule& rule) {
    Field("id", rule.id);
    Describe(rule.sentence);
    Field("figures", rule.figures, {.is_fact = true});
    Field("list", rule.list);
    if (rule.list) rule.figures.push_back("listed");  // the number of rows
    if (!node_["when"].exists() && !node_["row"].exists())
      node_["id"].Report("without 'when' or 'row' the contradiction is never detected", "add one of them");
  }

  void Describe(Context& context) {
    Field("id", context.id);
    owner_ = ContextOwner(context.id);
    Field("job_wide", context.job_wide);
    Field("nearby", context.nearby);
    Field("of_next_failure", context.of_next_failure);
    Field("of_report", context.of_report);
    Field("program", context.is_program);
    const Literals far = context.is_program ? Literals::kTrigger : Literals::kSetting;
    const FieldOptions how = {.literals = context.nearby ? Literals::kNearby : far, .what = "context"};
    if (node_["pattern"].exists()) Field("pattern", context.patterns.emplace_back(), how);
    Field("patterns", context.patterns, how);
    Field("until", context.until, {.literals = Literals::kNearby});
    Field("derived", context.derived);
    SortByPriority(&context.derived);
    const RuleNode examples = node_["examples"];
    Fields(&builder_, examples, owner_).DescribeExamples(context);
    Read(examples["until"], context.until_examples, {.lines = true});
    const auto states = [&](const std::string& text, const RuleNode& item) {
      std::vector<Capture> captures;
      bool matches = false;
      for (const Pattern& pattern : context.patterns) {
        PatternMatch match;
        matches = pattern.Find(text, 0, &match) || matches;
        captures.insert(captures.end(), match.captures.begin(), match.captures.end());
      }
      for (const auto& [name, value] : item["facts"].Members()) {
        matches = matches && (context.is_program ||  // may derive facts
                              std::any_of(captures.begin(), captures.end(),
                                          [&, name = name, value = value](const Capture& capture) {
                                            return capture.name == name && capture.value == FactOf(name, value);
                                          }));
      }
      return matches;
    };
    CheckSamples(examples["match"], true, states);
    CheckSamples(examples["no_match"], false, states);
    if (context.patterns.empty()) node_.Report("a context without a pattern", "add 'pattern' or 'patterns'");
    if (node_["until"].exists() && !context.of_next_failure)
      node_["until"].Report("'until' requires a context of the next failure", "add \"of_next_failure\": true");
    if (!context.derived.empty() && !context.is_program)
      node_["derived"].Report("'derived' requires a context that describes a program", "add \"program\": true");
  }

  void Describe(Framework& framework) {
    Field("id", framework.id);
    framework.name = framework.id;
    Field("name", framework.name);
    Field("aliases", framework.aliases);
    Field("based_on", framework.based_on);
    if (!framework.based_on.empty()) builder_.FrameworkOf(framework.based_on, node_["based_on"]);
    Field("priority", framework.priority);
    Field("signs", framework.signs, {.literals = Literals::kSign});
    Field("examples", framework.examples, {.lines = true});
    CheckSamples(node_["examples"], true, [&](const std::string& text, const RuleNode&) {
      return std::any_of(framework.signs.begin(), framework.signs.end(),
                         [&](const Pattern& sign) { return sign.IsIn(text); });
    });
  }

  void Describe(Chip::Target& target) {
    Field("pattern", target.pattern);
    Field("limit", target.limit);
  }

  void Describe(Chip& chip) {
    Field("id", chip.id);
    Field("limits", chip.limits);
    Field("targets", chip.targets);
  }

  void Describe(NameVersions& versions) {
    Field("id", versions.id);
    Field("package", versions.package);
    Field("since", versions.since);
    Field("until", versions.until);
    if (versions.since.empty() && versions.until.empty())
      node_["id"].Report("both 'since' and 'until' are missing", "remove the entry if every release has the name");
    if (!versions.since.empty() && !versions.until.empty() && CompareVersions(versions.until, versions.since) < 0)
      node_["until"].Report("this precedes 'since', " + versions.since, "write the last release that has the name");
  }

  void Describe(Quotation& quotation) {
    Field("id", quotation.id);
    Field("pattern", quotation.pattern);
    Field("after", quotation.after);
    Field("unless", quotation.unless);
    Field("unless_after", quotation.unless_after);
    Field("in_source", quotation.in_source);
    Field("source_line", quotation.source_line);
    Field("own_report", quotation.own_report);
    Field("examples", quotation.examples, {.lines = true});
    Field("logs", quotation.logs, {.lines = true});
    const auto quotes = [&](const std::string& text, const RuleNode&) { return quotation.MatchesExample(text); };
    CheckSamples(node_["examples"], true, quotes);
    CheckSamples(node_["logs"], false, quotes);
  }

  void Describe(CandidateError& suspect) {
    Field("id", suspect.id);
    Field("pattern", suspect.pattern, {.literals = Literals::kTrigger, .what = "suspect"});
    Field("unless", suspect.unless);
    Fields(&builder_, node_["examples"], owner_).DescribeExamples(suspect);
    const auto is_error = [&](const std::string& text, const RuleNode&) {
      const auto matches = [&](const Pattern& pattern) { return pattern.IsIn(text); };
      return matches(suspect.pattern) && std::none_of(suspect.unless.begin(), suspect.unless.end(), matches);
    };
    CheckSamples(node_["examples"]["match"], true, is_error);
    CheckSamples(node_["examples"]["no_match"], false, is_error);
  }

  void Describe(ErrorLine& line) {
    Field("id", line.id);
    Field("pattern", line.pattern);
    Field("healthy", line.healthy);
    Field("examples", line.examples, {.lines = true});
    CheckSamples(node_["examples"], true,
                 [&](const std::string& text, const RuleNode&) { return line.pattern.IsIn(text); });
  }

  void Describe(ProgressLine& line) {
    Field("id", line.id);
    Field("pattern", line.pattern);
    Field("unless", line.unless);
    Field("compiles", line.compiles);
    const std::vector<std::string> shows = {"step", "number", "result", "handled", "error", "failed"};
    const auto known = std::find(shows.begin(), shows.end(), node_["shows"].Text());
    if (known != shows.end()) line.shows = static_cast<ProgressLine::Shows>(known - shows.begin());
    Field("examples", line.examples, {.lines = true});
    Field("logs", line.no_match, {.lines = true});
    const auto shows_progress = [&](const std::string& text, const RuleNode&) {
      PatternMatch match;
      return line.Find(text, &match);
    };
    CheckSamples(node_["examples"], true, shows_progress);
    CheckSamples(node_["logs"], false, shows_progress);
  }

  void Describe(PrefixOrSuffix& prefix_or_suffix) {
    Field("id", prefix_or_suffix.id);
    prefix_or_suffix.place =
        node_["place"].Text() == "suffix" ? PrefixOrSuffix::Place::kSuffix : PrefixOrSuffix::Place::kPrefix;
    Field("pattern", prefix_or_suffix.pattern);
    builder_.CheckPrefixOrSuffix(node_, prefix_or_suffix);
  }

  void Read(const RuleNode& node, std::string& text, const FieldOptions& how) {
    if (!node.exists()) return;
    text = how.lines ? node.Lines() : node.Text();
    if (how.is_fact) builder_.names_.UseFact(owner_, node);
    if (how.references != nullptr) how.references->push_back(node);
  }
  void Read(const RuleNode& node, bool& truth, const FieldOptions& /*how*/) {
    if (node.exists()) truth = node.Bool();
  }
  void Read(const RuleNode& node, int& number, const FieldOptions& /*how*/) { number = node.Int(number); }
  void Read(const RuleNode& node, double& size, const FieldOptions& /*how*/) {
    if (node.exists()) size = SizeOf(node).value_or(0);
  }
  void Read(const RuleNode& node, Expression& expression, const FieldOptions& how) {
    if (node.exists()) expression = builder_.UseExpression(owner_, node, how.in_row);
  }
  void Read(const RuleNode& node, Template& text, const FieldOptions& how) {
    if (node.exists()) text = builder_.UseTemplate(owner_, node, how.in_row);
  }
  void Read(const RuleNode& node, Pattern& pattern, const FieldOptions& how) {
    if (!node.exists()) return;
    const RuleNode source = PatternNode(node);
    pattern = source.AsPattern();
    if (how.literals == Literals::kTrigger || how.literals == Literals::kSetting) {
      const bool of_setting = how.literals == Literals::kSetting;
      builder_.CollectLiterals(pattern, source, how.what,
                               of_setting ? &builder_.setting_literals_ : &builder_.trigger_literals_);
    }
    if (how.literals == Literals::kRare) builder_.CollectFactLiterals(pattern, source);
    if (how.literals == Literals::kNearby) builder_.CollectNearbyLiterals(pattern, source);
    if (how.literals == Literals::kSign && !source.file().from_digest())
      builder_.sign_literals_.merge(AsSet(pattern.Literals(kSignLiteral)));
  }
  void Read(const RuleNode& node, std::map<std::string, Value>& facts, const FieldOptions& /*how*/) {
    for (const auto& [name, value] : node.Members()) facts[name] = FactOf(name, value);
  }
  template <class T>
  void Read(const RuleNode& node, std::optional<T>& field, const FieldOptions& how) {
    if (node.exists()) Read(node, field.emplace(), how);
  }
  template <class T>
  void Read(const RuleNode& node, std::vector<T>& items, const FieldOptions& how) {
    if (node.is_string()) Read(node, items.emplace_back(), how);  // a single item may omit the list
    for (const RuleNode& item : node.Items()) Read(item, items.emplace_back(), how);
  }
  template <class T>
  void Read(const RuleNode& node, T& record, const FieldOptions& /*how*/) {
    if (node.exists()) Fields(&builder_, node, owner_).Describe(record);
  }

 private:
  template <class T>
  void Field(std::string_view key, T& field, const FieldOptions& how = FieldOptions()) {
    Read(node_[key], field, how);
  }

  // Checks the samples next to a pattern of a user's file. Those of the built-in rules are tests. `matches` gets the
  // text and the whole sample.
  static void CheckSamples(const RuleNode& samples, bool must_match, auto matches) {
    if (samples.file().built_in) return;
    for (const RuleNode& sample : samples.is_string() ? std::vector{samples} : samples.Items()) {
      const RuleNode text = sample.is_object() ? sample["text"] : sample;
      if (matches(text.Lines(), sample) == must_match) continue;
      text.Report(must_match ? "the entry does not match this example" : "the entry matches this text but must not");
    }
  }

  static std::set<std::string> AsSet(const std::vector<std::string>& words) { return {words.begin(), words.end()}; }

  RuleSetBuilder& builder_;
  const RuleNode node_;
  std::string owner_;
};

template <class T>
T RuleSetBuilder::Record(const RuleNode& node) {
  T record;
  Fields(this, node, "").Describe(record);
  return record;
}

void RuleSetBuilder::BuildEntries() {
  Merge();
  BuildRowFields();
  BuildTerms();
  // Disabled entries are built and checked, too, so that references to them are valid.
  EachSection([this](const std::string& section, auto* entries) {
    for (const auto& [id, node] : sections_[section]) {
      is_disabled_ = IsDisabled(section, id);
      using Entries = std::remove_pointer_t<decltype(entries)>;
      if constexpr (std::is_same_v<Entries, std::map<std::string, Remedy>>) {
        entries->emplace(id, Record<Remedy>(node));
      } else {
        entries->push_back(Record<typename Entries::value_type>(node));
      }
    }
    is_disabled_ = false;
  });
  for (const RuleNode& node : extensions_) BuildExtension(node);
  for (const auto& [id, node] : sections_["affixes"]) AddPrefixAndSuffixExamples(node);
  for (const RuleNode& node : more_examples_) BuildMoreExamples(node);
  std::stable_sort(set_.notes_.begin(), set_.notes_.end(),
                   [](const Note& a, const Note& b) { return a.prior < b.prior; });
  BuildWording();
  std::stable_sort(set_.frameworks_.begin(), set_.frameworks_.end(),
                   [](const Framework& a, const Framework& b) { return a.priority > b.priority; });
  set_.default_framework_ = default_framework_;
}

Expression RuleSetBuilder::UseExpression(const std::string& owner, const RuleNode& node, bool in_row) {
  // The build has checked the digest, so parsing can wait until first use.
  if (node.file().from_digest()) return Expression::Deferred(node.Text(), terms_);
  Expression expression = node.AsExpression(*terms_);
  names_.Use(owner, node, expression.name_uses(), in_row);
  return expression;
}

Template RuleSetBuilder::UseTemplate(const std::string& owner, const RuleNode& node, bool in_row) {
  if (node.file().from_digest()) return Template::Deferred(node.Text(), terms_);
  Template text = node.AsTemplate(*terms_);
  names_.Use(owner, node, text.name_uses(), in_row);
  return text;
}

// The key of a framework in Remedy::how and Remedy::snippets.
std::string RuleSetBuilder::FrameworkOf(const std::string& name, const RuleNode& node) {
  const Section& frameworks = sections_["frameworks"];
  if (!frameworks.empty() && !frameworks.contains(name))
    node.ReportKey("there is no framework '" + name + "'", DidYouMean(name, Keys(frameworks)));
  return name == default_framework_ ? "" : name;
}

void RuleSetBuilder::BuildExtension(const RuleNode& node) {
  const std::string name = node["extends"].Text();
  if (name.empty()) return;
  const auto failure = std::find_if(set_.failures_.begin(), set_.failures_.end(), [&](const FailureRule& one) {
    return one.code == name || std::find(one.aliases.begin(), one.aliases.end(), name) != one.aliases.end();
  });
  const auto remedy = set_.remedies_.find(name);
  const bool of_failure = failure != set_.failures_.end();
  if (!of_failure && remedy == set_.remedies_.end()) {
    std::vector<std::string> known = Keys(set_.remedies_);
    for (const FailureRule& one : set_.failures_) known.push_back(one.code);
    node["extends"].Report("there is no failure or remedy '" + name + "'", DidYouMean(name, known));
    return;
  }
  const std::vector<std::string> others =
      of_failure ? std::vector<std::string>{"how", "snippets", "evidence", "ruled_out", "with"}
                 : std::vector<std::string>{"heads", "facts", "contexts", "derived", "why", "remedies", "examples"};
  for (const std::string& key : others) {
    if (node[key].exists())
      node[key].ReportKey("'" + key + "' belongs to " + (of_failure ? "remedies" : "failures") + ", but '" + name +
                          "' is a " + (of_failure ? "failure" : "remedy"));
  }
  if (!of_failure) return Fields(this, node, "").DescribeExtension(remedy->second);
  Fields fields(this, node, failure->code);
  fields.DescribeExtension(*failure);
  std::vector<RemedyUse> uses;
  fields.Read(node["remedies"], uses, {});
  // The remedy applies to every scenario: its own conditions decide whether it helps.
  failure->remedies.insert(failure->remedies.end(), uses.begin(), uses.end());
  for (Scenario& scenario : failure->scenarios) {
    if (!scenario.remedies.empty()) scenario.remedies.insert(scenario.remedies.end(), uses.begin(), uses.end());
  }
}

void RuleSetBuilder::BuildWording() {
  for (const auto& [id, node] : sections_[kWording]) {
    CheckIsUsed(kWording, id, node);
    Fields(this, node, id.starts_with("diff.") ? NameCheck::kComparison : "").Read(node, set_.wording_[id], {});
  }
  for (const auto& [id, node] : sections_[kThresholds]) {
    CheckIsUsed(kThresholds, id, node);
    set_.thresholds_.emplace(id, AsNumber(node["share"].Scalar()).value_or(0));
  }
}

void RuleSetBuilder::CollectNearbyLiterals(const Pattern& pattern, const RuleNode& node) {
  if (node.file().from_digest()) return;
  const std::vector<std::string> literals = pattern.Literals(kSignLiteral);
  if (literals.empty() && pattern.ok()) {
    node.Report("some alternative has no literal of " + std::to_string(kSignLiteral) + " characters",
                "the pattern could not be searched for: write each alternative as a pattern of its own");
  }
  nearby_literals_.insert(literals.begin(), literals.end());
}

void RuleSetBuilder::AddPrefixAndSuffixExamples(const RuleNode& node) {
  const std::vector<RuleNode> examples = node["examples"].Items();
  const std::vector<RuleNode> leaves = node["leaves"].Items();
  if (examples.size() != leaves.size() && !examples.empty() && !leaves.empty()) {
    node["leaves"].Report(
        std::to_string(leaves.size()) + " leaves for " + std::to_string(examples.size()) + " examples",
        "write the text that remains of each example, in the same order");
  }
  for (std::size_t i = 0; i < std::min(examples.size(), leaves.size()); ++i)
    set_.prefix_and_suffix_examples_.push_back({node["id"].Text(), examples[i].Text(), leaves[i].Text()});
}

// Adds examples from a separate file to an entry. Returns false if entries of that kind have no examples.
bool RuleSetBuilder::AddExamples(const RuleNode& node, auto* entry) {
  using Entry = std::remove_pointer_t<decltype(entry)>;
  CandidateError examples;
  Fields(this, node, "").DescribeExamples(examples);
  if constexpr (requires(Entry of) { of.match; }) {
    Append(examples.match, &entry->match);
    Append(examples.no_match, &entry->no_match);
  } else if constexpr (requires(Entry of) { of.logs; }) {
    Append(examples.match, &entry->examples);
    Append(examples.no_match, &entry->logs);
  } else if constexpr (requires(Entry of) { of.examples; }) {
    Append(examples.match, &entry->examples);
    Append(examples.no_match, &entry->no_match);
  } else if constexpr (std::is_same_v<Entry, PrefixOrSuffix>) {
    // Lines, and their text without prefixes and suffixes.
    const std::vector<RuleNode> items = node["match"].Items();
    for (std::size_t i = 0; i < items.size(); ++i)
      set_.prefix_and_suffix_examples_.push_back(
          {entry->id, examples.match[i].text, items[i]["leaves"].Text(), examples.match[i].facts});
    for (const Example& example : examples.no_match)
      set_.prefix_and_suffix_examples_.push_back({entry->id, example.text, example.text});
  } else {
    return false;
  }
  return true;
}

void RuleSetBuilder::BuildMoreExamples(const RuleNode& node) {
  const std::string of = node["of"].Text();
  const std::string section = of.substr(0, of.find('/'));
  std::vector<std::string> known;  // entries of the section
  bool is_added = false;
  const auto visit = [&](const std::string& id, auto* entry) {
    known.push_back(section + "/" + id);
    is_added = is_added || (known.back() == of && AddExamples(node, entry));
  };
  EachSection([&](const std::string& name, auto* entries) {
    if constexpr (requires { entries->front(); }) {
      for (auto& entry : *entries) {
        if (name == section) visit(IdOf(entry), &entry);
      }
    }
  });
  if (section == "json_logs") {
    for (const char* key : {"text", "reporter", "time"}) {
      PrefixOrSuffix record{.id = section + "/" + key};
      visit(key, &record);
    }
  }
  if (is_added) return;
  const bool is_known = std::find(known.begin(), known.end(), of) != known.end();
  if (is_known || known.empty()) {
    node["of"].Report("entries of '" + section + "' cannot have examples",
                      "name another entry, for example contexts/ID");
  } else {
    node["of"].Report("there is no '" + of + "'", DidYouMean(of, known));
  }
}

}  // namespace whyoom
