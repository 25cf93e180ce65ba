#include "rules/rule_loader.h"

#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "rules/builtin.h"
#include "rules/expression_node.h"
#include "rules/names.h"
#include "rules/schema_check.h"
#include "rules/sha256.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Only rare literals of facts are searched for. They help to find headers that a log wraps inside a word.
constexpr std::size_t kFactLiteral = 12;
constexpr std::size_t kPiece = 16;
// Maximum length of a file name in reports.
constexpr std::size_t kShownName = 200;

// Splits a long literal into pieces of whole words. A log can break a line inside the literal; one of the pieces then
// stays whole, and each is still rare.
std::vector<std::string> Parts(const std::string& literal) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t blank = literal.find(' '); blank != std::string::npos; blank = literal.find(' ', blank + 1)) {
    if (blank - begin < kPiece || literal.size() - blank - 1 < kPiece) continue;
    parts.push_back(literal.substr(begin, blank - begin));
    begin = blank + 1;
  }
  parts.push_back(literal.substr(begin));
  return parts;
}

std::set<std::string> AllParts(const std::set<std::string>& literals) {
  std::set<std::string> all;
  for (const std::string& literal : literals) {
    for (std::string& part : Parts(literal)) all.insert(std::move(part));
  }
  return all;
}

// Adds to `all` those of `added` that contain no other literal: the shorter one is found wherever the longer one is.
void AddReduced(const std::set<std::string>& added, const std::set<std::string>& others, std::set<std::string>* all) {
  for (const std::string& literal : added) {
    const auto has_part = [&](const std::set<std::string>& parts) {
      return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
        return part.size() < literal.size() && literal.find(part) != std::string::npos;
      });
    };
    if (!others.contains(literal) && !has_part(*all) && !has_part(added) && !has_part(others)) all->insert(literal);
  }
}

}  // namespace

RuleSet RuleSetBuilder::Build(std::string_view schema, const std::vector<RuleFile>& built_in,
                              const std::vector<RuleFile>& files, std::vector<Fault>* faults,
                              RuleSet::BuiltInData checking, const std::vector<std::string>* known_literals) {
  RuleSetBuilder builder;
  builder.known_literals_ = known_literals;
  const bool trusted = checking == RuleSet::BuiltInData::kTrusted;
  builder.Read(schema, built_in, files, trusted);
  builder.BuildEntries();
  if (builder.all_read_ && !(trusted && files.empty())) builder.CheckReferences();
  builder.Finish(files);
  const std::vector<Fault> found = builder.sink_.Sorted();
  faults->insert(faults->end(), found.begin(), found.end());
  return std::move(builder.set_);
}

RuleSet RuleSetBuilder::BuildDigested(std::string_view schema, const std::vector<RuleFile>& files,
                                      std::vector<Fault>* faults) {
  RuleSetBuilder builder;
  builder.digest_ = &BuiltInDigest();
  builder.ReadDigest();
  builder.Read(schema, {}, files, true);
  builder.BuildEntries();
  if (!files.empty() && builder.all_read_) builder.CheckReferences();
  builder.Finish(files);
  *faults = builder.sink_.Sorted();
  return std::move(builder.set_);
}

void RuleSetBuilder::Finish(const std::vector<RuleFile>& files) {
  for (const RuleFile& file : files) {
    std::vector<std::string>& given = set_.given_;
    if (!file.given.empty() && std::find(given.begin(), given.end(), file.given) == given.end())
      given.push_back(file.given);
  }
  DropDisabled();
  if (files.empty() && digest_ != nullptr) return;  // the rest is in the digest
  ReduceLiterals();
  Fingerprint();
}

void RuleSetBuilder::ReadDigest() {
  const auto add = [&](std::string_view name, const RuleValue& data) {
    files_.push_back({std::string(name), true, 0, true, files_.size(), {}, data});
  };
  const RuleValue all = RuleValue::Packed(digest_->data.data());
  std::size_t count = 0;
  all.ForEach([&](std::string_view, const RuleValue&) { ++count; });
  files_.reserve(count);
  all.ForEach(add);
  set_.literals_ = digest_->literals;
  set_.trigger_count_ = digest_->trigger_count;
  set_.sign_literals_ = digest_->sign_literals;
  set_.nearby_literals_ = digest_->nearby_literals;
  set_.fingerprint_ = digest_->fingerprint;
}

