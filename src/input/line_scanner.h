// Hands out the raw lines round the prefilter's hits, and passes over the rest without making lines of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "input/byte_source.h"
#include "input/prefilter.h"

namespace whyoom {

struct RawLine {
  std::uint64_t number = 0;  // 1-based
  std::uint64_t offset = 0;  // of bytes[0] in the artifact
  std::string_view bytes;    // without the line feed; valid until the next call of Next
  bool after_gap =
      false;         // the line before this one was not handed out (also true for the first line if it is not line 1)
  bool cut = false;  // a piece of a line longer than Limits::line_bytes; number stays that of the line
};

class LineScanner {
 public:
  struct Limits {
    std::size_t block_bytes = std::size_t{1} << 20;    // asked from the source at a time
    std::size_t before_bytes = std::size_t{64} << 10;  // of context handed out before a hit
    std::size_t line_bytes = std::size_t{1} << 20;     // longer lines come in pieces
  };

  // Borrows both, for its lifetime.
  LineScanner(ByteSource& source, const Prefilter& prefilter);
  LineScanner(ByteSource& source, const Prefilter& prefilter, const Limits& limits);
  ~LineScanner();

  // The next line, or false at the end. With `adjacent` that is the line after the last one given,
  // whatever is in it; else the scanner goes on to the first line not yet given that lies within
  // before_bytes before the next hit (whole lines only) — which may be the adjacent one — and gives from there on
  // each line up to and including the one that holds the hit, before it looks for the next hit again.
  // Lines come in order, each at most once; false once is false for good. A piece of a long line counts as a line, and
  // "within before_bytes" is measured from a line's start to the hit's end. The same lines come whatever the chunking
  // of the source.
  bool Next(bool adjacent, RawLine* line);

  std::uint64_t bytes_read() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace whyoom
