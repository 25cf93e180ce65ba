// Text with a mapping back to the raw bytes, and the lines that the patterns see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/timestamp.h"

namespace whyoom {

struct MappedText {
  // From `text_at` on, the text is a copy of the raw bytes from `raw_at` on; both offsets start at 0.
  struct Segment {
    std::size_t text_at;
    std::size_t raw_at;
  };
  std::string text;
  std::vector<Segment> segments;  // ascending in text_at; the first has text_at 0

  // The offset of the raw byte of text[position]; approximate only after an escape inside a segment.
  std::size_t RawAt(std::size_t position) const;
};

// A line of the log. After cleaning, its text is valid UTF-8 without prefixes, escape sequences and control characters.
struct Line : MappedText {
  std::uint64_t number = 0;  // number of its raw line, 1-based
  std::uint64_t offset = 0;  // offset of the raw line in the artifact
  std::string stream_name;   // the process or rank that printed it ("10.0.3.7 pid 70231"); empty if unknown
  int repeats = 1;           // number of streams, from a suffix such as "[repeated 5x across cluster]"
  // From a prefix or record: the first timestamp with a zone, or the first one if none has a zone.
  std::optional<Timestamp> time;
  std::string ambiguous_time;  // an ambiguous timestamp ("1120 10:05:00"), set only if `time` is not
  int prefixes = 0;            // number of prefixes of loggers and collectors before the text, and of records around it
  bool healthy = false;        // the log level shows that nothing failed
  bool after_gap = false;      // lines of the log before this one were skipped
  bool may_continue = false;   // the last word may be incomplete: the log ends or was cut here
  bool binary = false;         // the raw line is binary data, not text
  bool json = false;           // only during cleaning: part of a JSON document, not yet decoded

  // Set, like `healthy`, by the reader (read/failure_reader.h and read/session.h).
  std::optional<bool> starts_message;  // starts a new message rather than continuing one; absent: not examined
  bool is_candidate_error = false;     // reports an error that may be unknown to the rules
  bool has_literal = false;            // contains a literal of a rule

  // The text before Markdown and quotes were removed, which distinguish source code and prose from a process's output.
  // Empty if nothing was removed, or if a line of more than 1 KiB was split.
  MappedText written;

  void SetText(MappedText mapped) { static_cast<MappedText&>(*this) = std::move(mapped); }
  bool logged() const { return prefixes > 0; }
  const std::string& Written() const { return written.text.empty() ? text : written.text; }
  // Whether both are parts of one raw line, which was split at escaped line breaks.
  bool IsPartWith(const Line& other) const {
    return number == other.number && !written.text.empty() && written.text == other.written.text;
  }
  // The offset in Written() of text[position].
  std::size_t WrittenAt(std::size_t position) const;

  // RawAt as an offset in the artifact.
  std::uint64_t RawOffset(std::size_t position) const { return offset + RawAt(position); }
};

// Whether there are only blanks and tabs.
inline bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

// Converts raw bytes to valid UTF-8.
MappedText MapRaw(std::string_view bytes);

// Builds a modified copy of a text from left to right. Borrows the text.
class Rewriter {
 public:
  explicit Rewriter(const MappedText& from) : from_(from) {}

  // Copies from.text[begin, end). `begin` must not be less than in the previous call.
  void Keep(std::size_t begin, std::size_t end);
  // Writes `text` in place of the text at `at`, which must not be less than in the previous call either.
  void Put(std::string_view text, std::size_t at);
  // Returns the result so far and starts a new one; positions continue to increase.
  MappedText Take();

  // Copies the text between the last call and `begin`, then writes `text` in place of [begin, end).
  void Replace(std::size_t begin, std::size_t end, std::string_view text = {});
  // Copies the rest to `line`, which may be the borrowed text. Returns false and changes nothing if Replace was never
  // called.
  bool Finish(MappedText* line);

 private:
  void Map(std::size_t raw_at);

  const MappedText& from_;
  std::size_t replaced_ = 0;  // end of the last Replace
  MappedText to_;
};

MappedText Slice(const MappedText& from, std::size_t begin, std::size_t end);

}  // namespace whyoom
