// Collects the names that the rule data uses and the facts that it gives, and says afterwards which names
// nothing gives. Afterwards, because order in a file means nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rules/expression.h"
#include "rules/names.h"
#include "rules/rule_node.h"

namespace whyoom {

class NameCheck {
 public:
  // Owners beside failures: what is said of two runs, of a difference between two programs, and terms, which may be
  // about anything.
  static constexpr const char* kComparison = "the comparison";
  static constexpr const char* kTerms = "the terms";
  static constexpr const char* kRowTests = "the fields of a row";

  // For `owner`, a failure's code, or empty: a remedy, which may use the facts of all failures.
  void Use(const std::string& owner, const RuleNode& at, const std::vector<NameUse>& uses, bool in_row);
  void UseFact(const std::string& owner, const RuleNode& at);  // the text of `at` is the name

  void Give(const std::string& owner, const std::string& fact);
  void GiveRowField(const std::string& name);
  // Of terms, which whoever misspells a name may have meant.
  void MayMean(const std::string& term) { terms_.push_back(term); }

  // All names that expressions mention, and the terms that they are mentioned through.
  std::set<std::string> UsedNames() const;

  std::set<std::string> FactsOf(const std::string& owner) const;

  // What this failure gives is not known in full (an unknown context, say): nothing is said about it.
  void Forgive(const std::string& owner);

  void Run() const;

 private:
  struct Entry {
    std::string owner;
    RuleNode at;
    NameUse use;
    bool in_row = false;
  };
  std::vector<std::string> Candidates(const Entry& entry) const;
  std::vector<std::string> ComparisonCandidates(bool in_row) const;
  std::string Guess(const std::string& name, const std::set<std::string>& known) const;
  void ReportInTerm(const Entry& entry, bool is_field) const;

  std::vector<Entry> entries_;
  std::map<std::string, std::set<std::string>> facts_;
  std::set<std::string> all_facts_;
  std::set<std::string> forgiven_;
  std::vector<std::string> terms_;
  std::vector<std::string> row_fields_ = RowFields();
};

}  // namespace whyoom
