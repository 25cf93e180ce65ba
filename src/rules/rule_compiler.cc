#include "rules/rule_compiler.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>
#include <utility>

#include "rules/names.h"
#include "rules/rule_image.h"
#include "rules/rule_reader.h"
#include "rules/sha256.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Texts = std::set<std::string>;

// Calls visit(section, entries, is_by_name) for each section with entries.
template <class Visit>
struct EachSection {
  void Section(const std::string& key, auto& entries) { visit(key, entries, false); }
  void ByName(const std::string& key, auto& entries) { visit(key, entries, true); }
  void Settings(const char* /*key*/, auto& /*record*/) {}

  const Visit& visit;
};

template <class Visit>
void VisitSections(RuleSet& rules, const Visit& visit) {
  EachSection<Visit> each{visit};
  DescribeSections(each, rules);
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
  } else {
    return "";
  }
}

std::vector<std::string> IdsOf(const auto& entries) {
  std::vector<std::string> ids;
  for (const auto& entry : entries) ids.push_back(IdOf(entry));
  return ids;
}

auto Find(auto& entries, const std::string& id) {
  return std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return IdOf(entry) == id; });
}

const std::vector<JsonNode>& ItemsOf(const JsonNode& node) {
  if (node.exists() && node.kind() != JsonNode::Kind::kArray) node.Report("expected an array");
  return node.items();
}

// Compiles the terms of the files after those that they use.
class TermCompiler {
 public:
  // Borrows both. `nodes` are the terms of the files, which are in `terms`, too.
  TermCompiler(const std::map<std::string, const JsonNode*>& nodes, Terms* terms) : nodes_(nodes), terms_(*terms) {}

  void Compile(const std::string& name) {
    if (done_.contains(name)) return;
    if (open_.size() > kMaxTermLevels || std::ranges::find(open_, name) != open_.end()) return Reject(name);
    open_.push_back(name);
    std::vector<SyntaxFault> faults;
    const Expression without_terms = Expression::Compile(terms_.at(name).source(), &faults);
    for (const NameUse& use : without_terms.parsed().names) {
      if (terms_.contains(use.name)) Compile(use.name);
    }
    open_.pop_back();
    if (!done_.insert(name).second || !nodes_.contains(name)) return;
    faults.clear();
    terms_.at(name) = Expression::Compile(terms_.at(name).source(), &faults, terms_);
    if (terms_.at(name).source().empty()) return;  // reported
    for (const SyntaxFault& fault : faults) nodes_.at(name)->ReportAt(fault.at, fault.what, fault.hint);
  }

 private:
  // Makes the last open term of a file unknown.
  void Reject(const std::string& name) {
    const auto last = std::find_if(open_.rbegin(), open_.rend(), [&](const auto& one) { return nodes_.contains(one); });
    nodes_.at(*last)->Report("the term '" + *last + "' depends on itself or is nested too deep (through '" + name +
                             "')");
    terms_.at(*last) = Expression();
    done_.insert(*last);
  }

  const std::map<std::string, const JsonNode*>& nodes_;
  Terms& terms_;
  Texts done_;
  std::vector<std::string> open_;
};

constexpr std::size_t kPiece = 16;

// Splits a long literal into pieces of whole words. A log can break a line inside the literal; one of the pieces then
// stays whole, and each is still rare.
void AddPieces(const std::string& literal, Texts* pieces) {
  std::size_t begin = 0;
  for (std::size_t blank = literal.find(' '); blank != std::string::npos; blank = literal.find(' ', blank + 1)) {
    if (blank - begin < kPiece || literal.size() - blank - 1 < kPiece) continue;
    pieces->insert(literal.substr(begin, blank - begin));
    begin = blank + 1;
  }
  pieces->insert(literal.substr(begin));
}

// Adds to `all` those of `added` that contain no other literal: the shorter one is found wherever the longer one is.
void AddReduced(const Texts& added, const Texts& others, Texts* all) {
  Texts pieces;
  for (const std::string& literal : added) AddPieces(literal, &pieces);
  for (const std::string& literal : pieces) {
    const auto has_part = [&](const Texts& parts) {
      return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
        return part.size() < literal.size() && literal.find(part) != std::string::npos;
      });
    };
    if (!others.contains(literal) && !has_part(*all) && !has_part(pieces) && !has_part(others)) all->insert(literal);
  }
}

