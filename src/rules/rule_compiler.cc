#include "rules/rule_compiler.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include "rules/describe_rules.h"
#include "rules/literals.h"
#include "rules/rule_image.h"
#include "rules/rule_reader.h"
#include "rules/sha256.h"
#include "rules/suggest.h"
#include "rules/terms.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr const char* kBuiltIn = "the built-in rules";

// Calls visit(section, entries, is_by_name) for each section with entries.
template <class Visit>
class EachSection {
 public:
  explicit EachSection(const Visit& visit) : visit_(visit) {}
  void Section(const char* key, auto& entries, const char* /*about*/) { visit_(key, entries, false); }
  void ByName(const char* key, auto& entries, const char* /*about*/) { visit_(key, entries, true); }
  void Settings(const char* /*key*/, auto& /*record*/) {}

 private:
  const Visit& visit_;
};

template <class Visit>
void VisitSections(RuleData& data, const Visit& visit) {
  EachSection<Visit> each(visit);
  DescribeSections(each, data);
}

// The title of an entry, or its most descriptive member.
std::string TitleOf(const auto& entry) {
  if constexpr (requires { entry.title; }) {
    return entry.title;
  } else if constexpr (requires { entry.name; }) {
    return entry.name;
  } else if constexpr (requires { entry.pattern.source(); }) {
    return entry.pattern.source();
  } else if constexpr (requires { entry.lead; }) {
    return entry.lead.ok() ? entry.lead.source() : entry.before.source();
  } else if constexpr (requires { entry.pattern; }) {
    return entry.pattern;
  } else if constexpr (requires { entry.expression; }) {
    return entry.expression.source();
  } else if constexpr (requires { entry.about; }) {
    return entry.about;
  } else {
    return "";
  }
}

// Sorts the formulas of each fact by priority, among the positions that they occupy in the list.
void SortByPriority(std::vector<DerivedFact>* derived) {
  std::map<std::string, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < derived->size(); ++i) places[(*derived)[i].name].push_back(i);
  const std::vector<DerivedFact> as_given = *derived;
  for (const auto& [name, given] : places) {
    std::vector<std::size_t> sorted = given;
    std::ranges::stable_sort(sorted, std::greater(), [&](std::size_t i) { return as_given[i].priority; });
    for (std::size_t i = 0; i < given.size(); ++i) (*derived)[given[i]] = as_given[sorted[i]];
  }
}

template <class Entries>
std::vector<std::string> IdsOf(const Entries& entries) {
  std::vector<std::string> ids;
  for (const auto& entry : entries) ids.push_back(IdOf(entry));
  return ids;
}

template <class Entries>
auto Find(Entries& entries, const std::string& id) {
  return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return IdOf(entry) == id; });
}

template <class Entries>
bool Contains(const Entries& entries, const std::string& id) {
  return Find(entries, id) != entries.end();
}

// Calls visit(section, entries, other entries) for each section of two sets of rules.
void VisitBoth(RuleData& one, RuleData& other, const auto& visit) {
  VisitSections(one, [&](const std::string_view section, auto& entries, bool /*is_by_name*/) {
    VisitSections(other, [&](const std::string_view name, auto& others, bool /*is_by_name*/) {
      if constexpr (std::is_same_v<decltype(entries), decltype(others)>) {
        if (name == section) visit(std::string(section), entries, others);
      }
    });
  });
}

class Compiler {
 public:
  Compiler(RuleData base, const std::vector<RuleFile>& files, const CompileOptions& options)
      : data_(std::move(base)), options_(options) {
    for (const RuleFile& file : files) files_.emplace_back(file);
    all_.terms = data_.term_table.get();
    all_.is_checked = options.is_checked;
  }

