#include "text/json_record.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/cleaning.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

using nlohmann::json;

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

// Locates a string in the line from `from` on, because the parser reports no offsets. If it is escaped unusually, maps
// it to the start of the line. Otherwise increases `past` to the offset after it.
MappedText Locate(const MappedText& line, std::size_t from, const json& value, std::size_t* past) {
  for (const bool is_ascii : {false, true}) {
    const std::size_t at = line.text.find(value.dump(-1, ' ', is_ascii), from);
    if (at == std::string::npos) continue;
    std::size_t end = 0;
    MappedText found = ReadString(line, at + 1, &end);
    *past = std::max(*past, end);
    return found;
  }
  return {value, {{0, line.segments.empty() ? 0 : line.segments.front().raw_at}}};
}

// The text of an array of bytes, as `journalctl -o json` writes a message with escape sequences; null for any other
// value.
json TextOfBytes(const json& value) {
  const auto is_byte = [](const json& item) { return item.is_number_unsigned() && item.get<std::uint64_t>() < 256; };
  if (!value.is_array() || value.empty() || !std::all_of(value.begin(), value.end(), is_byte)) return nullptr;
  std::string text;
  for (const json& item : value) text += static_cast<char>(item.get<unsigned char>());
  return MapRaw(text).text;
}

// Whether the record is a report of whyoom or part of one (report/record/describe.h).
bool IsOwnRecord(const json& record) {
  const auto is = [&](const char* key, std::string_view prefix) {
    const auto found = record.find(key);
    return found != record.end() && found->is_string() && found->get_ref<const std::string&>().starts_with(prefix);
  };
  return is("schema", "whyoom.") || record.contains("/merge/rules"_json_pointer) ||
         (is("type", "problem") && record.contains("what"));
}

// The values under the keys that the record has.
std::vector<const json*> ValuesOf(const json& record, const std::vector<json::json_pointer>& keys) {
  std::vector<const json*> values;
  for (const json::json_pointer& key : keys) {
    if (record.contains(key)) values.push_back(&record.at(key));
  }
  return values;
}

std::string TextOf(const json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// Whether an item of a JSON array of strings, without its opening quote, is a line of a log and not an example of a
// message: it is indented, stamped, coloured, part of a traceback, or has its line feed.
bool IsLogItem(std::string_view item) {
  constexpr std::string_view kFirst = " \t[<0123456789";
  return item.empty() || kFirst.find(item[0]) != std::string_view::npos || item.starts_with("Traceback (most") ||
         item.find("\\n") != std::string_view::npos || item.find("\\u001b[") != std::string_view::npos;
}

}  // namespace

JsonRecordReader::JsonRecordReader(const JsonLogKeys& keys)
    : text_(keys.text.begin(), keys.text.end()),
      stream_name_(keys.stream_name.begin(), keys.stream_name.end()),
      time_(keys.time.begin(), keys.time.end()) {}

std::vector<JsonRecord> ReadStrings(const MappedText& line) {
  // A document that was cut may be followed by a log. Strings and what may be between them in a document.
  static const Regex document(R"((?s)(?:[\s{}\[\],:+\-.\dEtruefalsn]|"(?:[^"\\]|\\.)*")*(?:"(?:[^"\\]|\\.)*\\?)?)");
  static const Regex string(R"((?s)(:\s*)?("(?:[^"\\]|\\.)*"?)(\s*:)?)");
  const std::string_view text = line.text;
  std::vector<JsonRecord> strings;
  if (!re2::RE2::FullMatch(text, document)) return strings;
  const auto add = [&](MappedText item, MappedText written) {
    strings.push_back({.texts = {std::move(item)}, .written = std::move(written), .logged = false});
  };
  const auto add_surrounding = [&](std::size_t begin, std::size_t end) {
    if (text.substr(begin, end - begin).find_first_not_of(" \t\r\n{}[],") < end - begin)
      add(Slice(line, begin, end), {});
  };
  bool has_item = false;
  bool lists_log = false;
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
  for (JsonRecord& one : strings) {
    if (lists_log) one.written = {};
  }
  return strings;
}

// Reads the object, whose texts are in the line from `past` on. Returns nullopt if it is no record.
std::optional<JsonRecord> JsonRecordReader::ReadObject(const MappedText& line, const json& object,
                                                       std::size_t* past) const {
  JsonRecord record;
  if (IsOwnRecord(object)) return record;
  const std::size_t from = *past;
  std::vector<json> seen;  // collectors store the same text under several keys
  for (const json* value : ValuesOf(object, text_)) {
    json text = value->is_string() ? *value : TextOfBytes(*value);
    if (text.is_null() || std::find(seen.begin(), seen.end(), text) != seen.end()) continue;
    record.texts.push_back(Locate(line, from, text, past));
    seen.push_back(std::move(text));
  }
  if (seen.empty()) return std::nullopt;
  for (const json* value : ValuesOf(object, stream_name_)) {
    if (!value->is_string() && !value->is_number_integer()) continue;
    record.stream_name = TextOf(*value);
    if (!record.stream_name.empty()) break;
  }
  for (const json* value : ValuesOf(object, time_)) {
    record.time = ParseTimestamp(TextOf(*value));
    if (record.time) break;
  }
  return record;
}

std::vector<JsonRecord> JsonRecordReader::Read(const MappedText& line) const {
  constexpr int kMaxJsonDepth = 64;  // deeper values are dropped, because building them would be expensive
  const std::string_view text = line.text;
  const std::size_t begin = text.find_first_not_of(" \t[,");
  if (begin == std::string_view::npos || text[begin] != '{') return {};
  const std::size_t end = text.find_last_not_of(" \t\r],");
  if (end <= begin || text[end] != '}') return {};
  const auto is_shallow = [](int depth, json::parse_event_t, const json&) { return depth <= kMaxJsonDepth; };
  const std::string array = fmt::format("[{}]", text.substr(begin, end + 1 - begin));
  const json objects = json::parse(array, is_shallow, /*allow_exceptions=*/false);
  std::vector<JsonRecord> records;
  if (objects.is_discarded()) return records;
  std::size_t past = 0;  // the last text found
  for (const json& object : objects) {
    if (!object.is_object()) continue;
    if (std::optional<JsonRecord> record = ReadObject(line, object, &past)) records.push_back(std::move(*record));
  }
  return records;
}

}  // namespace whyoom