void RuleSetBuilder::Read(std::string_view schema, const std::vector<RuleFile>& built_in,
                          const std::vector<RuleFile>& files, bool trusted) {
  files_.reserve(files_.size() + built_in.size() + files.size());  // later, nodes point into files_
  const auto parse = [&](const RuleFile& file, bool is_built_in) {
    const int layer = is_built_in ? 0 : file.layer;
    files_.push_back(
        {file.name, is_built_in, layer, is_built_in && trusted, files_.size(), JsonDocument::Parse(file.text)});
    if (!is_built_in) set_.extra_files_.push_back(CutBytes(Printable(file.name), kShownName));
  };
  for (const RuleFile& file : built_in) parse(file, true);
  for (const RuleFile& file : files) parse(file, false);

  nlohmann::json rules_schema;  // parsed only if a file must be checked
  for (const LoadedFile& file : files_) {
    for (const JsonFault& fault : file.document.faults()) {
      sink_.Add(file, file.document.PlaceAt(fault.offset), fault.what, fault.hint);
    }
    if (file.from_digest()) continue;
    if (file.document.value().is_null() && !file.document.faults().empty()) {
      all_read_ = false;
      continue;
    }
    if (file.trusted) continue;
    if (rules_schema.is_null()) rules_schema = nlohmann::json::parse(schema);
    for (const SchemaFault& fault : CheckSchema(rules_schema, file.document.value())) {
      const JsonPlace place =
          fault.at_key ? file.document.PlaceOfKey(fault.pointer) : file.document.PlaceOf(fault.pointer);
      sink_.Add(file, place, fault.what, fault.hint);
    }
  }
}

void RuleSetBuilder::CheckIsUsed(const std::string& section, const std::string& id, const RuleNode& node) const {
  std::vector<std::string> known;
  for (const auto& [asked, of] : used_ids_) {
    if (of == section) known.push_back(asked);
  }
  if (node.file().built_in || std::find(known.begin(), known.end(), id) != known.end()) return;
  node.ReportKey("whyoom does not use '" + Printable(id) + "' in '" + section + "'", DidYouMean(id, known));
}

void RuleSetBuilder::CollectLiterals(const Pattern& pattern, const RuleNode& node, const char* what,
                                     std::set<std::string>* all) {
  if (!pattern.ok() || known_literals_ != nullptr || node.file().from_digest() || is_disabled_)
    return;  // faults of the pattern were reported already
  const std::vector<std::string> literals = pattern.Literals(kMinHeaderLiteral);
  if (literals.empty()) {
    node.Report(
        "this " + std::string(what) + " has no literal of " + std::to_string(kMinHeaderLiteral) + " characters or more",
        "the prefilter could not search for it");
  }
  all->insert(literals.begin(), literals.end());
}

void RuleSetBuilder::CollectFactLiterals(const Pattern& fact, const RuleNode& node) {
  if (known_literals_ != nullptr || node.file().from_digest() || is_disabled_) return;
  const std::vector<std::string> literals = fact.Literals(kFactLiteral);
  trigger_literals_.insert(literals.begin(), literals.end());
}

void RuleSetBuilder::CheckReferences() {
  for (const RuleNode& node : remedy_references_) {
    const std::string id = node.Text();
    if (id.empty() || set_.remedies_.contains(id)) continue;
    node.Report("unknown remedy '" + id + "'", DidYouMean(id, Keys(set_.remedies_)));
  }
  const std::vector<std::string> contexts = Keys(sections_["contexts"]);
  for (const auto& [code, nodes] : context_references_) {
    for (const RuleNode& node : nodes) {
      const std::string id = node.Text();
      if (id.empty() || sections_["contexts"].contains(id)) continue;
      node.Report("unknown context '" + id + "'", DidYouMean(id, contexts));
      names_.SuppressFaults(code);
    }
  }
  CheckCodes();
  ProvideFacts();
  CheckTermsAreNoFacts();
  names_.Run();
}

