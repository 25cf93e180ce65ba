#include "text/json_record.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "input/error.h"
#include "text/cleaning.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

using nlohmann::json;

// Deeper values are dropped, because building them would be expensive.
constexpr int kMaxJsonDepth = 64;

// Maximum number of occurrences of a key at which to search for the value's raw bytes.
constexpr int kMaxOccurrences = 4;

// Unescapes the string whose text begins at `at` and maps it back. Sets `end` to the offset of its closing quote, or to
// the line's length if there is none.
MappedText ReadString(const MappedText& line, std::size_t at, std::size_t* end) {
  const std::string_view text = line.text;
  Rewriter rewriter(line);
  std::size_t kept = at;
  while ((at = text.find_first_of("\"\\", at)) != std::string_view::npos && text[at] != '"') {
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

// Locates the value of `key` in the line from `from` on, because the parser reports no offsets. The location is used
// only for the line number and byte offset of a finding. If the search fails, it is the start of the line. Otherwise
// increases `past` to the offset after the value.
MappedText Locate(const MappedText& line, std::size_t from, const std::string& key, const std::string& value,
                  std::size_t* past) {
  const std::string_view text = line.text;
  const std::string quoted = "\"" + key + "\"";
  std::size_t at = text.find(quoted, from);
  for (int i = 0; i < kMaxOccurrences && at != std::string_view::npos; ++i) {
    at += quoted.size();
    const std::size_t quote = text.find_first_not_of(" \t:", at);
    if (CharAt(text, quote) == '"') {
      std::size_t end = 0;
      MappedText found = ReadString(line, quote + 1, &end);
      if (found.text == value) {
        *past = std::max(*past, end);
        return found;
      }
    }
    at = text.find(quoted, at);
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
        to->push_back({pointer, pointer.empty() ? "" : pointer.back()});
      } catch (const json::exception&) {
        throw Error("'" + text + "' is not a JSON pointer");
      }
    }
  };
  compile(keys.text, &text_);
  compile(keys.stream_name, &stream_name_);
  compile(keys.time, &time_);
}

std::vector<JsonRecordReader::Record> ReadStrings(const MappedText& line, bool lists_log) {
  // A document that was cut may be followed by a log. Strings and what may be between them in a document.
  static const Regex document(R"((?s)(?:[\s{}\[\],:+\-.\dEtruefalsn]|"(?:[^"\\]|\\.)*")*(?:"(?:[^"\\]|\\.)*\\?)?)");
  static const Regex string(R"((?s)(:\s*)?("(?:[^"\\]|\\.)*"?)(\s*:)?)");
  const std::string_view text = line.text;
  std::vector<JsonRecordReader::Record> strings;
  if (!re2::RE2::FullMatch(text, document)) return strings;
  const auto add = [&](MappedText item, MappedText written) {
    strings.push_back({.texts = {std::move(item)}, .written = std::move(written), .logged = false});
  };
  const auto add_surrounding = [&](std::size_t begin, std::size_t end) {
    if (text.substr(begin, end - begin).find_first_not_of(" \t\r\n{}[],") < end - begin)
      add(Slice(line, begin, end), {});
  };
  bool has_item = false;
  std::size_t past = 0;  // the last item
  re2::StringPiece groups[4];
  for (std::size_t at = 0; string.Match(text, at, text.size(), re2::RE2::UNANCHORED, groups, 4);) {
    const auto begin = static_cast<std::size_t>(groups[2].data() - text.data());
    at = begin + groups[2].size();
    if (!groups[1].empty() || !groups[3].empty()) continue;  // a value or a key
    add_surrounding(past, begin);
    std::size_t end = 0;
    MappedText item = ReadString(line, begin + 1, &end);
    add(std::move(item), Slice(line, begin, std::min(at + (CharAt(text, at) == ',' ? 1 : 0), text.size())));
    has_item = true;
    lists_log = lists_log || IsLogItem(text.substr(begin + 1, end - begin - 1));
    past = at;
  }
  if (!has_item) return {};
  add_surrounding(past, text.size());
  for (JsonRecordReader::Record& one : strings) {
    if (lists_log) one.written = {};
  }
  return strings;
}

// Reads the object, whose texts are in the line from `past` on. Returns nullopt if it is no record.
std::optional<JsonRecordReader::Record> JsonRecordReader::ReadObject(const MappedText& line, const json& object,
                                                                     std::size_t* past) const {
  const std::size_t from = *past;
  Record record;
  record.own = IsOwnRecord(object);
  if (record.own) return record;
  std::set<std::string> seen;  // collectors store the same text under several keys
  for (const Key& key : text_) {
    const json* value = ValueOf(object, key.pointer);
    if (value == nullptr) continue;
    const std::optional<std::string> text = value->is_string() ? value->get<std::string>() : TextOfBytes(*value);
    if (text && seen.insert(*text).second) record.texts.push_back(Locate(line, from, key.name, *text, past));
  }
  if (seen.empty()) return std::nullopt;
  for (const Key& key : stream_name_) {
    const json* value = ValueOf(object, key.pointer);
    if (value == nullptr || !(value->is_string() || value->is_number_integer())) continue;
    record.stream_name = value->is_string() ? value->get<std::string>() : value->dump();
    if (!record.stream_name.empty()) break;
  }
  for (const Key& key : time_) {
    const json* value = ValueOf(object, key.pointer);
    if (value == nullptr || !(value->is_string() || value->is_number())) continue;
    record.time = ParseTimestamp(value->is_string() ? value->get_ref<const std::string&>() : value->dump());
    if (record.time) break;
  }
  return record;
}

std::vector<JsonRecordReader::Record> JsonRecordReader::Read(const MappedText& line) const {
  const std::string_view text = line.text;
  const std::size_t begin = text.find_first_not_of(" \t[,");
  if (begin == std::string_view::npos || text[begin] != '{') return {};
  const std::size_t end = text.find_last_not_of(" \t\r],");
  if (end <= begin || text[end] != '}') return {};
  const auto is_shallow = [](int depth, json::parse_event_t, const json&) { return depth <= kMaxJsonDepth; };
  const std::string array = fmt::format("[{}]", text.substr(begin, end + 1 - begin));
  const json objects = json::parse(array, is_shallow, /*allow_exceptions=*/false);
  std::vector<Record> records;
  if (objects.is_discarded()) return records;
  std::size_t past = 0;  // the last text found
  for (const json& object : objects) {
    if (!object.is_object()) continue;
    if (std::optional<Record> record = ReadObject(line, object, &past)) records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace whyoom
