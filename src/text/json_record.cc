#include "text/json_record.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "input/error.h"
#include "text/cleaning.h"

namespace whyoom {
namespace {

using nlohmann::json;

// Deeper objects are not log records, and building them would be expensive.
constexpr int kMaxJsonDepth = 64;

// Maximum number of occurrences of a key at which to search for the value's raw bytes.
constexpr int kMaxOccurrences = 4;

// Offset of the closing quote of the string that starts at `at`; at least the text's size if there is none.
std::size_t EndOfString(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return at;
}

// Unescapes the quoted text that begins at `at`, after its opening quote, and maps it back. Sets `end` to the offset of
// the closing quote, or to the line's length if there is none.
MappedText ReadQuoted(const MappedText& line, std::size_t at, char quote, std::size_t* end) {
  const std::string_view text = line.text;
  const char stops[] = {quote, '\\', '\0'};
  Rewriter rewriter(line);
  std::size_t kept = at;
  while ((at = text.find_first_of(stops, at)) != std::string_view::npos && text[at] != quote) {
    std::string unescaped;
    const std::size_t length = Unescape(text, at, &unescaped);
    rewriter.Keep(kept, at);
    rewriter.Put(unescaped, at);
    at += length;
    kept = at;
  }
  *end = std::min(at, text.size());
  rewriter.Keep(kept, *end);
  return rewriter.Take();
}

bool IsTooDeep(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      at = EndOfString(text, at);
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

// The object in `text`, possibly an array element; empty if there is none.
std::string_view Object(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t[,");
  if (begin == std::string_view::npos || text[begin] != '{') return {};
  const std::size_t end = text.find_last_not_of(" \t\r],");
  if (end <= begin || text[end] != '}') return {};
  return text.substr(begin, end + 1 - begin);
}

std::size_t SkipBlanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t", at), text.size());
}

// Locates the value of `key` in the line, because the parser reports no offsets. The location is used only for the line
// number and byte offset of a finding. If the search fails, it is the start of the line.
MappedText Locate(const MappedText& line, const std::string& key, const std::string& value) {
  const std::string_view text = line.text;
  const std::string quoted = "\"" + key + "\"";
  std::size_t at = text.find(quoted);
  for (int i = 0; i < kMaxOccurrences && at != std::string_view::npos; ++i) {
    std::size_t colon = SkipBlanks(text, at + quoted.size());
    const std::size_t quote = colon < text.size() && text[colon] == ':' ? SkipBlanks(text, colon + 1) : text.size();
    if (quote < text.size() && text[quote] == '"') {
      std::size_t end = 0;
      MappedText found = ReadQuoted(line, quote + 1, '"', &end);
      if (found.text == value) return found;
    }
    at = text.find(quoted, at + 1);
  }
  return {value, {{0, line.segments.empty() ? 0 : line.segments.front().raw_at}}};
}

// The text of an array of bytes, as `journalctl -o json` writes a message with escape sequences; nullopt for any other
// value.
std::optional<std::string> TextOfBytes(const json& value) {
  const auto is_byte = [](const json& item) { return item.is_number_unsigned() && item.get<std::uint64_t>() < 256; };
  if (!value.is_array() || value.empty() || !std::all_of(value.begin(), value.end(), is_byte)) return std::nullopt;
  std::string text;
  for (const json& item : value) text += static_cast<char>(item.get<unsigned char>());
  return MapRaw(text).text;
}

// Returns the value at the pointer, or null.
const json* ValueOf(const json& record, const json::json_pointer& pointer) {
  return record.contains(pointer) ? &record.at(pointer) : nullptr;
}

// Whether the record is a report of whyoom or part of one (report/record/describe.h).
bool IsOwnRecord(const json& record) {
  const auto text = [&](const char* key) {
    const auto found = record.find(key);
    return found != record.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (text("schema").starts_with("whyoom.")) return true;
  const std::string type = text("type");
  if (type == "problem") return record.contains("what") && record.contains("path");
  if (type != "diagnosis" && type != "program" && type != "summary") return false;
  const auto merge = record.find("merge");
  return merge != record.end() && merge->is_object() && merge->contains("rules");
}

struct Pair {
  std::string key;
  MappedText value;  // unquoted and unescaped
};

bool IsKey(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '@'; }

// Parses a line of key=value pairs separated by blanks; values with blanks are in double or single quotes. Returns an
// empty vector if the line contains anything else.
std::vector<Pair> ReadPairs(const MappedText& line) {
  const std::string_view text = line.text;
  std::vector<Pair> pairs;
  for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
    const auto key = static_cast<std::size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), IsKey) - text.begin());
    if (key == at || key >= text.size() || text[key] != '=') return {};
    Pair pair{std::string(text.substr(at, key - at))};
    at = key + 1;
    if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
      std::size_t end = 0;
      pair.value = ReadQuoted(line, at + 1, text[at], &end);
      if (end >= text.size()) return {};
      at = end + 1;
      if (at < text.size() && text[at] != ' ') return {};
    } else {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      pair.value = Slice(line, at, end);
      at = end;
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

// Whether the text may be the part of a JSON document between two strings: brackets, numbers, true, false and null. A
// document that was cut may be followed by a log.
bool IsBetweenStrings(std::string_view text) {
  return text.find_first_not_of(" \t\r\n{}[],:+-.0123456789Etruefalsn") == std::string_view::npos;
}

}  // namespace

bool IsLogItem(std::string_view item) {
  constexpr std::string_view kFirst = " \t[<0123456789";
  return item.empty() || kFirst.find(item[0]) != std::string_view::npos || item.starts_with("Traceback (most") ||
         item.find("\\n") != std::string_view::npos || item.find("\\u001b[") != std::string_view::npos;
}

JsonRecordReader::JsonRecordReader(const JsonLogKeys& keys) {
  const auto compile = [](const std::vector<std::string>& from, std::vector<Key>* to) {
    for (const std::string& text : from) {
      try {
        const json::json_pointer pointer(text);
        const bool top = !pointer.empty() && pointer.parent_pointer().empty();
        to->push_back({pointer, pointer.empty() ? "" : pointer.back(), top});
      } catch (const json::exception&) {
        throw Error("'" + text + "' is not a JSON pointer");
      }
    }
  };
  compile(keys.text, &text_);
  compile(keys.stream_name, &stream_name_);
  compile(keys.time, &time_);
}

std::vector<MappedText> JsonRecordReader::Elements(const MappedText& line) {
  const std::string_view text = line.text;
  const std::size_t bracket = text.find_first_not_of(" \t");
  const std::size_t end = text.find_last_not_of(" \t\r,");
  if (end == std::string_view::npos || text[bracket] != '[' || text[end] != ']') return {};
  if (const std::size_t first = SkipBlanks(text, bracket + 1); text[first] != '{') return {};
  std::vector<MappedText> elements;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t at = bracket + 1; at < end; ++at) {
    const char c = text[at];
    if (c == '"') {
      at = EndOfString(text, at);
    } else if (c == '{' || c == '[') {
      if (depth++ == 0) begin = at;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) elements.push_back(Slice(line, begin, at + 1));
    }
    if (depth < 0) return {};
  }
  return depth == 0 ? elements : std::vector<MappedText>();
}

