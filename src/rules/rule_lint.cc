// What is wrong with rules beside each other, or with what they say as a whole: entries that can never matter, that
// get in each other's way, or that nothing uses.
#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>

#include "rules/expression_lexer.h"
#include "rules/names.h"
#include "rules/rule_loader.h"
#include "rules/suggest.h"
#include "text/byte_class.h"

namespace whyoom {
namespace {

constexpr std::array<const char*, 3> kSpecialFacts = {"need_bytes", "have_bytes", "excess_bytes"};

// The source without what makes no difference.
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

// Collects what names may be from all who give them.
void Give(const std::string& name, ValueType type, std::map<std::string, ValueType>* types) {
  const auto [found, is_new] = types->emplace(name, type);
  if (!is_new) found->second = Both(found->second, type);
}

// What `whyoom rules new` leaves to be written, and readers would see.
void NoteUnwritten(const RuleNode& node) {
  if (node.is_string()) {
    if (node.Text().starts_with("TODO")) node.Note("this is still to be written", "readers see it as it stands");
    return;
  }
  for (const auto& [key, member] : node.Members()) NoteUnwritten(member);
  for (const RuleNode& item : node.Items()) NoteUnwritten(item);
}

// A log that says nothing.
class NothingKnown : public Scope {
 public:
  Value Get(std::string_view /*name*/) const override { return Unknown{}; }
};

}  // namespace

void RuleSetBuilder::Lint() {
  LintHeads();
  LintScenarios();
  LintOrphans();
  LintSteps();
  LintTypes();
  LintSpecialFacts();
  for (const LoadedFile& file : files_) {
    if (!file.built_in) NoteUnwritten(RuleNode::Root(&file, &sink_));
  }
}

std::vector<RuleSetBuilder::WrittenHead> RuleSetBuilder::WrittenHeads() const {
  std::vector<WrittenHead> heads;
  const auto add = [&](const std::string& code, const RuleNode& from) {
    for (const RuleNode& item : from["heads"].Items()) {
      std::vector<SyntaxFault> faults;
      WrittenHead head{code, item["id"].Text(), PatternNode(item), {}, false};
      head.pattern = Pattern::Compile(head.at.Text(), &faults, Pattern::Check::kSyntax);
      head.by_itself = !item["fragment"].Bool() && !item["line_start"].Bool() && !item["of_report"].Bool();
      if (head.pattern.ok() && !IsHeadDisabled(code, head.id) && !IsDisabled("failures", code))
        heads.push_back(std::move(head));
    }
  };
  for (const auto& [code, node] : sections_.at("failures")) add(code, node);
  for (const RuleNode& extension : extensions_) {
    const Failure* failure = set_.FindFailure(extension["extends"].Text());
    if (failure != nullptr) add(failure->code, extension);
  }
  return heads;
}

void RuleSetBuilder::LintHeads() {
  if (!sections_.contains("failures")) return;
  const std::vector<WrittenHead> heads = WrittenHeads();
  std::map<std::string, const WrittenHead*> seen;
  // Those of the lower layers first: whoever comes later is told.
  std::vector<const WrittenHead*> ordered;
  for (const WrittenHead& head : heads) ordered.push_back(&head);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const WrittenHead* a, const WrittenHead* b) { return a->at.file().layer < b->at.file().layer; });
  for (const WrittenHead* head : ordered) {
    const auto [first, is_new] = seen.emplace(head->pattern.regex(), head);
    if (is_new) continue;
    head->at.Report("a head of '" + first->second->code + "' has this pattern already",
                    "it is in " + ShownPlace(first->second->at.file(), first->second->at.place()));
  }
  LintExamples(heads);
}