// Adds the collected literals to those of the rules, which are reduced already.
void AddLiterals(RuleReferences& collected, RuleHead* head) {
  const auto split = head->literals.begin() + head->trigger_count;
  Texts triggers(head->literals.begin(), split);
  Texts settings(split, head->literals.end());
  AddReduced(collected.literals[Literals::kTrigger], {}, &triggers);
  AddReduced(collected.literals[Literals::kSetting], triggers, &settings);
  head->literals.assign(triggers.begin(), triggers.end());
  head->literals.insert(head->literals.end(), settings.begin(), settings.end());
  head->trigger_count = static_cast<int>(triggers.size());
  for (const auto& [kind, literals] :
       {std::pair(Literals::kSign, &head->sign_literals), std::pair(Literals::kNearby, &head->nearby_literals)}) {
    Texts all = collected.literals[kind];
    all.insert(literals->begin(), literals->end());
    literals->assign(all.begin(), all.end());
  }
}

class Compiler {
 public:
  Compiler(RuleSet base, const std::vector<RuleFile>& files) : rules_(std::move(base)) {
    for (const RuleFile& file : files) files_.emplace_back(file);
    const auto has_terms = [](const LoadedFile& file) { return file.root()["terms"].exists(); };
    if (std::ranges::any_of(files_, has_terms)) base_facts_ = Facts();
    all_.terms = rules_.term_table.get();
  }

  CompiledRules Run(std::vector<RuleEntry>* entries) {
    for (LoadedFile& file : files_) CheckFile(file);
    std::stable_sort(ordered_.begin(), ordered_.end(),
                     [](const LoadedFile* a, const LoadedFile* b) { return a->layer() < b->layer(); });
    for (const LoadedFile* file : ordered_) {
      for (const JsonNode& node : ItemsOf(file->root()["disable"])) Disable(node);
    }
    for (const LoadedFile* file : ordered_) ReadFile(file->root(), true);
    CompileTerms();
    for (const LoadedFile* file : ordered_) ReadFile(file->root(), false);
    for (const LoadedFile* file : ordered_) {
      for (const JsonNode& node : ItemsOf(file->root()["extensions"])) Extend(node);
    }
    Sort();
    const bool all_read = std::ranges::all_of(files_, [](const auto& one) { return one.root().exists(); });
    if (all_read) CheckReferences();
    if (all_read && !all_.has_wrong_keys) CheckNames();
    if (!files_.empty()) SetFingerprint();
    AddLiterals(all_, &rules_);
    if (entries != nullptr) *entries = List();
    CompiledRules compiled{std::move(rules_), {}};
    for (const LoadedFile& file : files_) {
      const std::vector<Fault> faults = file.SortedFaults();
      compiled.faults.insert(compiled.faults.end(), faults.begin(), faults.end());
    }
    return compiled;
  }

 private:
  // Where an entry of a file is.
  struct Origin {
    int layer = 0;
    std::string place;
  };

  static std::string Key(const std::string& section, const std::string& id) { return section + "/" + id; }

  // Checks what is not part of a section.
  void CheckFile(LoadedFile& file) {
    const JsonNode& root = file.root();
    if (!root.exists()) return;
    if (root.kind() == JsonNode::Kind::kObject) ordered_.push_back(&file);
    RuleReader reader(&all_, root);
    std::string format;
    reader.Need("format", format, {.one_of = "whyoom.rules/1"});
    for (const char* key : {"$comment", "$schema", "disable", "extensions", "json_logs", "roles"}) reader.Allow(key);
    for (const std::string& section : RuleSections()) reader.Allow(section.c_str());
    reader.CheckKeys();
  }

  // Removes an entry of the base, such as "remedies/bf16". References to it are ignored.
  void Disable(const JsonNode& node) {
    const std::string path = node.Text();
    bool is_known = false;
    std::vector<std::string> known;
    VisitSections(rules_, [&](const std::string& section, auto& entries, bool /*is_by_name*/) {
      if (!path.starts_with(section + "/")) return;
      const auto found = Find(entries, path.substr(section.size() + 1));
      is_known = found != entries.end() || disabled_.contains(path);
      for (const std::string& id : IdsOf(entries)) known.push_back(Key(section, id));
      if (found == entries.end()) return;
      if (section == "terms") rules_.term_table->erase(IdOf(*found));
      disabled_[path] = {section, IdOf(*found), TitleOf(*found), {"disabled by " + node.Place()}};
      entries.erase(found);
    });
    if (!is_known)
      node.Report("'" + Printable(path) + "' does not name a built-in entry",
                  DidYouMean(path, known.empty() ? RuleSections() : known));
  }

