// Rule files: JSON whose values know their place, so that a fault has a line and a column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rules/value.h"

namespace whyoom {

struct RuleFile {
  std::string name;  // used in faults
  std::string text;
  std::string given = {};  // the file or folder as the user typed it; empty if built in
  int layer = 1;           // an entry replaces entries with the same id in lower layers; built-in rules are the lowest
};

// Larger rule files are rejected.
inline constexpr std::size_t kMostRuleBytes = std::size_t{4} << 20;

// Something wrong with a rule file.
struct Fault {
  std::string file;
  std::size_t line = 0;    // 1-based; 0 if the fault concerns the whole file
  std::size_t column = 0;  // 1-based, in bytes
  std::string what;
  std::string hint;              // how to fix it; may be empty
  std::string ToString() const;  // "file:line:column: what (hint)"
};

class LoadedFile;

// A JSON value of a LoadedFile, which must outlive it.
class JsonNode {
 public:
  enum class Kind { kMissing, kNull, kBool, kInteger, kNumber, kText, kArray, kObject };

  Kind kind() const { return kind_; }
  bool exists() const { return kind_ != Kind::kMissing; }
  bool is_text() const { return kind_ == Kind::kText; }
  bool is_number() const { return kind_ == Kind::kInteger || kind_ == Kind::kNumber; }
  double number() const { return number_; }                      // of a number; of a bool 0 or 1
  const std::string& key() const { return key_; }                // of the member of an object
  const std::vector<JsonNode>& items() const { return items_; }  // of an array; the members of an object
  const JsonNode& operator[](std::string_view key) const;        // the member; may not exist

  // A text, or texts joined with `separator`; texts of an array inside the array are joined without one. Other values
  // are left out.
  std::string Text(char separator = ' ') const;
  Value Scalar() const;  // unknown if it is no scalar

  // Report a fault of the value, of its key, or at a byte of Text().
  void Report(std::string what, std::string hint = "") const;
  void ReportKey(std::string what, std::string hint = "") const;
  void ReportAt(std::size_t byte, std::string what, std::string hint = "") const;

  std::string Place() const;     // "file:line:column"
  std::string KeyPlace() const;  // of the key; of an item, of the value
  const LoadedFile& file() const { return *file_; }

 private:
  friend class JsonTree;
  std::size_t OffsetIn(std::size_t byte, std::size_t joint) const;

  Kind kind_ = Kind::kMissing;
  double number_ = 0;
  std::string text_;
  std::string key_;
  std::vector<JsonNode> items_;
  std::size_t at_ = 0;      // offset of the value in the file
  std::size_t key_at_ = 0;  // of its key; of an item, of the value
  LoadedFile* file_ = nullptr;
};

// A parsed rule file and its faults. Accepts JSON in UTF-8 without duplicate keys.
class LoadedFile {
 public:
  explicit LoadedFile(RuleFile file);
  LoadedFile(const LoadedFile&) = delete;

  const std::string& name() const { return file_.name; }
  int layer() const { return file_.layer; }
  const JsonNode& root() const { return root_; }  // does not exist if the text is not JSON

  void Report(std::size_t offset, std::string what, std::string hint);
  std::string PlaceAt(std::size_t offset) const;  // "file:line:column"
  std::vector<Fault> SortedFaults() const;        // distinct
  const std::string& text() const { return file_.text; }

 private:
  std::pair<std::size_t, std::size_t> LineAndColumn(std::size_t offset) const;  // both 1-based

  const RuleFile file_;
  std::vector<std::size_t> line_starts_ = {0};
  std::vector<Fault> faults_;
  JsonNode root_;
};

}  // namespace whyoom
