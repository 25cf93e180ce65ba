// Merges the layers of rule files: replaces, extends and disables entries.
#include <algorithm>
#include <utility>

#include "rules/rule_loader.h"
#include "rules/rule_set.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr const char* kFailures = "failures";
constexpr std::string_view kHeaderPath = "/heads/";

// The title of an entry, or its most descriptive field.
std::string TitleOf(const RuleNode& node) {
  for (const char* key : {"title", "about", "pattern", "when", "from"}) {
    if (node[key].exists()) return node[key].Text();
  }
  for (const char* key : {"patterns", "signs", "limits", "why"}) {
    for (const RuleNode& item : node[key].Items()) return item.is_object() ? item["text"].Text() : item.Text();
  }
  if (!node.is_object()) {
    const std::vector<RuleNode> items = node.Items();
    return items.empty() || !items[0].is_object() ? node.Text() : items[0]["text"].Text();
  }
  return "";
}

}  // namespace

void RuleSetBuilder::Merge() {
  for (std::size_t begin = 0, end = 0; begin < files_.size(); begin = end) {
    while (end < files_.size() && files_[end].layer == files_[begin].layer) ++end;
    // `disable` affects the lower layers only, so an entry can be disabled and defined again in one layer.
    for (std::size_t i = begin; i < end; ++i) {
      for (const RuleNode& node : RuleNode::Root(&files_[i], &sink_)["disable"].Items()) Disable(node);
    }
    for (std::size_t i = begin; i < end; ++i) MergeFile(files_[i]);
  }
}

void RuleSetBuilder::MergeFile(const LoadedFile& file) {
  const RuleNode root = RuleNode::Root(&file, &sink_);
  EachSection([&](const std::string& section, auto* /*entries*/) {
    for (const RuleNode& node : root[section].Items()) {
      const std::string id = IdNode(node, section).Text();
      if (!id.empty()) MergeEntry(section, id, node);
    }
  });
  for (const std::string section : {kTerms, kRowFieldsSection, kWording, kThresholds}) {
    for (const auto& [name, node] : root[section].Members()) {
      MergeEntry(section, name, node);
      if (file.built_in && (section == kWording || section == kThresholds)) used_ids_.emplace(name, section);
    }
  }
  for (const RuleNode& framework : root["frameworks"].Items()) {
    if (framework["is_default"].Bool()) default_framework_ = framework["id"].Text();
  }
  for (const auto& [key, nodes] : {std::pair("extensions", &extensions_), std::pair("examples", &more_examples_)}) {
    for (const RuleNode& node : root[key].Items()) nodes->push_back(node);
  }
  AddJsonKeys(root["json_logs"]);
  AddRoleWords(root["roles"]);
}

void RuleSetBuilder::MergeEntry(const std::string& section, const std::string& id, const RuleNode& node) {
  const auto [found, is_new] = sections_[section].emplace(id, node);
  if (is_new) return;
  const RuleNode& before = found->second;
  const std::string before_place = ShownPlace(before.file(), IdPlace(before, section));
  if (before.file().layer < node.file().layer) {
    replaced_[section + "/" + id].push_back(before_place);
    disabled_[section].erase(id);
    if (section == kFailures) disabled_headers_.erase(id);
    found->second = node;
    return;
  }
  const bool is_key = !IdNode(node, section).exists();
  const std::string what = "the " +
                           std::string(is_key                 ? "name"
                                       : section == kFailures ? "code"
                                                              : "id") +
                           " '" + id + "' is already in use";
  if (is_key) return node.ReportKey(what, "by " + before_place);
  IdNode(node, section).Report(what, "by " + before_place);
}

std::string RuleSetBuilder::ShownPlace(const LoadedFile& file, JsonPlace place) {
  return file.name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
}

RuleNode RuleSetBuilder::IdNode(const RuleNode& node, const std::string& section) {
  return node[section == kFailures ? "code" : "id"];
}

JsonPlace RuleSetBuilder::IdPlace(const RuleNode& node, const std::string& section) {
  const RuleNode id = IdNode(node, section);
  return id.exists() ? id.place() : node.key_place();
}

