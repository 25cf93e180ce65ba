// A line as the patterns see it, with the way back to the raw bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
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
  bool after_gap = false;  // the log's lines before this one were not looked at

  // From `text_at` on, text lies linearly over the raw bytes from `raw_at` (from the line's start) on.
  struct Segment {
    std::size_t text_at;
    std::size_t raw_at;
  };
  std::vector<Segment> segments;  // ascending in text_at; the first has text_at 0

  // Offset in the artifact of the raw byte behind text[position]; exact up to escapes inside a segment.
  std::uint64_t RawOffset(std::size_t position) const;
};

}  // namespace whyoom