std::vector<JsonRecordReader::String> JsonRecordReader::Strings(const MappedText& line, bool lists_log) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::string_view text = line.text;
  std::vector<String> strings;
  bool has_item = false;
  std::size_t key = std::string_view::npos;  // where the key of the next value begins
  // A piece of a long line that begins inside a string is read from its next string on.
  std::size_t quote = text.find('"');
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first < quote && std::string_view("{[]},").find(text[first]) == std::string_view::npos)
    quote = text.find('"', std::min(quote, text.size() - 1) + 1);
  std::size_t outside = quote;
  for (; quote != std::string_view::npos; quote = text.find('"', quote)) {
    if (!IsBetweenStrings(text.substr(outside, quote - outside))) return {};
    std::size_t end = 0;
    MappedText string = ReadQuoted(line, quote + 1, '"', &end);
    const std::size_t before = quote == 0 ? std::string_view::npos : text.find_last_not_of(kBlanks, quote - 1);
    const std::size_t after = std::min(text.find_first_not_of(kBlanks, end + 1), text.size());
    const std::size_t past = std::min(CharAt(text, after) == ',' ? after + 1 : end + 1, text.size());
    if (CharAt(text, after) == ':') {
      key = quote;
    } else if (before != std::string_view::npos && text[before] == ':') {
      strings.push_back({Slice(line, std::min(key, quote), past), {}});
    } else {
      has_item = true;
      lists_log = lists_log || IsLogItem(text.substr(quote + 1, end - quote - 1));
      const bool is_number = string.text.find_first_not_of("0123456789") == std::string::npos && !string.text.empty();
      if (!is_number) strings.push_back({std::move(string), lists_log ? MappedText() : Slice(line, quote, past)});
      if (CharAt(text, after) == ']') lists_log = false;
    }
    quote = outside = past;
  }
  const bool is_json = outside == std::string_view::npos || IsBetweenStrings(text.substr(outside));
  return has_item && is_json ? strings : std::vector<String>();
}

