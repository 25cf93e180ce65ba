#include "rules/json_positions.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::optional<std::uint32_t> HexUnit(std::string_view text, std::size_t at) {
  if (at + 4 > text.size()) return std::nullopt;
  std::uint32_t unit = 0;
  const std::from_chars_result result = std::from_chars(text.data() + at, text.data() + at + 4, unit, 16);
  if (result.ec != std::errc() || result.ptr != text.data() + at + 4) return std::nullopt;
  return unit;
}

// The length of a string or of an array of strings that are concatenated.
std::size_t TextLength(const nlohmann::json& text) {
  if (text.is_string()) return text.get_ref<const std::string&>().size();
  std::size_t length = 0;
  if (!text.is_array()) return length;
  for (const nlohmann::json& piece : text) length += piece.is_string() ? piece.get_ref<const std::string&>().size() : 0;
  return length;
}

// An escape sequence in a JSON string: its length in the text and the characters that it represents.
struct Escape {
  std::size_t length = 0;  // 0: not an escape
  std::string characters;
};

Escape ReadEscape(std::string_view text, std::size_t at) {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  Escape escape;
  if (at + 1 >= text.size()) return escape;
  if (const std::size_t letter = kLetters.find(text[at + 1]); letter != kLetters.npos) {
    return {2, std::string(1, kMeanings[letter])};
  }
  if (text[at + 1] != 'u') return escape;
  const std::optional<std::uint32_t> unit = HexUnit(text, at + 2);
  if (!unit || (*unit >= 0xDC00 && *unit <= 0xDFFF)) return escape;
  const bool is_pair = *unit >= 0xD800 && *unit <= 0xDBFF;
  const bool has_low = is_pair && text.substr(at + 6, 2) == "\\u";
  const std::uint32_t low = has_low ? HexUnit(text, at + 8).value_or(0) : 0;
  if (is_pair && (low < 0xDC00 || low > 0xDFFF)) return escape;
  escape.length = is_pair ? 12 : 6;
  AppendUtf8(is_pair ? 0x10000 + ((*unit - 0xD800) << 10) + (low - 0xDC00) : *unit, &escape.characters);
  return escape;
}

}  // namespace

// Reads the text once and stops at the first syntax error.
class JsonScanner {
 public:
  JsonScanner(JsonDocument* document, const JsonDocument::Limits& limits)
      : document_(*document), text_(document->text_), limits_(limits) {}

  void Run() {
    if (text_.size() > limits_.bytes) {
      Fail(0, "the file is larger than " + std::to_string(limits_.bytes >> 20) + " MiB");
      return;
    }
    if (text_.starts_with("\xEF\xBB\xBF")) {
      Fail(0, "the file begins with a byte order mark", "save it as UTF-8 without one");
      return;
    }
    SkipBlanks();
    nlohmann::json value;
    if (!ReadValue("", at_, &value)) return;
    SkipBlanks();
    if (at_ < text_.size()) {
      Fail(at_, "expected the end of the file, found " + Found());
      return;
    }
    document_.value_ = std::move(value);
  }

 private:
  bool Fail(std::size_t offset, std::string what, std::string hint = "") {
    document_.faults_.push_back({offset, std::move(what), std::move(hint)});
    return false;
  }

  std::string Found() const {
    if (at_ >= text_.size()) return "the end of the file";
    const unsigned char c = static_cast<unsigned char>(text_[at_]);
    return c > 0x20 && c < 0x7F ? "'" + std::string(1, text_[at_]) + "'" : "a byte that JSON does not allow here";
  }

