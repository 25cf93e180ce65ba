// Names that expressions can use although no pattern captures them, and the check of all names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"
#include "rules/rule_file.h"

namespace whyoom {

struct NamedField {
  const char* name;
  const char* about;  // Markdown for docs/rules-language.md
};

// Fields of an allocation row, also available as largest.FIELD. This table documents them; facts/array.h computes
// them.
const std::vector<NamedField>& RowFieldTable();
const std::vector<std::string>& RowFields();

// What provides the facts that an expression uses, besides failures (their codes) and contexts: comparisons of two
// runs; terms, which may use facts of any failure; fields of a row. Remedies have no owner: they may use all facts.
inline constexpr const char* kComparisonOwner = "the comparison";
inline constexpr const char* kTermsOwner = "the terms";
inline constexpr const char* kRowOwner = "the fields of a row";
inline std::string ContextOwner(const std::string& id) { return "context " + id; }  // never a code

// Available for every failure: code, scenario, …, largest.FIELD.
const std::vector<std::string>& BuiltInNames();

// Names for comparisons of two runs. Every fact is also available as before.FACT and after.FACT, and in functions over
// rows every field as before.FIELD and after.FIELD.
const std::vector<std::string>& ComparisonNames();
const std::vector<std::string>& RunNames();  // after "before." and "after."

// The facts that a reader provides; empty for an unknown reader.
const std::vector<std::string>& ReaderFacts(std::string_view reader);

// Collects the names that the rule data uses and the facts that it provides, then reports names that nothing provides.
// The check runs last because the order of entries means nothing.
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
