#include "text/normalizer.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "input/error.h"
#include "input/word_lists.h"
#include "text/cleaning.h"
#include "text/json_record.h"
#include "text/line.h"
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

void RecordJoiner::Open(const RawLine& raw, std::size_t indent) {
  bytes_ = raw.bytes;
  first_ = raw;
  lines_ = 1;
  indent_ = indent;
}

void RecordJoiner::Flush(const Sink& sink) {
  if (!open()) return;
  lines_ = 0;
  first_.bytes = bytes_;
  sink(first_);
}

// Remembers whether the array of strings that the line continues contains lines of a log.
void RecordJoiner::FollowArray(RawLine* raw) {
  if (raw->after_gap) lists_log_ = false;
  const std::size_t first = raw->json ? raw->bytes.find_first_not_of(" \t") : std::string_view::npos;
  const bool is_string = first != std::string_view::npos && raw->bytes[first] == '"';
  lists_log_ = is_string && (lists_log_ || IsLogItem(raw->bytes.substr(first + 1)));
  raw->lists_log = lists_log_;
}

void RecordJoiner::Feed(RawLine raw, const Sink& sink) {
  FollowArray(&raw);
  if (raw.after_gap) Flush(sink);
  const std::size_t opens = raw.cut ? std::string_view::npos : IndentOf(raw.bytes, '{');
  if (opens != std::string_view::npos) {
    // An object in an array is a record of its own, whatever the array is nested in.
    Flush(sink);
    return Open(raw, opens);
  }
  if (!open()) return sink(raw);
  bytes_ += '\n';
  bytes_ += raw.bytes;
  first_.may_continue = raw.may_continue;
  ++lines_;
  const bool closed = IndentOf(raw.bytes, '}') == indent_;
  if (closed || raw.cut || lines_ >= kMaxRecordLines || bytes_.size() >= kMaxRecord) Flush(sink);
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
  // A prefix or suffix pattern, compiled on first use: a log contains few of the known ones. Thread-safe.
  class Pattern {
   public:
    Pattern(const PrefixOrSuffix& prefix_or_suffix, std::string expression, std::size_t number)
        : id_(prefix_or_suffix.id),
          expression_(std::move(expression)),
          signs_(prefix_or_suffix.signs),
          number_(number) {}

    std::size_t number() const { return number_; }

    // Throws Error if RE2 rejects the pattern.
    const RE2& re() const;

    // Numbers of the named groups; 0 if absent.
    struct Groups {
      int stream_name = 0;
      int repeats = 0;
      int time = 0;
      int continues = 0;
    };
    const Groups& groups() const { return groups_; }  // set by re()
    int group_count() const {
      return 1 + std::max({groups_.stream_name, groups_.repeats, groups_.time, groups_.continues});
    }
    bool has_signs() const { return signs_.has_value(); }

    // Empty if the signs were not computed.
    std::vector<std::string> literals() const { return signs_ ? signs_->literals : std::vector<std::string>(); }

    // Whether a text with these bytes can contain a match.
    bool MayContain(const ByteSet& bytes) const { return !signs_ || HasByteOfEach(signs_->needed, bytes); }
    // The bytes that a match of this prefix can have at this position.
    ByteSet BytesAt(std::size_t position) const {
      return signs_ && position < signs_->bytes.size() ? signs_->bytes[position] : ByteSet().set();
    }
    // Whether the last bytes of `text` can belong to a match of this suffix.
    bool MayEnd(std::string_view text) const {
      return !signs_ || MatchesPositions(signs_->bytes, text.rbegin(), text.rend());
    }

   private:
    std::string id_;
    std::string expression_;
    std::optional<PrefixOrSuffix::Signs> signs_;
    const std::size_t number_;  // among all patterns
    mutable std::once_flag made_;
    mutable std::unique_ptr<const RE2> re_;
    mutable Groups groups_;
  };

  // The signs (PrefixOrSuffix::Signs) that occur in a text, computed on first use.
  class Seen {
   public:
    Seen(const Patterns& patterns, std::string_view text) : patterns_(patterns), text_(text) {}

    // Returns false only if neither the text nor any part of it matches.
    bool MayHold(const Pattern& pattern) {
      if (!bytes_) bytes_ = BytesIn(text_);
      if (!pattern.MayContain(*bytes_)) return false;
      if (!with_literals_) with_literals_ = patterns_.literals.ListsIn(text_);
      return std::binary_search(with_literals_->begin(), with_literals_->end(), pattern.number());
    }

    const char* end() const { return text_.data() + text_.size(); }

   private:
    const Patterns& patterns_;
    const std::string_view text_;
    std::optional<ByteSet> bytes_;
    std::optional<std::vector<std::size_t>> with_literals_;  // patterns
  };

  // Tests the first bytes of 64 prefixes at once: bit i of may[position][byte] is set if prefix i can have that byte.
  struct PrefixTable {
    std::array<std::array<std::uint64_t, 256>, 12> may = {};
  };

  Patterns(const std::vector<PrefixOrSuffix>& prefixes_and_suffixes, const JsonLogKeys& keys);

  void Clean(Line part, int rounds, Cleaned* cleaned) const;
  void CleanAll(std::vector<MappedText> texts, Line outer, int rounds, Cleaned* cleaned) const;
  bool OpenRecord(const Line& part, int rounds, Cleaned* cleaned) const;
  bool OpenArray(const Line& part, int rounds, Cleaned* cleaned) const;
  bool OpenStrings(const Line& part, int rounds, Cleaned* cleaned) const;
  bool StripPrefixesAndSuffixes(Line* part, bool* bare) const;
  std::size_t StripPrefix(std::string_view text, Seen* seen, Line* part) const;
  std::size_t StripSuffix(std::string_view text, Line* part) const;
  void Note(const Pattern& pattern, std::string_view text, Line* part) const;

  JsonRecordReader json;
  std::deque<Pattern> prefixes;
  std::vector<PrefixTable> tables;  // of 64 prefixes each
  std::deque<Pattern> suffixes;
  WordLists literals;  // of each pattern
};

