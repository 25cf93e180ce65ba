#include "rules/terms.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "rules/expression_node.h"
#include "rules/names.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

struct Use {
  std::string term;
  std::size_t at = 0;
};

class TermCompiler {
 public:
  TermCompiler(const Section& nodes, std::string what, Terms* table)
      : nodes_(nodes), what_(std::move(what)), table_(*table) {
    for (const auto& [name, node] : nodes) table_[name] = Expression();
    for (const auto& [name, expression] : table_)
      uses_[name] = UsesIn(nodes.contains(name) ? nodes.at(name)->Text() : expression.source());
  }

  // Compiles each entry after all that it uses.
  void Run() {
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
      done_.insert(name);
      if (const auto node = nodes_.find(name); node != nodes_.end()) Compile(name, *node->second);
      for (const std::string& user : users[name]) {
        if (--missing[user] == 0) ready.push_back(user);
      }
    }
    ReportCircles();
  }

 private:
  // The names of the table that the source contains, in order.
  std::vector<Use> UsesIn(const std::string& source) const {
    std::vector<SyntaxFault> faults;  // reported when the entry is compiled
    std::vector<Use> uses;
    for (const internal::Token& token : internal::Tokenize(source, &faults)) {
      if (token.kind == internal::TokenKind::kName && table_.contains(token.text))
        uses.push_back({token.text, token.at});
    }
    return uses;
  }

  void Compile(const std::string& name, const JsonNode& node) {
    std::vector<SyntaxFault> faults;
    if (node.Text().empty()) return;  // reported
    table_[name] = Expression::Compile(node.Text(), &faults, table_);
    for (const SyntaxFault& fault : faults) node.ReportAt(fault.at, fault.what, fault.hint);
  }

  // An entry that was not compiled uses another one that was not, so following these uses leads into a cycle.
  void ReportCircles() {
    std::set<std::string> seen;
    for (auto& [name, expression] : table_) {
      std::vector<std::string> way;
      std::string at = name;
      while (!done_.contains(at) && seen.insert(at).second) {
        way.push_back(at);
        at = NextOf(at).term;
      }
      const auto begin = std::find(way.begin(), way.end(), at);
      if (begin != way.end()) ReportCircle({begin, way.end()});
    }
    for (auto& [name, expression] : table_) {
      if (!done_.contains(name)) expression = Expression();
    }
  }

  Use NextOf(const std::string& name) const {
    const std::vector<Use>& uses = uses_.at(name);
    return *std::find_if(uses.begin(), uses.end(), [&](const Use& use) { return !done_.contains(use.term); });
  }

  // At the first entry of the cycle that is in a file.
  void ReportCircle(std::vector<std::string> circle) const {
    while (!nodes_.contains(circle[0])) std::rotate(circle.begin(), circle.begin() + 1, circle.end());
    std::string way;
    for (const std::string& name : circle) way += name + ", ";
    nodes_.at(circle[0])->ReportAt(NextOf(circle[0]).at,
                                   "the " + what_ + " '" + circle[0] + "' depends on itself: " + way + circle[0]);
  }

  const Section& nodes_;
  const std::string what_;
  Terms& table_;
  std::map<std::string, std::vector<Use>> uses_;
  std::set<std::string> done_;
};

}  // namespace

void CompileNamed(const Section& nodes, const std::string& what, bool is_checked, Terms* table) {
  if (is_checked) return TermCompiler(nodes, what, table).Run();
  const std::shared_ptr<const Terms> borrowed(std::shared_ptr<void>(), table);
  for (const auto& [name, node] : nodes) (*table)[name] = Expression::Deferred(node->Text(), borrowed);
}

void CheckTermName(const std::string& name, const JsonNode& node, const std::string& what) {
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
