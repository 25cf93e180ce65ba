// Hands out the raw lines round the prefilter's hits, and passes over the rest without making lines of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "input/byte_source.h"
#include "input/limits.h"
#include "input/prefilter.h"

namespace whyoom {

struct RawLine {
  std::uint64_t number = 0;  // 1-based
  std::uint64_t offset = 0;  // of bytes[0] in the artifact
  std::string_view bytes;    // without the line feed; valid until the next call of Next
  bool after_gap = false;    // the line before it was not handed out; nothing is before line 1
  bool open_end = false;     // nothing ends it, not even a line feed: the bytes are over, or were cut
  bool cut = false;          // a piece of a line longer than Limits::line_bytes; number stays that of the line
};

// What may stand before a hit and matter with it. The literals are borrowed; the first `openers` of them begin
// something that leads on to the hit (a traceback), so that all lines from there on matter. Of the others only the line
// itself does (a framework's name).
struct Lead {
  const Prefilter* literals = nullptr;
  std::size_t openers = 0;
  // Whether a line for the literal of this number, no opener, can still say something that is not known; asked right
  // before the line would be given. Null: each can.
  std::function<bool(std::size_t literal)> wants = nullptr;
};

class Survey;

class LineScanner {
 public:
  struct Limits {
    std::size_t block_bytes = std::size_t{256} << 10;  // asked from the source at a time: what a core's cache holds
    std::size_t before_bytes = std::size_t{64} << 10;  // before a hit, in which leads are looked for
    std::size_t close_bytes = std::size_t{2} << 10;    // before a hit, handed out whatever is in them
    std::size_t line_bytes = std::size_t{1} << 20;     // longer lines come in pieces
  };

  // Called at the first hit, and never where there is none.
  using LeadMaker = std::function<Lead()>;

  // Borrows all, for its lifetime. With `survey`, which is of the same bytes as `source`, hits are not looked for here;
  // the source must be able to seek. `control` may be null.
  LineScanner(ByteSource& source, const Prefilter& prefilter);
  LineScanner(ByteSource& source, const Prefilter& prefilter, LeadMaker lead, const Limits& limits,
              Survey* survey = nullptr, ReadControl* control = nullptr);
  ~LineScanner();

  // The next line, in order and each at most once; false at the end, for good. With `adjacent` it is the line after the
  // last one given, whatever is in it. Else it is the first line not given yet that matters to the next hit:
  //
  //   jax 0.4.35 on 4 chips          1. a line with a literal of the lead that is no opener and is wanted
  //   step 7 …
  //   12:00:01 ERROR failed:            and the line before the first opener: a logger stamps it for what follows
  //   Traceback (most recent …):     2. all lines from the first opener that leads on, or, where lines given before
  //     File "train.py", line 3         reach into this and an opener is near to them, all that follow
  //   saving … (a few lines)         3. all whole lines within close_bytes before the hit
  //   RESOURCE_EXHAUSTED: Ran out    4. the line that holds the hit
  //
  // All of it within before_bytes before the hit's end. An opener leads on where no more than close_bytes lie between
  // it and the next opener that does, or the lines of 3: a traceback that ended long before is another failure's. A
  // piece of a long line counts as a line. The same lines come however the source is chunked, and with or without a
  // survey.
  bool Next(bool adjacent, RawLine* line);

  // Goes on after Next gave false, where the source may give more after it gave 0 bytes. The beginning of a line that
  // was given without its end comes to no more than that: its rest is given as a piece of the same line.
  void Resume();

  std::uint64_t bytes_read() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace whyoom
