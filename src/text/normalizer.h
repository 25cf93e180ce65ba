// Undoes what loggers, terminals, schedulers and copying do to a line, so that patterns see only the message.
#pragma once

#include <re2/set.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input/line_scanner.h"
#include "text/line.h"
#include "text/regex_options.h"
#include "text/timestamp.h"

namespace whyoom {

// JSON pointers to the text, the stream and the time in records of loggers that write JSON.
struct JsonLogKeys {
  std::vector<std::string> text;
  std::vector<std::string> stream_name;
  std::vector<std::string> time;
};

struct JsonRecord {
  // Distinct, in the order of the keys; line breaks included. None: a record of whyoom, which repeats a log's text.
  std::vector<MappedText> texts;
  std::string stream_name;
  std::optional<Timestamp> time;
};

class JsonRecordReader {
 public:
  // Throws json::exception if a key is not a valid JSON pointer.
  explicit JsonRecordReader(const JsonLogKeys& keys);

  // The records in a line: a JSON object, alone or as a line of an array, or an array of objects. Objects without a
  // text under the keys are omitted, unless they are records of whyoom.
  std::vector<JsonRecord> Read(const MappedText& line) const;

 private:
  using Keys = std::vector<nlohmann::json::json_pointer>;
  std::optional<JsonRecord> ReadObject(const MappedText& line, const nlohmann::json& object, std::size_t* past) const;

  Keys text_;
  Keys stream_name_;
  Keys time_;
};

// Joins the raw lines of a JSON record that spans several, as `gcloud logging read --format=json` and `jq` print it.
class RecordJoiner {
 public:
  // Adds a raw line. Returns what it completes: the line itself or, at the end of a record, the record as one raw line
  // with line feeds. Lines that turn out not to be a record are joined in the same way. Valid until the next call.
  std::optional<RawLine> Feed(const RawLine& raw);

  // Returns an incomplete record. Call at the end.
  std::optional<RawLine> Flush();

  // Whether a record is incomplete.
  bool open() const { return lines_ > 0; }

 private:
  RawLine first_;
  std::string bytes_;      // of the incomplete record
  std::size_t lines_ = 0;  // of the incomplete record; 0: none
  std::size_t indent_ = 0;
  std::string complete_;  // the bytes of the last record
};

// A pattern of the rule data for the text that a logger or scheduler puts before (prefix) or after (suffix) a line.
struct PrefixOrSuffix {
  enum class Place { kPrefix, kSuffix };
  std::string id;
  Place place = Place::kPrefix;
  // RE2, anchored by the Normalizer; a character class may contain only ASCII. The whole match is removed. Groups:
  // `reporter`, the stream that printed the line; `repeats`, the number of streams that printed it; `time`, for
  // ParseTimestamp.
  std::string pattern;
};

class Normalizer {
 public:
  // Throws Error if RE2 rejects a pattern.
  Normalizer(const std::vector<PrefixOrSuffix>& prefixes_and_suffixes, const JsonLogKeys& json);

  // Appends the cleaned lines of `raw` to `lines`, which gets at most 65,536: one for each text of a JSON log record,
  // for each part between escaped line breaks, and for each state of a progress bar that uses carriage returns.
  //
  // Applies these steps in order, and repeats them on the result until nothing changes (at most eight times): read a
  // JSON record or the strings of a JSON document; remove escape sequences (ANSI CSI, OSC) and control characters;
  // remove prefixes and suffixes (several nested); split at line breaks that a collector wrote as text ("#012", "%0A");
  // remove Markdown quoting (leading "> ", "- ", "* ", "# "; backticks; "**"); split at escaped line breaks; decode
  // HTML references. Indentation after the last prefix is kept. A blank line yields a Line with empty text. A raw line
  // with line feeds (see RecordJoiner) is read as one JSON record or, if it is none, line by line.
  void Normalize(const RawLine& raw, std::vector<Line>* lines) const;

 private:
  // Compiled on first use: a log contains few of the known prefixes.
  struct Pattern {
    const RE2& regex() const { return lazy.Of(expression); }
    std::string expression;
    mutable LazyRegex lazy;
  };
  bool ReadRecord(const RawLine& raw, std::vector<Line>* lines) const;
  void Clean(Line part, int rounds, std::vector<Line>* lines) const;
  void CleanAll(std::vector<MappedText> texts, Line outer, int rounds, std::vector<Line>* lines) const;
  bool ReadRecords(const Line& part, int rounds, std::vector<Line>* lines) const;
  bool StripPrefixesAndSuffixes(Line* part) const;
  std::size_t StripPrefix(std::string_view text, Line* part) const;

  JsonRecordReader json_;
  std::deque<Pattern> prefixes_;
  std::deque<Pattern> suffixes_;
  RE2::Set any_prefix_;  // finds the prefixes that match in one search
};

}  // namespace whyoom