void RuleSetBuilder::CheckTermsAreNoFacts() {
  std::set<std::string> reported;
  const auto check = [&](const RuleNode& giver, const char* id_key, const std::string& owner) {
    const std::string id = giver[id_key].Text();
    for (const std::string& fact : names_.FactsOf(owner)) {
      const auto term = sections_[kTerms].find(fact);
      if (term == sections_[kTerms].end() || !reported.insert(fact).second) continue;
      // Report the one that the user wrote, because it can be renamed.
      if (term->second.file().built_in && !giver.file().built_in) {
        giver[id_key].Report("the fact '" + fact + "' of '" + id + "' has the name of a term",
                             "the term is in " + ShownPlace(term->second.file(), term->second.key_place()));
      } else {
        term->second.ReportKey("'" + fact + "' is already the name of a fact", "of '" + id + "'");
      }
    }
  };
  // Contexts first, because failures that use a context have its facts, too.
  for (const auto& [id, node] : sections_["contexts"]) check(node, "id", ContextOwner(id));
  for (const auto& [code, node] : sections_["failures"]) check(node, "code", code);
}

void RuleSetBuilder::CheckCodes() {
  std::vector<std::string> known;
  std::map<std::string, std::string> owner_of;
  for (const FailureRule& failure : set_.failures_) {
    known.push_back(failure.code);
    owner_of.emplace(failure.code, failure.code);
  }
  for (const FailureRule& failure : set_.failures_) {
    for (const RuleNode& alias : sections_["failures"].at(failure.code)["aliases"].Items()) {
      const auto [owner, is_new] = owner_of.emplace(alias.Text(), failure.code);
      if (!is_new && owner->second != failure.code) {
        alias.Report("'" + alias.Text() + "' already names the failure '" + owner->second + "'");
      }
    }
  }
  for (const RuleNode& node : code_references_) {
    const std::string code = node.Text();
    if (!code.empty() && set_.FindFailure(code) == nullptr) {
      node.Report("unknown code '" + code + "'", DidYouMean(code, known));
    }
  }
  const auto canonical = [this](std::vector<std::string>* codes) {
    for (std::string& code : *codes) {
      if (const FailureRule* failure = set_.FindFailure(code)) code = failure->code;
    }
  };
  for (FailureRule& failure : set_.failures_) {
    canonical(&failure.absorbed_by);
    canonical(&failure.consequence_of);
  }
}

void RuleSetBuilder::ProvideFacts() {
  const auto give = [this](const std::string& owner, const Pattern& pattern) {
    for (const std::string& fact : pattern.capture_names()) names_.Give(owner, fact);
  };
  for (const Context& context : set_.contexts_) {
    for (const Pattern& pattern : context.patterns) give(ContextOwner(context.id), pattern);
    for (const DerivedFact& derived : context.derived) names_.Give(ContextOwner(context.id), derived.name);
  }
  for (const FailureRule& failure : set_.failures_) {
    for (const HeaderPattern& head : failure.header_patterns) give(failure.code, head.pattern);
    for (const Pattern& fact : failure.facts) give(failure.code, fact);
    for (const DerivedFact& derived : failure.derived) names_.Give(failure.code, derived.name);
    for (const std::string& fact : ReaderFacts(failure.reader)) names_.Give(failure.code, fact);
    for (const Context& context : set_.contexts_) {
      const std::vector<std::string>& used = failure.contexts;
      if (std::find(used.begin(), used.end(), context.id) == used.end()) continue;
      for (const Pattern& pattern : context.patterns) give(failure.code, pattern);
    }
  }
}