  // Reads the terms, which others use, or all other sections.
  void ReadFile(const JsonNode& root, bool are_terms) {
    VisitSections(rules_, [&](const std::string& section, auto& entries, bool is_by_name) {
      const JsonNode& node = root[section];
      if ((section == "terms") != are_terms || !node.exists()) return;
      const bool is_right = node.kind() == (is_by_name ? JsonNode::Kind::kObject : JsonNode::Kind::kArray);
      if (!is_right) return node.Report(is_by_name ? "expected an object" : "expected an array");
      for (const JsonNode& item : node.items()) Add(section, item, is_by_name, &entries);
    });
    if (are_terms) return;
    if (root["json_logs"].exists()) RuleReader(&all_, root["json_logs"]).Read(rules_.json_keys);
    if (root["roles"].exists()) RuleReader(&all_, root["roles"]).Read(rules_.role_words);
  }

  template <class Entry>
  void Add(const std::string& section, const JsonNode& node, bool is_by_name, std::vector<Entry>* entries) {
    Entry entry;
    if constexpr (requires { entry.id; }) entry.id = is_by_name ? node.key() : "";
    RuleReader(&all_, node).Read(entry);
    Complete(node, &entry);
    const std::string id = IdOf(entry);
    if (id.empty() && !is_by_name) return;
    const JsonNode& id_node = is_by_name ? node : node[section == "failures" ? "code" : "id"];
    const Origin origin{node.file().layer(), is_by_name ? node.KeyPlace() : id_node.Place()};
    const auto [known, is_new] = origins_.try_emplace(Key(section, id), origin);
    if (!is_new && known->second.layer == origin.layer) {
      if (is_by_name && known->second.place.starts_with(node.file().name() + ":"))
        return;  // reported as a repeated key
      const std::string what = "'" + id + "' is already in use";
      return is_by_name ? node.ReportKey(what, "by " + known->second.place)
                        : id_node.Report(what, "by " + known->second.place);
    }
    const auto before = Find(*entries, id);
    const bool is_unused = section == "wording" && origin.layer > 0 && before == entries->end();
    if (is_unused && !id.starts_with("diff.note."))  // only the program can look up a text
      node.ReportKey("whyoom does not use '" + Printable(id) + "'", DidYouMean(id, IdsOf(*entries)));
    std::vector<std::string>& changes = changes_[Key(section, id)];
    if (before != entries->end()) changes.push_back("replaces " + (is_new ? "a built-in entry" : known->second.place));
    changes.push_back("from " + origin.place);
    known->second = origin;
    before != entries->end() ? void(*before = std::move(entry)) : entries->push_back(std::move(entry));
  }

  // Derives members of a new entry from others.
  void Complete(const JsonNode& /*node*/, auto* /*entry*/) {}
  void Complete(const JsonNode& /*node*/, Framework* framework) {
    if (framework->name.empty()) framework->name = framework->id;
  }
  void Complete(const JsonNode& node, FailureRule* failure) {
    if (!failure->samples.examples.empty()) failure->example = failure->samples.examples[0].text;
    const std::vector<std::string> scenarios = IdsOf(failure->scenarios);
    for (const JsonNode& item : node["examples"].items()) {
      const std::string id = item["scenario"].Text();
      if (!id.empty() && std::find(scenarios.begin(), scenarios.end(), id) == scenarios.end())
        item["scenario"].Report("unknown scenario '" + id + "'", DidYouMean(id, scenarios));
    }
    for (const JsonNode& item : node["aliases"].items()) {
      const FailureRule* other = rules_.FindFailure(item.Text());
      if (other != nullptr && other->code != failure->code)
        item.Report("'" + item.Text() + "' already names the failure '" + other->code + "'");
    }
    for (std::size_t i = 0; i < failure->scenarios.size() && i < node["scenarios"].items().size(); ++i)
      InheritUses(node["scenarios"].items()[i]["remedies"], failure->remedies, &failure->scenarios[i].remedies);
    InheritUses(node["remedies"], {}, &failure->remedies);
  }

  // A scenario's remedy without a section has that of the failure's own list.
  static void InheritUses(const JsonNode& node, const std::vector<RemedyUse>& listed, std::vector<RemedyUse>* uses) {
    for (std::size_t i = 0; i < uses->size() && i < node.items().size(); ++i) {
      RemedyUse& use = (*uses)[i];
      const auto same = std::ranges::find(listed, use.remedy, &RemedyUse::remedy);
      if (same != listed.end() && use.section.empty()) use.section = same->section;
      if (same != listed.end() && use.prior == RemedyUse().prior) use.prior = same->prior;
      if (use.section.empty() && !use.remedy.empty())
        node.items()[i].Report("the remedy '" + use.remedy + "' has no \"section\"",
                               "add one, or list the remedy in the failure's own remedies");
    }
  }

