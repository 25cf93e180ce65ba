// Faults that involve several entries: entries that never apply, that conflict with each other, or that nothing uses.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "rules/expression_node.h"
#include "rules/names.h"
#include "rules/rule_loader.h"
#include "rules/suggest.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

const std::vector<std::string> kSpecialFacts = {"need_bytes", "have_bytes", "excess_bytes"};
// Further facts that whyoom reads although no built-in entry mentions them.
const std::vector<std::string> kProgramFacts = {"module", "partition", "replica", "system_reserved_bytes"};

// The source without insignificant differences.
std::string Tokens(const RuleNode& node) {
  std::vector<SyntaxFault> faults;
  std::string text;
  for (const internal::Token& token : internal::Tokenize(node.Text(), &faults)) {
    const bool is_number = token.kind == internal::TokenKind::kNumber;
    const bool is_text = token.kind == internal::TokenKind::kText;
    text += is_number ? std::to_string(token.number) : is_text ? "'" + token.text + "'" : token.text;
    text += ' ';
  }
  return text;
}

bool Contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

ValueType Both(ValueType a, ValueType b) { return a == b ? a : ValueType::kAny; }

// The facts that the patterns of a failure capture in a text, and those derived from them.
class CapturedFacts : public Scope {
 public:
  CapturedFacts(const FailureRule& failure, const std::string& text) {
    PatternMatch match;
    std::size_t end = std::string::npos;  // of the first header in the text
    for (const HeaderPattern& head : failure.header_patterns) {
      if (!head.pattern.Find(text, 0, &match)) continue;
      end = std::min(end, match.end);
      Add(match);
    }
    for (const Pattern& fact : failure.facts) {
      if (end != std::string::npos && fact.Find(text, end, &match)) Add(match);
    }
    for (const auto& [name, value] : facts_) sizes_ += name.ends_with("_bytes") ? 1 : 0;
    for (const DerivedFact& derived : failure.derived) {
      if (!derived.replace && facts_.contains(derived.name)) continue;
      if (derived.when && AsBool(derived.when->Evaluate(*this)) != true) continue;
      const Value value = derived.from.Evaluate(*this);
      if (IsKnown(value)) facts_[derived.name] = value;
    }
  }

  Value Get(std::string_view name) const override {
    const auto found = facts_.find(name);
    return found == facts_.end() ? Value(Unknown{}) : found->second;
  }
  int sizes() const { return sizes_; }  // number of captured sizes

  // "limit_bytes = 21.50 GiB, used_bytes = 15.75 GiB".
  std::string Listed() const {
    std::string listed;
    for (const auto& [name, value] : facts_) {
      const std::optional<double> size = name.ends_with("_bytes") ? AsNumber(value) : std::nullopt;
      if (size) listed += (listed.empty() ? "" : ", ") + name + " = " + FormatSize(static_cast<std::int64_t>(*size));
    }
    return listed;
  }

 private:
  void Add(const PatternMatch& match) {
    for (const Capture& capture : match.captures) facts_.emplace(capture.name, capture.value);
  }

  std::map<std::string, Value, std::less<>> facts_;
  int sizes_ = 0;
};

// A scope without any facts.
class NothingKnown : public Scope {
 public:
  Value Get(std::string_view /*name*/) const override { return Unknown{}; }
};

}  // namespace

void RuleSetBuilder::Lint() {
  LintHeaders();
  LintScenarios();
  LintOrphans();
  LintSteps();
  LintTypes();
  LintUnusedFacts();
  LintDerived();
  LintFigures();
}

// The nodes of each failure and of its extensions, with the code.
std::vector<std::pair<std::string, RuleNode>> RuleSetBuilder::FailureNodes() const {
  std::vector<std::pair<std::string, RuleNode>> nodes;
  if (const auto failures = sections_.find("failures"); failures != sections_.end())
    nodes.assign(failures->second.begin(), failures->second.end());
  for (const RuleNode& extension : extensions_) {
    const FailureRule* failure = set_.FindFailure(extension["extends"].Text());
    if (failure != nullptr) nodes.emplace_back(failure->code, extension);
  }
  return nodes;
}

