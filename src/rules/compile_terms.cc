#include "rules/compile_terms.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "rules/expression_lexer.h"

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

}  // namespace

Terms CompileTerms(const std::map<std::string, RuleNode>& nodes, const std::string& what) {
  return Compiler(nodes, what).Run();
}

}  // namespace whyoom
