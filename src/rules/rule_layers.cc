// Rule files one above the other: what replaces an entry, adds to it, or leaves it out.
#include <algorithm>
#include <utility>

#include "rules/rule_entry.h"
#include "rules/rule_loader.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

struct SectionInfo {
  const char* name;
  const char* id_key;
};
constexpr SectionInfo kSections[] = {
    {"failures", "code"}, {"remedies", "id"}, {"contexts", "id"},    {"frameworks", "id"},    {"chips", "id"},
    {"quotations", "id"}, {"suspects", "id"}, {"error_lines", "id"}, {"progress", "id"},      {"affixes", "id"},
    {"traces", "id"},     {"notes", "id"},    {"versions", "id"},    {"contradictions", "id"}};
constexpr const char* kNoIdKey = "";
constexpr const char* kFailures = "failures";
constexpr std::string_view kHeads = "/heads/";

std::vector<std::string> SectionNames() {
  std::vector<std::string> names;
  for (const SectionInfo& section : kSections) names.emplace_back(section.name);
  return names;
}

void AddOnce(const std::vector<std::string>& words, std::vector<std::string>* to) {
  for (const std::string& word : words) {
    if (std::find(to->begin(), to->end(), word) == to->end()) to->push_back(word);
  }
}

// Of an entry without a title what tells most about it.
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
    // What a file leaves out is of the layers below; what is said again in its own is there.
    for (std::size_t i = begin; i < end; ++i) {
      for (const RuleNode& node : RuleNode::Root(&files_[i], &sink_)["disable"].Items()) Disable(node);
    }
    for (std::size_t i = begin; i < end; ++i) MergeFile(files_[i]);
  }
}

void RuleSetBuilder::MergeFile(const LoadedFile& file) {
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
  for (const RuleNode& node : root["comparisons"].Items()) comparisons_.push_back(node);
  AddJsonKeys(root["json_logs"]);
  AddRoleWords(root["roles"]);
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
  const RuleNode& before = found->second;
  if (before.file().layer < node.file().layer) {
    replaced_[section + "/" + id].push_back(ShownPlace(before.file(), IdPlace(before, id_key)));
    disabled_[section].erase(id);
    if (section == kFailures) disabled_heads_.erase(id);
    found->second = node;
    return;
  }
  ReportId(node, id_key, "the " + (id_key == kNoIdKey ? "name" : id_key) + " '" + id + "' is in use already",
           "by " + ShownPlace(before.file(), IdPlace(before, id_key)));
}