  CompiledRules Run() {
    for (LoadedFile& file : files_) CheckFile(file);
    std::stable_sort(files_order_.begin(), files_order_.end(),
                     [](const LoadedFile* a, const LoadedFile* b) { return a->layer() < b->layer(); });
    ReadLayers(true);
    CompileTerms();
    FindDefaultFramework();
    ReadLayers(false);
    for (const LoadedFile* file : files_order_) {
      for (const JsonNode& node : ItemsOf(file->root()["extensions"])) Extend(node);
    }
    Sort();
    const bool all_read =
        std::all_of(files_.begin(), files_.end(), [](const auto& file) { return file.root().exists(); });
    if (options_.is_checked && all_read) CheckReferences();
    CompiledRules compiled;
    if (options_.lists_entries) compiled.entries = List();
    DropReferences();
    if (options_.is_checked) AddLiterals(all_, &data_);
    if (!files_.empty()) data_.fingerprint = Sha256Hex(data_.fingerprint + PackRules(Own()) + Disabled());
    compiled.data = std::move(data_);
    for (const LoadedFile& file : files_) {
      const std::vector<Fault> faults = file.SortedFaults();
      compiled.faults.insert(compiled.faults.end(), faults.begin(), faults.end());
    }
    return compiled;
  }

 private:
  // Where an entry of a file is; its layer.
  struct Origin {
    int layer = 0;
    std::string place;
    const JsonNode* node = nullptr;
  };

  static std::string Key(const std::string& section, const std::string& id) { return section + "/" + id; }

  std::string Disabled() const {
    std::string all;
    for (const auto& [key, by] : disabled_) all += " " + key;
    return all;
  }

  // The entries that the files contain or extend.
  RuleData Own() {
    RuleData own;
    own.json_keys = data_.json_keys;
    own.role_words = data_.role_words;
    VisitBoth(data_, own, [&](const std::string& section, const auto& entries, auto& owned) {
      for (const auto& entry : entries) {
        const std::string key = Key(section, IdOf(entry));
        if (origins_.contains(key) || extended_.contains(key)) owned.push_back(entry);
      }
    });
    return own;
  }

  // Checks what is not part of a section.
  void CheckFile(LoadedFile& file) {
    const JsonNode& root = file.root();
    if (!root.exists()) return;
    if (root.kind() == JsonNode::Kind::kObject) files_order_.push_back(&file);
    RuleReader reader(&all_, root);
    std::string format;
    reader.Need("format", format, {.about = "The version of the rule format.", .one_of = "whyoom.rules/1"});
    for (const char* key : {"$comment", "$schema", "disable", "extensions", "json_logs", "roles"}) reader.Allow(key);
    for (const std::string& section : RuleSections()) reader.Allow(section.c_str());
    reader.CheckKeys();
  }

  // Reads either terms and fields of rows, which others use, or all other sections.
  void ReadLayers(bool are_terms) {
    for (std::size_t begin = 0, end = 0; begin < files_order_.size(); begin = end) {
      while (end < files_order_.size() && files_order_[end]->layer() == files_order_[begin]->layer()) ++end;
      // `disable` affects the lower layers only, so an entry can be disabled and defined again in one layer.
      for (std::size_t i = begin; i < end; ++i) {
        for (const JsonNode& node : ItemsOf(files_order_[i]->root()["disable"])) Disable(node, are_terms);
      }
      for (std::size_t i = begin; i < end; ++i) ReadFile(files_order_[i]->root(), are_terms);
    }
  }

  static const std::vector<JsonNode>& ItemsOf(const JsonNode& node) {
    if (node.exists() && node.kind() != JsonNode::Kind::kArray) node.Report("expected an array");
    return node.items();
  }

  static bool IsOfTerms(const std::string& section) { return section == "terms" || section == "row_fields"; }

  void ReadFile(const JsonNode& root, bool are_terms) {
    VisitSections(data_, [&](const char* section, auto& entries, bool is_by_name) {
      const JsonNode& node = root[section];
      if (IsOfTerms(section) != are_terms || !node.exists()) return;
      const bool is_right = node.kind() == (is_by_name ? JsonNode::Kind::kObject : JsonNode::Kind::kArray);
      if (!is_right) return node.Report(is_by_name ? "expected an object" : "expected an array");
      for (const JsonNode& item : node.items()) Add(section, item, is_by_name, &entries);
    });
    if (are_terms) return;
    if (root["json_logs"].exists()) RuleReader(&all_, root["json_logs"]).Read(data_.json_keys);
    if (root["roles"].exists()) RuleReader(&all_, root["roles"]).Read(data_.role_words);
    for (std::vector<std::string>* keys :
         {&data_.json_keys.text, &data_.json_keys.stream_name, &data_.json_keys.time}) {
      std::vector<std::string> distinct;
      for (const std::string& key : *keys) {
        if (std::find(distinct.begin(), distinct.end(), key) == distinct.end()) distinct.push_back(key);
      }
      *keys = std::move(distinct);
    }
  }

