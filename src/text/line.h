// Text with the way back to the raw bytes: while it is repaired, and the line that the patterns see then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/timestamp.h"

namespace whyoom {

struct MappedText {
  // From `text_at` on, the text is copied from the raw bytes that begin at `raw_at`, counted from the line's start.
  struct Segment {
    std::size_t text_at;
    std::size_t raw_at;
  };
  std::string text;
  std::vector<Segment> segments;  // ascending in text_at; the first has text_at 0
};

// A line while it is cleaned, and afterwards: then its text is valid UTF-8 without prefixes, escape sequences and
// control characters.
struct Line : MappedText {
  std::uint64_t number = 0;  // of the raw line it came from, 1-based
  std::uint64_t offset = 0;  // of the raw line's first byte in the artifact
  std::string reporter;      // who printed it ("rank0", "10.0.3.7 pid 70231"), empty where no prefix says
  int repeats = 1;           // how many reporters a suffix such as "[repeated 5x across cluster]" counts
  // From a prefix or record: of several the first one with a zone, else the first.
  std::optional<Timestamp> time;
  std::string open_time;   // a stamp that is no moment by itself ("1120 10:05:00"), where `time` is not known
  bool logged = false;     // a logger's or collector's prefix, or its record, stood round the text
  bool healthy = false;    // its logger's level says that nothing failed
  bool after_gap = false;  // the log's lines before this one were not looked at
  bool open_end = false;   // nothing says that its last word is whole: the log ends, or was cut, right behind it
  bool binary = false;     // the raw line is machine code or data: nobody printed it
  bool goes_on = false;  // while it is cleaned: its collector cut it here, the rest is in the reporter's next raw line

  // What the reader finds out about it (read/session.h).
  std::optional<bool> begins_anew;  // it begins as no part of another message does; absent: not looked at yet
  bool is_suspect = false;          // it reports a failure that no rule may know
  bool matters = false;             // it holds a literal of a rule

  // The text before Markdown and the quotes round it were taken off, which tell a source line and a sentence from what
  // a process printed; empty where nothing was.
  MappedText written;

  const std::string& Written() const { return written.text.empty() ? text : written.text; }
  // Where in Written() text[position] stands.
  std::size_t WrittenAt(std::size_t position) const;

  // Offset in the artifact of the raw byte behind text[position]; exact up to escapes inside a segment.
  std::uint64_t RawOffset(std::size_t position) const;
};

// The raw bytes as valid UTF-8.
MappedText MapRaw(std::string_view bytes);

// Builds a changed copy of a text from left to right. Borrows it.
class Rewriter {
 public:
  explicit Rewriter(const MappedText& from) : from_(from) {}

  // Copies from.text[begin, end). Calls go to the right: `begin` is never less than in the call before.
  void Keep(std::size_t begin, std::size_t end);
  // Writes `text` in place of what stands at `at`, from where the same holds.
  void Put(std::string_view text, std::size_t at);
  // Returns what was built so far and starts afresh, further right.
  MappedText Take();

  // Copies what stands between the last call and `begin`, then writes `text` in place of [begin, end).
  void Replace(std::size_t begin, std::size_t end, std::string_view text = {});
  // Copies the rest to `line`, which may be what is borrowed. Returns false, and changes nothing, if Replace was never
  // called.
  bool Finish(MappedText* line);

 private:
  void Map(std::size_t raw_at);

  const MappedText& from_;
  std::size_t segment_ = 0;   // of from_, the last one that begins at or before the last position asked for
  std::size_t replaced_ = 0;  // end of the last Replace
  MappedText to_;
};

MappedText Slice(const MappedText& from, std::size_t begin, std::size_t end);

}  // namespace whyoom