  void SkipBlanks() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }

  bool Accept(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool ReadValue(const std::string& pointer, std::size_t key_offset, nlohmann::json* value) {
    if (++values_ > limits_.values) return Fail(at_, "more than " + std::to_string(limits_.values) + " values");
    document_.offsets_[pointer] = {key_offset, at_};
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '{') return Nested(pointer, value, &JsonScanner::ReadObject);
    if (c == '[') return Nested(pointer, value, &JsonScanner::ReadArray);
    if (c == '"') {
      std::string text;
      if (!ReadString(&text)) return false;
      *value = std::move(text);
      return true;
    }
    if (c == '-' || IsDigit(c)) return ReadNumber(value);
    return ReadWord(value);
  }

  bool Nested(const std::string& pointer, nlohmann::json* value,
              bool (JsonScanner::*read)(const std::string&, nlohmann::json*)) {
    if (depth_ >= limits_.depth) return Fail(at_, "nested more than " + std::to_string(limits_.depth) + " levels deep");
    ++depth_;
    ++at_;
    const bool good = (this->*read)(pointer, value);
    --depth_;
    return good;
  }

  bool ReadObject(const std::string& pointer, nlohmann::json* value) {
    *value = nlohmann::json::object();
    SkipBlanks();
    if (Accept('}')) return true;
    while (true) {
      SkipBlanks();
      const std::size_t key_offset = at_;
      if (at_ >= text_.size() || text_[at_] != '"') {
        const bool after_comma = !value->empty() && at_ < text_.size() && text_[at_] == '}';
        return Fail(at_, "expected a key in double quotes, found " + Found(),
                    after_comma ? "remove the comma before it" : "");
      }
      std::string key;
      if (!ReadString(&key)) return false;
      SkipBlanks();
      if (!Accept(':')) return Fail(at_, "expected ':' after the key '" + key + "', found " + Found());
      SkipBlanks();
      nlohmann::json member;
      if (value->contains(key)) {
        // Parse the second value to find syntax errors, but keep the first value.
        Fail(key_offset, "the key '" + key + "' occurs twice in this object");
        if (!ReadValue(pointer + "/" + PointerToken(key) + "/\x01twice", key_offset, &member)) return false;
      } else {
        if (!ReadValue(pointer + "/" + PointerToken(key), key_offset, &member)) return false;
        (*value)[key] = std::move(member);
      }
      SkipBlanks();
      if (Accept('}')) return true;
      if (!Accept(',')) return Fail(at_, "expected ',' or '}' after a value of an object, found " + Found());
    }
  }

  bool ReadArray(const std::string& pointer, nlohmann::json* value) {
    *value = nlohmann::json::array();
    SkipBlanks();
    if (Accept(']')) return true;
    while (true) {
      SkipBlanks();
      if (at_ < text_.size() && text_[at_] == ']') {
        return Fail(at_, "expected a value, found ']'", "remove the comma before it");
      }
      nlohmann::json element;
      if (!ReadValue(pointer + "/" + std::to_string(value->size()), at_, &element)) return false;
      value->push_back(std::move(element));
      SkipBlanks();
      if (Accept(']')) return true;
      if (!Accept(',')) return Fail(at_, "expected ',' or ']' after a value of an array, found " + Found());
    }
  }

  bool ReadString(std::string* out) {
    const std::size_t begin = at_++;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c == '\\') {
        const Escape escape = ReadEscape(text_, at_);
        if (escape.length == 0) {
          return Fail(at_, "not a JSON escape sequence", "write a backslash of a pattern twice: \"\\\\d\"");
        }
        *out += escape.characters;
        at_ += escape.length;
        continue;
      }
      if (c == '\n') break;
      if (static_cast<unsigned char>(c) < 0x20)
        return Fail(at_, "a control character inside a string", "write it as \\u00XX");
      const CodePoint point = DecodeUtf8(text_, at_);
      if (!point.valid) return Fail(at_, "the text is not valid UTF-8");
      *out += text_.substr(at_, point.length);
      at_ += point.length;
    }
    return Fail(begin, "this string is not closed on its line", "close it with a double quote");
  }

  bool ReadNumber(nlohmann::json* value) {
    const std::size_t end = std::min(text_.find_first_not_of("+-.0123456789eE", at_), text_.size());
    try {
      *value = nlohmann::json::parse(text_.substr(at_, end - at_));
    } catch (const nlohmann::json::out_of_range&) {
      return Fail(at_, "the number is too large");
    } catch (const nlohmann::json::parse_error&) {
      return Fail(at_, "not a JSON number");
    }
    at_ = end;
    return true;
  }

  bool ReadWord(nlohmann::json* value) {
    const std::pair<std::string_view, nlohmann::json> kWords[] = {{"true", true}, {"false", false}, {"null", nullptr}};
    for (const auto& [word, parsed] : kWords) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      *value = parsed;
      return true;
    }
    return Fail(at_, "expected a value, found " + Found());
  }

  JsonDocument& document_;
  std::string_view text_;
  const JsonDocument::Limits& limits_;
  std::size_t at_ = 0;
  std::size_t values_ = 0;
  int depth_ = 0;
};