  template <class Record>
  void Add(const std::string& section, const JsonNode& node, bool is_by_name, std::vector<Record>* entries) {
    Record record;
    if constexpr (requires { record.id; }) record.id = is_by_name ? node.key() : "";
    RuleReader(&all_, node).Read(record);
    Complete(node, &record);
    const std::string id = IdOf(record);
    if (id.empty() && !is_by_name) return;
    const JsonNode& id_node = is_by_name ? node : node[std::is_same_v<Record, FailureRule> ? "code" : "id"];
    const Origin origin{node.file().layer(), is_by_name ? node.KeyPlace() : id_node.Place(), &node};
    const auto before = Find(*entries, id);
    const auto known = origins_.find(Key(section, id));
    if (known != origins_.end() && known->second.layer == origin.layer) {
      if (is_by_name && &known->second.node->file() == &node.file()) return;  // reported as a repeated key
      const std::string what = std::string(is_by_name                            ? "the name"
                                           : std::is_same_v<Record, FailureRule> ? "the code"
                                                                                 : "the id") +
                               " '" + id + "' is already in use";
      is_by_name ? node.ReportKey(what, "by " + known->second.place)
                 : id_node.Report(what, "by " + known->second.place);
      return;
    }
    if (section == "wording" || section == "thresholds") CheckIsUsed(section, id, node, *entries);
    if (before != entries->end()) {
      replaced_[Key(section, id)].push_back(known == origins_.end() ? kBuiltIn : known->second.place);
      *before = std::move(record);
    } else {
      entries->push_back(std::move(record));
    }
    origins_[Key(section, id)] = origin;
    disabled_.erase(Key(section, id));
    if (section == "failures") disabled_headers_.erase(id);
  }

  // Only the program can look up new texts and thresholds.
  template <class Record>
  void CheckIsUsed(const std::string& section, const std::string& id, const JsonNode& node,
                   const std::vector<Record>& entries) {
    if (node.file().layer() == 0 || Contains(entries, id)) return;
    node.ReportKey("whyoom does not use '" + Printable(id) + "' in '" + section + "'", DidYouMean(id, IdsOf(entries)));
  }

  // Derives members of a new record from others.
  void Complete(const JsonNode& /*node*/, auto* /*record*/) {}
  void Complete(const JsonNode& /*node*/, ContradictionRule* rule) {
    if (rule->list) rule->figures.push_back("listed");  // the number of rows
  }
  void Complete(const JsonNode& /*node*/, Context* context) { SortByPriority(&context->derived); }
  void Complete(const JsonNode& /*node*/, Framework* framework) {
    if (framework->name.empty()) framework->name = framework->id;
    if (!framework->is_default) return;
    for (Framework& other : data_.frameworks) other.is_default = false;
  }
  void Complete(const JsonNode& node, FailureRule* failure) {
    SortByPriority(&failure->derived);
    if (failure->header_patterns.empty()) all_.names.SuppressFaults(failure->code);  // their facts are unknown
    if (!failure->samples.examples.empty()) failure->example = failure->samples.examples[0].text;
    CheckExamples(node, *failure);
    const std::vector<JsonNode>& scenarios = node["scenarios"].items();
    for (std::size_t i = 0; i < std::min(scenarios.size(), failure->scenarios.size()); ++i)
      InheritUses(scenarios[i]["remedies"], failure->remedies, &failure->scenarios[i].remedies);
    InheritUses(node["remedies"], {}, &failure->remedies);
  }

  // A scenario's remedy without a section has that of the failure's own list.
  static void InheritUses(const JsonNode& node, const std::vector<RemedyUse>& listed, std::vector<RemedyUse>* uses) {
    for (std::size_t i = 0; i < uses->size(); ++i) {
      RemedyUse& use = (*uses)[i];
      const auto of_failure = std::find_if(listed.begin(), listed.end(),
                                           [&](const RemedyUse& other) { return other.remedy == use.remedy; });
      if (of_failure != listed.end()) {
        if (use.section.empty()) use.section = of_failure->section;
        if (use.prior == RemedyUse().prior) use.prior = of_failure->prior;
      }
      if (use.section.empty() && !use.remedy.empty() && i < node.items().size())
        node.items()[i].Report("the remedy '" + use.remedy + "' has no \"section\"",
                               "add one, or list the remedy in the failure's own remedies");
    }
  }

