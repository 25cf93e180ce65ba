#include "rules/rule_loader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "rules/compile_terms.h"
#include "rules/expression_node.h"
#include "rules/names.h"
#include "rules/schema_check.h"
#include "rules/sha256.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Shorter literals hit too often in raw bytes.
constexpr std::size_t kHeadLiteral = 6;
// Facts are only looked for where a literal of theirs is rare; they find heads that are wrapped hard.
constexpr std::size_t kFactLiteral = 12;
constexpr std::size_t kPiece = 16;

struct SectionInfo {
  const char* name;
  const char* id_key;
};
constexpr SectionInfo kSections[] = {{"failures", "code"}, {"remedies", "id"},    {"contexts", "id"},
                                     {"frameworks", "id"}, {"chips", "id"},       {"quotations", "id"},
                                     {"suspects", "id"},   {"error_lines", "id"}, {"affixes", "id"},
                                     {"traces", "id"},     {"differences", "id"}, {"notes", "id"}};
constexpr const char* kNoIdKey = "";

// A long literal in pieces of whole words. A log may break a line anywhere, also inside the literal; of several pieces
// one is left whole, and each is still rare.
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

std::string Shown(const LoadedFile& file, JsonPlace place) {
  return file.name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

template <typename Map>
std::vector<std::string> Keys(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& entry : map) keys.push_back(entry.first);
  return keys;
}

