// Undoes what loggers, terminals, schedulers and copying do to a line, so that patterns see only the message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "input/line_scanner.h"
#include "text/line.h"
#include "text/timestamp.h"

namespace whyoom {

// For each stream, the line that a collector split and whose rest has not arrived.
class IncompleteLines {
 public:
  bool empty() const { return first_pieces_.empty(); }

  enum class Joined { kNot, kKept, kWhole };

  // Appends `part` to its stream's incomplete line. kKept: the line is still incomplete; `part` was stored. kWhole:
  // `part` is now the complete line. kNot: nothing was incomplete, and `part` is complete.
  Joined Join(Line* part);

  // Removes and returns a line that has waited for too many raw lines, or any line if `all`.
  std::optional<Line> RemoveOverdue(bool all);

  // Call for each raw line.
  void CountLine() { ++lines_; }

 private:
  struct FirstPieces {
    Line line;
    std::uint64_t at = 0;  // lines_ when its last piece arrived
  };
  std::map<std::string, FirstPieces> first_pieces_;
  std::uint64_t lines_ = 0;
};

// Joins the raw lines of a JSON record that spans several, as `gcloud logging read --format=json` and `jq` print it.
class RecordJoiner {
 public:
  // Adds a raw line. Returns the completed ones: the line itself or, at the end of a record, the record as one raw line
  // with line feeds. Lines that turn out not to be a record are joined in the same way. Valid until the next call.
  const std::vector<RawLine>& Feed(RawLine raw);

  // Returns an incomplete record. Call at the end.
  const std::vector<RawLine>& Flush();

  // Whether a record is incomplete.
  bool open() const { return lines_ > 0; }

 private:
  void Complete();
  void FollowArray(RawLine* raw);

  std::string bytes_;
  RawLine first_;
  std::size_t lines_ = 0;  // of the incomplete record; 0: none
  std::size_t indent_ = 0;
  bool lists_log_ = false;
  std::vector<RawLine> complete_;
  std::string complete_bytes_;
};

// A pattern of the rule data for the text that a logger or scheduler puts before (prefix) or after (suffix) a line.
struct PrefixOrSuffix {
  enum class Place { kPrefix, kSuffix };
  std::string id;
  Place place = Place::kPrefix;
  // RE2, anchored by the Normalizer; a character class may contain only ASCII. The whole match is removed. Groups:
  // `reporter`, the stream that printed the line; `repeats`, the number of streams that printed it; `time`, for
  // ParseTimestamp or ParseTimestampNear; `goes_on`, not empty if the line is split here and continues in the next.
  std::string pattern;
};

// JSON pointers to the text, the stream and the time in records of loggers that write JSON.
struct JsonLogKeys {
  std::vector<std::string> text;
  std::vector<std::string> stream_name;
  std::vector<std::string> time;
};

class Normalizer {
 public:
  // Throws Error if a JSON pointer is invalid. If RE2 rejects a pattern, Normalize throws Error.
  Normalizer(const std::vector<PrefixOrSuffix>& prefixes_and_suffixes, const JsonLogKeys& json);
  ~Normalizer();

  // Appends the cleaned lines of `raw` to `lines`: one for each text of a JSON log record, for each part between
  // escaped line breaks, and for each state of a progress bar that uses carriage returns.
  //
  // Applies these steps in order, and repeats them on the result until nothing changes (at most eight times): read a
  // JSON record or the strings of a JSON document; remove escape sequences (ANSI CSI, OSC) and
  // control characters; remove prefixes and suffixes (several nested); split at line breaks that a collector or page
  // wrote as text ("#012", "%0A", "<br>"); remove Markdown quoting (leading "> ", "- ", "* ", "# "; backticks; "**");
  // split at escaped line breaks; decode HTML references. Indentation after the last prefix is kept. A blank line
  // yields a Line with empty text. One raw line yields about 65,000 lines at most; the last one contains the rest. A
  // raw line with line feeds (see RecordJoiner) is read as one JSON record or, if it is none, line by line.
  //
  // A line that its collector split (CRI's "P" lines, Docker's pieces of 16 KiB) is stored in `unfinished` until its
  // rest arrives, then cleaned as a whole.
  void Normalize(const RawLine& raw, IncompleteLines* unfinished, std::vector<Line>* lines) const;

  // Cleans the lines that are still incomplete. Call at the end.
  void Finish(IncompleteLines* unfinished, std::vector<Line>* lines) const;

  // Normalizes a single raw line, and cleans lines that are still incomplete after it.
  void Normalize(const RawLine& raw, std::vector<Line>* lines) const;

 private:
  struct Patterns;
  void NormalizeRecord(const RawLine& raw, IncompleteLines* unfinished, std::vector<Line>* lines) const;
  void CleanOverdue(bool all, IncompleteLines* unfinished, std::vector<Line>* lines) const;

  std::unique_ptr<Patterns> patterns_;
};

}  // namespace whyoom
