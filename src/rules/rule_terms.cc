// Named expressions of the rule data: terms and fields of a row.
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

// The terms that `node` uses, in source order.
std::vector<Use> UsesOf(const RuleNode& node, const std::map<std::string, RuleNode>& nodes) {
  std::vector<SyntaxFault> faults;  // reported when the term is compiled
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
    // Compiles each term after all terms that it uses.
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
  // A term that was not compiled uses another one that was not, so following these uses leads into a cycle.
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
                                  "the " + what_ + " '" + circle[0] + "' depends on itself: " + way + circle[0]);
  }

  const std::map<std::string, RuleNode>& nodes_;
  std::string what_;
  std::map<std::string, std::vector<Use>> uses_;
  Terms terms_;
};

// Compiles the entries of `nodes`, by name, and reports their faults. A term is always unknown if it has a fault, is
// part of a cycle or uses such a term. `what` is the kind of entry in faults: "term".
Terms CompileTerms(const std::map<std::string, RuleNode>& nodes, const std::string& what) {
  return Compiler(nodes, what).Run();
}

// Terms of the digest, which are valid; each is parsed when it is used first.
std::shared_ptr<const Terms> DeferTerms(const std::map<std::string, RuleNode>& nodes) {
  const auto terms = std::make_shared<Terms>();
  // Does not own the terms, which would otherwise own themselves.
  const std::shared_ptr<const Terms> borrowed(std::shared_ptr<void>(), terms.get());
  for (const auto& [name, node] : nodes) terms->emplace(name, Expression::Deferred(node.Text(), borrowed));
  return terms;
}

bool AllFromDigest(const std::map<std::string, RuleNode>& nodes) {
  return !nodes.empty() &&
         std::all_of(nodes.begin(), nodes.end(), [](const auto& node) { return node.second.file().from_digest(); });
}

}  // namespace

void RuleSetBuilder::BuildRowFields() {
  const Section& nodes = sections_[kRowFieldsSection];
  Section conditions;
  for (const auto& [name, node] : nodes) {
    CheckName(name, node, "field");
    conditions.emplace(name, node["when"]);
  }
  if (AllFromDigest(nodes)) {
    const std::shared_ptr<const Terms> fields = DeferTerms(conditions);
    for (const auto& [name, when] : conditions)
      set_.derived_row_fields_.push_back(
          {name, Expression::Deferred(when.Text(), fields), nodes.at(name)["about"].Text()});
    return;
  }
  // Fields may use each other; each is compiled with the used ones inlined.
  for (auto& [name, when] : CompileTerms(conditions, "field")) {
    const RuleNode& node = nodes.at(name);
    names_.Use(NameCheck::kRowFieldsSection, node["when"], when.name_uses(), true);
    names_.AddRowField(name);
    if (when.is_over_rows()) node["when"].Report("a field of a row cannot use a function over rows", "write a term");
    set_.derived_row_fields_.push_back({name, when, node["about"].Text()});
  }
}

void RuleSetBuilder::BuildTerms() {
  const Section& nodes = sections_[kTerms];
  for (const auto& [name, node] : nodes) {
    CheckName(name, node, "term");
    if (sections_[kRowFieldsSection].contains(name))
      node.ReportKey("'" + name + "' is already a field", "choose another name for the term");
  }
  if (AllFromDigest(nodes)) {
    terms_ = DeferTerms(nodes);
    set_.term_names_ = Keys(nodes);
    return;
  }
  terms_ = std::make_shared<const Terms>(CompileTerms(nodes, "term"));
  // The use of a term determines the valid facts; this check only finds names that nothing provides.
  for (const auto& [name, node] : nodes) {
    names_.Use(NameCheck::kTerms, node, terms_->at(name).name_uses(), true);
    names_.AddTermName(name);
    set_.term_names_.push_back(name);
  }
}

void RuleSetBuilder::CheckName(const std::string& name, const RuleNode& node, const std::string& what) {
  const auto holds = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
      (name[0] >= '0' && name[0] <= '9')) {
    node.ReportKey("'" + Printable(name) + "' is not a valid name for a " + what,
                   "use lower-case letters, digits and _");
  } else if (internal::IsReserved(name)) {
    node.ReportKey("'" + name + "' is a reserved word of expressions", "choose another name for the " + what);
  } else if (holds(RowFields()) || holds(BuiltInNames())) {
    node.ReportKey("'" + name + "' is already a field", "choose another name for the " + what);
  }
}

}  // namespace whyoom
