#include "text/normalizer.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "input/error.h"
#include "text/cleaning.h"
#include "text/json_record.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// The LineScanner splits longer lines anyway.
constexpr std::size_t kMaxJoinedBytes = std::size_t{1} << 20;
// Maximum number of streams with an incomplete line; beyond it, pieces are not joined.
constexpr std::size_t kMaxIncompleteLines = 1024;
// Maximum number of raw lines to wait for the rest of a line; after that, the rest was lost.
constexpr std::uint64_t kMaxLinesBetween = 1024;

}  // namespace

IncompleteLines::Joined IncompleteLines::Join(Line* part) {
  const auto begun = first_pieces_.find(part->stream_name);
  if (begun == first_pieces_.end()) {
    if (!std::exchange(part->continues, false) || first_pieces_.size() >= kMaxIncompleteLines) return Joined::kNot;
    const std::string stream_name = part->stream_name;
    first_pieces_[stream_name] = {std::move(*part), lines_};
    return Joined::kKept;
  }
  Line& whole = begun->second.line;
  const std::size_t length = whole.text.size();
  const auto further = static_cast<std::size_t>(part->offset - whole.offset);
  for (const auto& [text_at, raw_at] : part->segments) whole.segments.push_back({length + text_at, further + raw_at});
  whole.text += part->text;
  whole.repeats = std::max(whole.repeats, part->repeats);
  begun->second.at = lines_;
  if (part->continues && whole.text.size() < kMaxJoinedBytes) return Joined::kKept;
  *part = std::move(whole);
  first_pieces_.erase(begun);
  return Joined::kWhole;
}

std::optional<Line> IncompleteLines::RemoveOverdue(bool all) {
  for (auto begun = first_pieces_.begin(); begun != first_pieces_.end(); ++begun) {
    if (!all && begun->second.at + kMaxLinesBetween >= lines_) continue;
    Line line = std::move(begun->second.line);
    first_pieces_.erase(begun);
    return line;
  }
  return std::nullopt;
}

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

// Remembers whether the array of strings that the line continues contains lines of a log.
void RecordJoiner::FollowArray(RawLine* raw) {
  if (raw->after_gap) lists_log_ = false;
  const std::size_t first = raw->json ? raw->bytes.find_first_not_of(" \t") : std::string_view::npos;
  const bool is_string = first != std::string_view::npos && raw->bytes[first] == '"';
  lists_log_ = is_string && (lists_log_ || IsLogItem(raw->bytes.substr(first + 1)));
  raw->lists_log = lists_log_;
}

const std::vector<RawLine>& RecordJoiner::Feed(RawLine raw) {
  complete_.clear();
  FollowArray(&raw);
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
constexpr std::size_t kMaxPrefixBytes = 1024;            // longest prefix or suffix
constexpr std::size_t kMaxLines = std::size_t{1} << 16;  // per raw line
constexpr std::size_t kMaxStreamNameBytes = 200;
constexpr int kMaxRepeats = 1000000;

// Docker's log driver splits a line into pieces of this size, one record each; only the last piece has the line feed. A
// piece that was cut inside a character grows slightly when it is made valid UTF-8.
constexpr std::size_t kDockerPiece = 16384;
constexpr std::size_t kDockerGrowth = 16;

// Collects the lines made of one raw line.
struct Cleaned {
  IncompleteLines* unfinished;
  std::vector<Line>* lines;
  const std::size_t before = lines->size();

  // The number of lines that may still be added.
  std::size_t Budget() const { return kMaxLines - std::min(lines->size() - before, kMaxLines - 1); }
};

void SetText(MappedText text, Line* line) { static_cast<MappedText&>(*line) = std::move(text); }

bool IsDockerPiece(std::string_view text) {
  return text.size() >= kDockerPiece && text.size() <= kDockerPiece + kDockerGrowth && text.back() != '\n';
}

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

bool StripMarks(Line* part) {
  MappedText before;
  if (!StripMarkdown(part, &before)) return false;
  if (part->written.text.empty()) part->written = std::move(before);
  return true;
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

}  // namespace

struct Normalizer::Patterns {
  // Compiled on first use: a log contains few of the known prefixes.
  struct Pattern {
    explicit Pattern(std::string regex) : expression(std::move(regex)) {}
    const RE2& regex() const { return lazy.Of(expression); }

    std::string expression;
    mutable LazyRegex lazy;
  };

  Patterns(const std::vector<PrefixOrSuffix>& prefixes_and_suffixes, const JsonLogKeys& keys);

  void Clean(Line part, int rounds, Cleaned* cleaned) const;
  void CleanAll(std::vector<MappedText> texts, Line outer, int rounds, Cleaned* cleaned) const;
  bool OpenJson(const Line& part, int rounds, Cleaned* cleaned) const;
  bool StripPrefixesAndSuffixes(Line* part) const;
  std::size_t StripPrefix(std::string_view text, Line* part) const;
  const RE2::Set& AnyPrefix() const;

  JsonRecordReader json;
  std::deque<Pattern> prefixes;
  std::deque<Pattern> suffixes;

 private:
  mutable std::once_flag made_;
  mutable std::optional<RE2::Set> any_prefix_;
};

Normalizer::Patterns::Patterns(const std::vector<PrefixOrSuffix>& prefixes_and_suffixes, const JsonLogKeys& keys)
    : json(keys) {
  for (const auto& [id, place, pattern] : prefixes_and_suffixes) {
    if (place == PrefixOrSuffix::Place::kPrefix) {
      prefixes.emplace_back(pattern);
    } else {
      suffixes.emplace_back("(?:" + pattern + ")\\z");
    }
  }
}

// All prefixes, to find those that match in one search. Throws Error if RE2 rejects a pattern.
const RE2::Set& Normalizer::Patterns::AnyPrefix() const {
  std::call_once(made_, [this] {
    any_prefix_.emplace(RegexOptions(""), RE2::ANCHOR_START);
    for (const Pattern& prefix : prefixes) {
      std::string error;
      if (any_prefix_->Add(prefix.expression, &error) < 0) throw Error("prefix '" + prefix.expression + "': " + error);
    }
    any_prefix_->Compile();
  });
  return *any_prefix_;
}

namespace {

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
    if (name == "goes_on") part->continues = !value.empty();
    int repeats = 0;
    if (name == "repeats" && RE2::FullMatch(value, "(\\d{1,7})", &repeats))
      part->repeats = std::clamp(repeats, part->repeats, kMaxRepeats);
  }
}

}  // namespace

