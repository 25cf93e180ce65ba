// Undoes what loggers, terminals, schedulers and copying do to a line, so that patterns see the message alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "input/line_scanner.h"
#include "text/byte_class.h"
#include "text/line.h"
#include "text/timestamp.h"

namespace whyoom {

// Beginnings of lines that a collector cut, by reporter.
class Unfinished {
 public:
  bool empty() const { return begun_.empty(); }

  enum class Joined { kNot, kKept, kWhole };

  // Puts `part` behind what its reporter began. kKept: it goes on, and was taken. kWhole: it now is all of the line.
  // kNot: nothing was begun, and it does not go on.
  Joined Join(Line* part);

  // Takes out one that waits, or has waited for too many raw lines (`all`: any one).
  std::optional<Line> TakeOverdue(bool all);

  // A raw line was read.
  void CountLine() { ++lines_; }

 private:
  struct Begun {
    Line line;
    std::uint64_t at = 0;  // lines_ when its last piece came
  };
  std::map<std::string, Begun> begun_;
  std::uint64_t lines_ = 0;
};

// Puts together the raw lines of a JSON record that stands on several, as `gcloud logging read --format=json` and `jq`
// print it.
class RecordJoiner {
 public:
  using Sink = std::function<void(const RawLine&)>;

  // Takes the next raw line and hands on what is complete: the line itself, or, at the end of a record, all of the
  // record as one raw line with line feeds in it. What began like a record and was none is handed on in the same way;
  // nothing is lost. What the sink gets is valid only while it is called.
  void Feed(const RawLine& raw, const Sink& sink);

  // Hands on what is open. Call at the end.
  void Flush(const Sink& sink);

  // Whether a record waits for its next line.
  bool open() const { return lines_ > 0; }

 private:
  void Open(const RawLine& raw, std::size_t indent);

  std::string bytes_;
  RawLine first_;
  std::size_t lines_ = 0;
  std::size_t indent_ = 0;
};

// One prefix that a logger or scheduler puts before each line, or suffix behind it. Comes from rule data.
struct Affix {
  enum class Place { kPrefix, kSuffix };
  std::string id;
  Place place = Place::kPrefix;
  // RE2, anchored at its place by the Normalizer. The whole match is removed. A group named `reporter`
  // tells who printed the line; a group named `repeats` how often the line stands for others; a group named `time` when
  // it was printed, as ParseTimestamp reads it; a group named `goes_on`, where it is not empty, that the line was cut
  // here and goes on in the next one.
  std::string pattern;
  // What was worked out of the pattern, so that a line can be seen to have none without it. Absent: nobody has.
  struct Signs {
    // What a prefix's first bytes can be, one after the other, or a suffix's last ones, the very last first.
    std::vector<ByteSet> bytes;
    std::vector<ByteSet> needed;        // each affix has a byte of each
    std::vector<std::string> literals;  // in lower case; each affix holds one of them, in any case; none: nothing known
  };
  std::optional<Signs> signs;
};

// Where loggers that write JSON objects keep the text, who wrote it, and when: JSON pointers.
struct JsonLogKeys {
  std::vector<std::string> text;
  std::vector<std::string> reporter;
  std::vector<std::string> time;
};

class Normalizer {
 public:
  // Throws Error for a pattern that RE2 refuses.
  Normalizer(const std::vector<Affix>& affixes, const JsonLogKeys& json);
  ~Normalizer();

  // Appends to `lines` the one or more lines that `raw` holds: a JSON log record gives those of its texts,
  // a Python repr or JSON string with escaped line breaks one for each, a progress bar written with
  // carriage returns one for each state. In this order, and again on what results, until nothing changes (eight
  // times at most): JSON record, escape sequences (ANSI CSI, OSC) and control characters out, prefixes and suffixes off
  // (several nested), Markdown quoting off (leading "> ", "- ", "* ", "# "; backticks; "**"), escaped line
  // breaks cut, HTML references decoded. Indentation after the last prefix stays. A blank line gives a Line with empty
  // text. One raw line gives some 65,000 lines at most; the last one then holds the rest.
  // A raw line with line feeds in it is a JSON record, see RecordJoiner, or else its lines.
  //
  // A line that its collector cut (CRI's "P" lines, Docker's pieces of 16 KiB) is kept in `unfinished` until its rest
  // comes, and then cleaned as one.
  void Normalize(const RawLine& raw, Unfinished* unfinished, std::vector<Line>* lines) const;

  // Cleans what is still unfinished. Call at the end.
  void Finish(Unfinished* unfinished, std::vector<Line>* lines) const;

  // The same for a raw line that stands alone.
  void Normalize(const RawLine& raw, std::vector<Line>* lines) const;

 private:
  struct Patterns;
  void NormalizeRecord(const RawLine& raw, Unfinished* unfinished, std::vector<Line>* lines) const;
  void CleanOverdue(bool all, Unfinished* unfinished, std::vector<Line>* lines) const;

  std::unique_ptr<Patterns> patterns_;
};

}  // namespace whyoom