const RE2& Normalizer::Patterns::Pattern::re() const {
  std::call_once(made_, [this] {
    auto re = std::make_unique<const RE2>(expression_, RegexOptions(expression_));
    if (!re->ok()) throw Error("prefix or suffix '" + id_ + "': " + re->error());
    for (const auto& [name, group] : re->NamedCapturingGroups()) {
      if (name == "reporter") groups_.stream_name = group;
      if (name == "repeats") groups_.repeats = group;
      if (name == "time") groups_.time = group;
      if (name == "goes_on") groups_.continues = group;
    }
    re_ = std::move(re);
  });
  return *re_;
}

Normalizer::Patterns::Patterns(const std::vector<PrefixOrSuffix>& prefixes_and_suffixes, const JsonLogKeys& keys)
    : json(keys) {
  for (const PrefixOrSuffix& prefix_or_suffix : prefixes_and_suffixes) {
    const bool is_prefix = prefix_or_suffix.place == PrefixOrSuffix::Place::kPrefix;
    const std::size_t number = prefixes.size() + suffixes.size();
    const Pattern& added =
        is_prefix ? prefixes.emplace_back(prefix_or_suffix, prefix_or_suffix.pattern, number)
                  : suffixes.emplace_back(prefix_or_suffix, "(?:" + prefix_or_suffix.pattern + ")\\z", number);
    if (!added.has_signs()) added.re();  // the build did not check this pattern, so compile it now to report errors
    literals.Add(added.literals());
  }
  literals.Prepare();
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    if (i % 64 == 0) tables.emplace_back();
    auto& may = tables.back().may;
    for (std::size_t position = 0; position < may.size(); ++position) {
      const ByteSet bytes = prefixes[i].BytesAt(position);
      for (std::size_t byte = 0; byte < bytes.size(); ++byte)
        may[position][byte] |= static_cast<std::uint64_t>(bytes[byte]) << (i % 64);
    }
  }
}

