#include "text/normalizer.h"

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

// Limits of a log record that spans lines; anything larger is not one.
constexpr std::size_t kMaxRecordLines = 4096;
constexpr std::size_t kMaxRecord = std::size_t{1} << 20;
constexpr std::size_t kMaxIndent = 16;

// The indentation of a line that contains only `bracket` and optionally a comma; npos for other lines.
std::size_t IndentOf(std::string_view line, char bracket) {
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || indent > kMaxIndent || line[indent] != bracket) return std::string_view::npos;
  const std::string_view rest = line.substr(indent + 1);
  return rest.empty() || rest == "," || rest == "\r" || rest == ",\r" ? indent : std::string_view::npos;
}

}  // namespace

void RecordJoiner::Complete() {
  if (!open()) return;
  lines_ = 0;
  complete_bytes_ = std::move(bytes_);
  first_.bytes = complete_bytes_;
  complete_.push_back(first_);
}

const std::vector<RawLine>& RecordJoiner::Flush() {
  complete_.clear();
  Complete();
  return complete_;
}

const std::vector<RawLine>& RecordJoiner::Feed(RawLine raw) {
  complete_.clear();
  if (raw.after_gap) Complete();
  const std::size_t opens = raw.cut ? std::string_view::npos : IndentOf(raw.bytes, '{');
  if (opens != std::string_view::npos) {
    // An object in an array is a record of its own, whatever the array is nested in.
    Complete();
    bytes_ = raw.bytes;
    first_ = raw;
    lines_ = 1;
    indent_ = opens;
  } else if (!open()) {
    complete_.push_back(raw);
  } else {
    bytes_ += '\n';
    bytes_ += raw.bytes;
    first_.may_continue = raw.may_continue;
    ++lines_;
    const bool closed = IndentOf(raw.bytes, '}') == indent_;
    if (closed || raw.cut || lines_ >= kMaxRecordLines || bytes_.size() >= kMaxRecord) Complete();
  }
  return complete_;
}

namespace {

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

// Stores the line as written, unless it is longer than a source line. Long lines are whole reports and would be stored
// once per part.
void KeepShort(Line* part) {
  constexpr std::size_t kSourceLine = 1024;
  if (part->written.text.empty() && part->text.size() <= kSourceLine) part->written = *part;
  if (part->written.text.size() > kSourceLine) part->written = {};
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

}  // namespace

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

// Cleans the texts of `part` if it contains JSON records, or is part of a JSON document and contains items of an array
// of strings.
bool Normalizer::OpenJson(const Line& part, int rounds, std::vector<Line>* lines) const {
  std::vector<JsonRecord> records = json_.Read(part);
  if (records.empty() && part.json && rounds > 0) records = ReadStrings(part);
  for (JsonRecord& record : records) {
    Line outer = part;
    if (record.logged) ++outer.prefixes;
    outer.json = false;
    outer.written = std::move(record.written);
    AddStreamName(Printable(record.stream_name), &outer);
    AddTime(record.time, &outer);
    for (const MappedText& text : record.texts) CleanAll(SplitLines(text), outer, rounds, lines);
  }
  return !records.empty();
}

void Normalizer::Clean(Line part, int rounds, std::vector<Line>* lines) const {
  for (bool changed = true; changed && rounds > 0; --rounds) {
    // Records first, because the other steps would break their syntax.
    if (OpenJson(part, rounds - 1, lines)) return;
    changed = StripControls(&part);
    changed = StripPrefixesAndSuffixes(&part) || changed;
    if (DecodeBreaks(&part)) return CleanAll(SplitLines(part), part, rounds - 1, lines);
    bool decoded = StripMarkdown(&part);
    // If the line has literal quotes, decode only after the split: a decoded quote could end a quoted text too early.
    const bool quotes = part.text.find_first_of("'\"") != std::string::npos;
    if (!quotes) decoded = DecodeHtml(&part) || decoded;
    std::vector<MappedText> cut;
    if (SplitAtEscapedBreaks(part, &cut)) {
      KeepShort(&part);
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
      suffixes_.emplace_back("(?:" + pattern + ")\\z");
      continue;
    }
    std::string error;
    if (any_prefix_.Add(pattern, &error) < 0) throw Error("prefix '" + pattern + "': " + error);
    prefixes_.emplace_back(pattern);
  }
  any_prefix_.Compile();
}

namespace {

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
  if (!OpenJson(LineOf(raw, MapRaw(raw.bytes)), kMaxRounds, lines)) return false;
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
