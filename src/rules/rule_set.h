// The rules in use: the built-in ones and those of the user's files. Loaded once, checked as a whole, immutable
// afterwards.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule_compiler.h"
#include "rules/rule_data.h"
#include "rules/rule_file.h"

namespace whyoom {

// Whether `text` contains `name` (see NameVersions::id) as a whole word. An argument must follow the function it
// belongs to.
bool ContainsName(std::string_view text, std::string_view name);

// Concatenates the sentences that apply.
std::string JoinSentences(const std::vector<Sentence>& sentences, const Scope& scope);

class RuleSet {
 public:
  RuleSet() = default;
  explicit RuleSet(RuleData data) : data_(std::move(data)) {}

  // Adds `files` to the built-in rules. Appends all faults to `faults`. The result is usable only if there are none.
  static RuleSet Load(const std::vector<RuleFile>& files, std::vector<Fault>* faults);

  // The same with other rules instead of the built-in ones.
  static RuleSet Compile(RuleData base, const std::vector<RuleFile>& files, std::vector<Fault>* faults,
                         const CompileOptions& options = {});

  // Reads a rule file, or each *.json of a folder except schema.json, sorted by name. Throws Error if that fails.
  static std::vector<RuleFile> ReadFiles(const std::string& path);

  const RuleData& data() const { return data_; }
  const std::vector<FailureRule>& failures() const { return data_.failures; }  // by code
  const FailureRule* FindFailure(std::string_view code) const { return FindByCode(data_.failures, code); }
  const Remedy* FindRemedy(std::string_view id) const;
  const std::vector<Remedy>& remedies() const { return data_.remedies; }  // by id
  const std::vector<PrefixOrSuffix>& prefixes_and_suffixes() const { return data_.prefixes_and_suffixes; }
  const JsonLogKeys& json_keys() const { return data_.json_keys; }
  const std::vector<Framework>& frameworks() const { return data_.frameworks; }  // highest priority first
  const Framework* default_framework() const;  // its steps apply if no framework is recognised; may be null
  // The key in Remedy::how of the steps that apply to a framework: its own, or those of one that it is based on; empty
  // if it has none of its own, as for the
  // default framework.
  std::string KeyOfSteps(const Remedy& remedy, std::string_view framework) const;
  // Finds a framework by id, name or alias, ignoring case, blanks and punctuation. Returns null if there is none.
  const Framework* FindFramework(std::string_view id_or_name) const;
  const std::vector<Chip>& chips() const { return data_.chips; }
  const std::vector<NameVersions>& name_versions() const { return data_.name_versions; }  // by name
  const RoleWords& role_words() const { return data_.role_words; }
  const std::vector<Context>& contexts() const { return data_.contexts; }
  const std::vector<Quotation>& quotations() const { return data_.quotations; }
  const std::vector<CandidateError>& candidate_errors() const { return data_.candidate_errors; }
  const std::vector<ErrorLine>& error_lines() const { return data_.error_lines; }
  const std::vector<ProgressLine>& progress() const { return data_.progress; }
  const std::vector<DerivedRowField>& derived_row_fields() const { return data_.derived_row_fields; }  // by name
  const DerivedRowField* FindDerivedRowField(std::string_view name) const;  // null if there is none
  const std::vector<Note>& notes() const { return data_.notes; }            // about a comparison, by `prior`
  const std::vector<ContradictionRule>& contradictions() const { return data_.contradictions; }  // by id
  // Returns the text for `id`, such as "diff.total.need_bytes": the concatenation of the sentences that apply, or
  // empty.
  std::string Say(std::string_view id, const Scope& scope) const;
  // The threshold `id`, such as "worth_telling", as a share; 0 if the rule data does not set it.
  double Threshold(std::string_view id) const;

  const std::vector<std::string>& literals() const { return data_.literals; }
  std::size_t trigger_count() const { return data_.trigger_count; }
  const std::vector<std::string>& sign_literals() const { return data_.sign_literals; }
  const std::vector<std::string>& nearby_literals() const { return data_.nearby_literals; }

  // The distinct RuleFile::given of the loaded files, in order. A command must name them to run with the same rules.
  const std::vector<std::string>& given() const { return given_; }

  // SHA-256 of the rule data in use, in hex; does not depend on the files' layout and names.
  const std::string& fingerprint() const { return data_.fingerprint; }

  // Names of the files in use besides the built-in ones, in order, for reports.
  const std::vector<std::string>& extra_files() const { return extra_files_; }

 private:
  RuleData data_;
  std::vector<std::string> given_;
  std::vector<std::string> extra_files_;
};

// The built-in entries and those of `files`, by section and id. Files that are not valid JSON contribute none.
std::vector<RuleEntry> ListRuleEntries(const std::vector<RuleFile>& files);

class RuleSource {
 public:
  // The built-in rules. They are loaded on the first use of anything but their literals and fingerprint.
  RuleSource();
  // Borrows a loaded set.
  explicit RuleSource(const RuleSet& rules);

  // Thread-safe. Throws Error if the built-in data has faults.
  const RuleSet& rules() const;

  const std::vector<std::string>& literals() const;     // as RuleSet::literals
  std::size_t trigger_count() const;                    // as RuleSet::trigger_count
  const std::string& fingerprint() const;               // as RuleSet::fingerprint
  const std::vector<std::string>& extra_files() const;  // as RuleSet::extra_files

 private:
  const RuleSet* const given_ = nullptr;
  mutable std::once_flag loaded_;
  mutable std::unique_ptr<const RuleSet> built_in_;
};

}  // namespace whyoom
