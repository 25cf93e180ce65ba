#include "text/normalizer.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "input/error.h"
#include "text/cleaning.h"
#include "text/json_record.h"
#include "text/mapped_text.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr int kMostRounds = 8;                            // of disguises in disguises
constexpr std::size_t kMostAffixes = 8;                   // in a row
constexpr std::size_t kAffixBytes = 1024;                 // an affix longer than this is none
constexpr std::size_t kMostLines = std::size_t{1} << 16;  // from one raw line
constexpr std::size_t kMostReporterBytes = 200;
constexpr int kMostRepeats = 1000000;

// A part of a raw line that is being cleaned.
struct Part {
  MappedText text;
  std::string reporter;
  int repeats = 1;
  std::optional<Timestamp> time;
};

re2::StringPiece Piece(std::string_view text) { return re2::StringPiece(text.data(), text.size()); }

// How many lines may still come of a raw line.
std::size_t Budget(const std::vector<Part>& lines) { return kMostLines - std::min(lines.size(), kMostLines - 1); }

void AddReporter(std::string_view who, Part* part) {
  if (who.empty() || part->reporter.size() + who.size() >= kMostReporterBytes) return;
  // A collector and the job often name the same pod.
  if (part->reporter.find(who) != std::string::npos) return;
  if (!part->reporter.empty()) part->reporter += ' ';
  part->reporter += who;
}

// The outermost stamp is the collector's clock, the innermost the job's own. One that knows its zone can be compared
// with other logs', so it wins.
void AddTime(const std::optional<Timestamp>& time, Part* part) {
  if (time && (!part->time || (time->zone_known && !part->time->zone_known))) part->time = time;
}

}  // namespace

struct Normalizer::Patterns {
  struct Pattern {
    std::unique_ptr<RE2> expression;
    int reporter = 0;  // number of the group, 0 where there is none
    int repeats = 0;
    int time = 0;

    int groups() const { return 1 + std::max({reporter, repeats, time}); }
  };

  Patterns(const std::vector<Affix>& affixes, const JsonLogKeys& keys);
  Pattern Compile(const Affix& affix) const;

  void Clean(Part part, int rounds, std::vector<Part>* lines) const;
  void CleanAll(std::vector<MappedText> texts, const Part& outer, int rounds, std::vector<Part>* lines) const;
  bool OpenRecord(const Part& part, int rounds, std::vector<Part>* lines) const;
  bool StripAffixes(Part* part) const;
  std::size_t StripPrefix(std::string_view text, Part* part) const;
  std::size_t StripSuffix(std::string_view text, Part* part) const;
  void Note(const Pattern& pattern, std::string_view text, RE2::Anchor anchor, Part* part) const;

  RE2::Options options;
  JsonRecordReader json;
  std::vector<Pattern> prefixes;
  std::vector<Pattern> suffixes;
  std::unique_ptr<RE2::Set> any_prefix;  // tells in one pass which of the prefixes are worth a try
};

Normalizer::Patterns::Patterns(const std::vector<Affix>& affixes, const JsonLogKeys& keys) : json(keys) {
  options.set_log_errors(false);
  any_prefix = std::make_unique<RE2::Set>(options, RE2::ANCHOR_START);
  for (const Affix& affix : affixes) {
    const bool is_prefix = affix.place == Affix::Place::kPrefix;
    (is_prefix ? prefixes : suffixes).push_back(Compile(affix));
    if (is_prefix) any_prefix->Add(affix.pattern, nullptr);
  }
  if (!any_prefix->Compile()) throw Error("the patterns of the prefixes are too large together");
}

Normalizer::Patterns::Pattern Normalizer::Patterns::Compile(const Affix& affix) const {
  Pattern pattern;
  const bool is_prefix = affix.place == Affix::Place::kPrefix;
  pattern.expression = std::make_unique<RE2>(is_prefix ? affix.pattern : "(?:" + affix.pattern + ")\\z", options);
  if (!pattern.expression->ok()) throw Error("affix '" + affix.id + "': " + pattern.expression->error());
  for (const auto& [name, group] : pattern.expression->NamedCapturingGroups()) {
    if (name == "reporter") pattern.reporter = group;
    if (name == "repeats") pattern.repeats = group;
    if (name == "time") pattern.time = group;
  }
  return pattern;
}

// Notes what the groups of a pattern say that is known to match `text`.
void Normalizer::Patterns::Note(const Pattern& pattern, std::string_view text, RE2::Anchor anchor, Part* part) const {
  if (pattern.groups() == 1) return;
  std::vector<re2::StringPiece> groups(static_cast<std::size_t>(pattern.groups()));
  if (!pattern.expression->Match(Piece(text), 0, text.size(), anchor, groups.data(), pattern.groups())) return;
  const auto group = [&](int number) {
    const re2::StringPiece& piece = groups[static_cast<std::size_t>(number)];
    return std::string_view(piece.data(), piece.size());
  };
  if (pattern.reporter > 0) AddReporter(group(pattern.reporter), part);
  if (pattern.time > 0) AddTime(ParseTimestamp(group(pattern.time)), part);
  int repeats = 0;
  if (pattern.repeats > 0 && RE2::FullMatch(Piece(group(pattern.repeats)), "(\\d{1,7})", &repeats)) {
    part->repeats = std::clamp(repeats, part->repeats, kMostRepeats);
  }
}

