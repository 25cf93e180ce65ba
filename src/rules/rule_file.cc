#include "rules/rule_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "text/utf8.h"

namespace whyoom {

std::string Fault::ToString() const {
  std::string text = file;
  if (line > 0) text += ":" + std::to_string(line) + ":" + std::to_string(column);
  text += ": " + what;
  return hint.empty() ? text : text + " (" + hint + ")";
}

// Receives the events of nlohmann's parser, which has no places, and follows them in the text.
class JsonTree {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit JsonTree(LoadedFile* file) : file_(*file) {}

  JsonNode Take() { return std::move(root_); }

  bool null() { return Add(JsonNode::Kind::kNull, 0, ""); }
  bool boolean(bool truth) { return Add(JsonNode::Kind::kBool, truth ? 1 : 0, ""); }
  bool number_integer(number_integer_t number) {
    return Add(JsonNode::Kind::kInteger, static_cast<double>(number), "");
  }
  bool number_unsigned(number_unsigned_t number) {
    return Add(JsonNode::Kind::kInteger, static_cast<double>(number), "");
  }
  bool number_float(number_float_t number, const string_t& /*text*/) {
    return Add(JsonNode::Kind::kNumber, number, "");
  }
  bool string(string_t& text) { return Add(JsonNode::Kind::kText, 0, text); }
  bool binary(binary_t& /*bytes*/) { return false; }
  bool start_object(std::size_t /*size*/) { return Add(JsonNode::Kind::kObject, 0, ""); }
  bool start_array(std::size_t /*size*/) { return Add(JsonNode::Kind::kArray, 0, ""); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }

  bool key(string_t& text) {
    key_ = text;
    key_at_ = NextToken();
    at_ = EndOfToken(key_at_);
    if (!keys_.back().insert(text).second)
      file_.Report(key_at_, "the key '" + Printable(text) + "' occurs twice in this object", "");
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const nlohmann::json::exception& error) {
    std::string what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    const std::size_t colon = what.find(": ");
    what = colon == what.npos ? what : what.substr(colon + 2);
    const bool is_escape = what.find("forbidden character after backslash") != what.npos;
    const bool is_end = what.find("unexpected end of input") != what.npos;
    const std::size_t last = file_.text().find_last_not_of(" \t\n\r", std::max<std::size_t>(position, 2) - 2);
    const bool after_comma = !is_end && last != std::string::npos && file_.text()[last] == ',';
    const char* hint = is_escape     ? "write a backslash of a pattern twice: \"\\\\d\""
                       : after_comma ? "remove the comma before it"
                                     : "";
    file_.Report(is_end ? file_.text().size() : std::max<std::size_t>(position, 1) - 1, "not JSON: " + Printable(what),
                 hint);
    return false;
  }

 private:
  static constexpr std::size_t kDeepest = 64;
  static constexpr std::size_t kMostValues = 500'000;

  std::size_t NextToken() const {
    return std::min(file_.text().find_first_not_of(" \t\n\r,:", at_), file_.text().size());
  }

  std::size_t EndOfToken(std::size_t begin) const {
    const std::string& text = file_.text();
    if (text[begin] != '"') {
      const std::size_t length = text.find_first_of(" \t\n\r,:]}", begin + 1);
      return std::string_view("{}[]").find(text[begin]) != std::string_view::npos ? begin + 1
                                                                                  : std::min(length, text.size());
    }
    std::size_t end = begin + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    return end + 1;
  }

  bool Add(JsonNode::Kind kind, double number, std::string text) {
    JsonNode node;
    node.kind_ = kind;
    node.number_ = number;
    node.text_ = std::move(text);
    node.at_ = NextToken();
    node.file_ = &file_;
    const bool in_object = !open_.empty() && open_.back()->kind_ == JsonNode::Kind::kObject;
    node.key_ = in_object ? key_ : "";
    node.key_at_ = in_object ? key_at_ : node.at_;
    at_ = EndOfToken(node.at_);
    if (++values_ > kMostValues) {
      file_.Report(node.at_, "more than " + std::to_string(kMostValues) + " values", "");
      return false;
    }
    JsonNode& added = open_.empty() ? root_ : open_.back()->items_.emplace_back();
    added = std::move(node);
    if (kind != JsonNode::Kind::kArray && kind != JsonNode::Kind::kObject) return true;
    if (open_.size() >= kDeepest) {
      file_.Report(added.at_, "nested more than " + std::to_string(kDeepest) + " levels deep", "");
      return false;
    }
    keys_.emplace_back();
    open_.push_back(&added);  // it does not move while it is open, because its parent gets no other item
    return true;
  }