std::string RuleSetBuilder::ShownPlace(const LoadedFile& file, JsonPlace place) {
  return file.name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
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

// "remedies/bf16", "failures/E1000/heads/used_of".
void RuleSetBuilder::Disable(const RuleNode& node) {
  const std::string path = node.Text();
  const std::size_t slash = path.find('/');
  const std::string section = path.substr(0, slash);
  const std::vector<std::string> sections = SectionNames();
  if (slash == std::string::npos || std::find(sections.begin(), sections.end(), section) == sections.end()) {
    if (path.empty()) return;
    const std::string meant = DidYouMean(section, sections);
    node.Report("'" + Printable(path) + "' names no entry", slash == std::string::npos
                                                                ? "write SECTION/ID, as in remedies/ID"
                                                            : meant.empty() ? "sections are " + Listing(sections)
                                                                            : meant);
    return;
  }
  std::string id = path.substr(slash + 1);
  std::string head;
  if (const std::size_t heads = id.find(kHeads); section == kFailures && heads != std::string::npos) {
    head = id.substr(heads + kHeads.size());
    id.resize(heads);
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
    node.Report("there is no '" + Printable(id) + "' among the " + section + " below this file", DidYouMean(id, known));
  } else if (head.empty()) {
    disabled_[section].emplace(id, node);
  } else {
    DisableHead(node, id, head);
  }
}

void RuleSetBuilder::DisableHead(const RuleNode& node, const std::string& code, const std::string& head) {
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
    disabled_heads_[code].emplace(head, node);
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

bool RuleSetBuilder::IsHeadDisabled(const std::string& code, const std::string& head) const {
  const auto found = disabled_heads_.find(code);
  return found != disabled_heads_.end() && found->second.contains(head);
}

// What is disabled is built and checked like the rest, so that nothing that speaks of it is at fault for that.
void RuleSetBuilder::BuildEach(const std::string& section, void (RuleSetBuilder::*build)(const RuleNode&)) {
  for (const auto& [id, node] : sections_[section]) {
    is_left_out_ = IsDisabled(section, id);
    (this->*build)(node);
  }
  is_left_out_ = false;
}

void RuleSetBuilder::DropFromFailure(Failure* failure) const {
  const auto drop = [this](const std::string& section, std::vector<std::string>* ids) {
    std::erase_if(*ids, [&](const std::string& id) { return IsDisabled(section, id); });
  };
  const auto drop_uses = [this](std::vector<RemedyUse>* uses) {
    std::erase_if(*uses, [&](const RemedyUse& use) { return IsDisabled("remedies", use.remedy); });
  };
  std::erase_if(failure->heads, [&](const Head& head) { return IsHeadDisabled(failure->code, head.id); });
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
  for (const auto& [code, heads] : disabled_heads_) {
    for (const auto& [head, node] : heads)
      set_.disabled_.push_back(std::string(kFailures) + "/" + code + std::string(kHeads) + head);
  }
  if (set_.disabled_.empty()) return;
  const auto drop = [this](const std::string& section, auto* all) {
    std::erase_if(*all, [&](const auto& entry) { return IsDisabled(section, entry.id); });
  };
  std::erase_if(set_.failures_, [&](const Failure& failure) { return IsDisabled(kFailures, failure.code); });
  for (Failure& failure : set_.failures_) DropFromFailure(&failure);
  std::erase_if(set_.remedies_, [&](const auto& remedy) { return IsDisabled("remedies", remedy.first); });
  for (auto& [id, remedy] : set_.remedies_)
    std::erase_if(remedy.with, [&](const std::string& other) { return IsDisabled("remedies", other); });
  drop("contexts", &set_.contexts_);
  drop("frameworks", &set_.frameworks_);
  drop("chips", &set_.chips_);
  drop("versions", &set_.name_versions_);
  drop("quotations", &set_.quotations_);
  drop("suspects", &set_.suspects_);
  drop("error_lines", &set_.error_lines_);
  drop("progress", &set_.progress_);
  drop("affixes", &set_.affixes_);
  std::erase_if(set_.affix_examples_, [&](const AffixExample& one) { return IsDisabled("affixes", one.affix); });
  drop("traces", &set_.traces_);
  drop("notes", &set_.notes_);
  drop("contradictions", &set_.contradictions_);
  const auto drop_remedies = [this](Trace* trace) {
    std::erase_if(trace->remedies, [&](const TraceRemedy& use) { return IsDisabled("remedies", use.id); });
  };
  for (Trace& trace : set_.traces_) drop_remedies(&trace);
  for (Trace& note : set_.notes_) drop_remedies(&note);
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
  add("optimizer_parts", &set_.role_words_.optimizer_parts);
  add("weights", &set_.role_words_.weights);
  add("cache", &set_.role_words_.cache);
  add("inputs", &set_.role_words_.inputs);
}

std::vector<RuleEntry> RuleSetBuilder::List(std::string_view schema, const std::vector<RuleFile>& built_in,
                                            const std::vector<RuleFile>& files) {
  RuleSetBuilder builder;
  builder.Read(schema, built_in, files, true);
  builder.Merge();
  std::vector<RuleEntry> all;
  for (const std::string& section : RuleSections()) {
    const auto info = std::find_if(std::begin(kSections), std::end(kSections),
                                   [&](const SectionInfo& one) { return one.name == section; });
    const std::string id_key = info != std::end(kSections) ? info->id_key : kNoIdKey;
    for (const auto& [id, node] : builder.sections_[section]) {
      RuleEntry entry;
      entry.section = section;
      entry.id = id;
      entry.title = TitleOf(node);
      entry.place = ShownPlace(node.file(), IdPlace(node, id_key));
      entry.built_in = node.file().built_in;
      entry.replaces = builder.replaced_[section + "/" + id];
      if (builder.IsDisabled(section, id)) {
        const RuleNode& by = builder.disabled_.at(section).at(id);
        entry.disabled_by = ShownPlace(by.file(), by.place());
      }
      const bool is_failure = section == kFailures;
      const std::vector<std::string> aliases = is_failure ? node["aliases"].Words() : std::vector<std::string>();
      for (const RuleNode& extension : builder.extensions_) {
        const std::string of = extension["extends"].Text();
        const bool is_meant = of == id || std::find(aliases.begin(), aliases.end(), of) != aliases.end();
        if ((is_failure || section == "remedies") && is_meant)
          entry.extended_by.push_back(ShownPlace(extension.file(), extension["extends"].place()));
      }
      if (is_failure && builder.disabled_heads_.contains(id)) {
        for (const auto& [head, by] : builder.disabled_heads_.at(id))
          entry.without.push_back("heads/" + head + ", by " + ShownPlace(by.file(), by.place()));
      }
      all.push_back(std::move(entry));
    }
  }
  return all;
}

const std::vector<std::string>& RuleSections() {
  static const std::vector<std::string> sections = [] {
    std::vector<std::string> all = SectionNames();
    all.insert(all.end(), {"terms", "row_fields", "wording", "thresholds"});
    return all;
  }();
  return sections;
}

std::vector<RuleEntry> ListRuleEntries(const std::vector<RuleFile>& files) {
  return RuleSetBuilder::List(RuleSet::SchemaText(), RuleSet::BuiltIn(), files);
}

}  // namespace whyoom
