// Reads a record of the rule data from JSON as its description says, and reports every fault with its place.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rules/describe_rules.h"
#include "rules/rule_file.h"
#include "rules/suggest.h"

namespace whyoom {

// Collected while reading, for the checks that need all rules.
struct RuleReferences {
  struct Reference {
    const JsonNode* at = nullptr;
    std::string name;
    Names names = Names::kNothing;
    bool at_key = false;
  };
  std::vector<Reference> references;
  std::vector<std::pair<const JsonNode*, NameUse>> name_uses;  // in expressions
  std::map<Literals, std::set<std::string>> literals;
  const Terms* terms = nullptr;  // that expressions may use; facts must have other names
  bool has_wrong_keys = false;   // so that facts may be missing
};

class RuleReader {
 public:
  // Borrows both. `is_extension`: the record exists, and the JSON adds to it.
  RuleReader(RuleReferences* all, const JsonNode& node, bool is_extension = false)
      : all_(*all), node_(node), is_extension_(is_extension) {
    if (is_extension) known_.push_back("extends");
  }

  template <class T>
  void Read(T& record) {
    Describe(*this, record);
    CheckKeys();
  }

  // A key that is read elsewhere.
  void Allow(const char* key) { known_.push_back(key); }
  // Reports keys that are missing or unknown.
  void CheckKeys() const;

  void Record(const char* /*title*/) {}
  template <class T>
  void Need(const char* key, T& value, const RuleField& field = {}) {
    const JsonNode& node = Member(key);
    if (node.exists()) return Load(node, value, field, true);
    if (!is_extension_) missing_.emplace_back(key);
  }
  template <class T>
  void Maybe(const char* key, T& value, const RuleField& field = {}) {
    if (const JsonNode& node = Member(key); node.exists()) Load(node, value, field, false);
  }
  template <class T>
  void Short(const char* key, T& value, const RuleField& field = {}) {
    is_value_ = node_.kind() != JsonNode::Kind::kObject;
    is_value_ ? Load(node_, value, field, true) : field.is_needed ? Need(key, value, field) : Maybe(key, value, field);
  }
  template <class T>
  void Self(T& value, const RuleField& field = {}) {
    is_value_ = true;
    Load(node_, value, field, true);
  }
  void Check(bool holds, const char* key, const std::string& what, const std::string& hint = "") {
    if (!holds) node_[key].Report(what, hint);
  }
  void Computed(const std::string& /*value*/) {}
  void Samples(whyoom::Samples& samples, const auto& matches, bool is_needed = true) {
    is_needed ? Need("examples", samples.examples) : Maybe("examples", samples.examples);
    Maybe("counterexamples", samples.counterexamples);
    CheckSamples(node_["examples"], samples.examples, true, matches);
    CheckSamples(node_["counterexamples"], samples.counterexamples, false, matches);
  }
  void CheckAffix(const std::string& pattern);
  void TriggerTexts(const char* key);

 private:
  // The member, which is then no unknown key.
  const JsonNode& Member(const char* key) {
    known_.push_back(key);
    return node_[key];
  }
  // Of an extension, the last examples are those of the JSON.
  void CheckSamples(const JsonNode& nodes, const std::vector<Example>& samples, bool must_match, const auto& matches) {
    const std::size_t count = std::min(samples.size(), nodes.items().size());
    for (std::size_t i = 0; i < count; ++i) {
      if (matches(samples[samples.size() - count + i]).value_or(must_match) == must_match) continue;
      const JsonNode& item = nodes.items()[i];
      (item["text"].exists() ? item["text"] : item)
          .Report(must_match ? "the entry does not match this example" : "the entry matches this text but must not");
    }
  }

  static bool Expect(const JsonNode& node, JsonNode::Kind kind, const char* words);
  std::string TextOf(const JsonNode& node, const RuleField& field, bool is_needed);
  void Refer(const JsonNode& node, const std::string& name, const RuleField& field, bool at_key);
  void Collect(const JsonNode& node, const Pattern& pattern, Literals kind);
  void CheckFact(const JsonNode& node, const std::string& name) const;

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
  void Load(const JsonNode& node, std::map<std::string, Value>& facts, const RuleField& field, bool is_needed);

  template <class T>
  void Load(const JsonNode& node, std::optional<T>& value, const RuleField& field, bool is_needed) {
    Load(node, value.emplace(), field, is_needed);
  }
  template <class T>
  void Load(const JsonNode& node, std::vector<T>& items, const RuleField& field, bool is_needed) {
    if (node.is_text()) return Load(node, items.emplace_back(), field, true);  // a single item may omit the list
    if (!Expect(node, JsonNode::Kind::kArray, "an array")) return;
    if (is_needed && node.items().empty()) node.Report("the array is empty", "add at least one entry");
    for (const JsonNode& item : node.items()) Load(item, items.emplace_back(), field, true);
  }
  template <class T>
  void Load(const JsonNode& node, std::map<std::string, T>& members, const RuleField& field, bool /*is_needed*/) {
    if (!Expect(node, JsonNode::Kind::kObject, "an object")) return;
    for (const JsonNode& member : node.items()) {
      Refer(member, member.key(), field, true);
      T value;
      Load(member, value, {}, true);
      T& before = members[member.key()];
      // An extension's items precede those of the list that it extends: a team's own steps are closer to its jobs.
      if constexpr (requires { value.insert(value.end(), value.begin(), value.end()); })
        value.insert(value.end(), before.begin(), before.end());
      before = std::move(value);
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
      RuleReader(&all_, node).Read(value);
    }
  }

  RuleReferences& all_;
  const JsonNode& node_;
  const bool is_extension_;
  bool is_value_ = false;             // the record is not an object but one value
  std::vector<std::string> known_;    // keys of the record
  std::vector<std::string> missing_;  // needed keys
};

}  // namespace whyoom