// Returns the length of the longest prefix of `text`; 0 if there is none. Prefers the longest because one logger's
// prefix may begin like another's.
std::size_t Normalizer::Patterns::StripPrefix(std::string_view text, Line* part) const {
  const std::string_view head = text.substr(0, kMaxPrefixBytes);
  std::vector<int> matching;
  if (!AnyPrefix().Match(head, &matching)) return 0;
  std::sort(matching.begin(), matching.end());
  const RE2* best = nullptr;
  std::size_t longest = 0;
  for (const int number : matching) {
    const RE2& regex = prefixes[static_cast<std::size_t>(number)].regex();
    re2::StringPiece whole;
    if (!regex.Match(head, 0, head.size(), RE2::ANCHOR_START, &whole, 1) || whole.size() <= longest) continue;
    best = &regex;
    longest = whole.size();
  }
  if (best != nullptr) Note(*best, head.substr(0, longest), part);
  return longest;
}

bool Normalizer::Patterns::StripPrefixesAndSuffixes(Line* part) const {
  const std::string_view text = part->text;
  std::size_t begin = 0;
  std::size_t end = text.size();
  for (std::size_t i = 0; i < kMaxPrefixesInARow && begin < end && !part->continues; ++i) {
    const std::size_t length = StripPrefix(text.substr(begin), part);
    if (length == 0) break;
    begin += length;
    ++part->prefixes;
  }
  for (const Pattern& suffix : suffixes) {
    const std::size_t tail = std::max(begin, end - std::min(end, kMaxPrefixBytes));
    re2::StringPiece whole;
    if (!suffix.regex().Match(text.substr(tail, end - tail), 0, end - tail, RE2::UNANCHORED, &whole, 1)) continue;
    Note(suffix.regex(), {whole.data(), whole.size()}, part);
    end -= whole.size();
  }
  if (begin == 0 && end == text.size()) return false;
  SetText(Slice(*part, begin, end), part);
  return true;
}

// Cleans texts that were all inside `outer`.
void Normalizer::Patterns::CleanAll(std::vector<MappedText> texts, Line outer, int rounds, Cleaned* cleaned) const {
  SetText({}, &outer);
  for (MappedText& text : texts) {
    Line part = outer;
    SetText(std::move(text), &part);
    Clean(std::move(part), rounds, cleaned);
  }
}

// Cleans the texts of `part` if it contains JSON records, or is part of a JSON document and contains items of an array
// of strings.
bool Normalizer::Patterns::OpenJson(const Line& part, int rounds, Cleaned* cleaned) const {
  std::vector<JsonRecordReader::Record> records = json.Read(part);
  if (records.empty() && part.json && rounds > 0) records = ReadStrings(part, part.lists_log);
  for (JsonRecordReader::Record& record : records) {
    Line outer = part;
    if (record.logged) ++outer.prefixes;
    outer.json = false;
    outer.written = std::move(record.written);
    AddStreamName(Printable(record.stream_name), &outer);
    AddTime(record.time, &outer);
    for (const MappedText& text : record.texts) {
      outer.continues = record.logged && IsDockerPiece(text.text);
      CleanAll(SplitLines(text, cleaned->Budget()), outer, rounds, cleaned);
    }
  }
  return !records.empty();
}

