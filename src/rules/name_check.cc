#include "rules/name_check.h"

#include <algorithm>

#include "rules/names.h"
#include "rules/suggest.h"

namespace whyoom {
namespace {

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void NameCheck::Use(const std::string& owner, const RuleNode& at, const std::vector<NameUse>& uses, bool in_row) {
  for (const NameUse& use : uses) entries_.push_back({owner, at, use, in_row || use.in_rows});
}

void NameCheck::UseFact(const std::string& owner, const RuleNode& at) {
  const std::string name = at.Text();
  if (!name.empty()) entries_.push_back({owner, at, {name, 0, false}, false});
}

void NameCheck::Give(const std::string& owner, const std::string& fact) {
  facts_[owner].insert(fact);
  all_facts_.insert(fact);
}

void NameCheck::Forgive(const std::string& owner) {
  forgiven_.insert(owner);
  forgiven_.insert("");
}

std::vector<std::string> NameCheck::Candidates(const Entry& entry) const {
  std::set<std::string> facts = all_facts_;
  if (!entry.owner.empty()) {
    const auto found = facts_.find(entry.owner);
    facts = found != facts_.end() ? found->second : std::set<std::string>();
  }
  std::vector<std::string> names(facts.begin(), facts.end());
  names.insert(names.end(), BuiltInNames().begin(), BuiltInNames().end());
  if (entry.in_row) names.insert(names.end(), RowFields().begin(), RowFields().end());
  return names;
}

void NameCheck::Run() const {
  for (const Entry& entry : entries_) {
    if (forgiven_.contains(entry.owner)) continue;
    const std::string& name = entry.use.name;
    const std::vector<std::string> candidates = Candidates(entry);
    if (Holds(candidates, name)) continue;
    if (!entry.in_row && Holds(RowFields(), name)) {
      entry.at.ReportAt(entry.use.at, "'" + name + "' is a field of a row, and this is not said of a row",
                        "write largest." + name + ", or a function over the rows");
    } else {
      entry.at.ReportAt(entry.use.at, "unknown name '" + name + "'", DidYouMean(name, candidates));
    }
  }
}

}  // namespace whyoom
