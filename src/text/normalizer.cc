#include "text/normalizer.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "input/error.h"
#include "text/cleaning.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using nlohmann::json;

// Locates a string in the line from `from` on, because the parser reports no offsets, and unescapes it there. If it is
// escaped unusually, maps it to the start of the line. Otherwise increases `past` to the offset after it.
MappedText Locate(const MappedText& line, std::size_t from, const json& value, std::size_t* past) {
  for (const bool is_ascii : {false, true}) {
    const std::string written = value.dump(-1, ' ', is_ascii);
    const std::size_t at = line.text.find(written, from);
    if (at == std::string::npos) continue;
    const std::size_t end = at + written.size() - 1;  // the closing quote
    Rewriter rewriter(line);
    std::size_t kept = at + 1;
    for (std::size_t escape = 0; (escape = line.text.find('\\', kept)) < end;) {
      std::string unescaped;
      rewriter.Keep(kept, escape);
      kept = escape + Unescape(line.text, escape, &unescaped);
      rewriter.Put(unescaped, escape);
    }
    rewriter.Keep(kept, end);
    *past = std::max(*past, end);
    return rewriter.Take();
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

// Limits of a log record that spans lines; anything larger is not one.
constexpr std::size_t kMaxRecordLines = 4096;
constexpr std::size_t kMaxRecord = std::size_t{1} << 20;

// The indentation of a line that contains only `bracket` and optionally a comma; npos for other lines.
std::size_t IndentOf(std::string_view line, char bracket) {
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || line[indent] != bracket) return std::string_view::npos;
  return line.find_first_not_of(",\r", indent + 1) == std::string_view::npos ? indent : std::string_view::npos;
}

constexpr int kMaxRounds = 8;  // of cleaning; each may reveal more to remove
constexpr std::size_t kMaxPrefixesInARow = 8;
constexpr std::size_t kMaxPrefixBytes = 1024;  // longest prefix or suffix
constexpr std::size_t kMaxStreamNameBytes = 200;
constexpr std::uint64_t kMaxRepeats = 1000000;

void AddStreamName(std::string_view who, Line* part) {
  if (who.empty() || part->stream_name.size() + who.size() >= kMaxStreamNameBytes) return;
  // A collector and the job often name the same pod.
  if (part->stream_name.find(who) != std::string::npos) return;
  if (!part->stream_name.empty()) part->stream_name += ' ';
  part->stream_name += who;
}

// The outermost timestamp comes from the collector's clock, the innermost from the job's. Prefer one with a zone,
// because it can be compared with other logs.
void AddTime(const std::optional<Timestamp>& time, Line* part) {
  if (time && (!part->time || (time->zone_known && !part->time->zone_known))) part->time = time;
}

void AddTimestamp(std::string_view stamp, Line* part) {
  const std::optional<Timestamp> time = ParseTimestamp(stamp);
  AddTime(time, part);
  if (!time && part->ambiguous_time.empty()) part->ambiguous_time = stamp;
}

// Stores the line as written, unless it is longer than a source line or, in a JSON document, lists lines of a log:
// indented, stamped or coloured ones, those of a traceback, or with their line feeds. Long lines are whole reports and
// would be stored once per part.
void KeepShort(Line* part) {
  constexpr std::size_t kSourceLine = 1024;
  static const Regex log(R"((?:^|[\[,])\s*"(?:[ \t\[<\d"]|Traceback \(most)|\\n|\\u001b\[)");
  const bool lists_log = part->json && RE2::PartialMatch(part->text, log);
  if (part->written.text.empty() && part->text.size() <= kSourceLine) part->written = *part;
  if (lists_log || part->written.text.size() > kSourceLine) part->written = {};
}

// Evaluates the groups of a pattern that is known to match all of `text`. RE2 is fastest on exactly the matched text.
void Note(const RE2& regex, std::string_view text, Line* part) {
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(1 + regex.NumberOfCapturingGroups()));
  if (groups.size() == 1 ||
      !regex.Match(text, 0, text.size(), RE2::ANCHOR_BOTH, groups.data(), static_cast<int>(groups.size())))
    return;
  for (const auto& [name, number] : regex.NamedCapturingGroups()) {
    const re2::StringPiece& group = groups[static_cast<std::size_t>(number)];
    const std::string_view value(group.data(), group.size());
    if (name == "reporter") AddStreamName(value, part);
    if (name == "time") AddTimestamp(value, part);
    const std::uint64_t repeats = name == "repeats" ? ParseWholeNumber(value).value_or(0) : 0;
    part->repeats = std::max(part->repeats, static_cast<int>(std::min<std::uint64_t>(repeats, kMaxRepeats)));
  }
}

Line LineOf(const RawLine& raw, MappedText text) {
  Line line;
  line.SetText(std::move(text));
  line.number = raw.number;
  line.offset = raw.offset;
  const std::size_t first = raw.bytes.find_first_not_of(" \t\r\n");
  line.json = raw.json && (raw.cut || raw.bytes.find_first_of("{[]},\"") == first);
  return line;
}

// Whether the last word or number may continue.
bool EndsInWord(std::string_view bytes) {
  if (bytes.ends_with('.')) return bytes.size() > 1 && bytes[bytes.size() - 2] >= '0' && bytes[bytes.size() - 2] <= '9';
  constexpr std::string_view kEnds = " \t\r\n'\"`()[]{}<>;,!?*|";
  return !bytes.empty() && kEnds.find(bytes.back()) == std::string_view::npos;
}

}  // namespace

JsonRecordReader::JsonRecordReader(const JsonLogKeys& keys)
    : text_(keys.text.begin(), keys.text.end()),
      stream_name_(keys.stream_name.begin(), keys.stream_name.end()),
      time_(keys.time.begin(), keys.time.end()) {}

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

std::optional<RawLine> RecordJoiner::Flush() {
  if (!open()) return std::nullopt;
  lines_ = 0;
  complete_ = std::move(bytes_);
  first_.bytes = complete_;
  return first_;
}

std::optional<RawLine> RecordJoiner::Feed(const RawLine& raw) {
  // An object in an array is a record of its own, whatever the array is nested in.
  if (const std::size_t opens = IndentOf(raw.bytes, '{'); opens != std::string_view::npos && !raw.cut) {
    const std::optional<RawLine> unfinished = Flush();
    bytes_ = raw.bytes;
    first_ = raw;
    lines_ = 1;
    indent_ = opens;
    return unfinished;
  }
  if (!open()) return raw;
  (bytes_ += '\n') += raw.bytes;
  first_.may_continue = raw.may_continue;
  const bool ends = raw.cut || IndentOf(raw.bytes, '}') == indent_;
  return ends || ++lines_ >= kMaxRecordLines || bytes_.size() >= kMaxRecord ? Flush() : std::nullopt;
}

// Returns the length of the longest prefix of `text`; 0 if there is none. Prefers the longest because one logger's
// prefix may begin like another's.
std::size_t Normalizer::StripPrefix(std::string_view text, Line* part) const {
  const std::string_view head = text.substr(0, kMaxPrefixBytes);
  std::vector<int> matching;
  if (!any_prefix_.Match(head, &matching)) return 0;
  std::sort(matching.begin(), matching.end());
  const RE2* best = nullptr;
  std::size_t longest = 0;
  for (const int number : matching) {
    const RE2& regex = prefixes_[static_cast<std::size_t>(number)].regex();
    re2::StringPiece whole;
    if (!regex.Match(head, 0, head.size(), RE2::ANCHOR_START, &whole, 1) || whole.size() <= longest) continue;
    best = &regex;
    longest = whole.size();
  }
  if (best != nullptr) Note(*best, head.substr(0, longest), part);
  return longest;
}

bool Normalizer::StripPrefixesAndSuffixes(Line* part) const {
  const std::string_view text = part->text;
  std::size_t begin = 0;
  std::size_t end = text.size();
  for (std::size_t i = 0; i < kMaxPrefixesInARow && begin < end; ++i) {
    const std::size_t length = StripPrefix(text.substr(begin), part);
    if (length == 0) break;
    begin += length;
    ++part->prefixes;
  }
  for (const Pattern& suffix : suffixes_) {
    const std::size_t tail = std::max(begin, end - std::min(end, kMaxPrefixBytes));
    re2::StringPiece whole;
    if (!suffix.regex().Match(text.substr(tail, end - tail), 0, end - tail, RE2::UNANCHORED, &whole, 1)) continue;
    Note(suffix.regex(), {whole.data(), whole.size()}, part);
    end -= whole.size();
  }
  if (begin == 0 && end == text.size()) return false;
  part->SetText(Slice(*part, begin, end));
  return true;
}

// Cleans texts that were all inside `outer`.
void Normalizer::CleanAll(std::vector<MappedText> texts, Line outer, int rounds, std::vector<Line>* lines) const {
  outer.SetText({});
  for (MappedText& text : texts) {
    if (lines->size() >= kMostParts) return;
    Line part = outer;
    part.SetText(std::move(text));
    Clean(std::move(part), rounds, lines);
  }
}

// Cleans the texts of `part` if it contains JSON records.
bool Normalizer::ReadRecords(const Line& part, int rounds, std::vector<Line>* lines) const {
  const std::vector<JsonRecord> records = json_.Read(part);
  for (const JsonRecord& record : records) {
    Line outer = part;
    ++outer.prefixes;
    outer.json = false;
    outer.written = {};
    AddStreamName(Printable(record.stream_name), &outer);
    AddTime(record.time, &outer);
    for (const MappedText& text : record.texts) CleanAll(SplitLines(text), outer, rounds, lines);
  }
  return !records.empty();
}

void Normalizer::Clean(Line part, int rounds, std::vector<Line>* lines) const {
  for (bool changed = true; changed && rounds > 0; --rounds) {
    // Records first, because the other steps would break their syntax.
    if (ReadRecords(part, rounds - 1, lines)) return;
    changed = StripControls(&part);
    changed = StripPrefixesAndSuffixes(&part) || changed;
    if (DecodeBreaks(&part)) return CleanAll(SplitLines(part), part, rounds - 1, lines);
    bool decoded = StripMarkdown(&part);
    // If the line has literal quotes, decode only after the split: a decoded quote could end a quoted text too early.
    const bool quotes = part.text.find_first_of("'\"") != std::string::npos;
    if (!quotes) decoded = DecodeHtml(&part) || decoded;
    std::vector<MappedText> cut;
    if (SplitAtEscapedBreaks(part, part.json, &cut)) {
      KeepShort(&part);
      part.json = false;
      return CleanAll(std::move(cut), std::move(part), rounds - 1, lines);
    }
    if (quotes) decoded = DecodeHtml(&part) || decoded;
    changed = changed || decoded;
  }
  StripControls(&part);  // characters decoded in the last round
  part.json = false;
  if (part.time) part.ambiguous_time.clear();
  if (part.segments.empty()) part.segments = {{0, 0}};
  lines->push_back(std::move(part));
}

Normalizer::Normalizer(const std::vector<PrefixOrSuffix>& prefixes_and_suffixes, const JsonLogKeys& json)
    : json_(json), any_prefix_(RegexOptions(""), RE2::ANCHOR_START) {
  for (const auto& [id, place, pattern] : prefixes_and_suffixes) {
    if (place == PrefixOrSuffix::Place::kSuffix) {
      suffixes_.emplace_back().expression = "(?:" + pattern + ")\\z";
      continue;
    }
    std::string error;
    if (any_prefix_.Add(pattern, &error) < 0) throw Error("prefix '" + pattern + "': " + error);
    prefixes_.emplace_back().expression = pattern;
  }
  any_prefix_.Compile();
}

void Normalizer::Normalize(const RawLine& raw, std::vector<Line>* lines) const {
  const std::size_t before = lines->size();
  if (raw.bytes.find('\n') == std::string_view::npos) {
    Line whole = LineOf(raw, {});
    whole.binary = IsBinary(raw.bytes);
    CleanAll(SplitLines(MapRaw(raw.bytes)), std::move(whole), kMaxRounds, lines);
  } else if (!ReadRecord(raw, lines)) {
    RawLine line = raw;
    for (std::size_t begin = 0; begin <= raw.bytes.size(); begin += line.bytes.size() + 1) {
      line.bytes = raw.bytes.substr(begin, raw.bytes.find('\n', begin) - begin);
      line.offset = raw.offset + begin;
      Normalize(line, lines);
      line.after_gap = false;
      ++line.number;
    }
  }
  if (lines->size() == before) return;
  (*lines)[before].after_gap = raw.after_gap;
  if (raw.may_continue) lines->back().may_continue = EndsInWord(raw.bytes);
}

// Reads a JSON record on several lines. Returns false if it is none.
bool Normalizer::ReadRecord(const RawLine& raw, std::vector<Line>* lines) const {
  std::size_t at = lines->size();
  if (!ReadRecords(LineOf(raw, MapRaw(raw.bytes)), kMaxRounds, lines)) return false;
  std::vector<std::size_t> feeds;
  for (std::size_t feed = 0; (feed = raw.bytes.find('\n', feed)) != std::string_view::npos; ++feed)
    feeds.push_back(feed);
  for (; at < lines->size(); ++at) {
    const auto above = std::lower_bound(feeds.begin(), feeds.end(), (*lines)[at].segments.front().raw_at);
    (*lines)[at].number += static_cast<std::uint64_t>(above - feeds.begin());
  }
  return true;
}

}  // namespace whyoom