// Accepts "remedies/bf16" and "failures/E1000/heads/used_of".
void RuleSetBuilder::Disable(const RuleNode& node) {
  const std::string path = node.Text();
  const std::size_t slash = path.find('/');
  const std::string section = path.substr(0, slash);
  std::vector<std::string> sections;
  EachSection([&](const char* name, auto* /*entries*/) { sections.emplace_back(name); });
  if (slash == std::string::npos || std::find(sections.begin(), sections.end(), section) == sections.end()) {
    if (path.empty()) return;
    const std::string meant = DidYouMean(section, sections);
    node.Report("'" + Printable(path) + "' does not name an entry",
                slash == std::string::npos ? "write SECTION/ID, for example remedies/ID"
                : meant.empty()            ? "sections are " + Listing(sections)
                                           : meant);
    return;
  }
  std::string id = path.substr(slash + 1);
  std::string head;
  if (const std::size_t at = id.find(kHeaderPath); section == kFailures && at != std::string::npos) {
    head = id.substr(at + kHeaderPath.size());
    id.resize(at);
  }
  Section& entries = sections_[section];
  if (section == kFailures && !entries.contains(id)) {
    for (const auto& [code, failure] : entries) {
      const std::vector<std::string> aliases = failure["aliases"].Words();
      if (std::find(aliases.begin(), aliases.end(), id) == aliases.end()) continue;
      id = code;
      break;
    }
  }
  if (!entries.contains(id)) {
    std::vector<std::string> known;
    for (const auto& [name, entry] : entries) known.push_back(name);
    node.Report("there is no '" + Printable(id) + "' in the " + section + " of lower layers", DidYouMean(id, known));
  } else if (head.empty()) {
    disabled_[section].emplace(id, node);
  } else {
    DisableHeader(node, id, head);
  }
}

void RuleSetBuilder::DisableHeader(const RuleNode& node, const std::string& code, const std::string& head) {
  std::vector<std::string> known;
  const auto add = [&](const RuleNode& from) {
    for (const RuleNode& item : from["heads"].Items()) known.push_back(item["id"].Text());
  };
  add(sections_[kFailures].at(code));
  for (const RuleNode& extension : extensions_) {
    if (extension["extends"].Text() == code) add(extension);
  }
  std::erase(known, "");
  if (std::find(known.begin(), known.end(), head) != known.end()) {
    disabled_headers_[code].emplace(head, node);
    return;
  }
  const std::string meant = DidYouMean(head, known);
  node.Report("'" + code + "' has no head '" + Printable(head) + "'",
              meant.empty() ? "its heads are " + Listing(known) : meant);
}

bool RuleSetBuilder::IsDisabled(const std::string& section, const std::string& id) const {
  const auto found = disabled_.find(section);
  return found != disabled_.end() && found->second.contains(id);
}

bool RuleSetBuilder::IsHeaderDisabled(const std::string& code, const std::string& head) const {
  const auto found = disabled_headers_.find(code);
  return found != disabled_headers_.end() && found->second.contains(head);
}

void RuleSetBuilder::DropFromFailure(FailureRule* failure) const {
  const auto drop = [this](const std::string& section, std::vector<std::string>* ids) {
    std::erase_if(*ids, [&](const std::string& id) { return IsDisabled(section, id); });
  };
  const auto drop_uses = [this](std::vector<RemedyUse>* uses) {
    std::erase_if(*uses, [&](const RemedyUse& use) { return IsDisabled("remedies", use.remedy); });
  };
  std::erase_if(failure->header_patterns,
                [&](const HeaderPattern& head) { return IsHeaderDisabled(failure->code, head.id); });
  drop("contexts", &failure->contexts);
  drop(kFailures, &failure->absorbed_by);
  drop(kFailures, &failure->consequence_of);
  drop_uses(&failure->remedies);
  for (Scenario& scenario : failure->scenarios) drop_uses(&scenario.remedies);
}

void RuleSetBuilder::DropDisabled() {
  for (const auto& [section, entries] : disabled_) {
    for (const auto& [id, node] : entries) set_.disabled_.push_back(section + "/" + id);
  }
  for (const auto& [code, headers] : disabled_headers_) {
    for (const auto& [head, node] : headers)
      set_.disabled_.push_back(std::string(kFailures) + "/" + code + std::string(kHeaderPath) + head);
  }
  if (set_.disabled_.empty()) return;
  EachSection([this](const std::string& section, auto* entries) {
    std::erase_if(*entries, [&](const auto& entry) { return IsDisabled(section, IdOf(entry)); });
  });
  for (FailureRule& failure : set_.failures_) DropFromFailure(&failure);
  for (auto& [id, remedy] : set_.remedies_)
    std::erase_if(remedy.with, [&](const std::string& other) { return IsDisabled("remedies", other); });
  std::erase_if(set_.prefix_and_suffix_examples_,
                [&](const PrefixOrSuffixExample& one) { return IsDisabled("affixes", one.prefix_or_suffix); });
}

