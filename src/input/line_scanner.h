// Hands out the raw lines round the prefilter's hits, and passes over the rest without making lines of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "input/byte_source.h"
#include "input/prefilter.h"
#include "input/read_control.h"

namespace whyoom {

struct RawLine {
  std::uint64_t number = 0;  // 1-based
  std::uint64_t offset = 0;  // of bytes[0] in the artifact
  std::string_view bytes;    // without the line feed; valid until the next call of Next
  bool after_gap =
      false;         // the line before this one was not handed out (also true for the first line if it is not line 1)
  bool cut = false;  // a piece of a line longer than Limits::line_bytes; number stays that of the line
};

// What may stand before a hit and matter with it. Borrowed.
struct Lead {
  const Prefilter* literals = nullptr;
  std::size_t openers = 0;  // the first so many of them: from an opener that leads on to the hit, all lines up to the
                            // hit matter (a traceback); of the others each matters with its own line alone (a
                            // framework's name)
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

  // The next line, or false at the end. With `adjacent` that is the line after the last one given,
  // whatever is in it; else the scanner goes on to the first line not yet given that matters to the next hit — which
  // may be the adjacent one. These are, of what lies within before_bytes before the hit's end: each line that holds a
  // literal of the lead's that is no opener; all from the first opener that leads on, or, where lines given before
  // reach into it and lead on, too, all that follow; all that begin within close_bytes (whole lines only); and the line
  // that holds the hit. What leads on ends no more than close_bytes before the next opener that does, or before the
  // last close_bytes before the hit: a traceback that failed long before is another failure's. Then it looks for the
  // next hit again. Lines come in order, each at most once; false once is false for good. A piece of a long line counts
  // as a line. The same lines come whatever the chunking of the source, and with or without a survey.
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