bool JsonRecordReader::Read(const MappedText& line, Record* record) const {
  const std::string_view object = Object(line.text);
  if (object.empty() || IsTooDeep(object)) return false;
  const json parsed = json::parse(object, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_discarded() || !parsed.is_object()) return false;
  record->own = IsOwnRecord(parsed);
  if (record->own) return true;
  std::set<std::string> seen;  // collectors store the same text under several keys
  for (const Key& key : text_) {
    const json* value = ValueOf(parsed, key.pointer);
    if (value == nullptr) continue;
    const std::optional<std::string> text = value->is_string() ? value->get<std::string>() : TextOfBytes(*value);
    if (text && seen.insert(*text).second) record->texts.push_back(Locate(line, key.name, *text));
  }
  if (seen.empty()) return false;
  for (const Key& key : stream_name_) {
    const json* value = ValueOf(parsed, key.pointer);
    if (value == nullptr || !(value->is_string() || value->is_number_integer())) continue;
    record->stream_name = value->is_string() ? value->get<std::string>() : value->dump();
    if (!record->stream_name.empty()) break;
  }
  for (const Key& key : time_) {
    const json* value = ValueOf(parsed, key.pointer);
    if (value == nullptr || !(value->is_string() || value->is_number())) continue;
    record->time = ParseTimestamp(value->is_string() ? value->get_ref<const std::string&>() : value->dump());
    if (record->time) break;
  }
  return true;
}

bool JsonRecordReader::ReadAsPairs(const MappedText& line, Record* record) const {
  // Fast path: most lines do not start with "key=".
  const std::size_t equals = line.text.find_first_of("= \t", line.text.find_first_not_of(' '));
  if (equals == std::string::npos || line.text[equals] != '=') return false;
  const std::vector<Pair> pairs = ReadPairs(line);
  if (pairs.size() < 2) return false;
  const auto find = [&](const Key& key) -> const MappedText* {
    const auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const Pair& p) { return p.key == key.name; });
    return key.top && pair != pairs.end() ? &pair->value : nullptr;
  };
  for (const Key& key : text_) {
    if (const MappedText* text = find(key)) record->texts.push_back(*text);
  }
  for (const Key& key : stream_name_) {
    if (const MappedText* who = find(key); who != nullptr && record->stream_name.empty())
      record->stream_name = who->text;
  }
  for (const Key& key : time_) {
    if (const MappedText* time = find(key); time != nullptr && !record->time) record->time = ParseTimestamp(time->text);
  }
  return !record->texts.empty();
}

}  // namespace whyoom
