// Text under repair: what it says now, and where each stretch of it stood in the raw line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/line.h"

namespace whyoom {

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
