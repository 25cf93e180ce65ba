// Makes a RuleSet of rule files: reads, merges, checks. Works in steps, each of which goes on after faults, so
// that everything wrong is said at once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/name_check.h"
#include "rules/rule_entry.h"
#include "rules/rule_node.h"
#include "rules/rule_set.h"

namespace whyoom {

class RuleSetBuilder {
 public:
  // RuleSet::Load with the built-in data given.
  static RuleSet Build(std::string_view schema, const std::vector<RuleFile>& built_in,
                       const std::vector<RuleFile>& files, std::vector<Fault>* faults,
                       RuleSet::BuiltInData checking = RuleSet::BuiltInData::kChecked,
                       const std::vector<std::string>* known_literals = nullptr, std::vector<Fault>* notes = nullptr);

  // RuleSet::LoadBuiltIn.
  static RuleSet BuildDigested(const RuleDigest& digest, std::vector<Fault>* faults);

  // All entries of the data and the files, in order of section and id, whatever is wrong with them otherwise.
  static std::vector<RuleEntry> List(std::string_view schema, const std::vector<RuleFile>& built_in,
                                     const std::vector<RuleFile>& files);

 private:
  // Entries of one section by id; what replaces an entry takes its place.
  using Section = std::map<std::string, RuleNode>;

  void ReadDigest();
  void BuildEntries();
  void Read(std::string_view schema, const std::vector<RuleFile>& built_in, const std::vector<RuleFile>& files,
            bool trusted);
  void Merge();
  void MergeFile(const LoadedFile& file);
  void MergeSection(const RuleNode& root, const std::string& section, const std::string& id_key);
  void MergeEntry(const std::string& section, const std::string& id_key, const std::string& id, const RuleNode& node);
  void Disable(const RuleNode& node);
  void DisableHead(const RuleNode& node, const std::string& code, const std::string& head);
  bool IsDisabled(const std::string& section, const std::string& id) const;
  bool IsHeadDisabled(const std::string& code, const std::string& head) const;
  void DropDisabled();
  void DropFromFailure(Failure* failure) const;
  void BuildEach(const std::string& section, void (RuleSetBuilder::*build)(const RuleNode&));
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
  void CheckFramework(const std::string& framework, const RuleNode& node);  // which the node says something of
  void BuildExtension(const RuleNode& node);
  void ExtendFailure(const RuleNode& node, Failure* failure);
  Trace BuildTrace(const std::string& owner, const RuleNode& node);
  void BuildComparison();
  void BuildContradiction(const RuleNode& node);
  void BuildWording();
  void BuildThresholds();
  void BuildContext(const RuleNode& node);
  void BuildFramework(const RuleNode& node);
  void BuildChip(const RuleNode& node);
  void BuildVersions(const RuleNode& node);
  void BuildQuotation(const RuleNode& node);
  void BuildSuspect(const RuleNode& node);
  void BuildErrorLine(const RuleNode& node);
  void BuildProgressLine(const RuleNode& node);
  void BuildAffix(const RuleNode& node);
  // Of a list; an example that is only a text may be given as that.
  static std::vector<Example> AllExamples(const RuleNode& node);
  void BuildMoreExamples(const RuleNode& node);
  void BuildSituation(const RuleNode& node);
  void BuildComparedRuns(const RuleNode& node);

  // Sections that are objects, not arrays: their keys are the ids.
  static constexpr const char* kTerms = "terms";
  static constexpr const char* kRowTests = "row_fields";
  static constexpr const char* kWording = "wording";
  static constexpr const char* kThresholds = "thresholds";

  // Whose facts the expressions of a context use, apart from codes.
  static std::string ContextOwner(const std::string& id) { return "context " + id; }

  // "file:line:column".
  static std::string ShownPlace(const LoadedFile& file, JsonPlace place);

  // Where an entry of a section says what its id is.
  static JsonPlace IdPlace(const RuleNode& node, const std::string& id_key);
  static void ReportId(const RuleNode& node, const std::string& id_key, std::string what, std::string hint);

  Expression UseExpression(const std::string& owner, const RuleNode& node, bool in_row);
  Template UseTemplate(const std::string& owner, const RuleNode& node, bool in_row);
  std::optional<Expression> UseOptionalExpression(const std::string& owner, const RuleNode& node, bool in_row);
  Sentence BuildSentence(const std::string& owner, const RuleNode& node);
  std::vector<Sentence> BuildSentences(const std::string& owner, const RuleNode& node);
  std::vector<RemedyUse> BuildRemedyUses(const RuleNode& node);
  void CollectLiterals(const Pattern& pattern, const RuleNode& node, const char* what);  // at least one
  void CollectLiterals(const Pattern& fact);
  void CollectNearbyLiterals(const Pattern& pattern, const RuleNode& node);  // at least one

  // What is no fault of one entry alone, see rule_lint.cc. For who checks rules, not for who uses them.
  struct TypedUse {
    std::string owner;
    RuleNode at;
    Expression expression;
    bool in_row = false;
  };
  struct WrittenHead {
    std::string code;
    std::string id;
    RuleNode at;  // of its pattern
    Pattern pattern;
    bool by_itself = false;  // whatever stands round it: neither a fragment nor only at the start of a line
  };
  void Lint();
  std::vector<WrittenHead> WrittenHeads() const;
  void LintHeads();
  void LintExamples(const std::vector<WrittenHead>& heads);
  void LintScenarios();
  void LintOrphans();
  void LintSteps();
  void LintTypes();
  void LintSpecialFacts();
  std::optional<RuleNode> NodeGiving(const RuleNode& owner, const std::string& fact, std::size_t* at) const;

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
  std::vector<RuleNode> extensions_;                          // in the order of the files
  std::vector<RuleNode> more_examples_;                       // likewise
  std::vector<RuleNode> situations_;                          // likewise
  std::vector<RuleNode> comparisons_;                         // likewise
  std::map<std::string, std::vector<std::string>> replaced_;  // by "section/id": places of what stood there before
  std::map<std::string, std::map<std::string, RuleNode>> disabled_;        // by section and id: where that is said
  std::map<std::string, std::map<std::string, RuleNode>> disabled_heads_;  // by code and head
  bool is_left_out_ = false;                                               // what is being built is disabled
  std::map<std::string, std::string> asked_for_;  // wording and thresholds that the program asks for: id, section
  std::string default_framework_;                 // whose steps are for those that have none of their own
  NameCheck names_;
  std::shared_ptr<const Terms> terms_ = std::make_shared<const Terms>();
  // What refers to entries that may come later.
  std::vector<TypedUse> typed_;
  std::vector<RuleNode> remedy_references_;
  std::vector<RuleNode> code_references_;
  std::map<std::string, std::vector<RuleNode>> context_references_;  // by code
  const RuleDigest* digest_ = nullptr;                               // of all there is; null: it is read and worked out
  const std::vector<std::string>* known_literals_ = nullptr;         // null: they are collected
  std::set<std::string> literals_;
  std::set<std::string> sign_literals_;
  std::set<std::string> nearby_literals_;
  RuleSet set_;
};

}  // namespace whyoom