// A head of another failure that finds an example in the same words makes two failures of it.
void RuleSetBuilder::LintExamples(const std::vector<WrittenHead>& heads) {
  const auto is_told = [&](const std::string& a, const std::string& b) {
    const Failure* one = set_.FindFailure(a);
    const Failure* other = set_.FindFailure(b);
    return one == nullptr || other == nullptr || Contains(one->absorbed_by, other->code) ||
           Contains(other->absorbed_by, one->code);
  };
  // What is built in was held against itself when it was made.
  const bool has_files =
      std::any_of(files_.begin(), files_.end(), [](const LoadedFile& file) { return !file.built_in; });
  const auto is_old = [&](const RuleNode& a, const RuleNode& b) {
    return has_files && a.file().built_in && b.file().built_in;
  };
  const auto judge = [&](const std::string& code, const RuleNode& item) {
    static constexpr ByteClass kWhite(" \t\n\r");
    std::string text;
    AppendWithSingleBlanks(item["text"].Lines(), kWhite, &text);
    for (const WrittenHead& own : heads) {
      PatternMatch match;
      if (own.code != code || !own.by_itself || !own.pattern.Find(text, 0, &match)) continue;
      for (const WrittenHead& other : heads) {
        PatternMatch found;
        if (other.code == code || !other.by_itself || is_old(item, other.at) || is_told(code, other.code)) continue;
        if (!other.pattern.Find(text, 0, &found) || found.begin >= match.end || match.begin >= found.end) continue;
        item["text"].Report("this example is found by a head of '" + other.code + "' in the same words: two failures",
                            "that head is in " + ShownPlace(other.at.file(), other.at.place()) +
                                "; narrow one of them, or say \"absorbed_by\"");
        return;
      }
      return;
    }
  };
  for (const auto& [code, node] : sections_.at("failures")) {
    for (const RuleNode& item : node["examples"]["match"].Items()) judge(code, item);
  }
  for (const RuleNode& extension : extensions_) {
    const Failure* failure = set_.FindFailure(extension["extends"].Text());
    if (failure == nullptr) continue;
    for (const RuleNode& item : extension["examples"]["match"].Items()) judge(failure->code, item);
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
      loser["when"].Report("this scenario never holds: '" + winner["id"].Text() +
                               "' has the same condition and comes "
                               "before it",
                           "that one is in " + ShownPlace(winner.file(), winner["when"].place()));
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
      node["id"].Note("no failure listens to the context '" + id + "'",
                      "name it in the contexts of a failure, or in an extension of one");
  }
  const std::set<std::string> used = names_.UsedNames();
  for (const auto& [name, node] : sections_[kTerms]) {
    if (!used.contains(name)) node.NoteKey("no expression uses the term '" + name + "'");
  }
  for (const auto& [name, node] : sections_[kRowTests]) {
    const bool is_used = used.contains(name) || used.contains("largest." + name) || used.contains("before." + name) ||
                         used.contains("after." + name);
    if (!is_used) node.NoteKey("no expression uses the field '" + name + "'");
  }
}

// Of each framework that a remedy has steps for, one must need nothing of the log: else there may be none left to say.
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
      steps.ReportKey("each step for '" + framework + "' has a hole: where the log does not fill them there is none",
                      "give one that needs nothing of the log");
    }
  }
}