void RuleSetBuilder::AddJsonKeys(const RuleNode& node) {
  JsonLogKeys& keys = set_.json_keys_;
  for (const auto& [key, pointers] :
       {std::pair("text", &keys.text), std::pair("reporter", &keys.stream_name), std::pair("time", &keys.time)}) {
    for (const RuleNode& item : node[key].Items()) {
      const std::string pointer = item.Text();
      if (!pointer.empty() && pointer[0] != '/')
        item.Report("'" + pointer + "' is not a JSON pointer", "write /" + pointer);
      if (std::find(pointers->begin(), pointers->end(), pointer) == pointers->end()) pointers->push_back(pointer);
    }
  }
  // The prefilter cannot see literals in an array of numbers.
  for (const RuleNode& item : node["bytes"].Items()) trigger_literals_.insert(item.Text());
}

void RuleSetBuilder::AddRoleWords(const RuleNode& node) {
  RoleWords& roles = set_.role_words_;
  for (const auto& [role, words] :
       {std::pair("optimizer_state", &roles.optimizer_state), std::pair("optimizer_parts", &roles.optimizer_parts),
        std::pair("weights", &roles.weights), std::pair("cache", &roles.cache), std::pair("inputs", &roles.inputs)}) {
    for (const std::string& word : node[role].Words()) words->insert(word);
  }
}

std::vector<RuleEntry> RuleSetBuilder::List(std::string_view schema, const std::vector<RuleFile>& built_in,
                                            const std::vector<RuleFile>& files) {
  RuleSetBuilder builder;
  builder.Read(schema, built_in, files, true);
  builder.Merge();
  std::vector<RuleEntry> all;
  for (const std::string& section : RuleSections()) {
    for (const auto& [id, node] : builder.sections_[section]) all.push_back(builder.EntryOf(section, id, node));
  }
  return all;
}

RuleEntry RuleSetBuilder::EntryOf(const std::string& section, const std::string& id, const RuleNode& node) {
  RuleEntry entry;
  entry.section = section;
  entry.id = id;
  entry.title = TitleOf(node);
  entry.place = ShownPlace(node.file(), IdPlace(node, section));
  entry.built_in = node.file().built_in;
  entry.replaces = replaced_[section + "/" + id];
  if (IsDisabled(section, id)) {
    const RuleNode& by = disabled_.at(section).at(id);
    entry.disabled_by = ShownPlace(by.file(), by.place());
  }
  const bool is_failure = section == kFailures;
  std::vector<std::string> names = is_failure ? node["aliases"].Words() : std::vector<std::string>();
  names.push_back(id);
  for (const RuleNode& extension : extensions_) {
    const bool is_meant = std::find(names.begin(), names.end(), extension["extends"].Text()) != names.end();
    if ((is_failure || section == "remedies") && is_meant)
      entry.extended_by.push_back(ShownPlace(extension.file(), extension["extends"].place()));
  }
  if (is_failure && disabled_headers_.contains(id)) {
    for (const auto& [head, by] : disabled_headers_.at(id))
      entry.without.push_back("heads/" + head + ", by " + ShownPlace(by.file(), by.place()));
  }
  return entry;
}

const std::vector<std::string>& RuleSections() {
  static const std::vector<std::string> sections = [] {
    std::vector<std::string> all;
    RuleSetBuilder().EachSection([&](const char* name, auto* /*entries*/) { all.emplace_back(name); });
    all.insert(all.end(), {"terms", "row_fields", "wording", "thresholds"});
    return all;
  }();
  return sections;
}

std::vector<RuleEntry> ListRuleEntries(const std::vector<RuleFile>& files) {
  return RuleSetBuilder::List(RuleSet::SchemaText(), RuleSet::BuiltIn(), files);
}

}  // namespace whyoom