void AddOnce(const std::vector<std::string>& words, std::vector<std::string>* to) {
  for (const std::string& word : words) {
    if (std::find(to->begin(), to->end(), word) == to->end()) to->push_back(word);
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
  builder.Merge();
  builder.BuildRowTests();
  builder.BuildTerms();
  for (const auto& [id, node] : builder.sections_["contexts"]) builder.BuildContext(node);
  for (const auto& [id, node] : builder.sections_["failures"]) builder.BuildFailure(node);
  for (const auto& [id, node] : builder.sections_["remedies"]) builder.BuildRemedy(node);
  for (const RuleNode& node : builder.extensions_) builder.BuildExtension(node);
  for (const auto& [id, node] : builder.sections_["frameworks"]) builder.BuildFramework(node);
  for (const auto& [id, node] : builder.sections_["chips"]) builder.BuildChip(node);
  for (const auto& [id, node] : builder.sections_["quotations"]) builder.BuildQuotation(node);
  for (const auto& [id, node] : builder.sections_["suspects"]) builder.BuildSuspect(node);
  for (const auto& [id, node] : builder.sections_["error_lines"]) builder.BuildErrorLine(node);
  for (const auto& [id, node] : builder.sections_["affixes"]) builder.BuildAffix(node);
  for (const RuleNode& node : builder.more_examples_) builder.BuildMoreExamples(node);
  for (const RuleNode& node : builder.situations_) builder.BuildSituation(node);
  builder.BuildComparison();
  builder.BuildWording();
  builder.BuildThresholds();
  std::stable_sort(builder.set_.frameworks_.begin(), builder.set_.frameworks_.end(),
                   [](const Framework& a, const Framework& b) { return a.priority > b.priority; });
  if (builder.all_read_ && !(trusted && files.empty())) builder.CheckReferences();
  builder.set_.default_framework_ = builder.default_framework_;
  for (const RuleFile& file : files) {
    std::vector<std::string>& given = builder.set_.given_;
    if (!file.given.empty() && std::find(given.begin(), given.end(), file.given) == given.end())
      given.push_back(file.given);
  }
  builder.ReduceLiterals();
  builder.Fingerprint();
  const std::vector<Fault> found = builder.sink_.Sorted();
  faults->insert(faults->end(), found.begin(), found.end());
  return std::move(builder.set_);
}

void RuleSetBuilder::Read(std::string_view schema, const std::vector<RuleFile>& built_in,
                          const std::vector<RuleFile>& files, bool trusted) {
  files_.reserve(built_in.size() + files.size());  // nodes point into it
  const auto parse = [&](const RuleFile& file, bool is_built_in) {
    files_.push_back({file.name, is_built_in, is_built_in && trusted, files_.size(), JsonDocument::Parse(file.text)});
  };
  for (const RuleFile& file : built_in) parse(file, true);
  for (const RuleFile& file : files) parse(file, false);

  std::optional<SchemaCheck> check;  // made only where something is to be checked
  for (const LoadedFile& file : files_) {
    for (const JsonFault& fault : file.document.faults()) {
      sink_.Add(file, file.document.PlaceAt(fault.offset), fault.what, fault.hint);
    }
    if (file.document.value().is_null() && !file.document.faults().empty()) {
      all_read_ = false;
      continue;
    }
    if (file.trusted) continue;
    if (!check) check.emplace(schema);
    for (const SchemaFault& fault : check->Run(file.document.value())) {
      const JsonPlace place =
          fault.at_key ? file.document.PlaceOfKey(fault.pointer) : file.document.PlaceOf(fault.pointer);
      sink_.Add(file, place, fault.what, fault.hint);
    }
  }
}

void RuleSetBuilder::Merge() {
  for (const LoadedFile& file : files_) {
    const RuleNode root = RuleNode::Root(&file, &sink_);
    for (const SectionInfo& section : kSections) MergeSection(root, section.name, section.id_key);
    for (const char* section : {kTerms, kRowTests, kWording, kThresholds}) {
      for (const auto& [name, node] : root[section].Members()) MergeEntry(section, kNoIdKey, name, node);
    }
    for (const char* section : {kWording, kThresholds}) {
      if (!file.built_in) continue;
      for (const auto& [id, node] : root[section].Members()) asked_for_.emplace(id, section);
    }
    for (const RuleNode& framework : root["frameworks"].Items()) {
      if (framework["is_default"].Bool()) default_framework_ = framework["id"].Text();
    }
    for (const RuleNode& node : root["extensions"].Items()) extensions_.push_back(node);
    for (const RuleNode& node : root["examples"].Items()) more_examples_.push_back(node);
    for (const RuleNode& node : root["situations"].Items()) situations_.push_back(node);
    AddJsonKeys(root["json_logs"]);
    AddRoleWords(root["roles"]);
  }
}

void RuleSetBuilder::MergeSection(const RuleNode& root, const std::string& section, const std::string& id_key) {
  for (const RuleNode& node : root[section].Items()) {
    const std::string id = node[id_key].Text();
    if (!id.empty()) MergeEntry(section, id_key, id, node);
  }
}

void RuleSetBuilder::MergeEntry(const std::string& section, const std::string& id_key, const std::string& id,
                                const RuleNode& node) {
  const auto [found, is_new] = sections_[section].emplace(id, node);
  if (is_new) return;
  if (found->second.file().built_in != node.file().built_in) {
    found->second = node;
    return;
  }
  ReportId(node, id_key, "the " + (id_key == kNoIdKey ? "name" : id_key) + " '" + id + "' is in use already",
           "by " + Shown(found->second.file(), IdPlace(found->second, id_key)));
}

JsonPlace RuleSetBuilder::IdPlace(const RuleNode& node, const std::string& id_key) {
  return id_key == kNoIdKey ? node.key_place() : node[id_key].place();
}

void RuleSetBuilder::ReportId(const RuleNode& node, const std::string& id_key, std::string what, std::string hint) {
  if (id_key == kNoIdKey) {
    node.ReportKey(std::move(what), std::move(hint));
  } else {
    node[id_key].Report(std::move(what), std::move(hint));
  }
}

void RuleSetBuilder::BuildRowTests() {
  const Section& nodes = sections_[kRowTests];
  Section conditions;
  for (const auto& [name, node] : nodes) {
    CheckName(name, node, "field");
    conditions.emplace(name, node["when"]);
  }
  // They may name each other; each is compiled with what these stand for in it.
  for (auto& [name, when] : CompileTerms(conditions, "field")) {
    const RuleNode& node = nodes.at(name);
    names_.Use(NameCheck::kRowTests, node["when"], when.name_uses(), true);
    names_.GiveRowField(name);
    if (when.is_over_rows()) node["when"].Report("a field is of one row", "write a term");
    set_.row_tests_.push_back({name, when, node["about"].Text()});
  }
}

void RuleSetBuilder::BuildTerms() {
  const Section& nodes = sections_[kTerms];
  for (const auto& [name, node] : nodes) {
    CheckName(name, node, "term");
    if (sections_[kRowTests].contains(name))
      node.ReportKey("'" + name + "' is a field already", "give the term another name");
  }
  terms_ = CompileTerms(nodes, "term");
  // Where a term is used tells whose facts it may name; here only what nothing at all gives is wrong.
  for (const auto& [name, node] : nodes) {
    names_.Use(NameCheck::kTerms, node, terms_.at(name).name_uses(), true);
    names_.MayMean(name);
  }
}

void RuleSetBuilder::CheckAskedFor(const std::string& section, const std::string& id, const RuleNode& node) const {
  std::vector<std::string> known;
  for (const auto& [asked, of] : asked_for_) {
    if (of == section) known.push_back(asked);
  }
  if (node.file().built_in || std::find(known.begin(), known.end(), id) != known.end()) return;
  node.ReportKey("nothing asks for '" + Printable(id) + "' of the " + section, DidYouMean(id, known));
}

void RuleSetBuilder::CheckName(const std::string& name, const RuleNode& node, const std::string& what) {
  const auto holds = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (name.empty() || name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
      (name[0] >= '0' && name[0] <= '9')) {
    node.ReportKey("'" + Printable(name) + "' cannot be the name of a " + what,
                   "write it in small letters, digits and _");
  } else if (internal::IsReserved(name)) {
    node.ReportKey("'" + name + "' is a word of the expressions", "give the " + what + " another name");
  } else if (holds(RowFields()) || holds(BuiltInNames())) {
    node.ReportKey("'" + name + "' is a field already", "give the " + what + " another name");
  }
}

void RuleSetBuilder::AddJsonKeys(const RuleNode& node) {
  for (const char* key : {"text", "reporter", "time"}) {
    for (const RuleNode& item : node[key].Items()) {
      const std::string pointer = item.Text();
      if (!pointer.empty() && pointer[0] != '/')
        item.Report("'" + pointer + "' is no JSON pointer", "write /" + pointer);
    }
  }
  AddOnce(node["text"].Words(), &set_.json_keys_.text);
  AddOnce(node["reporter"].Words(), &set_.json_keys_.reporter);
  AddOnce(node["time"].Words(), &set_.json_keys_.time);
}

void RuleSetBuilder::AddRoleWords(const RuleNode& node) {
  const auto add = [&](const char* role, std::set<std::string>* words) {
    for (const std::string& word : node[role].Words()) words->insert(word);
  };
  add("optimizer_state", &set_.role_words_.optimizer_state);
  add("weights", &set_.role_words_.weights);
  add("cache", &set_.role_words_.cache);
  add("inputs", &set_.role_words_.inputs);
}

void RuleSetBuilder::CollectLiterals(const Pattern& pattern, const RuleNode& node, const char* what) {
  if (!pattern.ok() || known_literals_ != nullptr) return;  // what is wrong with it has been reported
  const std::vector<std::string> literals = pattern.Literals(kHeadLiteral);
  if (literals.empty()) {
    node.Report(
        "this " + std::string(what) + " holds no literal of " + std::to_string(kHeadLiteral) + " characters or more",
        "the prefilter could not find it in raw bytes");
  }
  literals_.insert(literals.begin(), literals.end());
}

void RuleSetBuilder::CollectLiterals(const Pattern& fact) {
  if (known_literals_ != nullptr) return;
  const std::vector<std::string> literals = fact.Literals(kFactLiteral);
  literals_.insert(literals.begin(), literals.end());
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
      names_.Forgive(code);
    }
  }
  CheckCodes();
  GiveFacts();
  CheckTermsAreNoFacts();
  CheckSituations();
  names_.Run();
}