  void CheckExamples(const JsonNode& node, const FailureRule& failure) {
    const std::vector<std::string> scenarios = IdsOf(failure.scenarios);
    for (const JsonNode& item : node["examples"].items()) {
      const std::string id = item["scenario"].Text();
      if (id.empty() || std::find(scenarios.begin(), scenarios.end(), id) != scenarios.end()) continue;
      item["scenario"].Report("unknown scenario '" + id + "'", DidYouMean(id, scenarios));
    }
  }

  void CompileTerms() {
    Section terms;
    Section fields;
    Section conditions;
    for (const LoadedFile* file : files_order_) {
      for (const JsonNode& node : file->root()["terms"].items()) terms[node.key()] = &node;
      for (const JsonNode& node : file->root()["row_fields"].items()) {
        fields[node.key()] = &node;
        conditions[node.key()] = &node["when"];
      }
    }
    if (terms.empty() && fields.empty()) return;
    CheckNames(terms, fields);
    const bool is_checked = options_.is_checked;
    CompileNamed(conditions, "field", is_checked, data_.field_table.get());
    CompileNamed(terms, "term", is_checked, data_.term_table.get());
    for (Term& term : data_.terms) term.expression = data_.term_table->at(term.id);
    for (DerivedRowField& field : data_.derived_row_fields) field.when = data_.field_table->at(field.id);
    if (!is_checked) return;
    // The use of a term determines the valid facts; this check only finds names that nothing provides.
    for (const auto& [name, node] : terms)
      all_.names.Use(kTermsOwner, *node, data_.term_table->at(name).name_uses(), true);
    for (const auto& [name, node] : conditions) {
      const Expression& when = data_.field_table->at(name);
      all_.names.Use(kRowOwner, *node, when.name_uses(), true);
      if (when.is_over_rows()) node->Report("a field of a row cannot use a function over rows", "write a term");
    }
  }

  void CheckNames(const Section& terms, const Section& fields) {
    for (const auto& [name, node] : fields) CheckTermName(name, *node, "field");
    for (const auto& [name, node] : terms) {
      CheckTermName(name, *node, "term");
      if (Contains(data_.derived_row_fields, name))
        node->ReportKey("'" + name + "' is already a field", "choose another name for the term");
    }
  }

  void FindDefaultFramework() {
    for (const Framework& framework : data_.frameworks) {
      if (framework.is_default) all_.default_framework = framework.id;
    }
    for (const LoadedFile* file : files_order_) {
      for (const JsonNode& node : file->root()["frameworks"].items()) {
        if (node["is_default"].number() != 0) all_.default_framework = node["id"].Text();
      }
    }
  }

  FailureRule* FindFailure(const std::string& code_or_alias) {
    for (FailureRule& failure : data_.failures) {
      const std::vector<std::string>& aliases = failure.aliases;
      if (failure.code == code_or_alias || std::find(aliases.begin(), aliases.end(), code_or_alias) != aliases.end())
        return &failure;
    }
    return nullptr;
  }

  void Extend(const JsonNode& node) {
    if (!node["extends"].is_text())
      return node.Report("the key 'extends' is missing", "the code of a failure or the id of a remedy");
    const std::string name = node["extends"].Text();
    FailureRule* const failure = FindFailure(name);
    const auto remedy = Find(data_.remedies, name);
    if (failure == nullptr && remedy == data_.remedies.end()) {
      std::vector<std::string> known = IdsOf(data_.remedies);
      for (const FailureRule& one : data_.failures) known.push_back(one.code);
      node["extends"].Report("there is no failure or remedy '" + Printable(name) + "'", DidYouMean(name, known));
      return;
    }
    if (failure == nullptr) {
      RuleReader(&all_, node, "", true).Read(*remedy);
      extended_[Key("remedies", name)].push_back(node["extends"].Place());
      return;
    }
    const std::size_t used = failure->remedies.size();
    RuleReader(&all_, node, failure->code, true).Read(*failure);
    SortByPriority(&failure->derived);
    extended_[Key("failures", failure->code)].push_back(node["extends"].Place());
    // An added remedy applies to every scenario: its own conditions decide whether it helps.
    const auto added = failure->remedies.begin() + static_cast<std::ptrdiff_t>(used);
    for (Scenario& scenario : failure->scenarios) {
      if (!scenario.remedies.empty()) scenario.remedies.insert(scenario.remedies.end(), added, failure->remedies.end());
    }
  }

