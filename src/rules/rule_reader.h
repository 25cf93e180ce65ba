// Reads a record of the rule data from JSON as its description says, and reports every fault with its place.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/describe_rules.h"
#include "rules/names.h"
#include "rules/rule_file.h"
#include "rules/suggest.h"

namespace whyoom {

// What reading collects for the checks that need all rules.
struct RuleReferences {
  struct Reference {
    const JsonNode* at = nullptr;
    std::string name;
    Names names = Names::kNothing;
    std::string owner;
    bool at_key = false;
  };
  std::vector<Reference> references;
  NameCheck names;
  std::set<std::string> trigger_literals;  // see RuleData::literals
  std::set<std::string> setting_literals;  // the other ones for the prefilter
  std::set<std::string> sign_literals;
  std::set<std::string> nearby_literals;
  const Terms* terms = nullptr;   // that expressions may use
  std::string default_framework;  // id; its steps have no name, see Remedy::how
  bool is_checked = true;         // false: the rules are known to be valid, and only what they say is wanted
};

class RuleReader {
 public:
  static constexpr bool kReads = true;

  // Borrows both. `is_extension`: the record exists, and the JSON adds to it.
  RuleReader(RuleReferences* all, const JsonNode& node, std::string owner = "", bool is_extension = false)
      : all_(*all), node_(node), owner_(std::move(owner)), is_extension_(is_extension) {
    if (is_extension) known_.push_back("extends");
  }

  template <class Record>
  void Read(Record& record) {
    Describe(*this, record);
    CheckKeys();
  }

  // A key that is read elsewhere.
  void Allow(const char* key) { known_.push_back(key); }
  // Reports keys that are missing or unknown.
  void CheckKeys() const;

  void Record(const char* /*title*/, const char* /*about*/) {}