void RuleSetBuilder::ReduceLiterals() {
  const auto split = set_.literals_.begin() + static_cast<std::ptrdiff_t>(set_.trigger_count_);
  // Those of the digest are reduced already.
  std::set<std::string> triggers(set_.literals_.begin(), split);
  std::set<std::string> settings(split, set_.literals_.end());
  AddReduced(AllParts(trigger_literals_), {}, &triggers);
  AddReduced(AllParts(setting_literals_), triggers, &settings);
  set_.literals_.assign(triggers.begin(), triggers.end());
  set_.literals_.insert(set_.literals_.end(), settings.begin(), settings.end());
  if (known_literals_ != nullptr) set_.literals_ = *known_literals_;
  set_.trigger_count_ = known_literals_ != nullptr ? known_literals_->size() : triggers.size();
  sign_literals_.insert(set_.sign_literals_.begin(), set_.sign_literals_.end());
  nearby_literals_.insert(set_.nearby_literals_.begin(), set_.nearby_literals_.end());
  set_.sign_literals_.assign(sign_literals_.begin(), sign_literals_.end());
  set_.nearby_literals_.assign(nearby_literals_.begin(), nearby_literals_.end());
}

void RuleSetBuilder::Fingerprint() {
  // Covers the data in use, not the files, so that their layout and names do not matter. The digest has its own.
  nlohmann::json all = nlohmann::json::object();
  if (digest_ != nullptr) all["built_in"] = digest_->fingerprint;
  for (const auto& [section, entries] : sections_) {
    for (const auto& [id, node] : entries) {
      if (!node.file().from_digest()) all[section][id] = node.json();
    }
  }
  all["json_logs"] = {
      {"text", set_.json_keys_.text}, {"reporter", set_.json_keys_.stream_name}, {"time", set_.json_keys_.time}};
  const RoleWords& roles = set_.role_words_;
  all["roles"] = {{"optimizer_state", roles.optimizer_state},
                  {"optimizer_parts", roles.optimizer_parts},
                  {"weights", roles.weights},
                  {"cache", roles.cache},
                  {"inputs", roles.inputs}};
  for (const RuleNode& node : extensions_) {
    if (!node.file().from_digest()) all["extensions"].push_back(node.json());
  }
  if (!set_.disabled_.empty()) all["disable"] = set_.disabled_;
  set_.fingerprint_ = Sha256Hex(all.dump());
}

void RuleSetBuilder::CheckReader(const RuleNode& node, const FailureRule& failure) {
  const std::vector<std::string>& readers = ReaderNames();
  if (failure.reader.empty() || std::find(readers.begin(), readers.end(), failure.reader) != readers.end()) return;
  const std::string meant = DidYouMean(failure.reader, readers);
  node["reader"].Report("unknown reader '" + failure.reader + "'",
                        meant.empty() ? "readers are " + Listing(readers) : meant);
  names_.SuppressFaults(failure.code);
}

void RuleSetBuilder::CheckScenarios(const RuleNode& examples, const FailureRule& failure) {
  std::vector<std::string> ids;
  for (const Scenario& scenario : failure.scenarios) ids.push_back(scenario.id);
  for (const RuleNode& item : examples.Items()) {
    const std::string id = item["scenario"].Text();
    if (id.empty() || std::find(ids.begin(), ids.end(), id) != ids.end()) continue;
    item["scenario"].Report("unknown scenario '" + id + "'", DidYouMean(id, ids));
  }
}

void RuleSetBuilder::CheckPrefixOrSuffix(const RuleNode& node, const PrefixOrSuffix& prefix_or_suffix) {
  if (node.file().trusted) return;
  re2::RE2::Options options;
  options.set_log_errors(false);
  const re2::RE2 re(prefix_or_suffix.pattern, options);
  if (!re.ok()) node["pattern"].Report("RE2 rejects the pattern: " + re.error());
  static const std::vector<std::string> groups = {"reporter", "repeats", "time"};
  for (const auto& [name, number] : re.NamedCapturingGroups()) {
    if (std::find(groups.begin(), groups.end(), name) != groups.end()) continue;
    const std::string meant = DidYouMean(name, groups);
    node["pattern"].ReportAt(prefix_or_suffix.pattern.find("<" + name + ">") + 1, "unknown group '" + name + "'",
                             meant.empty() ? "groups are " + Listing(groups) : meant);
  }
  if (node.file().built_in || !re.ok()) return;  // the built-in examples are tests
  for (const RuleNode& example : node["examples"].Items()) {
    if (!re2::RE2::PartialMatch(example.Text(), re)) example.Report("the pattern does not match this example");
  }
}

}  // namespace whyoom