std::vector<RuleSetBuilder::WrittenHeader> RuleSetBuilder::WrittenHeaders() const {
  std::vector<WrittenHeader> header_patterns;
  for (const auto& [code, node] : FailureNodes()) {
    for (const RuleNode& item : node["heads"].Items()) {
      std::vector<SyntaxFault> faults;
      WrittenHeader head{code, item["id"].Text(), PatternNode(item), {}, false};
      head.pattern = Pattern::Compile(head.at.Text(), &faults, Pattern::Check::kSyntax);
      head.is_independent = !item["fragment"].Bool() && !item["line_start"].Bool() && !item["of_report"].Bool();
      if (head.pattern.ok() && !IsHeaderDisabled(code, head.id) && !IsDisabled("failures", code))
        header_patterns.push_back(std::move(head));
    }
  }
  return header_patterns;
}

void RuleSetBuilder::LintHeaders() {
  const std::vector<WrittenHeader> header_patterns = WrittenHeaders();
  std::map<std::string, const WrittenHeader*> seen;
  // Lower layers first, so that faults are reported for the higher one.
  std::vector<const WrittenHeader*> ordered;
  for (const WrittenHeader& head : header_patterns) ordered.push_back(&head);
  std::stable_sort(ordered.begin(), ordered.end(), [](const WrittenHeader* a, const WrittenHeader* b) {
    return a->at.file().layer < b->at.file().layer;
  });
  for (const WrittenHeader* head : ordered) {
    const auto [first, is_new] = seen.emplace(head->pattern.regex(), head);
    if (is_new) continue;
    head->at.Report("a head of '" + first->second->code + "' already has this pattern",
                    "it is in " + ShownPlace(first->second->at.file(), first->second->at.place()));
  }
  LintExamples(header_patterns);
}

// An example that another failure's header also matches, at the same place, would be reported as two failures.
void RuleSetBuilder::LintExamples(const std::vector<WrittenHeader>& header_patterns) {
  const auto is_absorbed = [&](const std::string& a, const std::string& b) {
    const FailureRule* one = set_.FindFailure(a);
    const FailureRule* other = set_.FindFailure(b);
    return one == nullptr || other == nullptr || Contains(one->absorbed_by, other->code) ||
           Contains(other->absorbed_by, one->code);
  };
  // The build has checked the built-in data against itself.
  const bool has_files =
      std::any_of(files_.begin(), files_.end(), [](const LoadedFile& file) { return !file.built_in; });
  const auto is_old = [&](const RuleNode& a, const RuleNode& b) {
    return has_files && a.file().built_in && b.file().built_in;
  };
  const auto judge = [&](const std::string& code, const RuleNode& item) {
    constexpr std::string_view kWhite = " \t\n\r";
    std::string text;
    AppendWithSingleBlanks(item["text"].Lines(), kWhite, &text);
    for (const WrittenHeader& own : header_patterns) {
      PatternMatch match;
      if (own.code != code || !own.is_independent || !own.pattern.Find(text, 0, &match)) continue;
      for (const WrittenHeader& other : header_patterns) {
        PatternMatch found;
        if (other.code == code || !other.is_independent || is_old(item, other.at) || is_absorbed(code, other.code))
          continue;
        if (!other.pattern.Find(text, 0, &found) || found.begin >= match.end || match.begin >= found.end) continue;
        item["text"].Report(
            "a head of '" + other.code + "' matches the same words, so this example yields two failures",
            "that head is in " + ShownPlace(other.at.file(), other.at.place()) +
                "; make one of them more specific, or add \"absorbed_by\"");
        return;
      }
      return;
    }
  };
  for (const auto& [code, node] : FailureNodes()) {
    for (const RuleNode& item : node["examples"]["match"].Items()) judge(code, item);
  }
}

void RuleSetBuilder::LintScenarios() {
  for (const auto& [code, node] : sections_["failures"]) {
    std::map<std::string, RuleNode> first;  // by condition: the one that wins
    for (const RuleNode& item : node["scenarios"].Items()) {
      const std::string condition = Tokens(item["when"]);
      const auto [found, is_new] = first.emplace(condition, item);
      if (is_new) continue;
      const bool wins = item["priority"].Int(0) > found->second["priority"].Int(0);
      const RuleNode loser = wins ? found->second : item;
      const RuleNode winner = wins ? item : found->second;
      loser["when"].Report(
          "this scenario never applies: '" + winner["id"].Text() + "' has the same condition and precedes it",
          "it is in " + ShownPlace(winner.file(), winner["when"].place()));
      if (wins) found->second = item;
    }
  }
}

