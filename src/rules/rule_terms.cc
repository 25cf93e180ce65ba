// Expressions of the rule data that have names: terms and fields of a row.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "rules/expression_node.h"
#include "rules/names.h"
#include "rules/rule_loader.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

struct Use {
  std::string term;
  std::size_t at = 0;
};

// The terms that `node` names, in order.
std::vector<Use> UsesOf(const RuleNode& node, const std::map<std::string, RuleNode>& nodes) {
  std::vector<SyntaxFault> faults;  // said when it is compiled
  const std::vector<internal::Token> tokens = internal::Tokenize(node.Text(), &faults);
  std::vector<Use> uses;
  for (const internal::Token& token : tokens) {
    if (token.kind == internal::TokenKind::kName && nodes.contains(token.text)) uses.push_back({token.text, token.at});
  }
  return uses;
}

class Compiler {
 public:
  Compiler(const std::map<std::string, RuleNode>& nodes, std::string what) : nodes_(nodes), what_(std::move(what)) {
    for (const auto& [name, node] : nodes) uses_[name] = UsesOf(node, nodes);
  }

  Terms Run() {
    // Each is compiled once the last of those that it uses is.
    std::map<std::string, std::size_t> missing;
    std::map<std::string, std::vector<std::string>> users;
    std::vector<std::string> ready;
    for (const auto& [name, uses] : uses_) {
      missing[name] = uses.size();
      for (const Use& use : uses) users[use.term].push_back(name);
      if (uses.empty()) ready.push_back(name);
    }
    while (!ready.empty()) {
      const std::string name = ready.back();
      ready.pop_back();
      terms_[name] = nodes_.at(name).AsExpression(terms_);
      for (const std::string& user : users[name]) {
        if (--missing[user] == 0) ready.push_back(user);
      }
    }
    ReportCircles();
    for (const auto& [name, node] : nodes_) terms_.try_emplace(name);
    return std::move(terms_);
  }

 private:
  // What is not compiled now uses another one that is not, so that whoever goes from one to the next goes in a circle.
  void ReportCircles() {
    std::set<std::string> seen;
    for (const auto& [name, node] : nodes_) {
      std::vector<std::string> way;
      std::string at = name;
      while (!terms_.contains(at) && seen.insert(at).second) {
        way.push_back(at);
        at = NextOf(at).term;
      }
      const auto begin = std::find(way.begin(), way.end(), at);
      if (begin != way.end()) ReportCircle({begin, way.end()});
    }
  }

  Use NextOf(const std::string& name) const {
    const std::vector<Use>& uses = uses_.at(name);
    return *std::find_if(uses.begin(), uses.end(), [&](const Use& use) { return !terms_.contains(use.term); });
  }

  void ReportCircle(const std::vector<std::string>& circle) const {
    std::string way;
    for (const std::string& name : circle) way += name + ", ";
    const Use next = NextOf(circle[0]);
    nodes_.at(circle[0]).ReportAt(next.at,
                                  "the " + what_ + " '" + circle[0] + "' is explained by itself: " + way + circle[0]);
  }

  const std::map<std::string, RuleNode>& nodes_;
  std::string what_;
  std::map<std::string, std::vector<Use>> uses_;
  Terms terms_;
};

// One for each entry of `nodes`, by name. Reports what is wrong with them; a term with a fault, or one that is part of
// a circle or uses such a one, is always unknown. `what` is what faults call one of them: "term".
Terms CompileTerms(const std::map<std::string, RuleNode>& nodes, const std::string& what) {
  return Compiler(nodes, what).Run();
}

}  // namespace

void RuleSetBuilder::BuildRowTests() {
  const Section& nodes = sections_[kRowTests];
  Section conditions;
  for (const auto& [name, node] : nodes) {
    CheckName(name, node, "field");
    conditions.emplace(name, node["when"]);
  }
  // They may name each other; each is compiled with what these stand for in it.
  for (auto& [name, when] : CompileTerms(conditions, "field")) {
    const RuleNode& node = nodes.at(name);
    names_.Use(NameCheck::kRowTests, node["when"], when.name_uses(), true);
    names_.GiveRowField(name);
    if (when.is_over_rows()) node["when"].Report("a field is of one row", "write a term");
    set_.row_tests_.push_back({name, when, node["about"].Text()});
  }
}

void RuleSetBuilder::BuildTerms() {
  const Section& nodes = sections_[kTerms];
  for (const auto& [name, node] : nodes) {
    CheckName(name, node, "term");
    if (sections_[kRowTests].contains(name))
      node.ReportKey("'" + name + "' is a field already", "give the term another name");
  }
  terms_ = std::make_shared<const Terms>(CompileTerms(nodes, "term"));
  // Where a term is used tells whose facts it may name; here only what nothing at all gives is wrong.
  for (const auto& [name, node] : nodes) {
    names_.Use(NameCheck::kTerms, node, terms_->at(name).name_uses(), true);
    names_.MayMean(name);
    set_.term_names_.push_back(name);
  }
}

void RuleSetBuilder::CheckName(const std::string& name, const RuleNode& node, const std::string& what) {
  const auto holds = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
      (name[0] >= '0' && name[0] <= '9')) {
    node.ReportKey("'" + Printable(name) + "' cannot be the name of a " + what,
                   "write it in small letters, digits and _");
  } else if (internal::IsReserved(name)) {
    node.ReportKey("'" + name + "' is a word of the expressions", "give the " + what + " another name");
  } else if (holds(RowFields()) || holds(BuiltInNames())) {
    node.ReportKey("'" + name + "' is a field already", "give the " + what + " another name");
  }
}

}  // namespace whyoom
