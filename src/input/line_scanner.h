// Hands out the raw lines round the prefilter's hits, and passes over the rest without making lines of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "input/byte_source.h"
#include "input/limits.h"
#include "input/prefilter.h"
#include "input/survey.h"

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

  struct Options {
    LeadMaker lead = nullptr;
    Limits limits = {};
    // Of the same bytes as the source, which must be able to seek: hits are not looked for here then. May be null.
    Survey* survey = nullptr;
    ReadControl* control = nullptr;  // may be null
  };

  // Borrows all, for its lifetime.
  LineScanner(ByteSource& source, const Prefilter& prefilter);
  LineScanner(ByteSource& source, const Prefilter& prefilter, Options options);

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
  // All positions are offsets in the artifact, so that nothing depends on how the bytes arrive. A line
  // longer than line_bytes falls into pieces of that length, counted from its start; a shorter one is one
  // piece. A piece owns the line feed after it.

  // Pieces to give before the hit is reached: from the first that begins at or after `begin` and not before `next`,
  // up to the one that ends past `end`.
  struct Window {
    std::uint64_t begin;
    std::uint64_t end;
    std::vector<std::size_t> signs;  // the literals of the lead that it is given for alone
  };

  std::uint64_t end() const { return base_ + size_; }
  const char* At(std::uint64_t offset) const { return buffer_.get() + (offset - base_); }
  std::string_view Bytes(std::uint64_t from, std::uint64_t to) const {
    return {At(from), static_cast<std::size_t>(to - from)};
  }
  std::uint64_t Before(std::uint64_t offset, std::size_t bytes) const {
    return offset - std::min<std::uint64_t>(offset, bytes);
  }

  bool HasRoom() const { return capacity_ - size_ >= block_; }

  bool Fill();
  void MakeRoom();
  void Advance(Cursor* cursor, std::uint64_t to) const;
  void Skip();
  bool FindHit();
  bool FindSurveyed();
  std::uint64_t PieceStart(const Cursor& cursor) const;
  std::uint64_t LineBefore(std::uint64_t start, std::uint64_t reach) const;
  std::uint64_t FirstOpener(std::uint64_t reach, std::uint64_t all_from) const;
  void PlanWindows();
  void GoTo(const Window& window);
  bool Give(RawLine* line);
  bool IsWanted(const Window& window) const;

  ByteSource& source_;
  const Prefilter& prefilter_;
  LeadMaker make_lead_;
  Lead lead_;
  Survey* const survey_;
  ReadControl* const control_;
  const std::size_t block_;
  const std::size_t before_;
  const std::size_t close_;
  const std::size_t piece_;
  const std::size_t shared_;  // a hit may reach this far back over what was searched
  std::size_t capacity_;
  std::unique_ptr<char[]> buffer_;
  std::uint64_t base_ = 0;  // offset of buffer[0]
  std::size_t size_ = 0;    // bytes in the buffer
  bool source_ended_ = false;

  Cursor next_;                  // the first piece not given
  std::uint64_t searched_ = 0;   // no hit that was not handled ends up to here
  std::uint64_t hit_end_ = 0;    // of the last hit found
  std::uint64_t stop_ = 0;       // pieces are given until past this without going to another window
  std::uint64_t given_end_ = 0;  // end of the last piece given
  std::deque<Window> windows_;   // of the hit, still to be given
  std::vector<Prefilter::Hit> leads_;
  bool done_ = false;
};

}  // namespace whyoom
