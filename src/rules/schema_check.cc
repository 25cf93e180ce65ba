#include "rules/schema_check.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <utility>

#include "rules/json_positions.h"
#include "rules/suggest.h"

namespace whyoom {
namespace {

using nlohmann::json;

const json& Resolve(const json& schema, const json& node) {
  const auto reference = node.find("$ref");
  if (reference == node.end()) return node;
  return Resolve(schema, schema.at(json::json_pointer(reference->get<std::string>().substr(1))));
}

std::string TypeName(const std::string& type) {
  if (type == "null") return type;
  if (type == "boolean") return "true or false";
  return (type == "array" || type == "object" || type == "integer" ? "an " : "a ") + (type == "string" ? "text" : type);
}

std::string TypeOf(const json& value) { return value.is_boolean() ? value.dump() : TypeName(value.type_name()); }

bool HasType(const json& value, const std::string& type) {
  return type == "integer" ? value.is_number_integer() : type == value.type_name();
}

std::string Shown(const json& value) {
  constexpr std::size_t kMost = 40;
  if (!value.is_string()) return value.is_structured() ? TypeOf(value) : value.dump();
  const std::string& text = value.get_ref<const std::string&>();
  return text.size() <= kMost ? "'" + text + "'" : "the text";
}

// Validates a value and everything inside it against a schema node.
class Check {
 public:
  Check(const json& schema, const json& node, const json& value, std::string pointer, std::vector<SchemaFault>* faults)
      : schema_(schema), node_(Resolve(schema, node)), value_(value), pointer_(std::move(pointer)), faults_(*faults) {}

  void Run() {
    if (!CheckType()) return;
    CheckEnum();
    CheckKeys();
    CheckSize();
    CheckRange();
    CheckPattern();
    for (const auto& [step, value] : value_.items()) {
      const json* node = NodeOf(step);
      if (node != nullptr) Check(schema_, *node, value, pointer_ + "/" + PointerToken(step), &faults_).Run();
    }
  }

 private:
  // The schema node of a member or element; null if the schema does not restrict it.
  const json* NodeOf(const std::string& step) const {
    if (!value_.is_structured()) return nullptr;
    if (value_.is_array()) return node_.contains("items") ? &node_["items"] : nullptr;
    if (node_.contains("properties") && node_["properties"].contains(step)) return &node_["properties"][step];
    const bool is_open = node_.contains("additionalProperties") && node_["additionalProperties"].is_object();
    return is_open ? &node_["additionalProperties"] : nullptr;
  }

  void Add(std::string what, std::string hint) {
    faults_.push_back({pointer_, false, std::move(what), std::move(hint)});
  }

  static std::string Description(const json& node) { return node.is_object() ? node.value("description", "") : ""; }

  bool CheckType() {
    if (!node_.contains("type")) return true;
    const json& type = node_["type"];
    const std::vector<std::string> types =
        type.is_array() ? type.get<std::vector<std::string>>() : std::vector<std::string>{type.get<std::string>()};
    std::string expected;
    for (const std::string& name : types) {
      if (HasType(value_, name)) return true;
      expected += (expected.empty() ? "" : " or ") + TypeName(name);
    }
    Add("expected " + expected + ", found " + TypeOf(value_), Description(node_));
    return false;
  }

  void CheckEnum() {
    if (!node_.contains("enum")) return;
    const json& allowed = node_["enum"];
    if (std::find(allowed.begin(), allowed.end(), value_) != allowed.end()) return;
    const std::vector<std::string> words = allowed.get<std::vector<std::string>>();
    const std::string meant = value_.is_string() ? DidYouMean(value_.get<std::string>(), words) : "";
    Add(Shown(value_) + " is not allowed here", (meant.empty() ? "" : meant + " ") + "allowed: " + Listing(words));
  }

  void CheckKeys() {
    if (!value_.is_object()) return;
    std::set<std::string> meant_keys;
    if (node_.value("additionalProperties", json(true)) == json(false)) {
      std::vector<std::string> known;
      for (const auto& [key, unused] : node_["properties"].items()) {
        if (!value_.contains(key)) known.push_back(key);
      }
      for (const auto& [key, unused] : value_.items()) {
        if (node_["properties"].contains(key)) continue;
        const std::string nearest = Nearest(key, known);
        meant_keys.insert(nearest);
        faults_.push_back({pointer_ + "/" + PointerToken(key), true, "unknown key '" + key + "'",
                           nearest.empty() ? "keys are " + AllKeys() : "did you mean '" + nearest + "'?"});
      }
    }
    for (const json& key : node_.value("required", json::array())) {
      const std::string name = key.get<std::string>();
      // A misspelt key is reported once, as unknown.
      if (value_.contains(name) || meant_keys.contains(name)) continue;
      const bool described = node_.contains("properties") && node_["properties"].contains(name);
      Add("the key '" + name + "' is missing", described ? Description(node_["properties"][name]) : "");
    }
  }

  std::string AllKeys() const {
    std::vector<std::string> keys;
    for (const auto& [key, unused] : node_["properties"].items()) keys.push_back(key);
    return Listing(keys);
  }

  void CheckSize() {
    if (value_.is_array() && value_.size() < node_.value("minItems", std::size_t{0})) {
      Add("the array is empty", "add at least one entry");
    }
    if (value_.is_string() && value_.get_ref<const std::string&>().size() < node_.value("minLength", std::size_t{0})) {
      Add("the text is empty", Description(node_));
    }
  }

  void CheckPattern() {
    if (!node_.contains("pattern") || !value_.is_string()) return;
    const std::string pattern = node_["pattern"].get<std::string>();
    if (re2::RE2::PartialMatch(value_.get_ref<const std::string&>(), pattern)) return;
    Add(Shown(value_) + " does not match " + pattern, Description(node_));
  }

  void CheckRange() {
    if (!value_.is_number()) return;
    const bool low = node_.contains("minimum") && value_ < node_["minimum"];
    const bool high = node_.contains("maximum") && value_ > node_["maximum"];
    if (!low && !high) return;
    const std::string most = node_.contains("maximum") ? " to " + node_["maximum"].dump() : " or more";
    Add(Shown(value_) + " is out of range", "allowed: " + node_.value("minimum", json(0)).dump() + most);
  }

  const json& schema_;
  const json& node_;
  const json& value_;
  const std::string pointer_;
  std::vector<SchemaFault>& faults_;
};

}  // namespace

std::vector<SchemaFault> CheckSchema(const json& schema, const json& value) {
  std::vector<SchemaFault> faults;
  Check(schema, schema, value, "", &faults).Run();
  return faults;
}

}  // namespace whyoom