void RuleSetBuilder::LintTypes() {
  using Types = std::map<std::string, ValueType>;
  std::map<std::string, Types> of;  // by owner
  Types all;
  Types rows;
  const auto give = [&](const std::string& owner, const std::string& fact, ValueType type) {
    Give(fact, type, &of[owner]);
    Give(fact, type, &all);
  };
  const auto give_pattern = [&](const std::string& owner, const Pattern& pattern) {
    for (const std::string& fact : pattern.capture_names()) give(owner, fact, pattern.capture_type(fact));
  };
  for (const RowTest& test : set_.row_tests_) rows.emplace(test.name, ValueType::kTruth);
  for (const Context& context : set_.contexts_) {
    for (const Pattern& pattern : context.patterns) give_pattern(ContextOwner(context.id), pattern);
    for (const DerivedFact& derived : context.derived) give(ContextOwner(context.id), derived.name, ValueType::kAny);
  }
  for (const Failure& failure : set_.failures_) {
    for (const Head& head : failure.heads) give_pattern(failure.code, head.pattern);
    for (const Pattern& fact : failure.facts) give_pattern(failure.code, fact);
    for (const std::string& fact : ReaderFacts(failure.reader)) give(failure.code, fact, TypeOfBuiltIn(fact));
    for (const DerivedFact& derived : failure.derived) give(failure.code, derived.name, ValueType::kAny);
    for (const Context& context : set_.contexts_) {
      if (!Contains(failure.contexts, context.id)) continue;
      for (const Pattern& pattern : context.patterns) give_pattern(failure.code, pattern);
    }
  }
  const auto type_of = [&](const std::string& owner, const std::string& name, bool in_rows) {
    const std::size_t dot = name.find('.');
    const std::string field = dot == std::string::npos ? name : name.substr(dot + 1);
    const bool of_row = in_rows || name.starts_with("largest.");
    if (const auto row = rows.find(field); row != rows.end()) return row->second;
    const ValueType built_in = TypeOfBuiltIn(field);
    const bool is_field = Contains(RowFields(), field);
    if ((of_row || !is_field) && built_in != ValueType::kAny) return built_in;
    if (dot != std::string::npos) return ValueType::kAny;
    const Types& own = owner.empty() || owner == NameCheck::kTerms ? all : of[owner];
    const auto fact = own.find(name);
    return fact != own.end() ? fact->second : ValueType::kAny;
  };
  for (const TypedUse& use : typed_) {
    const TypeOfName types = [&](const std::string& name, bool in_rows) { return type_of(use.owner, name, in_rows); };
    for (const SyntaxFault& fault : use.expression.type_faults(types, use.in_row))
      use.at.ReportAt(fault.at, fault.what, fault.hint);
  }
  for (const auto& [name, node] : sections_[kTerms]) {
    const TypeOfName types = [&](const std::string& fact, bool in_rows) {
      // A term may be about a row or about the failure.
      const ValueType as_row = type_of(NameCheck::kTerms, fact, true);
      return in_rows ? as_row : Both(as_row, type_of(NameCheck::kTerms, fact, false));
    };
    for (const SyntaxFault& fault : terms_->at(name).type_faults(types, false))
      node.ReportAt(fault.at, fault.what, fault.hint);
  }
}

// The place in a failure or context where a pattern captures the fact, or where it is derived.
std::optional<RuleNode> RuleSetBuilder::NodeGiving(const RuleNode& owner, const std::string& fact,
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

// "need_byte" is a fact like any other, and no bar is drawn of it.
void RuleSetBuilder::LintSpecialFacts() {
  const std::vector<std::string> special(kSpecialFacts.begin(), kSpecialFacts.end());
  const std::set<std::string> used = names_.UsedNames();
  const auto judge = [&](const std::string& owner, const RuleNode& node) {
    for (const std::string& fact : names_.FactsOf(owner)) {
      if (Contains(special, fact) || used.contains(fact)) continue;
      const std::string meant = Nearest(fact, special);
      // Another word with the same ending is no slip.
      const bool is_near = !meant.empty() && fact[0] == meant[0] && fact.size() + 2 > meant.size() &&
                           fact.size() < meant.size() + 2 && fact.substr(0, 4) == meant.substr(0, 4);
      std::size_t at = 0;
      const std::optional<RuleNode> gives = is_near ? NodeGiving(node, fact, &at) : std::nullopt;
      if (gives && !gives->file().built_in)
        gives->NoteAt(at, "nothing asks for the fact '" + fact + "'", "did you mean '" + meant + "'?");
    }
  };
  for (const auto& [code, node] : sections_["failures"]) judge(code, node);
  for (const RuleNode& extension : extensions_) {
    const Failure* failure = set_.FindFailure(extension["extends"].Text());
    if (failure != nullptr) judge(failure->code, extension);
  }
}

}  // namespace whyoom