JsonDocument JsonDocument::Parse(std::string_view text) { return Parse(text, Limits{}); }

JsonDocument JsonDocument::Parse(std::string_view text, const Limits& limits) {
  JsonDocument document;
  document.text_ = text;
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1)) {
    document.line_starts_.push_back(at + 1);
  }
  JsonScanner(&document, limits).Run();
  return document;
}

JsonPlace JsonDocument::PlaceAt(std::size_t offset) const {
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return {static_cast<std::size_t>(next - line_starts_.begin()), offset - *(next - 1) + 1};
}

std::string_view JsonDocument::LineText(std::size_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const std::size_t begin = line_starts_[number - 1];
  const std::string_view text = text_;
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

const JsonDocument::Offsets& JsonDocument::Find(std::string pointer) const {
  static const Offsets kStart;
  while (true) {
    const auto found = offsets_.find(pointer);
    if (found != offsets_.end()) return found->second;
    if (pointer.empty()) return kStart;
    const std::size_t slash = pointer.rfind('/');
    pointer.resize(slash == pointer.npos ? 0 : slash);
  }
}

JsonPlace JsonDocument::PlaceOf(const std::string& pointer) const { return PlaceAt(Find(pointer).value); }

JsonPlace JsonDocument::PlaceOfKey(const std::string& pointer) const { return PlaceAt(Find(pointer).key); }

// `joint` is the number of bytes between the strings of an array.
JsonPlace JsonDocument::PlaceInPieces(const std::string& pointer, std::size_t at, std::size_t joint) const {
  std::size_t offset = Find(pointer).value;
  if (offset < text_.size() && text_[offset] == '[') {
    const nlohmann::json& pieces = value_.at(nlohmann::json::json_pointer(pointer));
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::size_t length = TextLength(pieces[i]);
      const bool is_last = i + 1 == pieces.size();
      // Nothing separates concatenated pieces, so the byte after one belongs to the next.
      if (at < length + joint || (is_last && at == length)) {
        return PlaceInPieces(pointer + "/" + std::to_string(i), at, 0);
      }
      at -= length + joint;
    }
    return PlaceAt(offset);
  }
  if (offset >= text_.size() || text_[offset] != '"') return PlaceAt(offset);
  ++offset;
  while (at > 0 && offset < text_.size() && text_[offset] != '"') {
    const Escape escape = text_[offset] == '\\' ? ReadEscape(text_, offset) : Escape{1, "x"};
    if (escape.length == 0 || escape.characters.size() > at) break;
    at -= escape.characters.size();
    offset += escape.length;
  }
  return PlaceAt(offset);
}

JsonPlace JsonDocument::PlaceInText(const std::string& pointer, std::size_t at) const {
  return PlaceInPieces(pointer, at, 1);
}

std::string PointerToken(std::string_view key) {
  std::string token;
  for (char c : key) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else {
      token += c;
    }
  }
  return token;
}

}  // namespace whyoom
