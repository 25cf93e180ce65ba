// Builds a RuleSet from rule files: reads, merges, checks. Each step continues after faults, so that all are reported
// at once.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"
#include "rules/names.h"
#include "rules/rule_node.h"
#include "rules/rule_set.h"

namespace whyoom {

struct RuleDigest;

// Collects the names that the rule data uses and the facts that it provides, then reports names that nothing provides.
// The check runs last because the order of entries means nothing.
class NameCheck {
 public:
  // Owners other than failures: comparisons of two runs or programs; terms, which may use facts of any failure; fields
  // of a row.
  static constexpr const char* kComparison = "the comparison";
  static constexpr const char* kTerms = "the terms";
  static constexpr const char* kRowFieldsSection = "the fields of a row";

  // `owner` is a failure's code, or empty for a remedy, which may use the facts of all failures.
  void Use(const std::string& owner, const RuleNode& at, const std::vector<NameUse>& uses, bool in_row);
  void UseFact(const std::string& owner, const RuleNode& at);  // the text of `at` is the name

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
    RuleNode at;
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

class RuleSetBuilder {
 public:
  // RuleSet::Load with the built-in data as a parameter.
  static RuleSet Build(std::string_view schema, const std::vector<RuleFile>& built_in,
                       const std::vector<RuleFile>& files, std::vector<Fault>* faults,
                       RuleSet::BuiltInData checking = RuleSet::BuiltInData::kChecked,
                       const std::vector<std::string>* known_literals = nullptr);

  // The built-in data from the digest that the build computed, trusted and without examples, then `files`. Faults have
  // no places in the built-in data.
  static RuleSet BuildDigested(std::string_view schema, const std::vector<RuleFile>& files, std::vector<Fault>* faults);

  // All entries of the built-in data and the files, by section and id, even if they have faults.
  static std::vector<RuleEntry> List(std::string_view schema, const std::vector<RuleFile>& built_in,
                                     const std::vector<RuleFile>& files);

 private:
  // Entries of one section by id. An entry replaces one with the same id in a lower layer.
  using Section = std::map<std::string, RuleNode>;
  class Fields;

  // Sections that are objects instead of arrays; their keys are the ids.
  static constexpr const char* kTerms = "terms";
  static constexpr const char* kRowFieldsSection = "row_fields";
  static constexpr const char* kWording = "wording";
  static constexpr const char* kThresholds = "thresholds";

  // Calls `call` with the name of each section that is an array and the container of its entries.
  template <class Call>
  void EachSection(const Call& call) {
    call("failures", &set_.failures_);
    call("remedies", &set_.remedies_);
    call("contexts", &set_.contexts_);
    call("frameworks", &set_.frameworks_);
    call("chips", &set_.chips_);
    call("quotations", &set_.quotations_);
    call("suspects", &set_.candidate_errors_);
    call("error_lines", &set_.error_lines_);
    call("progress", &set_.progress_);
    call("affixes", &set_.prefixes_and_suffixes_);
    call("notes", &set_.notes_);
    call("versions", &set_.name_versions_);
    call("contradictions", &set_.contradictions_);
  }
  friend const std::vector<std::string>& RuleSections();

  // Reads and merges: rule_layers.cc.
  void ReadDigest();
  void Read(std::string_view schema, const std::vector<RuleFile>& built_in, const std::vector<RuleFile>& files,
            bool trusted);
  void Merge();
  void MergeFile(const LoadedFile& file);
  void MergeEntry(const std::string& section, const std::string& id, const RuleNode& node);
  void Disable(const RuleNode& node);
  void DisableHeader(const RuleNode& node, const std::string& code, const std::string& head);
  bool IsDisabled(const std::string& section, const std::string& id) const;
  bool IsHeaderDisabled(const std::string& code, const std::string& head) const;
  void DropDisabled();
  void DropFromFailure(FailureRule* failure) const;
  void AddJsonKeys(const RuleNode& node);
  void AddRoleWords(const RuleNode& node);
  RuleEntry EntryOf(const std::string& section, const std::string& id, const RuleNode& node);
  // The node that contains an entry's id.
  static RuleNode IdNode(const RuleNode& node, const std::string& section);
  static JsonPlace IdPlace(const RuleNode& node, const std::string& section);
  static std::string ShownPlace(const LoadedFile& file, JsonPlace place);  // "file:line:column"