  void Extend(const JsonNode& node) {
    const std::string name = node["extends"].Text();
    const auto failure = std::ranges::find_if(rules_.failures, [&](const FailureRule& one) {
      return one.code == name || std::ranges::find(one.aliases, name) != one.aliases.end();
    });
    const auto remedy = Find(rules_.remedies, name);
    if (node["code"].exists() || node["id"].exists()) node.Report("an extension cannot change a code or id");
    if (failure != rules_.failures.end()) {
      ExtendFailure(node, &*failure);
    } else if (remedy != rules_.remedies.end()) {
      RuleReader(&all_, node, true).Read(*remedy);
      changes_[Key("remedies", name)].push_back("extended by " + node["extends"].Place());
    } else {
      std::vector<std::string> known = IdsOf(rules_.remedies);
      for (const FailureRule& one : rules_.failures) known.push_back(one.code);
      node.Report("'extends' names no failure or remedy: '" + Printable(name) + "'", DidYouMean(name, known));
    }
  }

  void ExtendFailure(const JsonNode& node, FailureRule* failure) {
    const auto used = static_cast<std::ptrdiff_t>(failure->remedies.size());
    RuleReader(&all_, node, true).Read(*failure);
    changes_[Key("failures", failure->code)].push_back("extended by " + node["extends"].Place());
    // An added remedy applies to every scenario: its own conditions decide whether it helps.
    for (Scenario& scenario : failure->scenarios) {
      if (!scenario.remedies.empty())
        scenario.remedies.insert(scenario.remedies.end(), failure->remedies.begin() + used, failure->remedies.end());
    }
  }

  void CompileTerms() {
    std::map<std::string, const JsonNode*> nodes;
    for (const LoadedFile* file : ordered_) {
      const JsonNode& terms = file->root()["terms"];
      for (const JsonNode& node : terms.items()) {
        if (terms.kind() == JsonNode::Kind::kObject) nodes[node.key()] = &node;
      }
    }
    if (nodes.empty()) return;
    for (const Term& term : rules_.terms) {
      if (nodes.contains(term.id)) (*rules_.term_table)[term.id] = term.expression;
    }
    TermCompiler compiler(nodes, rules_.term_table.get());
    for (const auto& [name, node] : nodes) {
      CheckTermName(name, *node);
      compiler.Compile(name);
    }
    for (Term& term : rules_.terms) term.expression = rules_.term_table->at(term.id);
    for (const auto& [name, node] : nodes) {
      for (const NameUse& use : rules_.term_table->at(name).parsed().names) all_.name_uses.emplace_back(node, use);
    }
  }

  void CheckTermName(const std::string& name, const JsonNode& node) const {
    std::vector<SyntaxFault> none;
    const Expression alone = Expression::Compile(name, &none);
    const ExpressionNode& root = alone.parsed().root;
    const auto holds = [&](const auto& names) { return std::ranges::find(names, name) != names.end(); };
    if (root.operation != Operation::kName || *AsText(root.value) != name || name.find('.') != name.npos) {
      node.ReportKey("'" + Printable(name) + "' is not a valid name for a term");
    } else if (holds(RowFields()) || holds(BuiltInNames()) || base_facts_.contains(name)) {
      node.ReportKey("'" + name + "' is already a field or a fact", "choose another name for the term");
    }
  }