void RuleSetBuilder::CheckTermsAreNoFacts() {
  std::set<std::string> said;
  const auto check = [&](const RuleNode& giver, const char* id_key, const std::string& owner) {
    const std::string id = giver[id_key].Text();
    for (const std::string& fact : names_.FactsOf(owner)) {
      const auto term = sections_[kTerms].find(fact);
      if (term == sections_[kTerms].end() || !said.insert(fact).second) continue;
      // Whichever of the two is the user's can be named otherwise.
      if (term->second.file().built_in && !giver.file().built_in) {
        giver[id_key].Report("a fact of '" + id + "' has the name of the term '" + fact + "'",
                             "the term is in " + Shown(term->second.file(), term->second.key_place()));
      } else {
        term->second.ReportKey("'" + fact + "' is a fact already", "of '" + id + "'");
      }
    }
  };
  // Contexts first: what they give is given by the failures, too, that name them.
  for (const auto& [id, node] : sections_["contexts"]) check(node, "id", ContextOwner(id));
  for (const auto& [code, node] : sections_["failures"]) check(node, "code", code);
}

void RuleSetBuilder::CheckCodes() {
  std::vector<std::string> known;
  std::map<std::string, std::string> owner_of;
  for (const Failure& failure : set_.failures_) {
    known.push_back(failure.code);
    owner_of.emplace(failure.code, failure.code);
  }
  for (const Failure& failure : set_.failures_) {
    for (const RuleNode& alias : sections_["failures"].at(failure.code)["aliases"].Items()) {
      const auto [owner, is_new] = owner_of.emplace(alias.Text(), failure.code);
      if (!is_new && owner->second != failure.code) {
        alias.Report("'" + alias.Text() + "' names the failure '" + owner->second + "' already");
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
      if (const Failure* failure = set_.FindFailure(code)) code = failure->code;
    }
  };
  for (Failure& failure : set_.failures_) {
    canonical(&failure.absorbed_by);
    canonical(&failure.consequence_of);
  }
}

void RuleSetBuilder::GiveFacts() {
  for (const Context& context : set_.contexts_) {
    const std::string owner = ContextOwner(context.id);
    for (const Pattern& pattern : context.patterns) {
      for (const std::string& fact : pattern.capture_names()) names_.Give(owner, fact);
    }
    for (const DerivedFact& derived : context.derived) names_.Give(owner, derived.name);
  }
  for (const Failure& failure : set_.failures_) {
    const auto give = [&](const std::vector<std::string>& facts) {
      for (const std::string& fact : facts) names_.Give(failure.code, fact);
    };
    for (const Head& head : failure.heads) give(head.pattern.capture_names());
    for (const Pattern& fact : failure.facts) give(fact.capture_names());
    for (const DerivedFact& derived : failure.derived) give({derived.name});
    give(ReaderFacts(failure.reader));
    for (const Context& context : set_.contexts_) {
      const std::vector<std::string>& used = failure.contexts;
      if (std::find(used.begin(), used.end(), context.id) != used.end()) {
        for (const Pattern& pattern : context.patterns) give(pattern.capture_names());
      }
    }
  }
}

void RuleSetBuilder::ReduceLiterals() {
  std::set<std::string> parts;
  for (const std::string& literal : literals_) {
    for (std::string& part : Parts(literal)) parts.insert(std::move(part));
  }
  literals_ = std::move(parts);
  // Where a literal is found, so are its parts: one that holds another one finds nothing more.
  for (const std::string& literal : literals_) {
    const bool redundant = std::any_of(literals_.begin(), literals_.end(), [&](const std::string& part) {
      return part.size() < literal.size() && literal.find(part) != std::string::npos;
    });
    if (!redundant) set_.literals_.push_back(literal);
  }
  if (known_literals_ != nullptr) set_.literals_ = *known_literals_;
  set_.sign_literals_.assign(sign_literals_.begin(), sign_literals_.end());
  set_.nearby_literals_.assign(nearby_literals_.begin(), nearby_literals_.end());
}

void RuleSetBuilder::Fingerprint() {
  // Of the data in use, not of the files: layout and order of the files mean nothing.
  nlohmann::json all = nlohmann::json::object();
  for (const auto& [section, entries] : sections_) {
    for (const auto& [id, node] : entries) all[section][id] = node.json();
  }
  all["json_logs"] = {
      {"text", set_.json_keys_.text}, {"reporter", set_.json_keys_.reporter}, {"time", set_.json_keys_.time}};
  const RoleWords& roles = set_.role_words_;
  all["roles"] = {{"optimizer_state", roles.optimizer_state},
                  {"weights", roles.weights},
                  {"cache", roles.cache},
                  {"inputs", roles.inputs}};
  for (const RuleNode& node : extensions_) all["extensions"].push_back(node.json());
  set_.fingerprint_ = Sha256Hex(all.dump());
}

}  // namespace whyoom
