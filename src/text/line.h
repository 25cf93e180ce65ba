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

struct Line {
  std::uint64_t number = 0;  // of the raw line it came from, 1-based
  std::uint64_t offset = 0;  // of the raw line's first byte in the artifact
  std::string text;          // cleaned: valid UTF-8, no prefixes, no escape sequences, no control characters
  std::string reporter;      // who printed it ("rank0", "10.0.3.7 pid 70231"), empty where no prefix says
  int repeats = 1;           // how many reporters a suffix such as "[repeated 5x across cluster]" counts
  std::optional<Timestamp>
      time;                // that a prefix or record says; of several the first that knows its zone, else the first
  std::string open_time;   // a stamp that is no moment by itself ("1120 10:05:00"), where `time` is not known
  bool logged = false;     // a logger's or collector's prefix, or its record, stood round the text
  bool healthy = false;    // its logger's level says that nothing failed
  bool after_gap = false;  // the log's lines before this one were not looked at
  bool open_end = false;   // nothing says that its last word is whole: the log ends, or was cut, right behind it
  bool binary = false;     // the raw line is machine code or data: nobody printed it
  // Whether the text begins as no part of another message does (read/message.h); absent where nobody has looked.
  std::optional<bool> begins_anew = {};

  // From `text_at` on, text lies linearly over the raw bytes from `raw_at` (from the line's start) on.
  struct Segment {
    std::size_t text_at;
    std::size_t raw_at;
  };
  std::vector<Segment> segments;  // ascending in text_at; the first has text_at 0

  // The text before Markdown and the quotes round it were taken off, which tell a source line and a sentence from what
  // a process printed; empty where nothing was.
  std::string written;
  std::vector<Segment> written_segments;

  const std::string& Written() const { return written.empty() ? text : written; }
  // Where in Written() text[position] stands.
  std::size_t WrittenAt(std::size_t position) const;

  // Offset in the artifact of the raw byte behind text[position]; exact up to escapes inside a segment.
  std::uint64_t RawOffset(std::size_t position) const;
};

// Text under repair: what it says now, and where each stretch of it stood in the raw line.
struct MappedText {
  std::string text;
  std::vector<Line::Segment> segments;  // as in Line
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

  // What was built so far; building starts afresh, further right.
  MappedText Take();

 private:
  void Map(std::size_t raw_at);

  const MappedText& from_;
  std::size_t segment_ = 0;  // of from_, the last one that begins at or before the last position asked for
  MappedText to_;
};

MappedText Slice(const MappedText& from, std::size_t begin, std::size_t end);

}  // namespace whyoom