  // Accepts "remedies/bf16" and "failures/E1000/heads/used_of".
  void Disable(const JsonNode& node, bool are_terms) {
    if (!are_terms && !node.is_text()) node.Report("expected a text");
    const std::string path = node.Text();
    const std::size_t slash = path.find('/');
    const std::string section = path.substr(0, slash);
    if (path.empty() || IsOfTerms(section) != are_terms) return;
    const std::vector<std::string>& sections = RuleSections();
    if (slash == std::string::npos || std::find(sections.begin(), sections.end(), section) == sections.end()) {
      const std::string meant = DidYouMean(section, sections);
      return node.Report("'" + Printable(path) + "' does not name an entry",
                         slash == std::string::npos ? "write SECTION/ID, for example remedies/ID"
                         : meant.empty()            ? "sections are " + Listing(sections)
                                                    : meant);
    }
    std::string id = path.substr(slash + 1);
    constexpr std::string_view kHeads = "/heads/";
    const std::size_t head = section == "failures" ? id.find(kHeads) : std::string::npos;
    const std::string header = head == std::string::npos ? "" : id.substr(head + kHeads.size());
    id.resize(std::min(head, id.size()));
    FailureRule* const failure = section == "failures" ? FindFailure(id) : nullptr;
    if (failure != nullptr) id = failure->code;
    if (!header.empty() && failure != nullptr) return DisableHeader(node, header, failure);
    VisitBoth(data_, removed_, [&](const std::string& name, auto& entries, auto& removed) {
      if (name != section) return;
      const auto found = Find(entries, id);
      if (found == entries.end())
        return node.Report("there is no '" + Printable(id) + "' in the " + section + " of lower layers",
                           DidYouMean(id, IdsOf(entries)));
      removed.push_back(std::move(*found));
      entries.erase(found);
      disabled_.emplace(Key(section, id), node.Place());
      if (section == "terms") data_.term_table->erase(id);
    });
  }

  void DisableHeader(const JsonNode& node, const std::string& header, FailureRule* failure) {
    std::vector<std::string> known = IdsOf(failure->header_patterns);
    const auto found = Find(failure->header_patterns, header);
    if (found == failure->header_patterns.end()) {
      std::erase(known, "");
      const std::string meant = DidYouMean(header, known);
      return node.Report("'" + failure->code + "' has no head '" + Printable(header) + "'",
                         meant.empty() ? "its heads are " + Listing(known) : meant);
    }
    failure->header_patterns.erase(found);
    disabled_.emplace("failures/" + failure->code + "/heads/" + header, node.Place());
    disabled_headers_[failure->code].push_back("heads/" + header + ", by " + node.Place());
  }