void Normalizer::Patterns::Clean(Line part, int rounds, Cleaned* cleaned) const {
  for (bool changed = true; changed && rounds > 0; --rounds) {
    // Records first, because the other steps would break their syntax.
    if (!part.continues && OpenJson(part, rounds - 1, cleaned)) return;
    changed = StripControls(&part);
    changed = StripPrefixesAndSuffixes(&part) || changed;
    if (part.continues || !cleaned->unfinished->empty()) {
      const IncompleteLines::Joined joined = cleaned->unfinished->Join(&part);
      if (joined == IncompleteLines::Joined::kKept) return;
      if (joined == IncompleteLines::Joined::kWhole) {
        changed = true;
        continue;
      }
    }
    if (DecodeBreaks(&part)) return CleanAll(SplitLines(part, cleaned->Budget()), part, rounds - 1, cleaned);
    if (MappedText plain; StripTags(part, &plain)) {
      std::vector<MappedText> lines = SplitLines(plain, cleaned->Budget());
      if (lines.size() == 1) KeepShort(&part);
      return CleanAll(std::move(lines), part, rounds - 1, cleaned);
    }
    bool decoded = StripMarks(&part);
    // If the line has literal quotes, decode only after the split: a decoded quote could end a quoted text too early.
    const bool quotes = part.text.find_first_of("'\"") != std::string::npos;
    if (!quotes) decoded = DecodeHtml(&part) || decoded;
    std::vector<MappedText> cut;
    if (SplitAtEscapedBreaks(part, cleaned->Budget(), &cut)) {
      KeepShort(&part);
      return CleanAll(std::move(cut), std::move(part), rounds - 1, cleaned);
    }
    if (quotes) decoded = DecodeHtml(&part) || decoded;
    changed = changed || decoded;
  }
  StripControls(&part);  // characters decoded in the last round
  part.json = false;
  if (part.time) part.ambiguous_time.clear();
  if (part.segments.empty()) part.segments = {{0, 0}};
  cleaned->lines->push_back(std::move(part));
}

Normalizer::Normalizer(const std::vector<PrefixOrSuffix>& prefixes_and_suffixes, const JsonLogKeys& json)
    : patterns_(std::make_unique<Patterns>(prefixes_and_suffixes, json)) {}

Normalizer::~Normalizer() = default;

namespace {

Line LineOf(const RawLine& raw, MappedText text) {
  Line line;
  SetText(std::move(text), &line);
  line.number = raw.number;
  line.offset = raw.offset;
  const std::size_t first = raw.bytes.find_first_not_of(" \t\r\n");
  line.json = raw.json && (raw.cut || raw.bytes.find_first_of("{[]},\"") == first);
  line.lists_log = raw.lists_log;
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
  IncompleteLines unfinished;
  const std::size_t before = lines->size();
  Normalize(raw, &unfinished, lines);
  Finish(&unfinished, lines);
  (*lines)[before].after_gap = raw.after_gap;
}

void Normalizer::Normalize(const RawLine& raw, IncompleteLines* unfinished, std::vector<Line>* lines) const {
  CleanOverdue(/*all=*/false, unfinished, lines);
  unfinished->CountLine();
  const std::size_t before = lines->size();
  if (raw.bytes.find('\n') != std::string_view::npos) {
    NormalizeRecord(raw, unfinished, lines);
  } else {
    Cleaned cleaned{unfinished, lines};
    Line whole = LineOf(raw, {});
    whole.binary = IsBinary(raw.bytes);
    patterns_->CleanAll(SplitLines(MapRaw(raw.bytes), kMaxLines), std::move(whole), kMaxRounds, &cleaned);
  }
  if (lines->size() == before) return;
  (*lines)[before].after_gap = raw.after_gap;
  if (raw.may_continue) lines->back().may_continue = EndsInWord(raw.bytes);
}

void Normalizer::NormalizeRecord(const RawLine& raw, IncompleteLines* unfinished, std::vector<Line>* lines) const {
  const std::size_t before = lines->size();
  Cleaned cleaned{unfinished, lines};
  if (patterns_->OpenJson(LineOf(raw, MapRaw(raw.bytes)), kMaxRounds, &cleaned)) {
    std::vector<std::size_t> feeds;
    for (std::size_t at = 0; (at = raw.bytes.find('\n', at)) != std::string_view::npos; ++at) feeds.push_back(at);
    for (std::size_t i = before; i < lines->size(); ++i) {
      const auto above = std::lower_bound(feeds.begin(), feeds.end(), (*lines)[i].segments.front().raw_at);
      (*lines)[i].number += static_cast<std::uint64_t>(above - feeds.begin());
    }
    return;
  }
  RawLine line = raw;
  for (std::size_t begin = 0; begin <= raw.bytes.size(); begin += line.bytes.size() + 1) {
    line.bytes = raw.bytes.substr(begin, raw.bytes.find('\n', begin) - begin);
    line.offset = raw.offset + begin;
    Normalize(line, unfinished, lines);
    line.after_gap = false;
    ++line.number;
  }
}

void Normalizer::CleanOverdue(bool all, IncompleteLines* unfinished, std::vector<Line>* lines) const {
  while (std::optional<Line> line = unfinished->RemoveOverdue(all)) {
    Cleaned cleaned{unfinished, lines};
    patterns_->Clean(std::move(*line), kMaxRounds, &cleaned);
  }
}

void Normalizer::Finish(IncompleteLines* unfinished, std::vector<Line>* lines) const {
  CleanOverdue(/*all=*/true, unfinished, lines);
}

}  // namespace whyoom