void RuleSetBuilder::LintOrphans() {
  std::set<std::string> remedies;
  for (const RuleNode& node : remedy_references_) remedies.insert(node.Text());
  for (const auto& [id, node] : sections_["remedies"]) {
    if (!remedies.contains(id))
      node["id"].Note("no failure offers the remedy '" + id + "'",
                      "name it in the remedies of a failure, or in an extension of one");
  }
  std::set<std::string> contexts;
  for (const auto& [code, nodes] : context_references_) {
    for (const RuleNode& node : nodes) contexts.insert(node.Text());
  }
  for (const auto& [id, node] : sections_["contexts"]) {
    if (!contexts.contains(id) && !node["program"].Bool())
      node["id"].Note("no failure uses the context '" + id + "'",
                      "name it in the contexts of a failure, or in an extension of one");
  }
  const std::set<std::string> used = names_.UsedNames();
  for (const auto& [name, node] : sections_[kTerms]) {
    if (!used.contains(name)) node.NoteKey("no expression uses the term '" + name + "'");
  }
  for (const auto& [name, node] : sections_[kRowFieldsSection]) {
    const bool is_used = used.contains(name) || used.contains("largest." + name) || used.contains("before." + name) ||
                         used.contains("after." + name);
    if (!is_used) node.NoteKey("no expression uses the field '" + name + "'");
  }
}

// A remedy needs at least one step without placeholders for each framework. Otherwise a log without the facts would
// leave no step.
void RuleSetBuilder::LintSteps() {
  for (const auto& [id, node] : sections_["remedies"]) {
    const auto remedy = set_.remedies_.find(id);
    if (remedy == set_.remedies_.end()) continue;
    for (const auto& [framework, steps] : node["how"].Members()) {
      const auto how = remedy->second.how.find(framework == default_framework_ ? "" : framework);
      if (how == remedy->second.how.end() || how->second.empty()) continue;
      if (std::any_of(how->second.begin(), how->second.end(),
                      [](const Template& step) { return step.Fill(NothingKnown()).has_value(); }))
        continue;
      steps.ReportKey(
          "every step for '" + framework + "' has a placeholder, so none remains if the log lacks the facts",
          "add a step without placeholders");
    }
  }
}

void RuleSetBuilder::LintTypes() {
  const auto type_of = [&](const std::string& owner, const std::string& name, bool in_rows) {
    const std::size_t dot = name.find('.');
    const std::string field = dot == std::string::npos ? name : name.substr(dot + 1);
    const bool of_row = in_rows || name.starts_with("largest.");
    if (set_.FindDerivedRowField(field) != nullptr) return ValueType::kTruth;
    const ValueType built_in = TypeOfBuiltIn(field);
    if ((of_row || !Contains(RowFields(), field)) && built_in != ValueType::kAny) return built_in;
    return dot != std::string::npos ? ValueType::kAny : names_.TypeOf(owner == NameCheck::kTerms ? "" : owner, name);
  };
  for (const TypedUse& use : typed_) {
    const TypeOfName types = [&](const std::string& name, bool in_rows) { return type_of(use.owner, name, in_rows); };
    for (const SyntaxFault& fault : use.expression.type_faults(types, use.in_row))
      use.at.ReportAt(fault.at, fault.what, fault.hint);
  }
  for (const auto& [name, node] : sections_[kTerms]) {
    const TypeOfName types = [&](const std::string& fact, bool in_rows) {
      // A term may be used for a row or for the failure.
      const ValueType as_row = type_of(NameCheck::kTerms, fact, true);
      return in_rows ? as_row : Both(as_row, type_of(NameCheck::kTerms, fact, false));
    };
    for (const SyntaxFault& fault : terms_->at(name).type_faults(types, false))
      node.ReportAt(fault.at, fault.what, fault.hint);
  }
}