  bool Close() {
    at_ = EndOfToken(NextToken());
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  LoadedFile& file_;
  JsonNode root_;
  std::vector<JsonNode*> open_;              // the arrays and objects that contain the next value
  std::vector<std::set<std::string>> keys_;  // of each of them
  std::string key_;                          // of the next value
  std::size_t key_at_ = 0;
  std::size_t at_ = 0;  // the end of the last token
  std::size_t values_ = 0;
};

LoadedFile::LoadedFile(RuleFile file) : file_(std::move(file)) {
  const std::string& text = file_.text;
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) line_starts_.push_back(at + 1);
  if (text.size() > kMostRuleBytes) {
    Report(0, "the file is larger than " + std::to_string(kMostRuleBytes >> 20) + " MiB", "");
    return;
  }
  if (text.starts_with("\xEF\xBB\xBF") || text.find('\0') != text.npos) {
    Report(0, "the file begins with a byte order mark or contains a NUL", "save it as UTF-8 without one");
    return;
  }
  JsonTree tree(this);
  if (nlohmann::json::sax_parse(text, &tree)) root_ = tree.Take();
}

std::pair<std::size_t, std::size_t> LoadedFile::LineAndColumn(std::size_t offset) const {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return {static_cast<std::size_t>(next - line_starts_.begin()), offset - *(next - 1) + 1};
}

std::string LoadedFile::PlaceAt(std::size_t offset) const {
  const auto [line, column] = LineAndColumn(offset);
  return file_.name + ":" + std::to_string(line) + ":" + std::to_string(column);
}

void LoadedFile::Report(std::size_t offset, std::string what, std::string hint) {
  constexpr std::size_t kMaxFaults = 1000;
  if (faults_.size() >= kMaxFaults) return;
  const auto [line, column] = LineAndColumn(offset);
  faults_.push_back({file_.name, line, column, std::move(what), std::move(hint)});
}

std::vector<Fault> LoadedFile::SortedFaults() const {
  const auto key = [](const Fault& fault) { return std::tie(fault.line, fault.column, fault.what, fault.hint); };
  std::vector<Fault> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const Fault& a, const Fault& b) { return key(a) < key(b); });
  const auto same = [&](const Fault& a, const Fault& b) { return key(a) == key(b); };
  sorted.erase(std::unique(sorted.begin(), sorted.end(), same), sorted.end());
  return sorted;
}

const JsonNode& JsonNode::operator[](std::string_view key) const {
  static const JsonNode kNone;
  if (kind_ != Kind::kObject) return kNone;
  const auto found = std::find_if(items_.begin(), items_.end(), [&](const JsonNode& item) { return item.key_ == key; });
  return found == items_.end() ? kNone : *found;
}

std::string JsonNode::Text(char separator) const {
  if (kind_ != Kind::kArray) return text_;
  std::string joined;
  for (std::size_t i = 0; i < items_.size(); ++i) {
    if (i > 0) joined += separator;
    joined += items_[i].text_;
    for (const JsonNode& piece : items_[i].items_) joined += piece.text_;
  }
  return joined;
}

Value JsonNode::Scalar() const {
  if (kind_ == Kind::kBool) return number_ != 0;
  if (is_number()) return number_;
  return is_text() ? Value(text_) : Value(Unknown{});
}

void JsonNode::Report(std::string what, std::string hint) const {
  if (exists()) file_->Report(at_, std::move(what), std::move(hint));
}

void JsonNode::ReportKey(std::string what, std::string hint) const {
  if (exists()) file_->Report(key_at_, std::move(what), std::move(hint));
}

void JsonNode::ReportAt(std::size_t byte, std::string what, std::string hint) const {
  if (exists()) file_->Report(OffsetIn(byte, 1), std::move(what), std::move(hint));
}

std::string JsonNode::Place() const { return file_->PlaceAt(at_); }

std::string JsonNode::KeyPlace() const { return file_->PlaceAt(key_at_); }

// The offset in the file of a byte of the text; `joint` is the number of bytes between the texts of an array.
std::size_t JsonNode::OffsetIn(std::size_t byte, std::size_t joint) const {
  for (std::size_t i = 0; i < items_.size(); ++i) {
    std::size_t length = items_[i].text_.size();
    for (const JsonNode& piece : items_[i].items_) length += piece.text_.size();
    // Nothing separates pieces, so the byte after one belongs to the next.
    if (byte < length + joint || (i + 1 == items_.size() && byte == length)) return items_[i].OffsetIn(byte, 0);
    byte -= length + joint;
  }
  if (!is_text()) return at_;
  // Follow the text in the file, in which some characters are escaped.
  std::size_t at = at_ + 1;
  for (std::size_t i = 0; i < byte && at < file_->text().size(); ++i) at += file_->text()[at] == '\\' ? 2 : 1;
  return at;
}

}  // namespace whyoom