  void Sort() {
    VisitSections(rules_, [](const std::string& /*section*/, auto& entries, bool /*is_by_name*/) {
      std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return IdOf(a) < IdOf(b); });
    });
    std::ranges::stable_sort(rules_.frameworks, std::greater(), &Framework::priority);
  }

  void CheckReferences() const {
    for (const RuleReferences::Reference& reference : all_.references) {
      const auto check = [&](const std::string& section, const std::string& what, const auto& entries) {
        if (Find(entries, reference.name) != entries.end() || disabled_.contains(Key(section, reference.name))) return;
        const std::string text = "unknown " + what + " '" + Printable(reference.name) + "'";
        const std::string hint = DidYouMean(reference.name, IdsOf(entries));
        reference.at_key ? reference.at->ReportKey(text, hint) : reference.at->Report(text, hint);
      };
      if (reference.names == Names::kRemedy) check("remedies", "remedy", rules_.remedies);
      if (reference.names == Names::kContext) check("contexts", "context", rules_.contexts);
      if (reference.names == Names::kFramework) check("frameworks", "framework", rules_.frameworks);
      if (reference.names == Names::kCode) check("failures", "code", rules_.failures);
    }
  }

  // The facts that patterns capture and formulas derive.
  Texts Facts() const {
    Texts facts;
    const auto add = [&](const Pattern& pattern) {
      for (const std::string& fact : pattern.capture_names()) facts.insert(fact);
    };
    for (const Context& context : rules_.contexts) {
      for (const Pattern& pattern : context.patterns) add(pattern);
      for (const DerivedFact& derived : context.derived) facts.insert(derived.name);
    }
    for (const FailureRule& failure : rules_.failures) {
      for (const HeaderPattern& head : failure.header_patterns) add(head.pattern);
      for (const Pattern& pattern : failure.facts) add(pattern);
      for (const DerivedFact& derived : failure.derived) facts.insert(derived.name);
    }
    return facts;
  }

  // Reports names in expressions that nothing provides.
  void CheckNames() const {
    Texts known = Facts();
    known.insert(BuiltInNames().begin(), BuiltInNames().end());
    for (const std::string& fact : Texts(known)) known.insert({"before." + fact, "after." + fact});
    known.insert(RowFields().begin(), RowFields().end());
    for (const std::string& field : RowFields()) known.insert("largest." + field);
    for (const Term& term : rules_.terms) known.insert({term.id, "largest." + term.id});
    constexpr int kMostGuesses = 100;  // because each compares the name with all known ones
    int guesses = 0;
    for (const auto& [node, use] : all_.name_uses) {
      if (known.contains(use.name)) continue;
      const std::vector<std::string> names(known.begin(), ++guesses > kMostGuesses ? known.begin() : known.end());
      node->ReportAt(use.at, "unknown name '" + use.name + "'", DidYouMean(use.name, names));
    }
  }

  void SetFingerprint() {
    Texts files;
    for (const LoadedFile* file : ordered_)
      files.insert(std::to_string(file->layer()) + nlohmann::json::parse(file->text(), nullptr, false).dump());
    std::string all = rules_.fingerprint;
    for (const std::string& file : files) all += file;
    rules_.fingerprint = Sha256Hex(all);
  }

  std::vector<RuleEntry> List() {
    std::vector<RuleEntry> all;
    VisitSections(rules_, [&](const std::string& section, const auto& entries, bool /*is_by_name*/) {
      const std::size_t begin = all.size();
      for (const auto& entry : entries)
        all.push_back({section, IdOf(entry), TitleOf(entry), changes_[Key(section, IdOf(entry))]});
      for (const auto& [key, entry] : disabled_) {
        if (entry.section == section && Find(entries, entry.id) == entries.end()) all.push_back(entry);
      }
      std::sort(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(),
                [](const RuleEntry& a, const RuleEntry& b) { return a.id < b.id; });
    });
    return all;
  }

  RuleSet rules_;
  Texts base_facts_;  // if a file has terms, which must have other names
  std::deque<LoadedFile> files_;
  std::vector<LoadedFile*> ordered_;  // those that are objects, by layer
  RuleReferences all_;
  // By section and id:
  std::map<std::string, Origin> origins_;  // of entries from files
  std::map<std::string, std::vector<std::string>> changes_;
  std::map<std::string, RuleEntry> disabled_;
};

}  // namespace

CompiledRules CompileRules(RuleSet base, const std::vector<RuleFile>& files, std::vector<RuleEntry>* entries) {
  constexpr std::size_t kShownName = 200;  // of a file name in reports
  CompiledRules compiled = Compiler(std::move(base), files).Run(entries);
  for (const RuleFile& file : files) {
    std::vector<std::string>& given = compiled.rules.given;
    if (!file.given.empty() && std::find(given.begin(), given.end(), file.given) == given.end())
      given.push_back(file.given);
    if (file.layer > 0) compiled.rules.extra_files.push_back(CutBytes(Printable(file.name), kShownName));
  }
  return compiled;
}

CompiledRules AddToBuiltIn(const std::vector<RuleFile>& files, std::vector<RuleEntry>* entries) {
  return CompileRules(UnpackRules(BuiltInImage()), files, entries);
}

const std::vector<std::string>& RuleSections() {
  static const std::vector<std::string> sections = [] {
    std::vector<std::string> all;
    RuleSet none;
    VisitSections(none, [&](const std::string& key, const auto& /*entries*/, bool /*by_name*/) { all.push_back(key); });
    return all;
  }();
  return sections;
}

}  // namespace whyoom