  template <class T>
  void Need(const char* key, T& value, const RuleField& field = {}) {
    const JsonNode& node = Member(key);
    if (node.exists()) return Load(node, value, field, true);
    if (!is_extension_) missing_.emplace_back(key, field.about);
  }
  template <class T>
  void Maybe(const char* key, T& value, const RuleField& field = {}) {
    if (const JsonNode& node = Member(key); node.exists()) Load(node, value, field, false);
  }
  template <class T>
  void Unstored(const char* key, T& value, const RuleField& field = {}) {
    Maybe(key, value, field);
  }
  template <class T>
  void Short(const char* key, T& value, const RuleField& field = {}) {
    is_value_ = node_.kind() != JsonNode::Kind::kObject;
    if (!is_value_) return Need(key, value, field);
    Load(node_, value, field, true);
  }
  template <class T>
  void Self(T& value, const RuleField& field) {
    is_value_ = true;
    Load(node_, value, field, true);
  }
  void OwnedBy(const std::string& owner) { owner_ = owner; }
  void Check(bool holds, const char* key, const std::string& what, const std::string& hint = "") {
    if (!holds && all_.is_checked) node_[key].Report(what, hint);
  }
  void Computed(const std::string& /*value*/) {}
  // Items that were there before the JSON was read come first.
  void Distinct(const char* key, const auto& items) {
    const std::vector<JsonNode>& nodes = node_[key].items();
    std::set<std::string> seen;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].id.empty() || seen.insert(items[i].id).second || items.size() - i > nodes.size()) continue;
      nodes[nodes.size() - (items.size() - i)]["id"].Report("the id '" + items[i].id +
                                                            "' is already in use in this failure");
    }
  }
  void Samples(whyoom::Samples& samples) { Samples(samples, nullptr, true); }
  void MaybeSamples(whyoom::Samples& samples) { Samples(samples, nullptr, false); }
  template <class Matches>
  void Samples(whyoom::Samples& samples, const Matches& matches, bool is_needed = true) {
    is_needed&& all_.is_checked ? Need("examples", samples.examples, {.about = "Texts that the entry must match."})
                                : Maybe("examples", samples.examples);
    Maybe("counterexamples", samples.counterexamples);
    if constexpr (!std::is_same_v<Matches, std::nullptr_t>) {
      CheckSamples(node_["examples"], samples.examples, true, matches);
      CheckSamples(node_["counterexamples"], samples.counterexamples, false, matches);
    }
  }
  void CheckAffix(const std::string& pattern);
  void TriggerTexts(const char* key, const char* about);

 private:
  // The member, which is then no unknown key.
  const JsonNode& Member(const char* key) {
    known_.push_back(key);
    return node_[key];
  }

  template <class Matches>
  void CheckSamples(const JsonNode& nodes, const std::vector<Example>& samples, bool must_match,
                    const Matches& matches) {
    for (std::size_t i = 0; all_.is_checked && i < std::min(samples.size(), nodes.items().size()); ++i) {
      if (matches(samples[i]) == must_match) continue;
      const JsonNode& item = nodes.items()[i];
      (item["text"].exists() ? item["text"] : item)
          .Report(must_match ? "the entry does not match this example" : "the entry matches this text but must not");
    }
  }

  bool Expect(const JsonNode& node, JsonNode::Kind kind, const char* words, const RuleField& field) const;
  std::string TextOf(const JsonNode& node, const RuleField& field, bool is_needed);
  void Refer(const JsonNode& node, const std::string& name, const RuleField& field, bool at_key);
  void Collect(const JsonNode& node, const Pattern& pattern, const RuleField& field);

  void Load(const JsonNode& node, std::string& text, const RuleField& field, bool is_needed) {
    text = TextOf(node, field, is_needed);
    if (!text.empty()) Refer(node, text, field, false);
  }
  void Load(const JsonNode& node, bool& truth, const RuleField& field, bool is_needed);
  void Load(const JsonNode& node, int& number, const RuleField& field, bool is_needed);
  void Load(const JsonNode& node, double& size, const RuleField& field, bool is_needed);
  void Load(const JsonNode& node, Expression& expression, const RuleField& field, bool is_needed);
  void Load(const JsonNode& node, Template& text, const RuleField& field, bool is_needed);
  void Load(const JsonNode& node, Pattern& pattern, const RuleField& field, bool is_needed);
  void Load(const JsonNode& node, std::map<std::string, whyoom::Value>& facts, const RuleField& field, bool is_needed);

  template <class T>
  void Load(const JsonNode& node, std::optional<T>& value, const RuleField& field, bool is_needed) {
    Load(node, value.emplace(), field, is_needed);
  }
  template <class T>
  void Load(const JsonNode& node, std::vector<T>& items, const RuleField& field, bool is_needed) {
    if (node.is_text()) return Load(node, items.emplace_back(), field, true);  // a single item may omit the list
    if (!Expect(node, JsonNode::Kind::kArray, "an array", field)) return;
    if (is_needed && node.items().empty() && all_.is_checked)
      node.Report("the array is empty", "add at least one entry");
    for (const JsonNode& item : node.items()) Load(item, items.emplace_back(), field, true);
  }
  template <class T>
  void Load(const JsonNode& node, std::map<std::string, T>& members, const RuleField& field, bool /*is_needed*/) {
    if (!Expect(node, JsonNode::Kind::kObject, "an object", field)) return;
    for (const JsonNode& member : node.items()) {
      Refer(member, member.key(), field, true);
      const bool is_default = field.names == Names::kFramework && member.key() == all_.default_framework;
      const std::string key = is_default ? "" : member.key();
      T value;
      Load(member, value, {}, true);
      // What an extension adds to a list precedes what is there: a team's own steps are closer to its jobs.
      if constexpr (requires { value.insert(value.end(), value.begin(), value.end()); }) {
        const T& before = members[key];
        value.insert(value.end(), before.begin(), before.end());
      }
      members[key] = std::move(value);
    }
  }
  void Load(const JsonNode& node, std::set<std::string>& words, const RuleField& field, bool is_needed) {
    std::vector<std::string> read;
    Load(node, read, field, is_needed);
    words.insert(read.begin(), read.end());
  }
  template <class T>
  void Load(const JsonNode& node, T& value, const RuleField& field, bool is_needed) {
    if constexpr (std::is_enum_v<T>) {
      const std::vector<std::string> words = WordsOf(field.one_of);
      const auto word = std::find(words.begin(), words.end(), TextOf(node, field, is_needed));
      if (word != words.end()) value = static_cast<T>(word - words.begin());
    } else {
      RuleReader(&all_, node, owner_).Read(value);
    }
  }

  RuleReferences& all_;
  const JsonNode& node_;
  std::string owner_;
  const bool is_extension_;
  bool is_value_ = false;                                     // the record is not an object but one value
  std::vector<const char*> known_;                            // keys of the record
  std::vector<std::pair<const char*, const char*>> missing_;  // needed keys and what they are
};

}  // namespace whyoom