// The node in a failure or context that captures or derives the fact.
std::optional<RuleNode> RuleSetBuilder::NodeProviding(const RuleNode& owner, const std::string& fact,
                                                      std::size_t* at) const {
  std::vector<RuleNode> patterns;
  for (const char* key : {"heads", "facts", "patterns"}) {
    for (const RuleNode& item : owner[key].Items()) patterns.push_back(PatternNode(item));
  }
  if (owner["pattern"].exists()) patterns.push_back(owner["pattern"]);
  for (const RuleNode& pattern : patterns) {
    const std::string text = pattern.Text();
    for (const std::string& written : {":" + fact + "}", "<" + fact + ">"}) {
      const std::size_t found = text.find(written);
      if (found == std::string::npos) continue;
      *at = found + 1;
      return pattern;
    }
  }
  for (const RuleNode& item : owner["derived"].Items()) {
    *at = 0;
    if (item["fact"].Text() == fact) return item["fact"];
  }
  return std::nullopt;
}

// Reports captures and derived facts of user files that nothing reads, such as a misspelt "need_byte".
void RuleSetBuilder::LintUnusedFacts() {
  const std::set<std::string> used = names_.UsedNames();
  const auto judge = [&](const std::string& owner, const RuleNode& node) {
    if (node.file().built_in) return;
    for (const std::string& fact : names_.FactsOf(owner)) {
      const bool is_read = used.contains(fact) || used.contains("before." + fact) || used.contains("after." + fact);
      if (is_read || Contains(kSpecialFacts, fact) || Contains(kProgramFacts, fact)) continue;
      std::size_t at = 0;
      const std::optional<RuleNode> gives = NodeProviding(node, fact, &at);
      if (!gives) continue;
      const std::string meant = Nearest(fact, kSpecialFacts);
      const bool is_near = !meant.empty() && fact.substr(0, 4) == meant.substr(0, 4);  // a common ending is not enough
      gives->NoteAt(at, "nothing uses the fact '" + fact + "'",
                    is_near ? "did you mean '" + meant + "'?" : "reports print it, but no entry uses it");
    }
  };
  for (const auto& [code, node] : FailureNodes()) judge(code, node);
  for (const auto& [id, node] : sections_["contexts"]) judge(ContextOwner(id), node);
}

// Formulas are evaluated in list order, those of one fact by priority. Results must not depend on the order of entries.
void RuleSetBuilder::LintDerived() {
  std::map<std::string, std::vector<RuleNode>> of;  // by owner
  for (const auto& [code, node] : FailureNodes()) {
    for (const RuleNode& item : node["derived"].Items()) of[code].push_back(item);
  }
  for (const auto& [id, node] : sections_["contexts"]) of[ContextOwner(id)] = node["derived"].Items();
  for (const auto& [owner, items] : of) {
    std::map<std::string, std::size_t> last;  // by fact: the place of its last formula
    for (std::size_t i = 0; i < items.size(); ++i) last[items[i]["fact"].Text()] = i;
    std::set<std::pair<std::string, int>> priorities;
    for (std::size_t i = 0; i < items.size(); ++i) {
      const std::string fact = items[i]["fact"].Text();
      if (!priorities.emplace(fact, items[i]["priority"].Int(0)).second)
        items[i]["fact"].Note("another formula of '" + fact + "' has the same priority, so their order decides",
                              "change the \"priority\" of one of them");
      for (const char* key : {"from", "when"}) {
        for (const NameUse& use : items[i][key].AsExpression(*terms_).name_uses()) {
          const auto read = last.find(use.name);
          if (use.name != fact && read != last.end() && read->second > i)
            items[i]["fact"].Note("this uses '" + use.name + "', which is derived later", "move it after that formula");
        }
      }
    }
  }
}

// Reports examples with several sizes from which no excess follows: the captures usually have wrong names.
void RuleSetBuilder::LintFigures() {
  for (const auto& [code, node] : FailureNodes()) {
    const FailureRule* failure = set_.FindFailure(code);
    const std::set<std::string> facts = names_.FactsOf(code);
    if (node.file().built_in || failure == nullptr || !facts.contains("need_bytes") || !facts.contains("excess_bytes"))
      continue;
    for (const RuleNode& item : node["examples"]["match"].Items()) {
      const RuleNode text = item.is_object() ? item["text"] : item;
      const CapturedFacts captured(*failure, text.Lines());
      const bool has_excess = AsNumber(captured.Get("excess_bytes")).value_or(0) > 0;
      if (captured.sizes() >= 2 && !has_excess && !IsKnown(captured.Get("excess_below_bytes")))
        text.Note("'" + code + "' derives no excess from this example", captured.Listed());
    }
  }
}

}  // namespace whyoom
