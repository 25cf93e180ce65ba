// Makes a RuleSet of rule files: reads, merges, checks. Works in steps, each of which goes on after faults, so
// that everything wrong is said at once.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/name_check.h"
#include "rules/rule_node.h"
#include "rules/rule_set.h"

namespace whyoom {

class RuleSetBuilder {
 public:
  // RuleSet::Load with the built-in data given.
  static RuleSet Build(std::string_view schema, const std::vector<RuleFile>& built_in,
                       const std::vector<RuleFile>& files, std::vector<Fault>* faults,
                       RuleSet::BuiltInData checking = RuleSet::BuiltInData::kChecked,
                       const std::vector<std::string>* known_literals = nullptr);

 private:
  // Entries of one section by id; what replaces an entry takes its place.
  using Section = std::map<std::string, RuleNode>;

  void Read(std::string_view schema, const std::vector<RuleFile>& built_in, const std::vector<RuleFile>& files,
            bool trusted);
  void Merge();
  void MergeSection(const RuleNode& root, const std::string& section, const std::string& id_key);
  void MergeEntry(const std::string& section, const std::string& id_key, const std::string& id, const RuleNode& node);
  void AddJsonKeys(const RuleNode& node);
  void AddRoleWords(const RuleNode& node);
  void BuildRowTests();
  void BuildTerms();
  void CheckAskedFor(const std::string& section, const std::string& id, const RuleNode& node) const;
  static void CheckName(const std::string& name, const RuleNode& node, const std::string& what);

  void BuildFailure(const RuleNode& node);
  void BuildHeads(const RuleNode& node, Failure* failure);
  void BuildFacts(const RuleNode& node, Failure* failure);
  void BuildReader(const RuleNode& node, Failure* failure);
  std::vector<DerivedFact> BuildDerived(const std::string& owner, const RuleNode& node);
  void BuildScenarios(const RuleNode& node, Failure* failure);
  void BuildExamples(const RuleNode& node, Failure* failure);
  void BuildRemedy(const RuleNode& node);
  void AddAdvice(const RuleNode& node, Remedy* remedy);
  void BuildExtension(const RuleNode& node);
  void ExtendFailure(const RuleNode& node, Failure* failure);
  Trace BuildTrace(const std::string& owner, const RuleNode& node);
  void BuildComparison();
  void BuildWording();
  void BuildThresholds();
  void BuildContext(const RuleNode& node);
  void BuildFramework(const RuleNode& node);
  void BuildChip(const RuleNode& node);
  void BuildQuotation(const RuleNode& node);
  void BuildSuspect(const RuleNode& node);
  void BuildErrorLine(const RuleNode& node);
  void BuildAffix(const RuleNode& node);
  void BuildMoreExamples(const RuleNode& node);
  void BuildSituation(const RuleNode& node);

  // Sections that are objects, not arrays: their keys are the ids.
  static constexpr const char* kTerms = "terms";
  static constexpr const char* kRowTests = "row_fields";
  static constexpr const char* kWording = "wording";
  static constexpr const char* kThresholds = "thresholds";

  // Whose facts the expressions of a context use, apart from codes.
  static std::string ContextOwner(const std::string& id) { return "context " + id; }

  // Where an entry of a section says what its id is.
  static JsonPlace IdPlace(const RuleNode& node, const std::string& id_key);
  static void ReportId(const RuleNode& node, const std::string& id_key, std::string what, std::string hint);

  Expression UseExpression(const std::string& owner, const RuleNode& node, bool in_row);
  std::optional<Expression> UseOptionalExpression(const std::string& owner, const RuleNode& node, bool in_row);
  Sentence BuildSentence(const std::string& owner, const RuleNode& node);
  std::vector<Sentence> BuildSentences(const std::string& owner, const RuleNode& node);
  std::vector<RemedyUse> BuildRemedyUses(const RuleNode& node);
  void CollectLiterals(const Pattern& pattern, const RuleNode& node, const char* what);  // at least one
  void CollectLiterals(const Pattern& fact);

  void CheckReferences();
  void CheckCodes();
  void CheckTermsAreNoFacts();
  void CheckSituations() const;
  void GiveFacts();
  void ReduceLiterals();
  void Fingerprint();

  FaultSink sink_;
  std::vector<LoadedFile> files_;
  bool all_read_ = true;  // else what refers to another entry cannot be judged
  std::map<std::string, Section> sections_;
  std::vector<RuleNode> extensions_;              // in the order of the files
  std::vector<RuleNode> more_examples_;           // likewise
  std::vector<RuleNode> situations_;              // likewise
  std::map<std::string, std::string> asked_for_;  // wording and thresholds that the program asks for: id, section
  std::string default_framework_;                 // whose steps are for those that have none of their own
  NameCheck names_;
  Terms terms_;
  // What refers to entries that may come later.
  std::vector<RuleNode> remedy_references_;
  std::vector<RuleNode> code_references_;
  std::map<std::string, std::vector<RuleNode>> context_references_;  // by code
  const std::vector<std::string>* known_literals_ = nullptr;         // null: they are collected
  std::set<std::string> literals_;
  std::set<std::string> sign_literals_;
  std::set<std::string> nearby_literals_;
  RuleSet set_;
};

}  // namespace whyoom