  // Makes entries of nodes: rule_builder.cc.
  void BuildEntries();
  template <class T>
  T Record(const RuleNode& node);
  void BuildExtension(const RuleNode& node);
  void BuildWording();
  void BuildMoreExamples(const RuleNode& node);
  bool AddExamples(const RuleNode& node, auto* entry);
  void AddPrefixAndSuffixExamples(const RuleNode& node);
  std::string FrameworkOf(const std::string& name, const RuleNode& node);
  Expression UseExpression(const std::string& owner, const RuleNode& node, bool in_row);
  Template UseTemplate(const std::string& owner, const RuleNode& node, bool in_row);
  // Adds the pattern's literals to `all`; requires at least one.
  void CollectLiterals(const Pattern& pattern, const RuleNode& node, const char* what, std::set<std::string>* all);
  void CollectFactLiterals(const Pattern& fact, const RuleNode& node);
  void CollectNearbyLiterals(const Pattern& pattern, const RuleNode& node);  // requires at least one

  // Terms and fields of a row: rule_terms.cc.
  void BuildRowFields();
  void BuildTerms();
  static void CheckName(const std::string& name, const RuleNode& node, const std::string& what);

  // Checks references between entries: rule_loader.cc.
  void CheckIsUsed(const std::string& section, const std::string& id, const RuleNode& node) const;
  void CheckReferences();
  void CheckCodes();
  void CheckTermsAreNoFacts();
  void CheckReader(const RuleNode& node, const FailureRule& failure);
  static void CheckScenarios(const RuleNode& examples, const FailureRule& failure);
  static void CheckPrefixOrSuffix(const RuleNode& node, const PrefixOrSuffix& prefix_or_suffix);
  void ProvideFacts();
  void Finish(const std::vector<RuleFile>& files);
  void ReduceLiterals();
  void Fingerprint();

  // The owner of the facts that a context's expressions use; cannot collide with a code.
  static std::string ContextOwner(const std::string& id) { return "context " + id; }

  static const std::string& IdOf(const FailureRule& failure) { return failure.code; }
  static const std::string& IdOf(const std::pair<const std::string, Remedy>& remedy) { return remedy.first; }
  static const std::string& IdOf(const auto& entry) { return entry.id; }

  template <class Map>
  static std::vector<std::string> Keys(const Map& map) {
    std::vector<std::string> keys;
    for (const auto& entry : map) keys.push_back(entry.first);
    return keys;
  }

  FaultSink sink_;
  std::vector<LoadedFile> files_;
  bool all_read_ = true;  // if false, references to other entries cannot be checked
  std::map<std::string, Section> sections_;
  std::vector<RuleNode> extensions_;                                 // in the order of the files
  std::vector<RuleNode> more_examples_;                              // likewise
  std::map<std::string, std::vector<std::string>> replaced_;         // by "section/id": places of replaced entries
  std::map<std::string, std::map<std::string, RuleNode>> disabled_;  // by section and id: the disabling entry
  std::map<std::string, std::map<std::string, RuleNode>> disabled_headers_;  // by code and head
  bool is_disabled_ = false;                                                 // the entry being built is disabled
  std::map<std::string, std::string> used_ids_;  // wording and thresholds that the program looks up: id, section
  std::vector<RemedyUse> listed_remedies_;       // of the failure whose scenarios are being read
  std::string default_framework_;                // its steps apply to frameworks without steps of their own
  NameCheck names_;
  std::shared_ptr<const Terms> terms_ = std::make_shared<const Terms>();
  // References to entries that may be defined later.
  std::vector<RuleNode> remedy_references_;
  std::vector<RuleNode> code_references_;
  std::map<std::string, std::vector<RuleNode>> context_references_;  // by code
  const RuleDigest* digest_ = nullptr;                        // of the built-in data; null: it is read from files
  const std::vector<std::string>* known_literals_ = nullptr;  // null: they are computed
  std::set<std::string> trigger_literals_;                    // see RuleSet::trigger_count
  std::set<std::string> setting_literals_;                    // the other ones for the prefilter
  std::set<std::string> sign_literals_;
  std::set<std::string> nearby_literals_;
  RuleSet set_;
};

}  // namespace whyoom