// Evaluates the groups of a pattern that is known to match all of `text`. RE2 is fastest on exactly the matched text.
void Normalizer::Patterns::Note(const Pattern& pattern, std::string_view text, Line* part) const {
  if (pattern.group_count() == 1) return;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(pattern.group_count()));
  if (!pattern.re().Match(text, 0, text.size(), RE2::ANCHOR_BOTH, groups.data(), pattern.group_count())) return;
  const auto group = [&](int number) {
    const re2::StringPiece& piece = groups[static_cast<std::size_t>(number)];
    return std::string_view(piece.data(), piece.size());
  };
  if (pattern.groups().stream_name > 0) AddStreamName(group(pattern.groups().stream_name), part);
  if (pattern.groups().time > 0) AddTimestamp(group(pattern.groups().time), part);
  if (pattern.groups().continues > 0) part->continues = !group(pattern.groups().continues).empty();
  int repeats = 0;
  if (pattern.groups().repeats > 0 && RE2::FullMatch(group(pattern.groups().repeats), "(\\d{1,7})", &repeats)) {
    part->repeats = std::clamp(repeats, part->repeats, kMaxRepeats);
  }
}

// Returns the length of the longest prefix of `text`; 0 if there is none. `seen` must cover the first kMaxPrefixBytes.
// Prefers the longest because one logger's prefix may begin like another's.
std::size_t Normalizer::Patterns::StripPrefix(std::string_view text, Seen* seen, Line* part) const {
  const std::string_view head = text.substr(0, kMaxPrefixBytes);
  if (head.empty()) return 0;
  const Pattern* best = nullptr;
  std::size_t longest = 0;
  for (std::size_t first = 0; first < prefixes.size(); first += 64) {
    const auto& may = tables[first / 64].may;
    std::uint64_t left = ~std::uint64_t{0};
    for (std::size_t i = 0; i < std::min(may.size(), head.size()); ++i)
      left &= may[i][static_cast<unsigned char>(head[i])];
    for (; left != 0; left &= left - 1) {
      const Pattern& pattern = prefixes[first + static_cast<std::size_t>(std::countr_zero(left))];
      if (!seen->MayHold(pattern)) continue;
      // Finding where a match ends is cheap; its groups are expensive and only needed for the longest.
      re2::StringPiece whole;
      if (pattern.re().Match(head, 0, head.size(), RE2::ANCHOR_START, &whole, 1) && whole.size() > longest) {
        best = &pattern;
        longest = whole.size();
      }
    }
  }
  if (best != nullptr) Note(*best, head.substr(0, longest), part);
  return longest;
}

// Returns the length of a suffix of `text`; 0 if there is none.
std::size_t Normalizer::Patterns::StripSuffix(std::string_view text, Line* part) const {
  const std::string_view tail = text.substr(text.size() - std::min(text.size(), kMaxPrefixBytes));
  Seen seen(*this, tail);
  for (const Pattern& pattern : suffixes) {
    re2::StringPiece whole;
    if (pattern.MayEnd(tail) && seen.MayHold(pattern) &&
        pattern.re().Match(tail, 0, tail.size(), RE2::UNANCHORED, &whole, 1) && !whole.empty()) {
      Note(pattern, {whole.data(), whole.size()}, part);
      return whole.size();
    }
  }
  return 0;
}