  void Sort() {
    VisitSections(data_, [](const char* /*section*/, auto& entries, bool /*is_by_name*/) {
      std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return IdOf(a) < IdOf(b); });
    });
    std::stable_sort(data_.notes.begin(), data_.notes.end(),
                     [](const Note& a, const Note& b) { return a.prior < b.prior; });
    std::stable_sort(data_.frameworks.begin(), data_.frameworks.end(),
                     [](const Framework& a, const Framework& b) { return a.priority > b.priority; });
  }

  void CheckReferences() {
    CheckCodes();
    for (const RuleReferences::Reference& reference : all_.references) {
      switch (reference.names) {
        case Names::kRemedy:
          CheckReference(reference, "remedies", "unknown remedy", IdsOf(data_.remedies));
          break;
        case Names::kContext:
          if (!CheckReference(reference, "contexts", "unknown context", IdsOf(data_.contexts)))
            all_.names.SuppressFaults(reference.owner);
          break;
        case Names::kFramework:
          CheckReference(reference, "frameworks", "there is no framework", IdsOf(data_.frameworks));
          break;
        default:
          if (FindByCode(data_.failures, reference.name) == nullptr &&
              FindByCode(removed_.failures, reference.name) == nullptr)
            CheckReference(reference, "failures", "unknown code", IdsOf(data_.failures));
      }
    }
    ProvideFacts();
    CheckFactsAreNoTerms();
    for (const Term& term : data_.terms) all_.names.AddTermName(term.id);
    for (const DerivedRowField& field : data_.derived_row_fields) all_.names.AddRowField(field.id);
    all_.names.Run();
  }

  bool CheckReference(const RuleReferences::Reference& reference, const std::string& section, const std::string& what,
                      const std::vector<std::string>& known) const {
    const std::string& name = reference.name;
    if (std::find(known.begin(), known.end(), name) != known.end() || disabled_.contains(Key(section, name)))
      return true;
    const std::string text = what + " '" + Printable(name) + "'";
    reference.at_key ? reference.at->ReportKey(text, DidYouMean(name, known))
                     : reference.at->Report(text, DidYouMean(name, known));
    return false;
  }

  // Reports aliases that name two failures.
  void CheckCodes() {
    std::map<std::string, std::string> owner_of;
    for (const FailureRule& failure : data_.failures) owner_of.emplace(failure.code, failure.code);
    for (const FailureRule& failure : data_.failures) {
      const auto origin = origins_.find(Key("failures", failure.code));
      for (std::size_t i = 0; i < failure.aliases.size(); ++i) {
        const auto [owner, is_new] = owner_of.emplace(failure.aliases[i], failure.code);
        if (is_new || owner->second == failure.code || origin == origins_.end()) continue;
        const std::vector<JsonNode>& nodes = (*origin->second.node)["aliases"].items();
        if (i < nodes.size())
          nodes[i].Report("'" + failure.aliases[i] + "' already names the failure '" + owner->second + "'");
      }
    }
  }

  void ProvideFacts() {
    const auto give = [this](const std::string& owner, const Pattern& pattern) {
      for (const std::string& fact : pattern.capture_names()) all_.names.Give(owner, fact);
    };
    std::vector<Context> contexts = data_.contexts;
    contexts.insert(contexts.end(), removed_.contexts.begin(), removed_.contexts.end());
    for (const Context& context : contexts) {
      for (const Pattern& pattern : context.patterns) give(ContextOwner(context.id), pattern);
      for (const DerivedFact& derived : context.derived) all_.names.Give(ContextOwner(context.id), derived.name);
    }
    for (const FailureRule& failure : data_.failures) {
      for (const HeaderPattern& head : failure.header_patterns) give(failure.code, head.pattern);
      for (const Pattern& fact : failure.facts) give(failure.code, fact);
      for (const DerivedFact& derived : failure.derived) all_.names.Give(failure.code, derived.name);
      for (const std::string& fact : ReaderFacts(failure.reader)) all_.names.Give(failure.code, fact);
      for (const std::string& id : failure.contexts) {
        const auto context = Find(contexts, id);
        if (context == contexts.end()) continue;
        for (const Pattern& pattern : context->patterns) give(failure.code, pattern);
      }
    }
  }

  // A fact hides a term of its name. The one in a file of the user is reported, because it can be renamed.
  void CheckFactsAreNoTerms() {
    std::set<std::string> reported;
    const auto check = [&](const std::string& section, const std::string& id, const std::string& owner) {
      const auto giver = origins_.find(Key(section, id));
      for (const std::string& fact : all_.names.FactsOf(owner)) {
        if (!data_.term_table->contains(fact) || !reported.insert(fact).second) continue;
        const auto term = origins_.find(Key("terms", fact));
        if (term != origins_.end() && (giver == origins_.end() || term->second.layer > 0)) {
          term->second.node->ReportKey("'" + fact + "' is already the name of a fact", "of '" + id + "'");
        } else if (giver != origins_.end()) {
          (*giver->second.node)[section == "failures" ? "code" : "id"].Report(
              "the fact '" + fact + "' of '" + id + "' has the name of a term",
              "the term is in " + (term == origins_.end() ? kBuiltIn : term->second.place));
        }
      }
    };
    // Contexts first, because failures that use a context have its facts, too.
    for (const Context& context : data_.contexts) check("contexts", context.id, ContextOwner(context.id));
    for (const FailureRule& failure : data_.failures) check("failures", failure.code, failure.code);
  }

  // Drops references to disabled entries, and writes codes as their failures have them.
  void DropReferences() {
    const auto drop = [this](const std::string& section, std::vector<std::string>* ids) {
      std::erase_if(*ids, [&](const std::string& id) { return disabled_.contains(Key(section, id)); });
    };
    const auto drop_uses = [this](std::vector<RemedyUse>* uses) {
      std::erase_if(*uses, [&](const RemedyUse& use) { return disabled_.contains(Key("remedies", use.remedy)); });
    };
    for (FailureRule& failure : data_.failures) {
      for (std::vector<std::string>* codes : {&failure.absorbed_by, &failure.consequence_of}) {
        for (std::string& code : *codes) {
          for (const auto* failures : {&data_.failures, &removed_.failures}) {
            if (const FailureRule* found = FindByCode(*failures, code)) code = found->code;
          }
        }
        drop("failures", codes);
      }
      drop("contexts", &failure.contexts);
      drop_uses(&failure.remedies);
      for (Scenario& scenario : failure.scenarios) drop_uses(&scenario.remedies);
    }
    for (Remedy& remedy : data_.remedies) drop("remedies", &remedy.with);
  }

  std::vector<RuleEntry> List() {
    std::vector<RuleEntry> all;
    const auto add = [&](const std::string& section, const auto& entries, bool /*is_by_name*/) {
      for (const auto& entry : entries) all.push_back(EntryOf(section, IdOf(entry), TitleOf(entry)));
    };
    VisitSections(data_, add);
    VisitSections(removed_, add);
    std::vector<std::string> order = RuleSections();
    std::stable_sort(all.begin(), all.end(), [&](const RuleEntry& a, const RuleEntry& b) {
      const auto place = [&](const RuleEntry& entry) { return std::find(order.begin(), order.end(), entry.section); };
      return std::pair(place(a), a.id) < std::pair(place(b), b.id);
    });
    return all;
  }

  RuleEntry EntryOf(const std::string& section, const std::string& id, const std::string& title) const {
    const std::string key = Key(section, id);
    const auto origin = origins_.find(key);
    const auto values = [&](const std::map<std::string, std::vector<std::string>>& all, const std::string& of) {
      const auto found = all.find(of);
      return found == all.end() ? std::vector<std::string>() : found->second;
    };
    return {.section = section,
            .id = id,
            .title = title,
            .place = origin == origins_.end() ? kBuiltIn : origin->second.place,
            .built_in = origin == origins_.end(),
            .replaces = values(replaced_, key),
            .extended_by = values(extended_, key),
            .disabled_by = disabled_.contains(key) ? disabled_.at(key) : "",
            .without = section == "failures" ? values(disabled_headers_, id) : std::vector<std::string>()};
  }

  RuleData data_;
  const CompileOptions options_;
  std::deque<LoadedFile> files_;
  std::vector<LoadedFile*> files_order_;  // those that are objects, by layer
  RuleReferences all_;
  std::map<std::string, Origin> origins_;                             // of entries from files, by section and id
  std::map<std::string, std::vector<std::string>> replaced_;          // by section and id: places
  std::map<std::string, std::vector<std::string>> extended_;          // likewise
  std::map<std::string, std::string> disabled_;                       // by section and id: the place that disables it
  RuleData removed_;                                                  // the disabled entries
  std::map<std::string, std::vector<std::string>> disabled_headers_;  // by code
};

}  // namespace

CompiledRules CompileRules(RuleData base, const std::vector<RuleFile>& files, const CompileOptions& options) {
  return Compiler(std::move(base), files, options).Run();
}

const std::vector<std::string>& RuleSections() {
  static const std::vector<std::string> sections = [] {
    std::vector<std::string> all;
    RuleData none;
    VisitSections(none,
                  [&](const char* section, const auto& /*entries*/, bool /*is_by_name*/) { all.push_back(section); });
    return all;
  }();
  return sections;
}

}  // namespace whyoom