// Length of the longest prefix of `text`; 0 if it has none. The longest, because one logger's line may
// begin like another's.
std::size_t Normalizer::Patterns::StripPrefix(std::string_view text, Part* part) const {
  const std::string_view head = text.substr(0, kAffixBytes);
  std::vector<int> candidates;
  RE2::Set::ErrorInfo error{};
  if (!any_prefix->Match(Piece(head), &candidates, &error)) {
    if (error.kind == RE2::Set::kNoError) return 0;
    // The set ran out of its memory: try them all.
    for (std::size_t i = 0; i < prefixes.size(); ++i) candidates.push_back(static_cast<int>(i));
  }
  std::sort(candidates.begin(), candidates.end());
  const Pattern* best = nullptr;
  std::size_t longest = 0;
  for (const int index : candidates) {
    const Pattern& pattern = prefixes[static_cast<std::size_t>(index)];
    // Where a match ends is cheap to find; what its groups hold is not, and is wanted of the longest only.
    re2::StringPiece whole;
    if (pattern.expression->Match(Piece(head), 0, head.size(), RE2::ANCHOR_START, &whole, 1) &&
        whole.size() > longest) {
      best = &pattern;
      longest = whole.size();
    }
  }
  if (best != nullptr) Note(*best, head, RE2::ANCHOR_START, part);
  return longest;
}

// Length of a suffix of `text`; 0 if it has none.
std::size_t Normalizer::Patterns::StripSuffix(std::string_view text, Part* part) const {
  const std::string_view tail = text.substr(text.size() - std::min(text.size(), kAffixBytes));
  for (const Pattern& pattern : suffixes) {
    re2::StringPiece whole;
    if (pattern.expression->Match(Piece(tail), 0, tail.size(), RE2::UNANCHORED, &whole, 1) && !whole.empty()) {
      Note(pattern, tail, RE2::UNANCHORED, part);
      return whole.size();
    }
  }
  return 0;
}

bool Normalizer::Patterns::StripAffixes(Part* part) const {
  const std::string_view text = part->text.text;
  std::size_t begin = 0;
  std::size_t end = text.size();
  for (std::size_t i = 0; i < kMostAffixes && begin < end; ++i) {
    const std::size_t length = StripPrefix(text.substr(begin, end - begin), part);
    if (length == 0) break;
    begin += length;
  }
  for (std::size_t i = 0; i < kMostAffixes && begin < end; ++i) {
    const std::size_t length = StripSuffix(text.substr(begin, end - begin), part);
    if (length == 0) break;
    end -= length;
  }
  if (begin == 0 && end == text.size()) return false;
  part->text = Slice(part->text, begin, end);
  return true;
}

void Normalizer::Patterns::CleanAll(std::vector<MappedText> texts, const Part& outer, int rounds,
                                    std::vector<Part>* lines) const {
  for (MappedText& text : texts) Clean({std::move(text), outer.reporter, outer.repeats, outer.time}, rounds, lines);
}

// Cleans the texts of `part`, if it is a JSON record.
bool Normalizer::Patterns::OpenRecord(const Part& part, int rounds, std::vector<Part>* lines) const {
  JsonRecordReader::Record record;
  if (!json.Read(part.text, &record)) return false;
  Part outer{{}, part.reporter, part.repeats, part.time};
  AddReporter(Printable(record.reporter), &outer);
  AddTime(record.time, &outer);
  for (const MappedText& text : record.texts) CleanAll(SplitLines(text, Budget(*lines)), outer, rounds, lines);
  return true;
}

void Normalizer::Patterns::Clean(Part part, int rounds, std::vector<Part>* lines) const {
  for (bool changed = true; changed && rounds > 0; --rounds) {
    // First, because what follows would hurt the record's syntax.
    if (OpenRecord(part, rounds - 1, lines)) return;
    changed = StripControls(&part.text);
    changed = StripAffixes(&part) || changed;
    changed = StripMarkdown(&part.text) || changed;
    // A decoded quote must not end a text that stands in quotes itself, unless all quotes are encoded.
    const bool quotes = part.text.text.find_first_of("'\"") != std::string::npos;
    if (!quotes) changed = DecodeHtml(&part.text) || changed;
    std::vector<MappedText> cut;
    if (CutEscapedBreaks(part.text, Budget(*lines), &cut)) return CleanAll(std::move(cut), part, rounds - 1, lines);
    if (quotes) changed = DecodeHtml(&part.text) || changed;
  }
  StripControls(&part.text);  // what the last round decoded
  lines->push_back(std::move(part));
}

Normalizer::Normalizer(const std::vector<Affix>& affixes, const JsonLogKeys& json)
    : patterns_(std::make_unique<Patterns>(affixes, json)) {}

Normalizer::~Normalizer() = default;

void Normalizer::Normalize(const RawLine& raw, std::vector<Line>* lines) const {
  std::vector<Part> parts;
  for (MappedText& text : SplitLines(MapRaw(raw.bytes), kMostLines)) {
    patterns_->Clean({std::move(text), "", 1, std::nullopt}, kMostRounds, &parts);
  }
  bool first = true;
  for (Part& part : parts) {
    Line line;
    line.number = raw.number;
    line.offset = raw.offset;
    line.text = std::move(part.text.text);
    line.reporter = std::move(part.reporter);
    line.repeats = part.repeats;
    line.time = part.time;
    line.after_gap = raw.after_gap && first;
    line.segments = std::move(part.text.segments);
    if (line.segments.empty()) line.segments = {{0, 0}};
    lines->push_back(std::move(line));
    first = false;
  }
}

}  // namespace whyoom
