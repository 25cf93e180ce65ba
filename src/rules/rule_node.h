// One value of a rule file during loading, with its place and the reporting of faults.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/expression.h"
#include "rules/json_positions.h"
#include "rules/pattern.h"
#include "rules/rule_set.h"

namespace whyoom {

// A JSON value of a rule file, or of the digest, whose format (RuleDigest::data) is trusted. Borrows the data.
class RuleValue {
 public:
  RuleValue() = default;  // does not exist
  RuleValue(const nlohmann::json* json) : json_(json) {}
  static RuleValue Packed(const char* data) {
    RuleValue value;
    value.packed_ = data;
    return value;
  }

  bool exists() const { return json_ != nullptr || packed_ != nullptr; }
  bool is_null() const { return Kind() == 'n'; }
  bool is_bool() const { return Kind() == 't'; }
  bool is_integer() const { return Kind() == 'i'; }
  bool is_number() const { return Kind() == 'i' || Kind() == 'd'; }
  bool is_string() const { return Kind() == 's'; }
  bool is_array() const { return Kind() == 'a'; }
  bool is_object() const { return Kind() == 'o'; }
  const nlohmann::json& json() const { return *json_; }  // not for the digest

  RuleValue Find(std::string_view key) const;  // of an object
  // Calls visit(key, value) for each member of an object, or with an empty key for each item of an array.
  void ForEach(const std::function<void(std::string_view, const RuleValue&)>& visit) const;
  std::string String() const;  // of a string
  double Number() const;       // of a number
  bool Bool() const;           // of a bool

 private:
  char Kind() const;  // the letter of RuleDigest::data, 't' for both truths; NUL if it does not exist

  const nlohmann::json* json_ = nullptr;
  const char* packed_ = nullptr;
};

struct LoadedFile {
  std::string name;
  bool built_in = false;
  int layer = 0;          // RuleFile::layer; 0: built in
  bool trusted = false;   // known to be valid: not checked
  std::size_t order = 0;  // position among all files; orders the faults
  JsonDocument document;
  RuleValue digested = {};  // if it exists, replaces `document` for a built-in file; has no places

  bool from_digest() const { return digested.exists(); }
};

// Collects faults and returns them in the order of the files.
class FaultSink {
 public:
  void Add(const LoadedFile& file, JsonPlace place, std::string what, std::string hint);
  std::size_t size() const { return faults_.size(); }
  std::vector<Fault> Sorted() const;  // distinct

 private:
  std::vector<std::pair<std::size_t, Fault>> faults_;  // with LoadedFile::order
};

// Borrows `file` and `sink`. The schema check has already reported malformed values, so they read as empty without
// another fault.
class RuleNode {
 public:
  RuleNode(const LoadedFile* file, FaultSink* sink, std::string pointer, RuleValue value);
  static RuleNode Root(const LoadedFile* file, FaultSink* sink);

  const LoadedFile& file() const { return *file_; }
  const nlohmann::json& json() const { return value_.json(); }  // requires exists(); not for the digest
  bool exists() const { return value_.exists(); }
  bool is_object() const { return value_.is_object(); }
  bool is_null() const { return value_.is_null(); }
  bool is_string() const { return value_.is_string(); }
  bool is_number() const { return value_.is_number(); }
  JsonPlace place() const { return file_->document.PlaceOf(pointer_); }
  JsonPlace key_place() const { return file_->document.PlaceOfKey(pointer_); }

  RuleNode operator[](std::string_view key) const;                // may not exist
  std::vector<RuleNode> Items() const;                            // of an array
  std::vector<std::pair<std::string, RuleNode>> Members() const;  // of an object

  // A list of strings may contain arrays; the strings of such an array are concatenated.
  std::string Text() const;   // a string, or strings joined with one blank
  std::string Lines() const;  // a string, or strings joined with line breaks
  std::vector<std::string> Words() const;
  bool Bool() const;
  int Int(int otherwise) const;
  Value Scalar() const;

  Expression AsExpression(const Terms& terms) const;
  Template AsTemplate(const Terms& terms) const;
  Pattern AsPattern() const;

  void Report(std::string what, std::string hint = "") const;
  void ReportKey(std::string what, std::string hint = "") const;  // at the key of this value
  void ReportAt(std::size_t byte_of_text, std::string what, std::string hint = "") const;

 private:
  std::string String() const;  // empty unless it is a string
  std::string Joined(char separator) const;
  std::string PointerTo(std::string_view key) const;
  std::string PointerTo(std::size_t item) const;
  void ReportAll(const std::vector<SyntaxFault>& faults) const;

  const LoadedFile* file_;
  FaultSink* sink_;
  std::string pointer_;
  RuleValue value_;
};

// The pattern of an entry that is either a pattern or an object with one.
inline RuleNode PatternNode(const RuleNode& node) { return node.is_object() ? node["pattern"] : node; }

}  // namespace whyoom
