// Collects the names that the rule data uses and the facts that it provides, then reports names that nothing provides.
// The check runs last because the order of entries means nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rules/expression.h"
#include "rules/names.h"
#include "rules/rule_file.h"

namespace whyoom {

class NameCheck {
 public:
  // `owner` is a failure's code or one of those in names.h, or empty for a remedy, which may use the facts of all
  // failures. Borrows `at`.
  void Use(const std::string& owner, const JsonNode& at, const std::vector<NameUse>& uses, bool in_row);
  void UseFact(const std::string& owner, const JsonNode& at, const std::string& name);

  void Give(const std::string& owner, const std::string& fact);
  void AddRowField(const std::string& name);
  // Adds a term that hints may suggest for a misspelt name.
  void AddTermName(const std::string& term) { terms_.push_back(term); }

  // The facts of the owner, or of all owners if `owner` is empty.
  const std::set<std::string>& FactsOf(const std::string& owner) const;

  // Suppresses faults for an owner whose facts are not fully known, for example because of an unknown context.
  void SuppressFaults(const std::string& owner);

  void Run() const;

 private:
  struct Entry {
    std::string owner;
    const JsonNode* at;
    NameUse use;
    bool in_row = false;
  };
  std::vector<std::string> Candidates(const Entry& entry) const;
  std::vector<std::string> ComparisonCandidates() const;
  std::string NameHint(const std::string& name, const std::set<std::string>& known) const;
  void ReportTermUse(const Entry& entry, bool is_field) const;

  std::vector<Entry> entries_;
  std::map<std::string, std::set<std::string>> facts_;  // by owner; "" for all
  std::set<std::string> suppressed_;
  std::vector<std::string> terms_;
  std::vector<std::string> row_fields_ = RowFields();
};

}  // namespace whyoom
