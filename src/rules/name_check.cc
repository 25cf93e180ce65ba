#include "rules/name_check.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "rules/suggest.h"

namespace whyoom {
namespace {

// Each is held against every name that there is.
constexpr std::size_t kMostGuesses = 100;

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void NameCheck::Use(const std::string& owner, const RuleNode& at, const std::vector<NameUse>& uses, bool in_row) {
  for (const NameUse& use : uses) entries_.push_back({owner, at, use, in_row || use.in_rows});
}

void NameCheck::UseFact(const std::string& owner, const RuleNode& at) {
  const std::string name = at.Text();
  if (!name.empty()) entries_.push_back({owner, at, {name, 0, false, ""}, false});
}

void NameCheck::Give(const std::string& owner, const std::string& fact) {
  facts_[owner].insert(fact);
  all_facts_.insert(fact);
}

void NameCheck::GiveRowField(const std::string& name) { row_fields_.push_back(name); }

std::set<std::string> NameCheck::UsedNames() const {
  std::set<std::string> names;
  for (const Entry& entry : entries_) {
    names.insert(entry.use.name);
    names.insert(entry.use.term);
  }
  return names;
}

std::set<std::string> NameCheck::FactsOf(const std::string& owner) const {
  const auto found = facts_.find(owner);
  return found != facts_.end() ? found->second : std::set<std::string>();
}

void NameCheck::Forgive(const std::string& owner) { forgiven_.insert({owner, "", kComparison, kTerms, kRowTests}); }

std::vector<std::string> NameCheck::ComparisonCandidates(bool in_row) const {
  std::vector<std::string> names = ComparisonNames();
  for (const std::string run : {"before.", "after."}) {
    for (const std::string& name : RunNames()) names.push_back(run + name);
    for (const std::string& fact : all_facts_) names.push_back(run + fact);
    if (!in_row) continue;
    for (const std::string& field : row_fields_) names.push_back(run + field);
  }
  if (in_row) names.insert(names.end(), PairNames().begin(), PairNames().end());
  return names;
}

std::vector<std::string> NameCheck::Candidates(const Entry& entry) const {
  if (entry.owner == kComparison) return ComparisonCandidates(entry.in_row);
  if (entry.owner == kRowTests) return row_fields_;
  const bool of_all = entry.owner.empty() || entry.owner == kTerms;
  const std::set<std::string> facts = of_all ? all_facts_ : FactsOf(entry.owner);
  std::vector<std::string> names(facts.begin(), facts.end());
  names.insert(names.end(), BuiltInNames().begin(), BuiltInNames().end());
  for (const std::string& field : row_fields_) names.push_back("largest." + field);
  if (entry.in_row) names.insert(names.end(), row_fields_.begin(), row_fields_.end());
  if (entry.owner == kTerms) {
    const std::vector<std::string> more = ComparisonCandidates(true);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

void NameCheck::ReportInTerm(const Entry& entry, bool is_field) const {
  const std::string& name = entry.use.name;
  // A name that nothing gives is said where the term is written down.
  if (!is_field && !Holds(Candidates({kTerms, entry.at, entry.use, true}), name)) return;
  const std::string what = "the term '" + entry.use.term + "' is about '" + name + "', ";
  if (is_field) {
    entry.at.ReportAt(entry.use.at, what + "a field of a row, and this is not said of a row",
                      "write it in a function over the rows");
  } else {
    entry.at.ReportAt(entry.use.at, what + "which '" + entry.owner + "' does not give", "");
  }
}

void NameCheck::Run() const {
  // What an entry may name depends on these alone, and there may be thousands of each.
  std::map<std::pair<std::string, bool>, std::set<std::string>> known;
  std::size_t guessed = 0;
  for (const Entry& entry : entries_) {
    if (forgiven_.contains(entry.owner)) continue;
    const std::string& name = entry.use.name;
    const auto [of_owner, is_new] = known.try_emplace({entry.owner, entry.in_row});
    if (is_new) {
      const std::vector<std::string> candidates = Candidates(entry);
      of_owner->second = {candidates.begin(), candidates.end()};
    }
    if (of_owner->second.contains(name)) continue;
    const bool is_field = Holds(row_fields_, name);
    if (!entry.use.term.empty()) {
      ReportInTerm(entry, is_field);
    } else if (!entry.in_row && is_field) {
      entry.at.ReportAt(entry.use.at, "'" + name + "' is a field of a row, and this is not said of a row",
                        "write largest." + name + ", or a function over the rows");
    } else {
      entry.at.ReportAt(entry.use.at, "unknown name '" + name + "'",
                        ++guessed > kMostGuesses ? "" : Guess(name, of_owner->second));
    }
  }
}

std::string NameCheck::Guess(const std::string& name, const std::set<std::string>& known) const {
  // Two of these are enough for what is drawn and ranked; what names the third must derive it.
  if (name == "excess_bytes") return R"(derive it: {"fact": "excess_bytes", "from": "need_bytes - have_bytes"})";
  if (name == "need_bytes" || name == "have_bytes")
    return R"(derive it of what the message gives: {"fact": ")" + name + R"(", "from": "…"})";
  std::vector<std::string> candidates(known.begin(), known.end());
  candidates.insert(candidates.end(), terms_.begin(), terms_.end());
  return DidYouMean(name, candidates);
}

}  // namespace whyoom
