#include "rules/name_check.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "rules/names.h"
#include "rules/suggest.h"

namespace whyoom {
namespace {

// Limit because each guess compares a name with every known name.
constexpr std::size_t kMaxGuesses = 100;

bool Holds(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void NameCheck::Use(const std::string& owner, const JsonNode& at, const std::vector<NameUse>& uses, bool in_row) {
  for (const NameUse& use : uses) entries_.push_back({owner, &at, use, in_row || use.in_rows});
}

void NameCheck::UseFact(const std::string& owner, const JsonNode& at, const std::string& name) {
  entries_.push_back({owner, &at, {name, 0, false, ""}, false});
}

void NameCheck::Give(const std::string& owner, const std::string& fact) {
  facts_[owner].insert(fact);
  facts_[""].insert(fact);
}

void NameCheck::AddRowField(const std::string& name) { row_fields_.push_back(name); }

const std::set<std::string>& NameCheck::FactsOf(const std::string& owner) const {
  static const std::set<std::string> none;
  const auto found = facts_.find(owner);
  return found == facts_.end() ? none : found->second;
}

void NameCheck::SuppressFaults(const std::string& owner) {
  suppressed_.insert({owner, "", kComparisonOwner, kTermsOwner, kRowOwner});
}

std::vector<std::string> NameCheck::ComparisonCandidates() const {
  std::vector<std::string> names = ComparisonNames();
  for (const std::string run : {"before.", "after."}) {
    for (const std::string& name : RunNames()) names.push_back(run + name);
    for (const std::string& fact : FactsOf("")) names.push_back(run + fact);
  }
  return names;
}

std::vector<std::string> NameCheck::Candidates(const Entry& entry) const {
  if (entry.owner == kComparisonOwner) return ComparisonCandidates();
  if (entry.owner == kRowOwner) return row_fields_;
  const bool of_all = entry.owner.empty() || entry.owner == kTermsOwner;
  const std::set<std::string>& facts = FactsOf(of_all ? "" : entry.owner);
  std::vector<std::string> names(facts.begin(), facts.end());
  names.insert(names.end(), BuiltInNames().begin(), BuiltInNames().end());
  for (const std::string& field : row_fields_) names.push_back("largest." + field);
  if (entry.in_row) names.insert(names.end(), row_fields_.begin(), row_fields_.end());
  if (entry.owner == kTermsOwner) {
    const std::vector<std::string> more = ComparisonCandidates();
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

void NameCheck::ReportTermUse(const Entry& entry, bool is_field) const {
  const std::string& name = entry.use.name;
  // The fault is reported where the term is defined.
  if (!is_field && !Holds(Candidates({kTermsOwner, entry.at, entry.use, true}), name)) return;
  const std::string what = "the term '" + entry.use.term + "' uses '" + name + "', ";
  if (is_field) {
    entry.at->ReportAt(entry.use.at, what + "a field of a row, but this expression is not evaluated for a row",
                       "write it in a function over the rows");
  } else {
    entry.at->ReportAt(entry.use.at, what + "which '" + entry.owner + "' does not provide", "");
  }
}

void NameCheck::Run() const {
  // Cached because there can be thousands of entries and names; valid names depend only on this key.
  std::map<std::pair<std::string, bool>, std::set<std::string>> known;
  std::size_t guessed = 0;
  for (const Entry& entry : entries_) {
    if (suppressed_.contains(entry.owner)) continue;
    const std::string& name = entry.use.name;
    const auto [of_owner, is_new] = known.try_emplace({entry.owner, entry.in_row});
    if (is_new) {
      const std::vector<std::string> candidates = Candidates(entry);
      of_owner->second = {candidates.begin(), candidates.end()};
    }
    if (of_owner->second.contains(name)) continue;
    const bool is_field = Holds(row_fields_, name);
    if (!entry.use.term.empty()) {
      ReportTermUse(entry, is_field);
    } else if (!entry.in_row && is_field) {
      entry.at->ReportAt(entry.use.at,
                         "'" + name + "' is a field of a row, but this expression is not evaluated for a row",
                         "write largest." + name + " or use a function over the rows");
    } else {
      entry.at->ReportAt(entry.use.at, "unknown name '" + name + "'",
                         ++guessed > kMaxGuesses ? "" : NameHint(name, of_owner->second));
    }
  }
}

std::string NameCheck::NameHint(const std::string& name, const std::set<std::string>& known) const {
  // The report and the ranking need only two of the three facts. A rule that uses the third must derive it.
  if (name == "excess_bytes") return R"(derive it: {"fact": "excess_bytes", "from": "need_bytes - have_bytes"})";
  if (name == "need_bytes" || name == "have_bytes")
    return R"(derive it from the message's facts: {"fact": ")" + name + R"(", "from": "…"})";
  std::vector<std::string> candidates(known.begin(), known.end());
  candidates.insert(candidates.end(), terms_.begin(), terms_.end());
  return DidYouMean(name, candidates);
}

}  // namespace whyoom