// Sets `bare` if the remaining text is known to have no prefix or suffix.
bool Normalizer::Patterns::StripPrefixesAndSuffixes(Line* part, bool* bare) const {
  const std::string_view text = part->text;
  std::size_t begin = 0;
  std::size_t end = text.size();
  *bare = false;
  std::optional<Seen> seen;  // covers the whole text of most lines
  for (std::size_t i = 0; i < kMaxPrefixesInARow && begin < end && !part->continues; ++i) {
    const std::string_view rest = text.substr(begin);
    if (!seen || rest.substr(0, kMaxPrefixBytes).end() > seen->end())
      seen.emplace(*this, rest.substr(0, 2 * kMaxPrefixBytes));
    const std::size_t length = StripPrefix(rest, &*seen, part);
    if (length == 0) {
      *bare = true;
      break;
    }
    begin += length;
    ++part->prefixes;
  }
  for (std::size_t i = 0; i < kMaxPrefixesInARow && begin < end && !part->continues; ++i) {
    const std::size_t length = StripSuffix(text.substr(begin, end - begin), part);
    if (length == 0) break;
    end -= length;
    *bare = false;  // most prefix patterns accept the end of the line, so one may match now
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

// Cleans the texts of `part` if it is a record (JSON, or key=value pairs) or an array of JSON records.
bool Normalizer::Patterns::OpenRecord(const Line& part, int rounds, Cleaned* cleaned) const {
  JsonRecordReader::Record record;
  if (!json.Read(part, &record) && !json.ReadAsPairs(part, &record)) return OpenArray(part, rounds, cleaned);
  if (record.own) return true;
  Line outer = part;
  SetText({}, &outer);
  ++outer.prefixes;
  outer.json = false;
  outer.written = {};
  AddStreamName(Printable(record.stream_name), &outer);
  AddTime(record.time, &outer);
  for (const MappedText& text : record.texts) {
    outer.continues = IsDockerPiece(text.text);
    CleanAll(SplitLines(text, cleaned->Budget()), outer, rounds, cleaned);
  }
  return true;
}

// Cleans the texts of `part` if it is part of a JSON document and contains items of an array of strings.
bool Normalizer::Patterns::OpenStrings(const Line& part, int rounds, Cleaned* cleaned) const {
  if (!part.json || rounds <= 0) return false;
  std::vector<JsonRecordReader::String> strings = JsonRecordReader::Strings(part, part.lists_log);
  for (JsonRecordReader::String& string : strings) {
    Line outer = part;
    outer.json = false;
    outer.written = std::move(string.written);
    CleanAll(SplitLines(string.text, cleaned->Budget()), std::move(outer), rounds, cleaned);
  }
  return !strings.empty();
}

// Cleans the texts of the records if `part` is an array of records.
bool Normalizer::Patterns::OpenArray(const Line& part, int rounds, Cleaned* cleaned) const {
  if (rounds <= 0) return false;
  std::vector<MappedText> elements = JsonRecordReader::Elements(part);
  if (elements.empty()) return OpenStrings(part, rounds, cleaned);
  CleanAll(std::move(elements), part, rounds - 1, cleaned);
  return true;
}

void Normalizer::Patterns::Clean(Line part, int rounds, Cleaned* cleaned) const {
  bool bare = false;  // has no prefix or suffix
  for (bool changed = true; changed && rounds > 0; --rounds) {
    // Records first, because the other steps would break their syntax.
    if (!part.continues && OpenRecord(part, rounds - 1, cleaned)) return;
    changed = StripControls(&part);
    if (changed || !bare) changed = StripPrefixesAndSuffixes(&part, &bare) || changed;
    if (part.continues || !cleaned->unfinished->empty()) {
      const IncompleteLines::Joined joined = cleaned->unfinished->Join(&part);
      if (joined == IncompleteLines::Joined::kKept) return;
      if (joined == IncompleteLines::Joined::kWhole) {
        bare = false;
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
    bare = bare && !decoded;
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
  if (patterns_->OpenRecord(LineOf(raw, MapRaw(raw.bytes)), kMaxRounds, &cleaned)) {
    std::size_t counted = 0;
    std::uint64_t feeds = 0;
    for (std::size_t i = before; i < lines->size(); ++i) {
      const std::size_t at = std::min((*lines)[i].segments.front().raw_at, raw.bytes.size());
      const std::size_t from = at < counted ? 0 : counted;
      const std::string_view above = raw.bytes.substr(from, at - from);
      feeds = (from == 0 ? 0 : feeds) + static_cast<std::uint64_t>(std::count(above.begin(), above.end(), '\n'));
      (*lines)[i].number += feeds;
      counted = at;
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
